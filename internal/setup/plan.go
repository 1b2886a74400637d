package setup

import (
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// A Plan is a configuration to be written.
type Plan struct {
	Model    *Model // nil: the built-in offline model answers
	Accounts []Account
	Agents   []Agent
	Spaces   []Space
	// Left is what was found and cannot be taken over, a sentence each.
	Left []string
	// Found names what was found where, for people.
	Found []string
}

// Model is the endpoint that all agents use.
type Model struct {
	BaseURL EnvVar // without a value: the client's own default
	Key     EnvVar // without a value: none is sent
	Name    string
}

// Account is one account on one platform.
type Account struct {
	Name        string // of its entry
	Type        string // telegram, slack, discord
	Credentials []Credential
	APIURL      EnvVar // without a value: the platform's own
	Admit       string // empty: as for all
}

// Credential is one key of an account with the variable that holds it.
type Credential struct {
	Key string
	EnvVar
}

// EnvVar is a value that is in the environment or in trestle.env, and in
// trestle.yaml by its name only.
type EnvVar struct {
	Name  string
	Value adapters.Secret
}

// Agent is one agent.
type Agent struct{ ID, Name, Persona string }

// Space is a room with its chats, each as adapter:chat.
type Space struct {
	Key   string
	Wake  string
	Chats []string
}

// platforms are the accounts that the environment may hold the credentials of.
var platforms = []struct {
	kind, url   string
	credentials []Credential
}{
	{"telegram", "TELEGRAM_API_URL", []Credential{{Key: "token", EnvVar: EnvVar{Name: "TELEGRAM_BOT_TOKEN"}}}},
	{"slack", "SLACK_API_URL", []Credential{{Key: "bot_token", EnvVar: EnvVar{Name: "SLACK_BOT_TOKEN"}}, {Key: "app_token", EnvVar: EnvVar{Name: "SLACK_APP_TOKEN"}}}},
	{"discord", "DISCORD_API_URL", []Credential{{Key: "token", EnvVar: EnvVar{Name: "DISCORD_BOT_TOKEN"}}}},
}

// FromEnvironment plans what the environment holds.
func FromEnvironment(lookup func(string) (string, bool)) *Plan {
	p := &Plan{}
	get := func(name string) EnvVar {
		value, _ := lookup(name)
		return EnvVar{name, adapters.Secret(value)}
	}
	base, key, name := get("OPENAI_BASE_URL"), get("OPENAI_API_KEY"), get("TRESTLE_MODEL")
	if base.Value != "" || key.Value != "" {
		p.Model = &Model{BaseURL: base, Key: key, Name: string(name.Value)}
		p.found(base, key, name)
	}
	for _, platform := range platforms {
		a := Account{Name: platform.kind, Type: platform.kind, APIURL: get(platform.url)}
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
		case len(a.Credentials): // nobody wants it
		default:
			p.Left = append(p.Left, platform.kind+" also needs "+strings.Join(missing, " and "))
		}
	}
	return p
}

func (p *Plan) found(all ...EnvVar) {
	for _, v := range all {
		if v.Value != "" {
			p.Found = append(p.Found, v.Name)
		}
	}
}

// AddTelegram adds the account of a Telegram bot.
func (p *Plan) AddTelegram(token, apiURL adapters.Secret) {
	p.Accounts = append(p.Accounts, Account{
		Name: "telegram", Type: "telegram", APIURL: EnvVar{"TELEGRAM_API_URL", apiURL},
		Credentials: []Credential{{"token", EnvVar{"TELEGRAM_BOT_TOKEN", token}}},
	})
}

// SetModel sets the endpoint.
func (p *Plan) SetModel(baseURL, name string, key adapters.Secret) {
	p.Model = &Model{BaseURL: EnvVar{"OPENAI_BASE_URL", adapters.Secret(baseURL)}, Key: EnvVar{"OPENAI_API_KEY", key}, Name: name}
}

// Credential returns the value under a key of the account; empty without one.
func (a Account) Credential(key string) adapters.Secret {
	i := slices.IndexFunc(a.Credentials, func(c Credential) bool { return c.Key == key })
	if i < 0 {
		return ""
	}
	return a.Credentials[i].Value
}

// variables lists everything that has to stand in trestle.env, each once.
func (p *Plan) variables() []EnvVar {
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
func (p *Plan) Secrets() []adapters.Secret {
	var all []adapters.Secret
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
