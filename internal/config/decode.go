package config

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// decoder turns a tree into a [Config]. Faults outside entries are fatal; those
// of an entry make that entry misconfigured.
type decoder struct {
	config *Config
	folder string // relative paths of the file start here
	here   string // relative paths of the environment start here
	expand expander
	fatal  []Fault
}

func (d *decoder) decode(root *node) {
	c := d.config
	top := openSection(root)
	top.str("version")
	c.Data = cmp.Or(top.str("data"), "./data")
	c.Database = top.secret("database")
	c.Redis = adapters.Secret(d.optional(top, "redis"))
	c.Listen = DefaultListen
	if top.has("listen") {
		c.Listen = top.str("listen")
	}
	top.take("listen")
	c.WebhookListen = d.optional(top, "webhook_listen")
	c.Token = top.secret("token")
	c.Admit = top.oneOf("admit", "pairing", "pairing", "open", "deny")
	limits := openSection(top.take("limits"))
	c.Outgoing = limits.oneOf("outgoing", "platform", "platform", "off")
	d.fatal = append(d.fatal, limits.done()...)
	c.DefaultAgents = top.list("default_agents")
	c.Model = d.model("model", top.take("model"), Model{Name: "gpt-5-mini"}, top.layer)
	d.adapters(top.take("adapters"))
	d.agents(top.take("agents"))
	d.servers(top.take("servers"))
	d.spaces(top.take("spaces"))
	top.settings()
	c.settings = top.layer
	d.fatal = append(d.fatal, top.done()...)
	c.Data = d.place(c.Data, top.where("data"))
	d.checkListen(top)
	d.checkUnserved(top)
	d.completeAgents(top)
}

// place returns a path that is relative to where it was written.
func (d *decoder) place(path string, at Origin) string {
	switch {
	case filepath.IsAbs(path):
		return path
	case at.Env != "":
		return filepath.Join(d.here, path)
	}
	return filepath.Join(d.folder, path)
}

// optional reads a key at the top that others can do without: what is wrong
// with it is a problem and not the end.
func (d *decoder) optional(top *section, key string) string {
	before := len(top.faults)
	value := top.str(key)
	d.entry(key, top.faults[before:])
	top.faults = top.faults[:before]
	return value
}

// entry finishes an entry: it is misconfigured when there are faults.
func (d *decoder) entry(path string, faults []Fault) (misconfigured bool) {
	for _, f := range faults {
		d.config.Problems = append(d.config.Problems, Problem{path, f})
	}
	return len(faults) > 0
}

// each calls read for every entry of a mapping of entries.
func (d *decoder) each(name string, n *node, read func(key string, s *section)) {
	all := openSection(n)
	for _, e := range all.node.entries {
		read(e.key, openSection(e.value))
	}
	if n != nil && n.kind != mapNode && n.kind != nullNode {
		d.fatal = append(d.fatal, Fault{At: n.origin, What: name + " should hold entries by name", Todo: "write `" + name + ":` and one indented `name: {…}` for each"})
	}
}

// model reads a model over what it inherits. Its window is a setting and goes
// to the layer around it.
func (d *decoder) model(path string, n *node, inherited Model, around layer) Model {
	m := inherited
	if n != nil && n.kind == scalarNode {
		s := openSection(nil)
		m.Name = cmp.Or(s.text(n, "model"), m.Name)
		d.entry(path, s.done())
		return m
	}
	s := openSection(n)
	if s.has("base_url") {
		m.BaseURL = s.str("base_url")
	}
	if s.has("api_key") {
		m.APIKey = s.secret("api_key")
	}
	s.take("base_url")
	s.take("api_key")
	m.Name = cmp.Or(s.str("name"), m.Name)
	for _, key := range []string{"context_tokens", "max_output_tokens"} {
		if v := s.take(key); v != nil {
			s.setting(key, v)
		}
	}
	maps.Copy(around, s.layer)
	broken := d.entry(path, s.done())
	m.Offline = broken || (m.BaseURL == "" && m.APIKey == "")
	return m
}

func (d *decoder) adapters(n *node) {
	d.each("adapters", n, func(name string, s *section) {
		a := Adapter{Name: name}
		a.Type = s.oneOf("type", "", "telegram", "slack", "discord")
		if a.Type == "" && len(s.faults) == 0 {
			s.fail(s.node.origin, "the adapter has no type", "write type: telegram")
		}
		a.APIURL = s.str("api_url")
		a.Admit = s.oneOf("admit", "", "pairing", "open", "deny")
		limits := openSection(s.take("limits"))
		a.Outgoing = limits.oneOf("outgoing", "", "platform", "off")
		s.faults = append(s.faults, limits.done()...)
		switch a.Type {
		case "telegram":
			a.Token = s.need("token")
			if a.WebhookURL = s.str("webhook_url"); a.WebhookURL != "" && d.config.WebhookListen == "" {
				s.fail(s.where("webhook_url"), "webhook_url is set, and nothing listens for the calls", "set webhook_listen to the address that your proxy passes them to, such as 127.0.0.1:8443")
			}
		case "discord":
			a.Token = s.need("token")
		case "":
			for _, key := range []string{"token", "bot_token", "app_token", "signing_secret", "webhook_url"} {
				s.take(key)
			}
		case "slack":
			a.BotToken, a.AppToken, a.SigningSecret = s.need("bot_token"), s.need("app_token"), s.secret("signing_secret")
		}
		if a.Type == "slack" || a.Type == "discord" {
			s.fail(s.node.origin, "this version does not serve "+a.Type, "remove the entry, or wait for the version that does")
		}
		a.Misconfigured = d.entry("adapters."+name, s.done())
		d.config.Adapters = append(d.config.Adapters, a)
	})
}

