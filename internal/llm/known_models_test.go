package llm

import "testing"

func TestKnownModelByItsNames(t *testing.T) {
	for _, test := range []struct {
		provider, name string
		output         float64 // of a million tokens; 0 is unknown
	}{
		{"openai", "gpt-5-mini", 2},
		{"openai", "gpt-5-mini-2025-08-07", 2},
		{"openai", "GPT-5-Mini", 2},
		{"openai", "openai/gpt-5-mini", 2},
		{"openai", "gpt-5", 10},
		{"openai", "gpt-5-2025-08-07", 10},
		{"openai", "gpt-5.6", 30},
		{"openai", "gpt-4.1-mini", 1.6},
		{"openai", "gpt-4o-2024-11-20", 10},
		{"anthropic", "claude-opus-4-5-20251101", 25},
		{"anthropic", "claude-opus-5-5", 20},
		{"anthropic", "claude-opus-5", 25},
		{"openai", "anthropic/claude-opus-4.5", 25},
		{"openai", "google/gemini-2.5-pro", 10},
		{"gemini", "models/gemini-2.5-pro", 10},
		{"gemini", "gemini-3.1-pro-preview", 12},
		{"gemini", "gemini-2.5-flash-preview-09-2025", 2.5},
		{"openai", "mistral-medium-latest", 2},
		{"", "deepseek-flash", 1.2},

		{"anthropic", "gpt-5-mini", 0},
		{"gemini", "claude-opus-5-5", 0},
		{"openai", "mallory/gpt-5-mini", 0},
		{"openai", "deepseek/deepseek-flash:free", 0},
		{"openai", "qwen3:8b", 0},
		{"openai", "gpt-5-mini-of-mine", 0},
		{"openai", "gpt-5-chat", 0},
		{"openai", "gpt-50", 0},
		{"openai", "", 0},
	} {
		f, known := KnownModel(test.provider, test.name)
		if known != (test.output > 0) || f.Price.Output != test.output {
			t.Errorf("KnownModel(%q, %q) = %+v, %v; want the output price %v", test.provider, test.name, f, known, test.output)
		}
	}
}

func TestKnownModelsAreWholeAndNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range knownModels {
		if seen[m.name] || m.window < 8000 || m.maxOutput > m.window || !(0 < m.input && m.input < m.output) || m.cached < 0 || m.cached >= m.input {
			t.Errorf("the row %+v is incomplete or repeated", m)
		}
		seen[m.name] = true
		for _, other := range knownModels {
			if other.name != m.name && other.names(m.name) {
				t.Errorf("%s is also a version of %s", m.name, other.name)
			}
		}
		if f, ok := KnownModel(m.vendor, m.name); !ok || f.Price.Output != m.output || !f.Price.Known() || f.Price.Currency != "USD" {
			t.Errorf("KnownModel(%s) = %+v, %v", m.name, f, ok)
		}
	}
}

// Prices are never below what a vendor charges for a long prompt or for writing a cache.
func TestKnownPricesOfCachesAndLongPrompts(t *testing.T) {
	for _, test := range []struct {
		provider, name  string
		prompt, written int
		want            int64
	}{
		{"openai", "gpt-5.4", 272_000, 0, 680_000},
		{"openai", "gpt-5.4", 272_001, 0, 1_360_005},
		{"openai", "gpt-4.1", 900_000, 0, 1_800_000},
		{"gemini", "gemini-2.5-pro", 200_000, 0, 250_000},
		{"gemini", "gemini-2.5-pro", 400_000, 0, 1_000_000},
		{"gemini", "gemini-2.5-flash", 400_000, 0, 120_000},
		{"anthropic", "claude-sonnet-4-5", 100_000, 80_000, 360_000},
		{"openai", "anthropic/claude-sonnet-4.5", 100_000, 100_000, 375_000},
	} {
		f, _ := KnownModel(test.provider, test.name)
		if got := f.Price.Cost(test.prompt, 0, test.written, 0); got != test.want {
			t.Errorf("%s: %d tokens, %d written, cost %d, want %d", test.name, test.prompt, test.written, got, test.want)
		}
	}
}
