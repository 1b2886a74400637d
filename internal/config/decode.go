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
	config *Config
	folder string // relative paths of the file start here
	here   string // relative paths of the environment and of flags start here
	expand expander
	fatal  []Error
	kept   []secretSource
}

func (d *decoder) decode(root *node) {
	c := d.config
	top := openSection(root, form{of: topKeys, settings: true})
	c.Data = cmp.Or(d.must(top, "data"), "./data")
	c.Listen = DefaultListen
	if top.has("listen") {
		c.Listen = d.must(top, "listen")
	}
	c.Database = top.secret("database")
	d.stop(top)
	d.roles(top)
	c.Redis = top.secret("redis")
	d.part(top, "redis")
	c.WebhookListen = top.str("webhook_listen")
	d.part(top, "webhook_listen")
	c.Token = top.secret("token")
	d.part(top, "token")
	d.reach(top)
	c.Admit = top.word("admit", "pairing")
	if d.part(top, "admit") {
		c.Admit = "deny" // whoever was meant, it was not said
	}
	limits := top.inner("limits")
	c.Outgoing = limits.word("outgoing", "platform")
	c.SenderPerMinute = limits.number("sender_per_minute", defaultSenderPerMinute)
	top.close(limits)
	d.part(top, "limits")
	c.Model = d.model("model", top.get("model"), Model{Name: DefaultModel}, "budget.per_day", top.layer)
	d.adapters(top.get("adapters"))
	d.alarms(top)
	d.telemetry(top)
	c.Owners, c.Admins, c.Allow = d.people(top, "owners"), d.people(top, "admins"), d.people(top, "allow")
	d.known(top.get("people"))
	d.agents(top.get("agents"))
	d.joiners(top)
	d.servers(top.get("servers"))
	d.spaces(top.get("spaces"))
	d.topSettings(top)
	c.Data = d.place(c.Data, top.where("data"))
	d.check(top)
	d.unknown(top)
}

// reach reads from where the console may be called. What is wrong there stops
// the start: nobody is let in by a misunderstanding.
func (d *decoder) reach(top *section) {
	c := d.config
	for _, l := range top.list("hosts") {
		if strings.ContainsAny(l.text, "/:*@ ") {
			top.fail(l.at, fmt.Sprintf("hosts: %q is no name", l.text), "write the name alone, such as trestle.example.org")
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
			top.fail(l.at, fmt.Sprintf("trusted_proxies: %q is no address and no network", l.text), "write 10.0.0.7, or 10.0.0.0/24; not everybody can be a proxy")
			continue
		}
		c.Proxies = append(c.Proxies, p.Masked())
	}
	d.stop(top)
}

// must reads a key that the program cannot begin without.
func (d *decoder) must(top *section, name string) string {
	value := top.str(name)
	d.stop(top)
	return value
}

// stop makes what was found so far the end of it.
func (d *decoder) stop(top *section) {
	d.fatal = append(d.fatal, top.faults...)
	top.faults = nil
	d.keep("", top)
}

// part makes what was found about one key at the top a problem of that key.
func (d *decoder) part(top *section, name string) (misconfigured bool) {
	faults := top.faults
	top.faults = nil
	d.keep(name, top)
	return d.entry(name, faults)
}

// entry finishes an entry: it is misconfigured when there are faults.
func (d *decoder) entry(path string, faults []Error) (misconfigured bool) {
	for _, f := range faults {
		d.config.Problems = append(d.config.Problems, Problem{path, f})
	}
	return len(faults) > 0
}

// keep notes how the credentials of a section are kept.
func (d *decoder) keep(path string, s *section) {
	if len(s.literals) > 0 || len(s.files) > 0 {
		d.kept = append(d.kept, secretSource{path, s.literals, s.files})
	}
	s.literals, s.files = nil, nil
}

// topSettings reads the settings at the top. One that is wrong has its default.
func (d *decoder) topSettings(top *section) {
	for _, e := range top.node.entries {
		one := openSection(&node{kind: mapNode, entries: []entry{e}}, form{settings: true})
		one.settings()
		maps.Copy(top.layer, one.layer)
		d.entry(e.key, one.faults)
	}
	d.config.settings = top.layer
}

// unknown says which keys at the top nobody reads. One that seems to mean the
// record or the address stops the start: a program that goes on without it opens
// another record.
func (d *decoder) unknown(top *section) {
	for _, f := range top.done() {
		near := slices.ContainsFunc([]string{"data", "database", "listen"}, func(k string) bool {
			return f.Remedy == DidYouMean(k, []string{k})
		})
		if near {
			d.fatal = append(d.fatal, f)
			continue
		}
		d.config.Problems = append(d.config.Problems, Problem{f.key, f})
	}
}

