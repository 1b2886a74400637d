package config

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// The environment names one endpoint, in a fixed order, and the name of a model decides
// between several.
func TestEnvironmentNamesOneEndpoint(t *testing.T) {
	for env, want := range map[string]ModelEndpoint{
		"OPENAI_API_KEY=a":                                                   {APIKey: "a", Name: "gpt-5-mini"},
		"OPENAI_BASE_URL=http://h/v1":                                        {BaseURL: "http://h/v1", Name: "gpt-5-mini"},
		"ANTHROPIC_API_KEY=b":                                                {Provider: "anthropic", APIKey: "b", Name: "claude-haiku-5-5"},
		"ANTHROPIC_API_KEY=b ANTHROPIC_BASE_URL=http://h":                    {Provider: "anthropic", BaseURL: "http://h", APIKey: "b", Name: "claude-haiku-5-5"},
		"GEMINI_API_KEY=c":                                                   {Provider: "gemini", APIKey: "c", Name: "gemini-3.5-flash-lite"},
		"GOOGLE_API_KEY=d":                                                   {Provider: "gemini", APIKey: "d", Name: "gemini-3.5-flash-lite"},
		"GEMINI_API_KEY=c GOOGLE_API_KEY=d":                                  {Provider: "gemini", APIKey: "c", Name: "gemini-3.5-flash-lite"},
		"ANTHROPIC_API_KEY=b TRESTLE_MODEL=m":                                {Provider: "anthropic", APIKey: "b", Name: "m"},
		"OPENAI_API_KEY=a ANTHROPIC_API_KEY=b GEMINI_API_KEY=c":              {APIKey: "a", Name: "gpt-5-mini"},
		"ANTHROPIC_API_KEY=b GEMINI_API_KEY=c":                               {Provider: "anthropic", APIKey: "b", Name: "claude-haiku-5-5"},
		"OPENAI_API_KEY=a ANTHROPIC_API_KEY=b TRESTLE_MODEL=claude-opus-5-5": {Provider: "anthropic", APIKey: "b", Name: "claude-opus-5-5"},
		"OPENAI_API_KEY=a GOOGLE_API_KEY=d TRESTLE_MODEL=gemini-2.5-pro":     {Provider: "gemini", APIKey: "d", Name: "gemini-2.5-pro"},
		"OPENAI_API_KEY=a TRESTLE_MODEL=claude-opus-5-5":                     {APIKey: "a", Name: "claude-opus-5-5"},
		"OPENAI_BASE_URL=http://router/v1 OPENAI_API_KEY=a ANTHROPIC_API_KEY=b TRESTLE_MODEL=claude-opus-5-5": {BaseURL: "http://router/v1", APIKey: "a", Name: "claude-opus-5-5"},
		"OPENAI_API_KEY= ANTHROPIC_API_KEY=b":                     {Provider: "anthropic", APIKey: "b", Name: "claude-haiku-5-5"},
		"ANTHROPIC_BASE_URL=http://h":                             {Name: "gpt-5-mini", Offline: true},
		"TRESTLE_MODEL=m":                                         {Name: "m", Offline: true},
		"TRESTLE_MODEL__PROVIDER=gemini TRESTLE_MODEL__API_KEY=k": {Provider: "gemini", APIKey: "k", Name: "gemini-3.5-flash-lite"},
	} {
		c, err := loadText(t, "", strings.ReplaceAll(env, " ", "\n"))
		testutil.OK(t, err)
		if c.Model != want || len(c.Problems) > 0 {
			t.Errorf("%s gives %+v and the problems %v, want %+v", env, c.Model, c.Problems, want)
		}
	}
	// A file with a plain name takes the endpoint from the environment.
	c, err := loadText(t, "model: claude-sonnet-5-5\n", "OPENAI_API_KEY=a\nANTHROPIC_API_KEY=b")
	testutil.OK(t, err)
	if want := (ModelEndpoint{Provider: "anthropic", APIKey: "b", Name: "claude-sonnet-5-5"}); c.Model != want {
		t.Errorf("a plain name gives %+v, want %+v", c.Model, want)
	}
}

// A server on this machine is used where neither a file nor the environment names another.
func TestLocalModelIsTheLastChoice(t *testing.T) {
	for _, test := range []struct {
		text, env string
		want      ModelEndpoint
	}{
		{"", "", ModelEndpoint{BaseURL: "http://127.0.0.1:11434/v1", Name: "qwen3"}},
		{"", "TRESTLE_MODEL=llama", ModelEndpoint{BaseURL: "http://127.0.0.1:11434/v1", Name: "llama"}},
		{"", "GEMINI_API_KEY=c", ModelEndpoint{Provider: "gemini", APIKey: "c", Name: "gemini-3.5-flash-lite"}},
		{"data: here\n", "", ModelEndpoint{Name: "gpt-5-mini", Offline: true}},
	} {
		l := optionsFor(t, test.text, test.env)
		l.LocalModel = func() (string, string) { return "http://127.0.0.1:11434/v1", "qwen3" }
		c, err := Load(l)
		testutil.OK(t, err)
		if c.Model != test.want {
			t.Errorf("%q with %q gives %+v, want %+v", test.text, test.env, c.Model, test.want)
		}
	}
}

// Another provider than at the top takes over neither address nor key nor name.
func TestProviderTakesNoKeyOver(t *testing.T) {
	c := loaded(t, "model: {base_url: \"http://a/v1\", api_key: secret, name: n, compat: [no_tools], timeout: {total: 3m}}\n"+
		"models:\n  spare: {provider: gemini, api_key: g}\n"+
		"agents:\n  ada: {model: {provider: anthropic, api_key: k}}\n  bo: {model: {provider: openai, name: o}}\n  cy: {model: {provider: gemini}}\n  di: {model: {provider: opanai}}\n")
	for id, want := range map[string]ModelEndpoint{
		"ada": {Provider: "anthropic", APIKey: "k", Name: "claude-haiku-5-5", Timeout: c.Model.Timeout},
		"bo":  {BaseURL: "http://a/v1", APIKey: "secret", Name: "o", Compat: "no_tools", Timeout: c.Model.Timeout},
	} {
		if a, _ := c.Agent(id); a.Model != want || a.Misconfigured {
			t.Errorf("%s has %+v, want %+v", id, a.Model, want)
		}
	}
	if spare := c.Models[0].Model; spare != (ModelEndpoint{Provider: "gemini", APIKey: "g", Name: "spare"}) {
		t.Errorf("the fallback is %+v", spare)
	}
	var said []string
	for _, p := range c.Problems {
		said = append(said, p.Entry+": "+p.Err.What+": "+p.Err.Remedy)
	}
	if text := strings.Join(said, "\n"); len(said) != 2 || !strings.Contains(text, "agents.cy: the provider gemini needs api_key: write api_key: ${GEMINI_API_KEY}") || !strings.Contains(text, `agents.di: provider: "opanai"`) {
		t.Errorf("problems:\n%s", text)
	}
}
