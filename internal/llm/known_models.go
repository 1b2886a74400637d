package llm

import (
	"regexp"
	"strings"

	"github.com/trestle-bridge/trestle/internal/money"
)

// ModelFacts is what the vendor of a model publishes of it, or its endpoint tells.
type ModelFacts struct {
	// Window is the number of tokens that a request may have; MaxOutput that of an answer.
	Window, MaxOutput int
	// Price is without temporary reductions, and at the busiest hours; zero when it is not
	// known.
	Price money.TokenPrice
	// Vision models accept images; Thinking models write reasoning before an answer.
	Vision, Thinking bool
}

// FactsDate is the day on which the facts of known models were read.
const FactsDate = "2026-11-26"

// knownModel is one row of the table of known models.
type knownModel struct {
	vendor, name          string
	window, maxOutput     int
	input, cached, output float64
	traits                string // v: vision, t: thinking, l: long prompts cost more
}

// knownModels holds the facts of [FactsDate], in USD. They are those of the vendors' pages:
// developers.openai.com/api/docs/models, platform.claude.com/docs/en/models/overview and
// docs/en/about-claude/pricing, ai.google.dev/gemini-api/docs/pricing,
// api-docs.deepseek.com/quick_start/pricing and docs.mistral.ai/models. A name covers its
// dated and preview versions, too.
var knownModels = []knownModel{
	{"openai", "gpt-6.2-astra", 1_050_000, 128_000, 8, 0.4, 40, "vtl"},
	{"openai", "gpt-6.2-sol", 1_050_000, 128_000, 2, 0.1, 10, "vtl"},
	{"openai", "gpt-6.1-sol", 1_050_000, 128_000, 2, 0.1, 10, "vtl"},
	{"openai", "gpt-6.1-terra", 1_050_000, 128_000, 1, 0.05, 5, "vtl"},
	{"openai", "gpt-6-astra", 1_050_000, 128_000, 10, 1, 50, "vtl"},
	{"openai", "gpt-6-sol", 1_050_000, 128_000, 2, 0.2, 10, "vtl"},
	{"openai", "gpt-6-luna", 1_050_000, 128_000, 0.1, 0.01, 0.5, "vtl"},
	{"openai", "gpt-5.6", 1_050_000, 128_000, 5, 0.5, 30, "vtl"},
	{"openai", "gpt-5.6-sol", 400_000, 128_000, 5, 0.5, 30, "vt"},
	{"openai", "gpt-5.6-terra", 400_000, 128_000, 2, 0.2, 12, "vt"},
	{"openai", "gpt-5.6-luna", 400_000, 128_000, 0.2, 0.02, 1.2, "vt"},
	{"openai", "gpt-5.5", 1_050_000, 128_000, 5, 0.5, 30, "vtl"},
	{"openai", "gpt-5.5-pro", 1_050_000, 128_000, 30, 3, 180, "vtl"},
	{"openai", "gpt-5.4", 1_050_000, 128_000, 2.5, 0.25, 15, "vtl"},
	{"openai", "gpt-5.4-mini", 400_000, 128_000, 0.75, 0.075, 4.5, "vt"},
	{"openai", "gpt-5.4-nano", 400_000, 128_000, 0.2, 0.02, 1.25, "vt"},
	{"openai", "gpt-5.4-pro", 1_050_000, 128_000, 30, 3, 180, "vtl"},
	{"openai", "gpt-5.2", 272_000, 128_000, 1.75, 0.175, 14, "vt"},
	{"openai", "gpt-5.1", 272_000, 128_000, 1.25, 0.125, 10, "vt"},
	{"openai", "gpt-5", 272_000, 128_000, 1.25, 0.125, 10, "vt"},
	{"openai", "gpt-5-mini", 272_000, 128_000, 0.25, 0.025, 2, "vt"},
	{"openai", "gpt-5-nano", 272_000, 128_000, 0.05, 0.005, 0.4, "vt"},
	{"openai", "gpt-4.1", 1_047_576, 32_768, 2, 0.5, 8, "v"},
	{"openai", "gpt-4.1-mini", 1_047_576, 32_768, 0.4, 0.1, 1.6, "v"},
	{"openai", "gpt-4.1-nano", 1_047_576, 32_768, 0.1, 0.025, 0.4, "v"},
	{"openai", "gpt-4o", 128_000, 16_384, 2.5, 1.25, 10, "v"},
	{"openai", "gpt-4o-mini", 128_000, 16_384, 0.15, 0.075, 0.6, "v"},
	{"openai", "o3", 200_000, 100_000, 2, 0.5, 8, "vt"},
	{"openai", "o3-mini", 200_000, 100_000, 1.1, 0.55, 4.4, "t"},
	{"openai", "o4-mini", 200_000, 100_000, 1.1, 0.275, 4.4, "vt"},

	{"anthropic", "claude-fable-5-1", 1_000_000, 128_000, 10, 0.25, 50, "vt"},
	{"anthropic", "claude-fable-5", 1_000_000, 128_000, 10, 1, 50, "vt"},
	{"anthropic", "claude-opus-5-5", 1_000_000, 128_000, 4, 0.2, 20, "vt"},
	{"anthropic", "claude-opus-5", 1_000_000, 128_000, 5, 0.5, 25, "vt"},
	{"anthropic", "claude-opus-4-8", 1_000_000, 128_000, 5, 0.5, 25, "vt"},
	{"anthropic", "claude-opus-4-7", 1_000_000, 128_000, 5, 0.5, 25, "vt"},
	{"anthropic", "claude-opus-4-6", 1_000_000, 128_000, 5, 0.5, 25, "vt"},
	{"anthropic", "claude-opus-4-5", 200_000, 64_000, 5, 0.5, 25, "vt"},
	{"anthropic", "claude-opus-4-1", 200_000, 32_000, 15, 1.5, 75, "vt"},
	{"anthropic", "claude-sonnet-5-5", 1_000_000, 128_000, 2, 0.1, 10, "vt"},
	{"anthropic", "claude-sonnet-5", 1_000_000, 128_000, 2, 0.2, 10, "vt"},
	{"anthropic", "claude-sonnet-4-6", 1_000_000, 64_000, 3, 0.3, 15, "vt"},
	{"anthropic", "claude-sonnet-4-5", 200_000, 64_000, 3, 0.3, 15, "vt"},
	{"anthropic", "claude-haiku-5-5", 1_000_000, 128_000, 0.1, 0.01, 0.5, "vt"},
	{"anthropic", "claude-haiku-4-5", 200_000, 64_000, 1, 0.1, 5, "vt"},

	{"gemini", "gemini-4-argon", 1_048_576, 65_536, 4, 0.2, 20, "vtl"},
	{"gemini", "gemini-4-neon", 1_048_576, 65_536, 3, 0.15, 15, "vt"},
	{"gemini", "gemini-4-hydrogen", 1_048_576, 65_536, 1.5, 0.075, 7.5, "vt"},
	{"gemini", "gemini-3.8-flash", 1_048_576, 65_536, 1.5, 0.15, 7.5, "vt"},
	{"gemini", "gemini-3.7-flash", 1_048_576, 65_536, 1.5, 0.15, 7.5, "vt"},
	{"gemini", "gemini-3.6-flash", 1_048_576, 65_536, 1.5, 0.15, 7.5, "vt"},
	{"gemini", "gemini-3.5-flash", 1_048_576, 65_536, 1.5, 0.15, 9, "vt"},
	{"gemini", "gemini-3.5-flash-lite", 1_048_576, 65_536, 0.3, 0.03, 2.5, "vt"},
	{"gemini", "gemini-3.1-pro", 1_048_576, 65_536, 2, 0.2, 12, "vtl"},
	{"gemini", "gemini-3.1-flash-lite", 1_048_576, 65_536, 0.25, 0.025, 1.5, "vt"},
	{"gemini", "gemini-3-flash", 1_048_576, 65_536, 0.5, 0.05, 3, "vt"},
	{"gemini", "gemini-2.5-pro", 1_048_576, 65_536, 1.25, 0.125, 10, "vtl"},
	{"gemini", "gemini-2.5-flash", 1_048_576, 65_536, 0.3, 0.03, 2.5, "vt"},
	{"gemini", "gemini-2.5-flash-lite", 1_048_576, 65_536, 0.1, 0.01, 0.4, "vt"},

	{"deepseek", "deepseek-flash", 1_000_000, 384_000, 0.3, 0.006, 1.2, "vt"},
	{"deepseek", "deepseek-v4-flash", 1_000_000, 384_000, 0.3, 0.006, 1.2, "vt"},
	{"deepseek", "deepseek-v4-pro", 1_000_000, 384_000, 1.32, 0.044, 3.96, "t"},

	{"mistral", "mistral-large-4", 524_288, 262_144, 1.36, 0, 4.18, "v"},
	{"mistral", "mistral-large-3", 262_144, 0, 0.5, 0, 1.5, "v"},
	{"mistral", "mistral-medium", 128_000, 0, 0.4, 0, 2, "v"},
	{"mistral", "codestral", 256_000, 0, 0.3, 0, 0.9, ""},
}

