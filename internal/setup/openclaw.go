package setup

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// FromOpenClaw plans what an OpenClaw configuration (openclaw.json, in JSON5)
// says of models, accounts and agents. References such as ${NAME} in it are
// looked up. What has no counterpart is in Left.
func FromOpenClaw(text string, lookup func(string) (string, bool)) (*InstallPlan, error) {
	root, err := parseJSON5(text)
	if err != nil {
		return nil, err
	}
	if root.kind != objectValue {
		return nil, errors.New("the file is no object")
	}
	c := &openclawImporter{plan: &InstallPlan{}, env: root.at("env"), lookup: lookup}
	c.models(root)
	c.agents(root.at("agents"))
	channels := root.at("channels")
	for _, kind := range channels.keys() {
		c.channel(kind, channels.at(kind))
	}
	known := []string{"env", "models", "agents", "channels", "meta", "wizard"}
	for _, key := range root.keys() {
		if !slices.Contains(known, key) {
			c.left("%s: there is no counterpart here", key)
		}
	}
	return c.plan, nil
}

// openclawImporter takes a configuration over, part by part.
type openclawImporter struct {
	plan   *InstallPlan
	env    *value
	lookup func(string) (string, bool)
}

func (c *openclawImporter) left(format string, args ...any) {
	c.plan.Left = append(c.plan.Left, fmt.Sprintf(format, args...))
}

var clawReference = regexp.MustCompile(`\$\{([A-Z_][A-Z0-9_]*)\}`)

// text returns a string with its references replaced.
func (c *openclawImporter) text(where string, v *value) adapters.SecretString {
	if v != nil && v.kind == objectValue {
		c.left("%s: a reference to another store of secrets; set it by hand", where)
		return ""
	}
	if v == nil || v.kind != stringValue {
		return ""
	}
	return adapters.SecretString(clawReference.ReplaceAllStringFunc(v.text, func(ref string) string {
		name := ref[2 : len(ref)-1]
		if found, ok := c.lookup(name); ok {
			return found
		}
		for _, block := range []*value{c.env, c.env.at("vars")} {
			if set := block.at(name); set != nil && set.kind == stringValue {
				return set.text
			}
		}
		c.left("%s: the variable %s is not set", where, name)
		return ""
	}))
}

// models takes over the provider of the primary model, if it speaks a language
// that is spoken here.
func (c *openclawImporter) models(root *value) {
	model := root.at("agents").at("defaults").at("model")
	primary := string(c.text("agents.defaults.model", cmp.Or(model.at("primary"), model)))
	providers := root.at("models").at("providers")
	provider, name, _ := strings.Cut(primary, "/")
	if primary == "" && len(providers.keys()) > 0 {
		provider = providers.keys()[0]
		if list := providers.at(provider).at("models"); list != nil && len(list.items) > 0 {
			name = string(c.text("models", list.items[0].at("id")))
		}
	}
	p := providers.at(provider)
	where := "models.providers." + provider
	switch api := string(c.text(where+".api", p.at("api"))); {
	case provider == "":
		return
	case p == nil && provider == "openai":
		key, _ := c.lookup("OPENAI_API_KEY")
		c.plan.SetModel("openai", "", name, adapters.SecretString(key))
	case p == nil:
		c.left("the model %s: its provider has no address in the file; set model.base_url and model.api_key", primary)
		return
	case api != "" && !strings.HasPrefix(api, "openai-"):
		c.left("%s speaks %s, and Trestle speaks OpenAI's chat completions", where, api)
		return
	default:
		c.plan.SetModel("openai", string(c.text(where+".baseUrl", p.at("baseUrl"))), name, c.text(where+".apiKey", p.at("apiKey")))
	}
	c.plan.Found = append(c.plan.Found, "the model "+cmp.Or(primary, provider))
}

