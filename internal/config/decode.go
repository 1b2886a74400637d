package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// decoder turns a tree into a [Config]. Only what the program cannot begin
// without is fatal; any other fault makes its entry misconfigured.
type decoder struct {
	config     *Config
	folder     string // relative paths of the file start here
	workFolder string // relative paths of the environment and of flags start here
	expand     expander
	fatal      []Error
	secrets    []secretSource
}

func (d *decoder) decode(root *node) {
	c := d.config
	top := openSection(root, keyForm{of: topKeys, settings: true})
	c.Data = cmp.Or(d.requiredText(top, "data"), "./data")
	c.Listen = DefaultListen
	if top.has("listen") {
		c.Listen = d.requiredText(top, "listen")
	}
	c.Database = top.secret("database")
	d.makeFatal(top)
	d.readRoles(top)
	c.Redis = top.secret("redis")
	d.reportKey(top, "redis")
	c.WebhookListen = top.stringAt("webhook_listen")
	d.reportKey(top, "webhook_listen")
	c.Token = top.secret("token")
	d.reportKey(top, "token")
	d.readNetworkAccess(top)
	c.Admit = top.oneOf("admit", "pairing")
	if d.reportKey(top, "admit") {
		c.Admit = "deny" // whoever was meant, it was not said
	}
	limits := top.subsection("limits")
	c.Outgoing = limits.oneOf("outgoing", "platform")
	c.SenderPerMinute = limits.number("sender_per_minute", defaultSenderPerMinute)
	top.mergeErrors(limits)
	d.reportKey(top, "limits")
	c.Model = d.readModel("model", top.get("model"), ModelEndpoint{Name: DefaultModel}, "budget.per_day", top.layer)
	d.readAdapters(top.get("adapters"))
	d.readAlerts(top)
	d.readTelemetry(top)
	c.Owners, c.Admins, c.Allow = d.readPeople(top, "owners"), d.readPeople(top, "admins"), d.readPeople(top, "allow")
	d.readPeopleLinks(top.get("people"))
	d.readAgents(top.get("agents"))
	d.readDefaultAgents(top)
	d.readServers(top.get("servers"))
	d.readSpaces(top.get("spaces"))
	d.readTopSettings(top)
	c.Data = d.resolvePath(c.Data, top.positionOf("data"))
	d.checkAll(top)
	d.reportUnknownKeys(top)
}

