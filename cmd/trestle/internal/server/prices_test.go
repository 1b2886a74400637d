package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

func TestPriceOfTheModelThatAnswers(t *testing.T) {
	dollars := func(in, cached, out float64) money.TokenPrice {
		return money.TokenPrice{Input: in, Cached: cached, Output: out, Currency: "USD"}
	}
	none := money.TokenPrice{Currency: "USD"}
	for _, test := range []struct {
		text, model string
		want        money.TokenPrice
	}{
		{`model: {api_key: k, name: gpt-5-mini}`, "gpt-5-mini", dollars(0.25, 0.025, 2)},
		{`model: {api_key: k, name: gpt-5-mini}`, "gpt-5-nano", dollars(0.05, 0.005, 0.4)}, // of summaries
		{`model: {api_key: k, name: gpt-5-mini}`, "mine", none},
		{"model: {api_key: k, name: gpt-5-mini}\nprice: {input: 1, output: 3}", "gpt-5-mini", dollars(1, 0, 3)},
		{"model: {api_key: k, name: gpt-5-mini}\nprice: {input: 1, output: 3}", "gpt-5-nano", dollars(0.05, 0.005, 0.4)},
		{"model: {api_key: k, name: mine, fallbacks: [small]}\nmodels: {small: {api_key: k, name: gpt-5-mini}}", "gpt-5-mini", dollars(0.25, 0.025, 2)},
		{"model: {api_key: k, name: mine, fallbacks: [small]}\nmodels: {small: {base_url: 'https://s.example/v1', price: {input: 2, output: 4}}}", "small", dollars(2, 0, 4)},
		{"model: {base_url: 'http://127.0.0.1:11434/v1', name: gpt-5-mini}", "gpt-5-mini", none},
		{"model: {base_url: 'http://ollama:11434/v1', name: gpt-5-mini}", "gpt-5-mini", none},
		{"model: {base_url: 'http://192.168.1.4/v1', name: gpt-5-mini}", "gpt-5-mini", none},
		{"model: {base_url: 'http://127.0.0.1:11434/v1', name: gpt-5-mini}\nprice: {input: 1, output: 3}", "gpt-5-mini", dollars(1, 0, 3)},
		{"model: {api_key: k, name: gpt-5-mini}\nprice: {currency: EUR, rate: 0.5}", "gpt-5-mini", money.TokenPrice{Input: 0.125, Cached: 0.0125, Output: 1, Currency: "EUR"}},
		{"model: {api_key: k, name: gpt-5-mini}\nprice: {currency: EUR}", "gpt-5-mini", money.TokenPrice{Currency: "EUR"}},
	} {
		c := loadConfig(t, test.text)
		a := c.Agents[0]
		if got, _ := tokenPriceOf(c, a, test.model, nil); got != test.want {
			t.Errorf("%s\n%s costs %+v, want %+v", test.text, test.model, got, test.want)
		}
	}
}

