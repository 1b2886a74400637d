package config

import (
	"cmp"
	"strings"
)

// ProviderEntry is what the configuration knows of a provider of models.
type ProviderEntry struct {
	Name string // as `model.provider` takes it
	// BaseVariable and KeyVariables are the variables of the environment that hold the
	// address of the endpoint and its key; the first key that is set counts.
	BaseVariable string
	KeyVariables []string
	// Prefix begins the names of the provider's own models; empty without one.
	Prefix string
	// Model is the name of the model that is used when none is given.
	Model string
}

// Providers returns the providers in the order in which the environment is searched.
func Providers() []ProviderEntry {
	return []ProviderEntry{
		{"openai", "OPENAI_BASE_URL", []string{"OPENAI_API_KEY"}, "", DefaultModel},
		{"anthropic", "ANTHROPIC_BASE_URL", []string{"ANTHROPIC_API_KEY"}, "claude-", "claude-haiku-5-5"},
		{"gemini", "GEMINI_BASE_URL", []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, "gemini-", "gemini-3.5-flash-lite"},
	}
}

// providerNamed returns the provider of that name, the first one for no name.
func providerNamed(name string) ProviderEntry {
	all := Providers()
	for _, p := range all {
		if p.Name == name {
			return p
		}
	}
	return all[0]
}

// UsualModel returns the name of the model that is used at a provider when none is given.
func UsualModel(provider string) string { return providerNamed(provider).Model }

// A ModelVariables names the variables of the environment that hold a model endpoint.
type ModelVariables struct {
	Provider  string
	Base, Key string // empty: not set
}

// EnvironmentModel returns the variables of the endpoint that the environment has, in which
// the model of that name would be called; false when it has none. Where it has several, a
// model whose name begins like those of one provider is called there, unless
// OPENAI_BASE_URL names an endpoint; else the first in the order of [Providers].
func EnvironmentModel(lookup func(string) (string, bool), model string) (ModelVariables, bool) {
	isSet := func(variable string) bool {
		value, ok := lookup(variable)
		return ok && value != ""
	}
	var found []ModelVariables
	for _, p := range Providers() {
		v := ModelVariables{Provider: p.Name}
		if isSet(p.BaseVariable) {
			v.Base = p.BaseVariable
		}
		for _, key := range p.KeyVariables {
			if v.Key == "" && isSet(key) {
				v.Key = key
			}
		}
		if v.Key == "" && (v.Base == "" || p.Name != "openai") { // the others need a key
			continue
		}
		named := p.Prefix != "" && strings.HasPrefix(model, p.Prefix)
		if named && !isSet("OPENAI_BASE_URL") {
			return v, true
		}
		found = append(found, v)
	}
	if len(found) == 0 {
		return ModelVariables{}, false
	}
	return found[0], true
}

// addModel takes the endpoint from the environment, and the model name too unless the file
// has one. Without either and without a file it takes the server of models that runs on
// this machine.
func (l LoadOptions) addModel(root *node, noFile bool) {
	if name := root.get("model"); name != nil {
		root.put([]string{"model"}, &node{kind: mapNode, origin: name.origin, entries: []mapEntry{{"name", name.origin, name}}})
	}
	named := l.fromEnv("TRESTLE_MODEL")
	if n := root.get("model").get("name"); n != nil {
		named = n
	}
	put := func(key string, n *node) {
		if n != nil && root.get("model").get(key) == nil {
			root.put([]string{"model", key}, n)
		}
	}
	text := ""
	if named != nil {
		text = named.text
	}
	v, found := EnvironmentModel(l.Lookup, text)
	switch {
	case found:
		if v.Provider != Providers()[0].Name {
			put("provider", &node{kind: scalarNode, text: v.Provider, origin: ValueOrigin{Env: cmp.Or(v.Key, v.Base)}})
		}
		put("base_url", l.fromEnv(v.Base))
		put("api_key", l.fromEnv(v.Key))
	case noFile && l.LocalModel != nil:
		if base, first := l.LocalModel(); base != "" {
			put("base_url", &node{kind: scalarNode, text: base, origin: ValueOrigin{Env: "found on this machine"}})
			put("name", named)
			put("name", &node{kind: scalarNode, text: first, origin: ValueOrigin{Env: "found on this machine"}})
		}
	}
	put("name", l.fromEnv("TRESTLE_MODEL"))
}