// each calls read for every entry under a key at the top.
func (d *decoder) each(name string, n *node, read func(key string, s *section)) {
	f := row(topKeys, name).form
	if n != nil && n.kind != mapNode && n.kind != nullNode {
		d.entry(name, []Error{{At: n.origin, What: name + " should hold entries by name", Remedy: "write `" + name + ":` and one indented `name: {…}` for each"}})
		return
	}
	if n == nil {
		return
	}
	for _, e := range n.entries {
		read(e.key, openSection(e.value, f))
	}
}

// model reads a model over what it inherits. What it says on settings goes to
// the layer around it; perDay is the setting that its limit for a day is.
func (d *decoder) model(path string, n *node, inherited Model, perDay string, around settingsLayer) Model {
	m := inherited
	f := form{of: modelKeys}
	if n != nil && n.kind == scalarNode {
		s := openSection(nil, f)
		m.Name = cmp.Or(s.text(n, "model"), m.Name)
		m.Offline = d.entry(path, s.done()) || (m.BaseURL == "" && m.APIKey == "")
		return m
	}
	s := openSection(n, f)
	if s.has("base_url") {
		m.BaseURL = s.str("base_url")
		s.wantURL("base_url", m.BaseURL)
	}
	if s.has("api_key") {
		m.APIKey = s.secret("api_key")
		s.unbroken("api_key", m.APIKey)
	}
	m.Name = cmp.Or(s.str("name"), m.Name)
	for _, name := range []string{"context_tokens", "max_output_tokens"} {
		if v := s.get(name); v != nil {
			s.setting(name, v)
		}
	}
	limits := s.inner("limits")
	if v := limits.get("per_day"); v != nil {
		limits.setting(perDay, v)
	}
	if v := limits.get("per_cycle"); v != nil {
		limits.setting("budget.per_cycle", v)
	}
	maps.Copy(s.layer, limits.layer)
	s.close(limits)
	maps.Copy(around, s.layer)
	d.keep(path, s)
	broken := d.entry(path, s.done())
	m.Offline = broken || (m.BaseURL == "" && m.APIKey == "")
	return m
}

func (d *decoder) adapters(n *node) {
	d.each("adapters", n, func(name string, s *section) {
		a := Adapter{Name: name, Type: s.word("type", "")}
		if a.Type == "" && len(s.faults) == 0 {
			s.fail(s.node.origin, "the adapter has no type", "write type: telegram")
		}
		if strings.Contains(name, ":") {
			s.fail(s.node.origin, "the name of an adapter's entry may hold no colon", "chats refer to it as name:chat")
		}
		a.APIURL = s.str("api_url")
		s.wantURL("api_url", a.APIURL)
		a.Admit = s.word("admit", "")
		limits := s.inner("limits")
		a.Outgoing = limits.word("outgoing", "")
		s.close(limits)
		d.credentials(s, &a)
		d.keep("adapters."+name, s)
		a.Misconfigured = d.entry("adapters."+name, s.done())
		d.config.Adapters = append(d.config.Adapters, a)
	})
}

// credentials reads what an account of the type needs.
func (d *decoder) credentials(s *section, a *Adapter) {
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
			s.str(name)
		}
		return
	}
	for _, need := range []struct {
		name string
		into *adapters.Secret
	}{{"token", &a.Token}, {"bot_token", &a.BotToken}, {"app_token", &a.AppToken}} {
		if slices.Contains(needs, need.name) {
			*need.into = s.need(need.name)
		}
	}
	for _, name := range []string{"token", "bot_token", "app_token", "signing_secret", "webhook_url"} {
		if s.has(name) && !slices.Contains(needs, name) && !slices.Contains(may, name) {
			s.fail(s.where(name), fmt.Sprintf("%s is no key of a %s account", name, a.Type), "its keys for credentials: "+strings.Join(slices.Concat(needs, may), ", "))
		}
	}
	if slices.Contains(may, "signing_secret") {
		a.SigningSecret = s.secret("signing_secret")
	}
	if slices.Contains(may, "app_token") {
		a.AppToken = s.secret("app_token")
	}
	if slices.Contains(may, "webhook_url") {
		a.WebhookURL = s.str("webhook_url")
	}
	if a.WebhookURL != "" && d.config.WebhookListen == "" {
		s.fail(s.where("webhook_url"), "webhook_url is set, and nothing listens for the calls", "set webhook_listen to the address that your proxy passes them to, such as 127.0.0.1:8443")
	}
	if a.Type == "slack" {
		checkSlack(s, a, d.config.WebhookListen)
	}
	checkTokens(s, a)
	d.checkCalled(s, a)
}

