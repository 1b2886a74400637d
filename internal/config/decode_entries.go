package config

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/internal/timezone"
)

// eachEntry calls read for every entry under a key at the top.
func (d *decoder) eachEntry(name string, n *node, read func(key string, s *section)) {
	f := findKey(topKeys, name).form
	if n != nil && n.kind != mapNode && n.kind != nullNode {
		d.reportEntry(name, []Error{{At: n.origin, What: name + " should hold entries by name", Remedy: "write `" + name + ":` and one indented `name: {…}` for each"}})
		return
	}
	if n == nil {
		return
	}
	for _, e := range n.entries {
		read(e.key, openSection(e.value, f))
	}
}

func (d *decoder) readAdapters(n *node) {
	d.eachEntry("adapters", n, func(name string, s *section) {
		a := AdapterEntry{Name: name, Type: s.oneOf("type", "")}
		if a.Type == "" && len(s.errs) == 0 {
			s.addError(s.node.origin, "the adapter has no type", "write type: telegram")
		}
		if strings.Contains(name, ":") {
			s.addError(s.node.origin, "the name of an adapter's entry may hold no colon", "chats refer to it as name:chat")
		}
		a.APIURL = s.stringAt("api_url")
		s.checkURL("api_url", a.APIURL)
		a.Admit = s.oneOf("admit", "")
		limits := s.subsection("limits")
		a.Outgoing = limits.oneOf("outgoing", "")
		s.mergeErrors(limits)
		d.readCredentials(s, &a)
		d.noteSecrets("adapters."+name, s)
		a.Misconfigured = d.reportEntry("adapters."+name, s.finish())
		d.config.Adapters = append(d.config.Adapters, a)
	})
}

// credentialKeys are the keys of adapters that belong to some types alone.
var credentialKeys = []string{"token", "bot_token", "app_token", "signing_secret", "webhook_url", "text", "reply_url", "reply_secret"}

// hookKeys are those of a hook.
var hookKeys = []string{"token", "signing_secret", "text", "reply_url", "reply_secret"}

// readCredentials reads the credentials that an account of the type needs.
func (d *decoder) readCredentials(s *section, a *AdapterEntry) {
	var needs, may []string
	switch a.Type {
	case "telegram", "discord":
		needs, may = []string{"token"}, []string{"webhook_url"}
	case "slack":
		// With a signing secret Slack delivers events over HTTP, otherwise over a socket that needs the app token.
		if needs, may = []string{"bot_token"}, []string{"app_token", "signing_secret", "webhook_url"}; !s.has("signing_secret") {
			needs, may = []string{"bot_token", "app_token"}, []string{"signing_secret", "webhook_url"}
		}
	case "hook":
		may = hookKeys
	case "": // without a type only unreadable values are errors
		for _, name := range credentialKeys {
			s.stringAt(name)
		}
		return
	}
	for _, need := range []struct {
		name string
		into *adapters.SecretString
	}{{"token", &a.Token}, {"bot_token", &a.BotToken}, {"app_token", &a.AppToken}} {
		if slices.Contains(needs, need.name) {
			*need.into = s.requiredSecret(need.name)
		}
	}
	for _, name := range credentialKeys {
		if s.has(name) && !slices.Contains(needs, name) && !slices.Contains(may, name) {
			s.addError(s.positionOf(name), fmt.Sprintf("%s is no key of a %s account", name, a.Type), "its keys for credentials: "+strings.Join(slices.Concat(needs, may), ", "))
		}
	}
	if slices.Contains(may, "signing_secret") {
		a.SigningSecret = s.secret("signing_secret")
	}
	if slices.Contains(may, "app_token") {
		a.AppToken = s.secret("app_token")
	}
	if slices.Contains(may, "webhook_url") {
		a.WebhookURL = s.stringAt("webhook_url")
	}
	if a.Type == "hook" {
		d.readHook(s, a)
		return
	}
	if a.WebhookURL != "" && d.config.WebhookListen == "" {
		s.addError(s.positionOf("webhook_url"), "webhook_url is set, and nothing listens for the calls", "set webhook_listen to the address that your proxy passes them to, such as 127.0.0.1:8443")
	}
	if a.Type == "slack" {
		checkSlack(s, a, d.config.WebhookListen)
	}
	checkTokens(s, a)
	d.checkIncomingCalls(s, a)
}