// A budget in money stands in for the default number of tokens only where every call of
// the agent has a price.
func TestTokensLimitWhereThePriceIsUnknown(t *testing.T) {
	for text, known := range map[string]bool{
		"model: {api_key: k, name: gpt-5-mini}": true,
		"model: {api_key: k, name: mine}":       false,
		"model: {api_key: k, name: gpt-5-mini, fallbacks: [small]}\nmodels: {small: {base_url: 'https://s.example/v1'}}":                     false,
		"model: {api_key: k, name: gpt-5-mini, fallbacks: [small]}\nmodels: {small: {base_url: 'https://s.example/v1', price: {output: 4}}}": true,
	} {
		c := loadConfig(t, text+"\nbudget: {per_day: 1 USD}")
		a := c.Agents[0]
		if got := ShellSettings(a, c.SettingsFor(a.ID, "")).Budget.Priced(priced(c, a, nil)).All; got.Amount.Micros != 1_000_000 || (got.Tokens == 0) != known {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func loadConfig(t *testing.T, text string) *config.Config {
	t.Helper()
	folder := t.TempDir()
	testutil.OK(t, os.WriteFile(filepath.Join(folder, "trestle.yaml"), []byte(text), 0o600))
	c, err := config.Load(config.LoadOptions{Folder: folder, Data: t.TempDir(), Lookup: func(string) (string, bool) { return "", false }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What the configuration says of a model counts before what its endpoint tells, and that
// before what is published.
func TestFactsOfAModelAreTakenInOrder(t *testing.T) {
	endpoint := llm.ModelFacts{Window: 4096, Price: money.TokenPrice{Input: 7, Output: 8, Currency: "USD"}}
	for _, test := range []struct {
		text       string
		told       llm.ModelFacts
		window     int
		windowFrom string
		input      float64
		priceFrom  string
	}{
		{"model: {api_key: k, name: gpt-5-mini}\ncontext_tokens: 9000\nprice: {input: 1, output: 3}", endpoint, 9000, fromFile, 1, fromFile},
		{"model: {api_key: k, name: gpt-5-mini}", endpoint, 4096, fromEndpoint, 7, fromEndpoint},
		{"model: {api_key: k, name: gpt-5-mini}", llm.ModelFacts{}, mostUnset, fromTable, 0.25, fromTable},
		{"model: {api_key: k, name: mine}", llm.ModelFacts{}, llm.AssumedWindow, assumed, 0, assumed},
		{"model: {base_url: 'http://127.0.0.1:11434/v1', name: gpt-5-mini}", llm.ModelFacts{}, llm.AssumedWindow, assumed, 0, assumed},
		{"model: {base_url: 'http://127.0.0.1:11434/v1', name: gpt-5-mini}", llm.ModelFacts{Window: 1 << 20}, mostUnset, fromEndpoint, 0, assumed},
	} {
		c := loadConfig(t, test.text)
		a := c.Agents[0]
		told := func(config.ModelEndpoint, string) llm.ModelFacts { return test.told }
		if got, from := windowOf(c, a.ID, "", a.Model, told); got != test.window || from != test.windowFrom {
			t.Errorf("%s\nwindow %d from %s, want %d from %s", test.text, got, from, test.window, test.windowFrom)
		}
		if got, from := tokenPriceOf(c, a, a.Model.Name, told); got.Input != test.input || from != test.priceFrom {
			t.Errorf("%s\nprice %v from %s, want %v from %s", test.text, got.Input, from, test.input, test.priceFrom)
		}
	}
}

// A running process uses the window that the endpoint tells, once it has told it. An
// endpoint that is near and tells none is asked again soon.
func TestSettingsFollowWhatTheEndpointTells(t *testing.T) {
	window := "0"
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := io.WriteString(w, `{"data":[{"id":"mine","max_model_len":`+window+`}]}`); err != nil {
			t.Error(err)
		}
	}))
	defer endpoint.Close()
	c := loadConfig(t, "model: {base_url: '"+endpoint.URL+"/v1', name: mine}")
	s := NewServer(c, slog.New(slog.DiscardHandler), io.Discard, false)
	agents := s.agents()
	for _, test := range []struct {
		want int
		next string
	}{{llm.AssumedWindow, "0"}, {llm.AssumedWindow, "4096"}, {4096, "8192"}, {8192, "8192"}} {
		got := s.shellSettings(agents[0].ID, "")
		if got.ContextTokens != test.want || got.MaxOutput > test.want/4 {
			t.Errorf("uses %d tokens, %d for the answer, want %d", got.ContextTokens, got.MaxOutput, test.want)
		}
		window = test.next
		s.health.Range(func(m, e any) bool {
			next := map[config.ModelEndpoint]time.Time{}
			s.askFacts(t.Context(), m.(config.ModelEndpoint), e.(*endpointHealth), next)
			if soon := next[m.(config.ModelEndpoint)].IsZero(); soon != (window == "0") {
				t.Errorf("with a window of %s it is asked again soon: %t", window, soon)
			}
			return true
		})
	}
}
