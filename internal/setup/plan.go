package setup

import (
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/config"
)

// An InstallPlan is a configuration to be written.
type InstallPlan struct {
	Model    *ModelPlan // nil: the built-in offline model answers
	Accounts []AccountPlan
	Agents   []AgentPlan
	Spaces   []SpacePlan
	// Left is what was found and cannot be taken over, a sentence each.
	Left []string
	// Found names what was found where, for people.
	Found []string
}

// ModelPlan is the endpoint that all agents use.
type ModelPlan struct {
	Provider string // empty: openai
	BaseURL  EnvVar // without a value: the client's own default
	Key      EnvVar // without a value: none is sent
	Name     string
}

// AccountPlan is one account on one platform.
type AccountPlan struct {
	Name        string // of its entry
	Type        string // telegram, slack, discord
	Credentials []AccountCredential
	APIURL      EnvVar // without a value: the platform's own
	Admit       string // empty: as for all
}

// AccountCredential is one key of an account with the variable that holds it.
type AccountCredential struct {
	Key string
	EnvVar
}

// EnvVar is a value that is in the environment or in trestle.env, and in
// trestle.yaml by its name only.
type EnvVar struct {
	Name  string
	Value adapters.SecretString
}

// AgentPlan is one agent.
type AgentPlan struct{ ID, Name, Persona string }

// SpacePlan is a room with a circle of its own and its chats, each as adapter:chat.
type SpacePlan struct {
	Key   string
	Wake  string
	Chats []string
}

// platforms are the accounts that the environment may hold the credentials of.
var platforms = []struct {
	kind, url   string
	credentials []AccountCredential
}{
	{"telegram", "TELEGRAM_API_URL", []AccountCredential{{Key: "token", EnvVar: EnvVar{Name: "TELEGRAM_BOT_TOKEN"}}}},
	{"slack", "SLACK_API_URL", []AccountCredential{{Key: "bot_token", EnvVar: EnvVar{Name: "SLACK_BOT_TOKEN"}}, {Key: "app_token", EnvVar: EnvVar{Name: "SLACK_APP_TOKEN"}}}},
	{"discord", "DISCORD_API_URL", []AccountCredential{{Key: "token", EnvVar: EnvVar{Name: "DISCORD_BOT_TOKEN"}}}},
}

// FromEnvironment plans what the environment holds.
func FromEnvironment(lookup func(string) (string, bool)) *InstallPlan {
	p := &InstallPlan{}
	get := func(name string) EnvVar {
		value, _ := lookup(name)
		return EnvVar{name, adapters.SecretString(value)}
	}
	name := get("TRESTLE_MODEL")
	if v, ok := config.EnvironmentModel(lookup, string(name.Value)); ok {
		p.Model = &ModelPlan{Provider: v.Provider, BaseURL: get(v.Base), Key: get(v.Key), Name: string(name.Value)}
		p.found(p.Model.BaseURL, p.Model.Key, name)
	}
	for _, platform := range platforms {
		a := AccountPlan{Name: platform.kind, Type: platform.kind, APIURL: get(platform.url)}
		var missing []string
		for _, c := range platform.credentials {
			c.EnvVar = get(c.Name)
			a.Credentials = append(a.Credentials, c)
			if c.Value == "" {
				missing = append(missing, c.Name)
			}
		}
		switch len(missing) {
		case 0:
			p.Accounts = append(p.Accounts, a)
			for _, c := range a.Credentials {
				p.found(c.EnvVar)
			}
		case len(a.Credentials): // no adapter needs it
		default:
			p.Left = append(p.Left, platform.kind+" also needs "+strings.Join(missing, " and "))
		}
	}
	return p
}

func (p *InstallPlan) found(all ...EnvVar) {
	for _, v := range all {
		if v.Value != "" {
			p.Found = append(p.Found, v.Name)
		}
	}
}

// AddTelegram adds the account of a Telegram bot.
func (p *InstallPlan) AddTelegram(token, apiURL adapters.SecretString) {
	p.Accounts = append(p.Accounts, AccountPlan{
		Name: "telegram", Type: "telegram", APIURL: EnvVar{"TELEGRAM_API_URL", apiURL},
		Credentials: []AccountCredential{{"token", EnvVar{"TELEGRAM_BOT_TOKEN", token}}},
	})
}

// SetModel sets the endpoint.
func (p *InstallPlan) SetModel(baseURL, name string, key adapters.SecretString) {
	p.Model = &ModelPlan{Provider: "openai", BaseURL: EnvVar{"OPENAI_BASE_URL", adapters.SecretString(baseURL)}, Key: EnvVar{"OPENAI_API_KEY", key}, Name: name}
}

// Credential returns the value under a key of the account; empty without one.
func (a AccountPlan) Credential(key string) adapters.SecretString {
	i := slices.IndexFunc(a.Credentials, func(c AccountCredential) bool { return c.Key == key })
	if i < 0 {
		return ""
	}
	return a.Credentials[i].Value
}

// variables lists everything that has to stand in trestle.env, each once.
func (p *InstallPlan) variables() []EnvVar {
	var all []EnvVar
	add := func(v EnvVar) {
		known := slices.ContainsFunc(all, func(o EnvVar) bool { return o.Name == v.Name })
		if v.Value != "" && !known {
			all = append(all, v)
		}
	}
	if p.Model != nil {
		add(p.Model.BaseURL)
		add(p.Model.Key)
	}
	for _, a := range p.Accounts {
		for _, c := range a.Credentials {
			add(c.EnvVar)
		}
		add(a.APIURL)
	}
	return all
}

// Secrets lists every credential of the plan.
func (p *InstallPlan) Secrets() []adapters.SecretString {
	var all []adapters.SecretString
	if p.Model != nil {
		all = append(all, p.Model.Key.Value)
	}
	for _, a := range p.Accounts {
		for _, c := range a.Credentials {
			all = append(all, c.Value)
		}
	}
	return all
}
