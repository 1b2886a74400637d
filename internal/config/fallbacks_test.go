package config

import (
	"slices"
	"strings"
	"testing"
)

// What answers in place of a model is named, and takes nothing over from it.
func TestModelNamesItsFallbacks(t *testing.T) {
	models := "models:\n  small: {base_url: \"http://b/v1\", context_tokens: 8000}\n  local: {base_url: \"http://c/v1\", api_key: k, name: qwen}\n  none: {name: x}\n"
	c := loaded(t, models+"model: {base_url: \"http://a/v1\", api_key: secret, fallbacks: [small, local, none]}\n"+
		"agents:\n  ada: {model: other}\n  bo: {model: {fallbacks: local}}\n  cy: {model: {fallbacks: []}}\n")
	if len(c.Problems) != 1 || c.Problems[0].Entry != "models.none" {
		t.Errorf("problems %v, want one of models.none", c.Problems)
	}
	want := map[string][]ModelEndpoint{
		"ada": {{BaseURL: "http://b/v1", Name: "small", Window: 8000}, {BaseURL: "http://c/v1", APIKey: "k", Name: "qwen"}},
		"bo":  {{BaseURL: "http://c/v1", APIKey: "k", Name: "qwen"}},
		"cy":  nil,
	}
	for id, want := range want {
		a, _ := c.Agent(id)
		var got []ModelEndpoint
		for _, e := range c.FallbacksOf(a.Model) {
			got = append(got, e.Model)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %+v, want %+v", id, got, want)
		}
	}
	if !slices.Contains(c.Secrets(), "k") {
		t.Error("the key of a fallback is not redacted")
	}
	for text, want := range map[string]string{"[smal]": "small", "[small, small]": "once", "nobody": "models"} {
		c := loaded(t, "models:\n  small: {base_url: \"http://b/v1\"}\nmodel: {base_url: \"http://a/v1\", fallbacks: "+text+"}\n")
		if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Err.What+c.Problems[0].Err.Remedy, want) {
			t.Errorf("fallbacks %s: %v, want a problem with %q", text, c.Problems, want)
		}
	}
}
