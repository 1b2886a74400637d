package setup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/config"
)

// Differences lists what the plan has and a configuration does not, or has
// otherwise, each as a sentence that says how to write it. No credential is in it.
func (p *InstallPlan) Differences(c *config.Config) []string {
	var all []string
	for _, a := range p.Accounts {
		ofType := slices.DeleteFunc(slices.Clone(c.Adapters), func(b config.AdapterEntry) bool { return b.Type != a.Type })
		credential := a.Credentials[0]
		same := slices.ContainsFunc(ofType, func(b config.AdapterEntry) bool {
			return credential.Value == b.Token || credential.Value == b.BotToken
		})
		switch {
		case same:
		case len(ofType) == 0:
			all = append(all, fmt.Sprintf("%s is set, and there is no %s account; add it under adapters: %s: {type: %s, %s: \"${%s}\"}",
				credential.Name, a.Type, a.Name, a.Type, credential.Key, credential.Name))
		default:
			all = append(all, fmt.Sprintf("%s is set, and no %s account uses it; write %s: \"${%s}\" where it should",
				credential.Name, a.Type, credential.Key, credential.Name))
		}
	}
	if p.Model == nil {
		return all
	}
	key, base := p.Model.Key, p.Model.BaseURL
	switch {
	case c.Model.Offline:
		all = append(all, "the environment names a model endpoint, and the file uses none; write "+p.Model.line())
	case cmp.Or(p.Model.Provider, "openai") != cmp.Or(c.Model.Provider, "openai"):
		// the file has chosen another
	case key.Value != "" && key.Value != c.Model.APIKey:
		all = append(all, key.Name+" is set, and model.api_key is another key")
	case base.Value != "" && string(base.Value) != c.Model.BaseURL:
		all = append(all, base.Name+" is set, and model.base_url is another address")
	}
	return all
}

// line returns the line of a configuration file that uses the model.
func (m *ModelPlan) line() string {
	var keys []string
	if m.Provider != "" && m.Provider != "openai" {
		keys = append(keys, "provider: "+m.Provider)
	}
	for _, v := range []struct {
		key string
		EnvVar
	}{{"base_url", m.BaseURL}, {"api_key", m.Key}} {
		if v.Value != "" {
			keys = append(keys, v.key+": \"${"+v.Name+"}\"")
		}
	}
	return "model: {" + strings.Join(keys, ", ") + "}"
}