// readNetworkAccess reads from where the console may be called. What is wrong there stops
// the start: nobody is let in by a misunderstanding.
func (d *decoder) readNetworkAccess(top *section) {
	c := d.config
	for _, l := range top.list("hosts") {
		if strings.ContainsAny(l.text, "/:*@ ") {
			top.addError(l.at, fmt.Sprintf("hosts: %q is no name", l.text), "write the name alone, such as trestle.example.org")
			continue
		}
		c.Hosts = append(c.Hosts, l.text)
	}
	for _, l := range top.list("trusted_proxies") {
		p, err := netip.ParsePrefix(l.text)
		if addr, single := netip.ParseAddr(l.text); single == nil {
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil || p.Bits() == 0 {
			top.addError(l.at, fmt.Sprintf("trusted_proxies: %q is no address and no network", l.text), "write 10.0.0.7, or 10.0.0.0/24; not everybody can be a proxy")
			continue
		}
		c.Proxies = append(c.Proxies, p.Masked())
	}
	d.makeFatal(top)
}

// requiredText reads a key that the program cannot begin without.
func (d *decoder) requiredText(top *section, name string) string {
	value := top.stringAt(name)
	d.makeFatal(top)
	return value
}

// makeFatal makes what was found so far the end of it.
func (d *decoder) makeFatal(top *section) {
	d.fatal = append(d.fatal, top.errs...)
	top.errs = nil
	d.noteSecrets("", top)
}

// reportKey makes what was found about one key at the top a problem of that key.
func (d *decoder) reportKey(top *section, name string) (misconfigured bool) {
	faults := top.errs
	top.errs = nil
	d.noteSecrets(name, top)
	return d.reportEntry(name, faults)
}

// reportEntry finishes an entry: it is misconfigured when there are faults.
func (d *decoder) reportEntry(path string, faults []Error) (misconfigured bool) {
	for _, f := range faults {
		d.config.Problems = append(d.config.Problems, EntryProblem{path, f})
	}
	return len(faults) > 0
}

// noteSecrets notes how the credentials of a section are kept.
func (d *decoder) noteSecrets(path string, s *section) {
	if len(s.literals) > 0 || len(s.files) > 0 {
		d.secrets = append(d.secrets, secretSource{path, s.literals, s.files})
	}
	s.literals, s.files = nil, nil
}

// readTopSettings reads the settings at the top. One that is wrong has its default.
func (d *decoder) readTopSettings(top *section) {
	for _, e := range top.node.entries {
		one := openSection(&node{kind: mapNode, entries: []mapEntry{e}}, keyForm{settings: true})
		one.readSettings()
		maps.Copy(top.layer, one.layer)
		d.reportEntry(e.key, one.errs)
	}
	d.config.settings = top.layer
}

// reportUnknownKeys says which keys at the top nobody reads. One that seems to mean the
// record or the address stops the start: a program that goes on without it opens
// another record.
func (d *decoder) reportUnknownKeys(top *section) {
	for _, f := range top.finish() {
		near := slices.ContainsFunc([]string{"data", "database", "listen"}, func(k string) bool {
			return f.Remedy == DidYouMean(k, []string{k})
		})
		if near {
			d.fatal = append(d.fatal, f)
			continue
		}
		d.config.Problems = append(d.config.Problems, EntryProblem{f.key, f})
	}
}

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

// readModel reads a model over what it inherits. What it says on settings goes to
// the layer around it; perDay is the setting that its limit for a day is.
func (d *decoder) readModel(path string, n *node, inherited ModelEndpoint, perDay string, around settingsLayer) ModelEndpoint {
	m := inherited
	f := keyForm{of: modelKeys}
	if n != nil && n.kind == scalarNode {
		s := openSection(nil, f)
		m.Name = cmp.Or(s.scalarText(n, "model"), m.Name)
		m.Offline = d.reportEntry(path, s.finish()) || (m.BaseURL == "" && m.APIKey == "")
		return m
	}
	s := openSection(n, f)
	if s.has("base_url") {
		m.BaseURL = s.stringAt("base_url")
		s.checkURL("base_url", m.BaseURL)
	}
	if s.has("api_key") {
		m.APIKey = s.secret("api_key")
		s.checkNoBlank("api_key", m.APIKey)
	}
	m.Name = cmp.Or(s.stringAt("name"), m.Name)
	for _, name := range []string{"context_tokens", "max_output_tokens"} {
		if v := s.get(name); v != nil {
			s.readSetting(name, v)
		}
	}
	limits := s.subsection("limits")
	if v := limits.get("per_day"); v != nil {
		limits.readSetting(perDay, v)
	}
	if v := limits.get("per_cycle"); v != nil {
		limits.readSetting("budget.per_cycle", v)
	}
	maps.Copy(s.layer, limits.layer)
	s.mergeErrors(limits)
	maps.Copy(around, s.layer)
	d.noteSecrets(path, s)
	broken := d.reportEntry(path, s.finish())
	m.Offline = broken || (m.BaseURL == "" && m.APIKey == "")
	return m
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

// readCredentials reads what an account of the type needs.
func (d *decoder) readCredentials(s *section, a *AdapterEntry) {
	var needs, may []string
	switch a.Type {
	case "telegram", "discord":
		needs, may = []string{"token"}, []string{"webhook_url"}
	case "slack":
		// With a signing secret Slack calls us; without one we need the token for sockets.
		if needs, may = []string{"bot_token"}, []string{"app_token", "signing_secret", "webhook_url"}; !s.has("signing_secret") {
			needs, may = []string{"bot_token", "app_token"}, []string{"signing_secret", "webhook_url"}
		}
	case "": // nobody knows what it needs, only what cannot be read
		for _, name := range []string{"token", "bot_token", "app_token", "signing_secret", "webhook_url"} {
			s.stringAt(name)
		}
		return
	}
	for _, need := range []struct {
		name string
		into *adapters.Secret
	}{{"token", &a.Token}, {"bot_token", &a.BotToken}, {"app_token", &a.AppToken}} {
		if slices.Contains(needs, need.name) {
			*need.into = s.requiredSecret(need.name)
		}
	}
	for _, name := range []string{"token", "bot_token", "app_token", "signing_secret", "webhook_url"} {
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
	if a.WebhookURL != "" && d.config.WebhookListen == "" {
		s.addError(s.positionOf("webhook_url"), "webhook_url is set, and nothing listens for the calls", "set webhook_listen to the address that your proxy passes them to, such as 127.0.0.1:8443")
	}
	if a.Type == "slack" {
		checkSlack(s, a, d.config.WebhookListen)
	}
	checkTokens(s, a)
	d.checkIncomingCalls(s, a)
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

// DefaultPersona is who the agent is where none is configured.
const DefaultPersona = "You are Ada, a friendly and careful member of this conversation. You answer briefly, you say so when you do not know, and you keep your promises."

// readPersonaText is a text, the name of a built-in one, or {file: PATH}.
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

func (d *decoder) readServers(n *node) {
	d.eachEntry("servers", n, func(name string, s *section) {
		v := ServerEntry{Key: name, Circle: s.stringAt("circle"), Agents: d.readAgentList(s), Relay: s.boolean("relay")}
		d.adapterOf(s, listItem{name, s.node.origin}, "server, such as guild:112233")
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
		s.readSettings()
		v.settings = s.layer
		v.Misconfigured = d.reportEntry("spaces."+name, s.finish())
		d.config.Spaces = append(d.config.Spaces, v)
	})
}

// adapterOf reads "adapter:id".
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
		cmp.Or(DidYouMean(adapter, known), "add it under adapters"))
	return ChatRef{}, false
}

// readAgentList reads a list of agents and checks that they are there. Without one it is
// who joins by default.
func (d *decoder) readAgentList(s *section) []string {
	var names []string
	for _, l := range s.list("agents") {
		names = append(names, l.text)
		if !slices.Contains(d.agentIDs(), l.text) {
			s.addError(l.at, fmt.Sprintf("the agent %q is not under agents", l.text), cmp.Or(DidYouMean(l.text, d.agentIDs()), "add it under agents"))
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

// readDefaultAgents reads who joins where nobody is named: those that there are, or else
// the first agent.
func (d *decoder) readDefaultAgents(top *section) {
	for _, l := range top.list("default_agents") {
		if !slices.Contains(d.agentIDs(), l.text) {
			top.addError(l.at, fmt.Sprintf("default_agents names %q, which is not under agents", l.text), cmp.Or(DidYouMean(l.text, d.agentIDs()), "name one of the agents"))
			continue
		}
		d.config.DefaultAgents = append(d.config.DefaultAgents, l.text)
	}
	d.reportKey(top, "default_agents")
	if len(d.config.DefaultAgents) == 0 {
		d.config.DefaultAgents = []string{d.config.Agents[0].ID}
	}
}
