package setup

import (
	"fmt"
	"slices"

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
	switch {
	case c.Model.Offline:
		all = append(all, "the environment names a model endpoint, and the file uses none; write model: {base_url: \"${OPENAI_BASE_URL}\", api_key: \"${OPENAI_API_KEY}\"}")
	case p.Model.Key.Value != "" && p.Model.Key.Value != c.Model.APIKey:
		all = append(all, "OPENAI_API_KEY is set, and model.api_key is another key")
	case p.Model.BaseURL.Value != "" && string(p.Model.BaseURL.Value) != c.Model.BaseURL:
		all = append(all, "OPENAI_BASE_URL is set, and model.base_url is another address")
	}
	return all
}