// cacheWrite is how much more than other input Anthropic charges for what is written to the
// cache of five minutes, which requests ask for.
const cacheWrite = 1.25

// longPrompt is the number of tokens above which a prompt counts as long.
var longPrompt = map[string]int{"openai": 272_000, "gemini": 200_000}

// versionSuffix is what may follow the name of a model: a date, a number of a build, or the
// stage of its release.
var versionSuffix = regexp.MustCompile(`^-(latest|exp|(preview|exp)(-[0-9-]+)?|[0-9]{3,8}|20[0-9]{2}-[0-9]{2}-[0-9]{2})$`)

// KnownModel returns the published facts of a model. Provider is `openai`, for every
// compatible endpoint, `anthropic` or `gemini`, and the name is that at the endpoint; a
// compatible endpoint may serve the models of every vendor, by name or as vendor/name. It
// returns false for names that are not in the table, among them those with a colon, which
// are of a size or price of their own (qwen3:8b, model:free). Prices are the vendor's: a
// caller asks only for endpoints that cost something.
func KnownModel(provider, name string) (ModelFacts, bool) {
	name = strings.ToLower(name)
	vendor := ""
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		vendor, name = strings.TrimPrefix(name[:i], "~"), name[i+1:]
	}
	for i := range knownModels {
		m := &knownModels[i]
		switch {
		case provider != "" && provider != "openai" && provider != m.vendor,
			vendor != "" && vendor != "models" && vendorOf(vendor) != m.vendor,
			!m.names(name):
			continue
		}
		f := ModelFacts{Window: m.window, MaxOutput: m.maxOutput, Price: money.TokenPrice{Input: m.input, Cached: m.cached, Output: m.output, Currency: "USD"}}
		if m.vendor == "anthropic" {
			f.Price.CacheWrite = cacheWrite * m.input
		}
		if strings.Contains(m.traits, "l") {
			f.Price.LongAbove = longPrompt[m.vendor]
		}
		f.Vision, f.Thinking = strings.Contains(m.traits, "v"), strings.Contains(m.traits, "t")
		return f, true
	}
	return ModelFacts{}, false
}

// vendorOf returns the name of a vendor in the table for that in front of a model's name.
func vendorOf(prefix string) string {
	switch prefix {
	case "google":
		return "gemini"
	case "mistralai":
		return "mistral"
	}
	return prefix
}

// names reports whether a name at an endpoint is one of the model's. Routers write dots for
// the dashes of Anthropic's versions.
func (m *knownModel) names(name string) bool {
	rest, ok := strings.CutPrefix(dashed(name), dashed(m.name))
	return ok && (rest == "" || versionSuffix.MatchString(rest))
}

// dashed returns a name with dashes in place of dots.
func dashed(name string) string { return strings.ReplaceAll(name, ".", "-") }