func (c *openclawImporter) agents(v *value) {
	for _, a := range v.at("list").list() {
		id := string(c.text("agents.list", a.at("id")))
		identity := a.at("identity")
		name := cmp.Or(string(c.text("name", identity.at("name"))), string(c.text("name", a.at("name"))), id)
		persona := "You are " + name + "."
		if theme := string(c.text("theme", identity.at("theme"))); theme != "" {
			persona = "You are " + name + ", " + theme + "."
		}
		taken := slices.ContainsFunc(c.plan.Agents, func(b AgentPlan) bool { return b.ID == id })
		if id == "" || taken || strings.ContainsAny(id, "/ ") {
			c.left("an agent without a usable id")
			continue
		}
		c.plan.Agents = append(c.plan.Agents, AgentPlan{id, name, persona})
		c.plan.Found = append(c.plan.Found, "the agent "+name)
	}
}

// channelKeys says which keys of a channel are which keys of an account.
var channelKeys = map[string][][2]string{
	"telegram": {{"botToken", "token"}},
	"slack":    {{"botToken", "bot_token"}, {"appToken", "app_token"}, {"signingSecret", "signing_secret"}},
	"discord":  {{"token", "token"}},
}

func (c *openclawImporter) channel(kind string, v *value) {
	if _, known := channelKeys[kind]; !known {
		c.left("channels.%s: this platform is not served", kind)
		return
	}
	if v.at("enabled").isFalse() {
		return
	}
	c.account(kind, kind, v, v)
	accounts := v.at("accounts")
	for _, name := range accounts.keys() {
		own := kind + "_" + variablePart(name)
		if name == "default" && len(c.plan.Accounts) == 0 {
			own = kind
		}
		c.account(kind, strings.ToLower(own), accounts.at(name), v)
	}
	c.groups(kind, v)
}

var noVariable = regexp.MustCompile(`[^A-Za-z0-9]+`)

func variablePart(name string) string { return noVariable.ReplaceAllString(name, "_") }

// account takes over one account; common is the channel, for what it leaves out.
func (c *openclawImporter) account(kind, name string, v, common *value) {
	a := AccountPlan{Name: name, Type: kind}
	for _, keys := range channelKeys[kind] {
		variable := strings.ToUpper(name + "_" + keys[1])
		if kind == "telegram" && name == kind {
			variable = "TELEGRAM_BOT_TOKEN"
		}
		secret := c.text("channels."+kind+"."+keys[0], v.at(keys[0]))
		if secret != "" {
			a.Credentials = append(a.Credentials, AccountCredential{keys[1], EnvVar{variable, secret}})
		}
	}
	if len(a.Credentials) == 0 {
		return
	}
	if slices.ContainsFunc(c.plan.Accounts, func(b AccountPlan) bool { return b.Name == name }) {
		c.left("channels.%s: a second account called %s", kind, name)
		return
	}
	switch policy := string(c.text("dmPolicy", cmp.Or(v.at("dmPolicy"), common.at("dmPolicy")))); policy {
	case "open":
		a.Admit = "open"
	case "disabled":
		a.Admit = "deny"
	case "allowlist":
		c.left("channels.%s: its list of people is not taken over; they are let in by pairing", kind)
	}
	c.plan.Accounts = append(c.plan.Accounts, a)
	c.plan.Found = append(c.plan.Found, "the account "+name)
}

// groups takes over the groups of a channel as rooms.
func (c *openclawImporter) groups(kind string, v *value) {
	groups := v.at("groups")
	for _, id := range groups.keys() {
		if id == "" || id == "*" || !slices.ContainsFunc(c.plan.Accounts, func(a AccountPlan) bool { return a.Name == kind }) {
			continue
		}
		wake := "mention"
		if groups.at(id).at("requireMention").isFalse() {
			wake = "all"
		}
		key := kind + variablePart(id)
		if slices.ContainsFunc(c.plan.Spaces, func(s SpacePlan) bool { return s.Key == key }) {
			c.left("channels.%s.groups: %s has the same letters as another", kind, id)
			continue
		}
		c.plan.Spaces = append(c.plan.Spaces, SpacePlan{Key: key, Wake: wake, Chats: []string{kind + ":" + id}})
	}
}