func (d *decoder) agents(n *node) {
	d.each("agents", n, func(id string, s *section) {
		a := Agent{ID: id, Model: d.config.Model}
		if strings.ContainsAny(id, "/ ") {
			s.fail(s.node.origin, "the name of an agent's entry may hold no slash and no space", "")
		}
		a.Name = cmp.Or(s.str("name"), id)
		a.Persona = d.persona(s)
		before := len(d.config.Problems)
		a.Model = d.model("agents."+id, s.take("model"), d.config.Model, s.layer)
		s.settings()
		a.settings = s.layer
		a.Misconfigured = d.entry("agents."+id, s.done()) || len(d.config.Problems) > before
		d.config.Agents = append(d.config.Agents, a)
	})
}

// persona is a text, or {file: PATH}.
func (d *decoder) persona(s *section) string {
	n := s.take("persona")
	if n == nil || n.kind != mapNode {
		return s.text(n, "persona")
	}
	inner := openSection(n)
	path := inner.str("file")
	s.faults = append(s.faults, inner.done()...)
	if path == "" {
		return ""
	}
	text, missing := d.expand.read(path)
	if missing != "" {
		s.fail(inner.where("file"), "persona is missing: "+missing, "")
	}
	return text
}

func (d *decoder) servers(n *node) {
	d.each("servers", n, func(key string, s *section) {
		v := Server{Key: key, Circle: s.str("circle"), Agents: d.named(s), Relay: s.yes("relay")}
		d.adapterOf(s, key, s.node.origin)
		s.settings()
		v.settings = s.layer
		v.Misconfigured = d.entry("servers."+key, s.done())
		d.config.Servers = append(d.config.Servers, v)
	})
}

func (d *decoder) spaces(n *node) {
	d.each("spaces", n, func(key string, s *section) {
		v := Space{Key: key, Name: cmp.Or(s.str("name"), key), Circle: cmp.Or(s.str("circle"), DefaultCircle), Relay: s.yes("relay")}
		v.Agents = d.named(s)
		for _, chat := range s.list("chats") {
			if c, ok := d.adapterOf(s, chat, s.where("chats")); ok {
				v.Chats = append(v.Chats, c)
			}
		}
		if strings.Contains(v.Circle, "/") {
			s.fail(s.where("circle"), "the name of a circle may hold no slash", "")
		}
		s.settings()
		v.settings = s.layer
		v.Misconfigured = d.entry("spaces."+key, s.done())
		d.config.Spaces = append(d.config.Spaces, v)
	})
}

// adapterOf reads "adapter:chat".
func (d *decoder) adapterOf(s *section, text string, at Origin) (Chat, bool) {
	adapter, chat, ok := strings.Cut(text, ":")
	if !ok || chat == "" {
		s.fail(at, fmt.Sprintf("%q names no chat", text), "write adapter:chat, such as telegram:-1001234")
		return Chat{}, false
	}
	var known []string
	for _, a := range d.config.Adapters {
		if a.Name == adapter {
			return Chat{adapter, chat}, true
		}
		known = append(known, a.Name)
	}
	s.fail(at, fmt.Sprintf("%q names the adapter %q, which is not under adapters", text, adapter), suggestion(adapter, known))
	return Chat{}, false
}

// named reads a list of agents and checks that they are there.
func (d *decoder) named(s *section) []string {
	names := s.list("agents")
	var known []string
	for _, a := range d.config.Agents {
		known = append(known, a.ID)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			s.fail(s.where("agents"), fmt.Sprintf("the agent %q is not under agents", name), suggestion(name, known))
		}
	}
	return names
}

// completeAgents makes sure of one agent, and of who joins where nobody is named.
func (d *decoder) completeAgents(top *section) {
	c := d.config
	if len(c.Agents) == 0 {
		c.Agents = []Agent{{ID: "ada", Name: "Ada", Persona: defaultPersona, Model: c.Model, settings: layer{}}}
	}
	for _, name := range c.DefaultAgents {
		if !slices.ContainsFunc(c.Agents, func(a Agent) bool { return a.ID == name }) {
			d.fatal = append(d.fatal, Fault{At: top.where("default_agents"), What: fmt.Sprintf("default_agents names %q, which is not under agents", name), Todo: "name one of the agents"})
		}
	}
	if len(c.DefaultAgents) == 0 {
		c.DefaultAgents = []string{c.Agents[0].ID}
	}
	for i := range c.Spaces {
		if len(c.Spaces[i].Agents) == 0 {
			c.Spaces[i].Agents = c.DefaultAgents
		}
	}
	for i := range c.Servers {
		if len(c.Servers[i].Agents) == 0 {
			c.Servers[i].Agents = c.DefaultAgents
		}
	}
}

const defaultPersona = "You are Ada, a friendly and careful member of this conversation. You answer briefly, you say so when you do not know, and you keep your promises."
