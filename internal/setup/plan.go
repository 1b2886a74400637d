package setup

import (
	"cmp"
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
	Owners   []string // people who may do in chats what the operator may, as config reads them
	// Schema is whether the JSON schema stands beside the file, for editors.
	Schema bool
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

// A PlatformEntry is a platform that an account can be planned for.
type PlatformEntry struct {
	Kind        string // as an adapter's type
	Obtain      string // how a person gets the credentials
	UserID      string // how a person finds their own id there
	URLVariable string // holds another address of the platform's API
	Credentials []AccountCredential
}

// Platforms returns the platforms, with the variables of their credentials and without values.
func Platforms() []PlatformEntry {
	return []PlatformEntry{
		{
			"telegram", "open https://t.me/BotFather and send /newbot: it answers with a token such as 123456:ABC-DEF",
			"a number; `trestle pair` shows it once you have written to the bot", "TELEGRAM_API_URL",
			[]AccountCredential{{Key: "token", EnvVar: EnvVar{Name: "TELEGRAM_BOT_TOKEN"}}},
		},
		{
			"slack", "open https://api.slack.com/apps, Create New App, From a manifest; docs/slack.md has the manifest.\n" +
				"  the bot token is under OAuth & Permissions, the app token under Basic Information, App-Level Tokens (scope connections:write)",
			"your profile, Copy member ID, such as U0456ABCD", "SLACK_API_URL",
			[]AccountCredential{{Key: "bot_token", EnvVar: EnvVar{Name: "SLACK_BOT_TOKEN"}}, {Key: "app_token", EnvVar: EnvVar{Name: "SLACK_APP_TOKEN"}}},
		},
		{
			"discord", "open https://discord.com/developers/applications, New Application; on its page Bot switch on Message Content Intent,\n" +
				"  then Reset Token",
			"Settings, Advanced, Developer Mode, then right click on your name, Copy User ID", "DISCORD_API_URL",
			[]AccountCredential{{Key: "token", EnvVar: EnvVar{Name: "DISCORD_BOT_TOKEN"}}},
		},
	}
}

// Account plans the account of a platform whose variables have the values that get returns.
func (p PlatformEntry) Account(get func(variable string) adapters.SecretString) AccountPlan {
	a := AccountPlan{Name: p.Kind, Type: p.Kind, APIURL: EnvVar{p.URLVariable, get(p.URLVariable)}}
	for _, c := range p.Credentials {
		c.Value = get(c.Name)
		a.Credentials = append(a.Credentials, c)
	}
	return a
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
	for _, platform := range Platforms() {
		a := platform.Account(func(variable string) adapters.SecretString { return get(variable).Value })
		var missing []string
		for _, c := range a.Credentials {
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
			p.Left = append(p.Left, platform.Kind+" also needs "+strings.Join(missing, " and "))
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

// SetModel sets the endpoint, of a provider as config names it.
func (p *InstallPlan) SetModel(provider, baseURL, name string, key adapters.SecretString) {
	for _, known := range config.Providers() {
		if known.Name == provider {
			p.Model = &ModelPlan{Provider: provider, BaseURL: EnvVar{known.BaseVariable, adapters.SecretString(baseURL)}, Key: EnvVar{known.KeyVariables[0], key}, Name: name}
		}
	}
}

// SetAgent sets the only agent. An empty character is the default's.
func (p *InstallPlan) SetAgent(name, character string) {
	id := strings.Trim(noVariable.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if character == "" {
		character = strings.Replace(config.DefaultPersona, "Ada", name, 1)
	}
	p.Agents = []AgentPlan{{cmp.Or(id, "agent"), name, character}}
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