func (d *decoder) agents(n *node) {
	d.each("agents", n, func(id string, s *section) {
		a := Agent{ID: id, Model: d.config.Model}
		if strings.ContainsAny(id, "/ ") {
			s.fail(s.node.origin, "the name of an agent's entry may hold no slash and no space", "give it another key and write the name people read under name")
		}
		a.Name = cmp.Or(s.str("name"), id)
		a.Persona = d.persona(s)
		before := len(d.config.Problems)
		if a.Avatar = s.str("avatar"); !isAvatar(a.Avatar) {
			s.fail(s.where("avatar"), "avatar is neither an https:// address nor an emoji in colons", "write the address of a picture, such as https://example.com/ada.png, or for Slack :robot_face:")
		}
		a.Model = d.model("agents."+id, s.get("model"), d.config.Model, "budget.agent_per_day", s.layer)
		s.settings()
		a.settings = s.layer
		d.keep("agents."+id, s)
		a.Misconfigured = d.entry("agents."+id, s.done()) || len(d.config.Problems) > before
		d.config.Agents = append(d.config.Agents, a)
	})
	if len(d.config.Agents) == 0 {
		d.config.Agents = []Agent{{ID: "ada", Name: "Ada", Persona: DefaultPersona, Model: d.config.Model, settings: settingsLayer{}}}
	}
}

// DefaultPersona is who the agent is where none is configured.
const DefaultPersona = "You are Ada, a friendly and careful member of this conversation. You answer briefly, you say so when you do not know, and you keep your promises."

// persona is a text, the name of a built-in one, or {file: PATH}.
func (d *decoder) persona(s *section) string {
	n := s.get("persona")
	if n == nil || n.kind != mapNode {
		text := s.text(n, "persona")
		return cmp.Or(personas[text], text)
	}
	inner := s.inner("persona")
	path := inner.str("file")
	s.close(inner)
	if path == "" {
		return ""
	}
	text, missing := d.expand.read(path)
	if missing != "" {
		s.fail(inner.where("file"), "persona is missing: "+missing, "name a text file, relative to the configuration")
	}
	return text
}

func (d *decoder) servers(n *node) {
	d.each("servers", n, func(name string, s *section) {
		v := Server{Key: name, Circle: s.str("circle"), Agents: d.named(s), Relay: s.flag("relay")}
		d.adapterOf(s, listed{name, s.node.origin}, "server, such as guild:112233")
		s.settings()
		v.settings = s.layer
		v.Misconfigured = d.entry("servers."+name, s.done())
		d.config.Servers = append(d.config.Servers, v)
	})
}

func (d *decoder) spaces(n *node) {
	d.each("spaces", n, func(name string, s *section) {
		v := Space{Key: name, Name: cmp.Or(s.str("name"), name), Circle: cmp.Or(s.str("circle"), DefaultCircle), Relay: s.flag("relay")}
		v.Agents = d.named(s)
		for _, chat := range s.list("chats") {
			if c, ok := d.adapterOf(s, chat, "chat, such as telegram:-1001234"); ok {
				v.Chats = append(v.Chats, c)
				d.warnOfChat("spaces."+name, chat.at, c)
			}
		}
		if strings.Contains(v.Circle, "/") {
			s.fail(s.where("circle"), "the name of a circle may hold no slash", "take another name")
		}
		s.settings()
		v.settings = s.layer
		v.Misconfigured = d.entry("spaces."+name, s.done())
		d.config.Spaces = append(d.config.Spaces, v)
	})
}

// adapterOf reads "adapter:id".
func (d *decoder) adapterOf(s *section, l listed, form string) (Chat, bool) {
	adapter, chat, ok := strings.Cut(l.text, ":")
	if !ok || chat == "" {
		s.fail(l.at, fmt.Sprintf("%q names no adapter and id", l.text), "write adapter:"+form)
		return Chat{}, false
	}
	var known []string
	for _, a := range d.config.Adapters {
		if a.Name == adapter {
			return Chat{adapter, chat}, true
		}
		known = append(known, a.Name)
	}
	s.fail(l.at, fmt.Sprintf("%q names the adapter %q, which is not under adapters", l.text, adapter),
		cmp.Or(DidYouMean(adapter, known), "add it under adapters"))
	return Chat{}, false
}

// named reads a list of agents and checks that they are there. Without one it is
// who joins by default.
func (d *decoder) named(s *section) []string {
	var names []string
	for _, l := range s.list("agents") {
		names = append(names, l.text)
		if !slices.Contains(d.agentIDs(), l.text) {
			s.fail(l.at, fmt.Sprintf("the agent %q is not under agents", l.text), cmp.Or(DidYouMean(l.text, d.agentIDs()), "add it under agents"))
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

// joiners reads who joins where nobody is named: those that there are, or else
// the first agent.
func (d *decoder) joiners(top *section) {
	for _, l := range top.list("default_agents") {
		if !slices.Contains(d.agentIDs(), l.text) {
			top.fail(l.at, fmt.Sprintf("default_agents names %q, which is not under agents", l.text), cmp.Or(DidYouMean(l.text, d.agentIDs()), "name one of the agents"))
			continue
		}
		d.config.DefaultAgents = append(d.config.DefaultAgents, l.text)
	}
	d.part(top, "default_agents")
	if len(d.config.DefaultAgents) == 0 {
		d.config.DefaultAgents = []string{d.config.Agents[0].ID}
	}
}