// readModels reads the models that answer in place of others. Nothing in an entry is
// inherited: a key is sent to no other endpoint than its own.
func (d *decoder) readModels(n *node) {
	d.eachEntry("models", n, func(name string, s *section) {
		e := FallbackEntry{Key: name}
		if name == "" || strings.ContainsAny(name, " \t") {
			s.addError(s.node.origin, "the name of a model's entry may hold no space", "give it another key and write the endpoint's name for the model under name")
		}
		m := &e.Model
		m.Provider = s.provider("")
		m.BaseURL = s.stringAt("base_url")
		s.checkURL("base_url", m.BaseURL)
		m.APIKey = s.secret("api_key")
		s.checkNoBlank("api_key", m.APIKey)
		m.Name = cmp.Or(s.stringAt("name"), name)
		m.Window = s.number("context_tokens", 0)
		if s.has("compat") {
			m.Compat = s.compat()
		}
		s.readTimeouts(&m.Timeout)
		s.checkKey(*m)
		s.readPrice(&m.Price)
		if m.BaseURL == "" && m.APIKey == "" && len(s.errs) == 0 {
			s.addError(s.node.origin, "the model has no endpoint", "write base_url, api_key or both")
		}
		d.noteSecrets("models."+name, s)
		e.Misconfigured = d.reportEntry("models."+name, s.finish())
		d.config.Models = append(d.config.Models, e)
	})
}

// Bounds on what an agent suggests to people.
const (
	maxSuggested      = 4 // as many as Slack shows
	maxSuggestedRunes = 200
)

// readSuggested reads what people may begin with; nil when the entry does not say.
func readSuggested(s *section) []string {
	if !s.has("suggest") {
		return nil
	}
	all := []string{}
	for _, item := range s.list("suggest") {
		if utf8.RuneCountInString(item.text) > maxSuggestedRunes {
			s.addError(item.at, fmt.Sprintf("suggest: a message of more than %d characters", maxSuggestedRunes), "shorten it: people choose it by reading it")
		}
		all = append(all, item.text)
	}
	if len(all) > maxSuggested {
		s.addError(s.positionOf("suggest"), fmt.Sprintf("suggest has %d messages, more than the %d that are shown", len(all), maxSuggested), "leave some out")
	}
	return all
}

func (d *decoder) readAgents(n *node) {
	d.eachEntry("agents", n, func(id string, s *section) {
		a := AgentEntry{ID: id, Model: d.config.Model}
		if strings.ContainsAny(id, "/ ") {
			s.addError(s.node.origin, "the name of an agent's entry may hold no slash and no space", "give it another key and write the name people read under name")
		}
		a.Name = cmp.Or(s.stringAt("name"), id)
		a.Persona = d.readPersonaText(s)
		before := len(d.config.Problems)
		if a.Avatar = s.stringAt("avatar"); !isAvatar(a.Avatar) {
			s.addError(s.positionOf("avatar"), "avatar is neither an https:// address nor an emoji in colons", "write the address of a picture, such as https://example.com/ada.png, or for Slack :robot_face:")
		}
		a.Model = d.readModel("agents."+id, s.get("model"), d.config.Model, "budget.agent_per_day", s.layer)
		a.Tools = d.readAgentTools(s)
		a.Suggest = readSuggested(s)
		s.readSettings()
		a.settings = s.layer
		d.noteSecrets("agents."+id, s)
		a.Misconfigured = d.reportEntry("agents."+id, s.finish()) || len(d.config.Problems) > before
		d.config.Agents = append(d.config.Agents, a)
	})
	if len(d.config.Agents) == 0 {
		d.config.Agents = []AgentEntry{{ID: "ada", Name: "Ada", Persona: DefaultPersona, Model: d.config.Model, settings: settingsLayer{}}}
	}
}

// readPersonaText reads a persona: a text, the name of a built-in one, or {file:
// PATH}.
func (d *decoder) readPersonaText(s *section) string {
	n := s.get("persona")
	if n == nil || n.kind != mapNode {
		text := s.scalarText(n, "persona")
		return cmp.Or(personas[text], text)
	}
	inner := s.subsection("persona")
	path := inner.stringAt("file")
	s.mergeErrors(inner)
	if path == "" {
		return ""
	}
	text, missing := d.expand.read(path)
	if missing != "" {
		s.addError(inner.positionOf("file"), "persona is missing: "+missing, "name a text file, relative to the configuration")
	}
	return text
}

//go:embed personas/*.md
var personaTexts embed.FS

// personas are the built-in personas by name.
var personas = map[string]string{
	"friendly":     readPersona("friendly.v1"),
	"professional": readPersona("professional.v1"),
	"technical":    readPersona("technical.v1"),
}

func readPersona(name string) string {
	text, err := personaTexts.ReadFile("personas/" + name + ".md")
	if err != nil {
		panic("config: persona is not built in: " + err.Error())
	}
	return strings.TrimSpace(string(text))
}

func (d *decoder) readServers(n *node) {
	d.eachEntry("servers", n, func(name string, s *section) {
		v := ServerEntry{Key: name, Circle: s.stringAt("circle"), Agents: d.readAgentList(s), Relay: s.boolean("relay")}
		d.adapterOf(s, listItem{name, s.node.origin}, "server, such as guild:112233")
		v.DeniedTools = s.deniedTools()
		s.readSettings()
		v.settings = s.layer
		v.Misconfigured = d.reportEntry("servers."+name, s.finish())
		d.config.Servers = append(d.config.Servers, v)
	})
}

