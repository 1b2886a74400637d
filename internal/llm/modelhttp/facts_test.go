package modelhttp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Every server tells its window in a place of its own.
func TestServersTellTheirWindow(t *testing.T) {
	for name, test := range map[string]struct {
		paths map[string]string
		want  llm.ModelFacts
	}{
		"vLLM":      {map[string]string{"/v1/models": `{"object":"list","data":[{"id":"m","object":"model","owned_by":"vllm","root":"m","max_model_len":16384}]}`}, llm.ModelFacts{Window: 16384}},
		"llama.cpp": {map[string]string{"/v1/models": `{"data":[{"id":"m","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`, "/props": `{"default_generation_settings":{"id":0,"n_ctx":8192,"params":{}},"total_slots":1}`}, llm.ModelFacts{Window: 8192}},
		"LM Studio": {map[string]string{"/v1/models": `{"data":[{"id":"m","owned_by":"organization_owner"}]}`, "/api/v0/models": `{"data":[{"id":"m","state":"loaded","max_context_length":131072,"loaded_context_length":4096}]}`}, llm.ModelFacts{Window: 4096}},
		"Ollama, in memory": {map[string]string{
			"/v1/models": `{"data":[{"id":"m:latest","owned_by":"library"}]}`, "/api/ps": `{"models":[{"name":"m:latest","model":"m:latest","size":1,"context_length":4096}]}`,
			"/api/show": `{"parameters":"num_ctx 8192"}`,
		}, llm.ModelFacts{Window: 4096}},
		"Ollama, num_ctx":         {map[string]string{"/v1/models": `{"data":[{"id":"m"}]}`, "/api/ps": `{"models":[]}`, "/api/show": `{"parameters":"stop  \"<|eot|>\"\nnum_ctx                        8192","model_info":{"llama.context_length":131072}}`}, llm.ModelFacts{Window: 8192}},
		"Ollama, a small model":   {map[string]string{"/v1/models": `{"data":[{"id":"m"}]}`, "/api/show": `{"model_info":{"general.architecture":"gemma","gemma.context_length":8192}}`}, llm.ModelFacts{Window: 8192}},
		"Ollama, nothing certain": {map[string]string{"/v1/models": `{"data":[{"id":"m"}]}`, "/api/show": `{"model_info":{"llama.context_length":131072}}`}, llm.ModelFacts{}},
		"OpenRouter": {
			map[string]string{"/v1/models": `{"data":[{"id":"m","context_length":262144,"pricing":{"prompt":"0.0000005","completion":"0.0000015","input_cache_read":"0.00000005","request":"0","image":"0"},"top_provider":{"context_length":131072}}]}`},
			llm.ModelFacts{Window: 262144, Price: money.TokenPrice{Input: 0.5, Output: 1.5, Cached: 0.05, Currency: "USD"}},
		},
		"a router of routers": {map[string]string{"/v1/models": `{"data":[{"id":"m","context_length":9000,"pricing":{"prompt":"-1","completion":"-1"}}]}`}, llm.ModelFacts{Window: 9000}},
		"another model":       {map[string]string{"/v1/models": `{"data":[{"id":"n","max_model_len":9000}]}`}, llm.ModelFacts{}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, ok := test.paths[r.URL.Path]
				if !ok || (r.Method == http.MethodPost) != (r.URL.Path == "/api/show") || r.Header.Get("Authorization") != "Bearer key" {
					http.NotFound(w, r)
					return
				}
				if _, err := w.Write([]byte(body)); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			c, err := NewBaseClient(ClientOptions{BaseURL: server.URL + "/v1", APIKey: "key"})
			testutil.OK(t, err)
			c.ListModels = func(ctx context.Context, _ string) (*http.Request, error) { return c.ModelsRequest(ctx) }
			testutil.OK(t, c.LearnFacts(t.Context(), "m"))
			got := c.Known.Of("m").Told
			if got.Window != test.want.Window || !near(got.Price, test.want.Price) {
				t.Errorf("told %+v, want %+v", got, test.want)
			}
		})
	}
}

// near reports whether prices are equal but for rounding.
func near(a, b money.TokenPrice) bool {
	cost := func(p money.TokenPrice) int64 { return p.Cost(3_000_000, 1_000_000, 0, 1_000_000) }
	return a.Currency == b.Currency && cost(a) == cost(b)
}
