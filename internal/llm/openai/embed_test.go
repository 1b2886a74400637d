package openai

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// CONTEXT 1.2: texts have vectors by the model endpoint, in their order and counted.
func TestTextsHaveVectorsInTheirOrder(t *testing.T) {
	served := httptest.NewServer(&llmtest.Server{Model: llmtest.LeakyModel{}, Names: []string{"m"}})
	defer served.Close()
	c, err := New(Options{BaseURL: served.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"the boiler leaks", "we sail on friday", "the boiler leaks"}
	got, u, err := c.Embed(t.Context(), "m", texts)
	if err != nil || len(got) != 3 || u.Prompt == 0 || u.Estimated {
		t.Fatalf("%d vectors for %+v, %v", len(got), u, err)
	}
	if !cmp.Equal(got[0], got[2]) || cmp.Equal(got[0], got[1]) || !cmp.Equal(got[1], llmtest.Vector(texts[1])) {
		t.Error("the vectors are not in the order of the texts")
	}
	if _, _, err := c.Embed(t.Context(), "other", texts); llm.KindOf(err) != llm.NoModel {
		t.Errorf("a model that does not exist: %v", err)
	}
}

// DELIVERY 2.8: an answer that lacks a vector is none.
func TestHalfAnAnswerHasNoVectors(t *testing.T) {
	for _, body := range []string{
		`{"data":[]}`, `{"data":[{"index":0,"embedding":[1]}]}`, `{"data":[{"index":7,"embedding":[1]},{"index":-1,"embedding":[1]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`,
	} {
		_, _, err := canned(t, http.StatusOK, http.Header{"Content-Type": {"application/json"}}, body).Embed(t.Context(), "m", []string{"a", "b"})
		if llm.KindOf(err) != llm.Garbled {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// DELIVERY 2.5 I17: what an endpoint counts is believed as far as it can be so; budgets
// never shrink by it, and no sum of it overflows.
func TestWhatVectorsTookIsTheEndpointsOrAnEstimate(t *testing.T) {
	for usage, want := range map[string]llm.TokenUsage{
		`{"prompt_tokens":7}`:                   {Prompt: 7},
		`{"prompt_tokens":0}`:                   {Prompt: 2, Estimated: true},
		`{"prompt_tokens":-7}`:                  {Prompt: 2, Estimated: true},
		`{"prompt_tokens":9223372036854775807}`: {Prompt: 1<<31 - 1},
	} {
		body := `{"data":[{"index":0,"embedding":[1]}],"usage":` + usage + `}`
		_, got, err := canned(t, http.StatusOK, http.Header{"Content-Type": {"application/json"}}, body).Embed(t.Context(), "m", []string{"eight by"})
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", usage, got, err, want)
		}
	}
}