func (d *decoder) readSpaces(n *node) {
	d.eachEntry("spaces", n, func(name string, s *section) {
		v := SpaceEntry{Key: name, Name: cmp.Or(s.stringAt("name"), name), Circle: cmp.Or(s.stringAt("circle"), DefaultCircle), Relay: s.boolean("relay")}
		v.Agents = d.readAgentList(s)
		for _, chat := range s.list("chats") {
			if c, ok := d.adapterOf(s, chat, "chat, such as telegram:-1001234"); ok {
				v.Chats = append(v.Chats, c)
				d.warnChatID("spaces."+name, chat.at, c)
			}
		}
		if strings.Contains(v.Circle, "/") {
			s.addError(s.positionOf("circle"), "the name of a circle may hold no slash", "take another name")
		}
		v.DeniedTools = s.deniedTools()
		s.readSettings()
		v.settings = s.layer
		v.Misconfigured = d.reportEntry("spaces."+name, s.finish())
		d.config.Spaces = append(d.config.Spaces, v)
	})
}

// readPeopleLinks reads the people who have accounts on several platforms.
func (d *decoder) readPeopleLinks(n *node) {
	d.eachEntry("people", n, func(name string, s *section) {
		v := PersonLink{Key: name}
		for _, l := range s.list("accounts") {
			if p, ok := d.readPerson(s, l); ok {
				v.Accounts = append(v.Accounts, p)
			}
		}
		if s.has("timezone") {
			v.Timezone = s.stringAt("timezone")
			if _, err := timezone.Load(v.Timezone); err != nil {
				s.addError(s.positionOf("timezone"), err.Error(), "write the name of a time zone, such as Europe/Zurich")
			}
		}
		if !d.reportEntry("people."+name, s.finish()) {
			d.config.People = append(d.config.People, v)
		}
	})
}

// readPeople reads a list of people or programs, "adapter:user" each, with the id
// that the platform assigned: display names and handles can be changed by their
// owner. Invalid items grant nothing.
func (d *decoder) readPeople(top *section, key string) []PersonRef {
	var all []PersonRef
	for _, l := range top.list(key) {
		if p, ok := d.readPerson(top, l); ok {
			all = append(all, p)
		}
	}
	d.reportKey(top, key)
	return all
}

func (d *decoder) readPerson(top *section, l listItem) (PersonRef, bool) {
	if l.text == "*" {
		top.addError(l.at, "nobody is called *", "to let everybody in, write admit: open")
		return PersonRef{}, false
	}
	c, ok := d.adapterOf(top, l, "user, with the id that the platform minted, such as telegram:123456")
	if !ok {
		return PersonRef{}, false
	}
	p, _ := ParsePerson(c.Adapter + ":" + c.Chat)
	slack := d.config.platformOf(c.Adapter) == "slack"
	switch {
	case p.User == "" || strings.HasPrefix(p.User, "@"):
		top.addError(l.at, fmt.Sprintf("%q names nobody for good: handles can be changed", l.text), "write the id that the platform minted, such as telegram:123456")
	case slack && p.Scope == "":
		top.addError(l.at, fmt.Sprintf("%q does not say of which team", l.text), "write adapter:TEAM/USER, such as acme:T0123/U0456")
	case !slack && p.Scope != "":
		top.addError(l.at, fmt.Sprintf("%q has a team, which only Slack knows", l.text), "write adapter:user, such as telegram:123456")
	default:
		return p, true
	}
	return PersonRef{}, false
}

// adapterOf parses "adapter:id" and checks that the adapter exists.
func (d *decoder) adapterOf(s *section, l listItem, form string) (ChatRef, bool) {
	adapter, chat, ok := strings.Cut(l.text, ":")
	if !ok || chat == "" {
		s.addError(l.at, fmt.Sprintf("%q names no adapter and id", l.text), "write adapter:"+form)
		return ChatRef{}, false
	}
	var known []string
	for _, a := range d.config.Adapters {
		if a.Name == adapter {
			return ChatRef{adapter, chat}, true
		}
		known = append(known, a.Name)
	}
	s.addError(l.at, fmt.Sprintf("%q names the adapter %q, which is not under adapters", l.text, adapter),
		cmp.Or(textformat.DidYouMean(adapter, known), "add it under adapters"))
	return ChatRef{}, false
}

// readAgentList reads a list of agents and checks that they exist. The default is
// default_agents.
func (d *decoder) readAgentList(s *section) []string {
	var names []string
	for _, l := range s.list("agents") {
		names = append(names, l.text)
		if !slices.Contains(d.agentIDs(), l.text) {
			s.addError(l.at, fmt.Sprintf("the agent %q is not under agents", l.text), cmp.Or(textformat.DidYouMean(l.text, d.agentIDs()), "add it under agents"))
		}
	}
	if len(names) == 0 {
		return d.config.DefaultAgents
	}
	return names
}

func (d *decoder) agentIDs() []string {
	var ids []string
	for _, a := range d.config.Agents {
		ids = append(ids, a.ID)
	}
	return ids
}
