package config

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// Showing says what `config show` prints.
type Showing struct {
	Origin bool // where each value was written
	All    bool // also settings that nobody changed
}

// Row is one line of `config show`: a path, its value with credentials as
// ***, and where it was written.
type Row struct {
	Path   string `json:"path"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

// Rows lists the configuration as it counts, in the order of the file.
func (c *Config) Rows(o Showing) []Row {
	var rows []Row
	add := func(path, value string) {
		if value != "" || o.All {
			rows = append(rows, Row{path, value, c.originOf(path)})
		}
	}
	add("data", c.Data)
	add("database", c.Database.String())
	add("redis", c.Redis.String())
	add("listen", c.Listen)
	add("webhook_listen", c.WebhookListen)
	add("token", c.Token.String())
	c.showModel("model", c.Model, add)
	add("admit", c.Admit)
	add("limits.outgoing", c.Outgoing)
	add("default_agents", strings.Join(c.DefaultAgents, ", "))
	rows = append(rows, c.showSettings("", o.All, c.testLimits(), c.settings)...)
	for _, a := range c.Adapters {
		c.showAdapter(a, add)
	}
	for _, a := range c.Agents {
		add("agents."+a.ID+".name", a.Name)
		add("agents."+a.ID+".persona", firstLine(a.Persona))
		if a.Model != c.Model {
			c.showModel("agents."+a.ID+".model", a.Model, add)
		}
		rows = append(rows, c.showSettings("agents."+a.ID+".", false, a.settings)...)
	}
	for _, s := range c.Servers {
		add("servers."+s.Key+".agents", strings.Join(s.Agents, ", "))
		add("servers."+s.Key+".circle", s.Circle)
		rows = append(rows, c.showSettings("servers."+s.Key+".", false, s.settings)...)
	}
	for _, s := range c.Spaces {
		c.showSpace(s, add)
		rows = append(rows, c.showSettings("spaces."+s.Key+".", false, s.settings)...)
	}
	return rows
}

func (c *Config) showModel(path string, m Model, add func(path, value string)) {
	if m.Offline {
		add(path, "offline")
		return
	}
	add(path+".base_url", m.BaseURL)
	add(path+".api_key", m.APIKey.String())
	add(path+".name", m.Name)
}

func (c *Config) showAdapter(a Adapter, add func(path, value string)) {
	path := "adapters." + a.Name
	add(path+".type", a.Type)
	for _, secret := range []struct {
		key   string
		value adapters.Secret
	}{{"token", a.Token}, {"bot_token", a.BotToken}, {"app_token", a.AppToken}, {"signing_secret", a.SigningSecret}} {
		if secret.value != "" {
			add(path+"."+secret.key, secret.value.String())
		}
	}
	add(path+".api_url", a.APIURL)
	if a.WebhookURL != "" {
		add(path+".webhook_url", a.WebhookURL)
	}
	add(path+".admit", a.Admit)
	add(path+".limits.outgoing", a.Outgoing)
}

func (c *Config) showSpace(s Space, add func(path, value string)) {
	path := "spaces." + s.Key
	add(path+".name", s.Name)
	add(path+".circle", s.Circle)
	add(path+".agents", strings.Join(s.Agents, ", "))
	if s.Relay {
		add(path+".relay", "true")
	}
	var chats []string
	for _, chat := range s.Chats {
		chats = append(chats, chat.Adapter+":"+chat.Chat)
	}
	add(path+".chats", strings.Join(chats, ", "))
}

// showSettings lists the settings that layers change, or all of them.
func (c *Config) showSettings(prefix string, all bool, layers ...layer) []Row {
	var rows []Row
	for _, k := range settingKeys {
		written := slices.ContainsFunc(layers, func(l layer) bool { _, ok := l[k.name]; return ok })
		if !written && !all {
			continue
		}
		v := winner(k, layers...)
		rows = append(rows, Row{prefix + k.name, v.text, v.at.String()})
	}
	return rows
}

// originOf says where the value at a path was written.
func (c *Config) originOf(path string) string {
	n := c.doc.root
	for rest := path; rest != ""; {
		key, below := nextKey(n, rest)
		if n = n.get(key); n == nil {
			return Origin{}.String()
		}
		rest = below
	}
	return n.origin.String()
}

// nextKey splits the first key off a path. Keys of entries may hold dots.
func nextKey(n *node, path string) (key, below string) {
	if n != nil {
		for _, e := range n.entries {
			if e.key == path {
				return e.key, ""
			}
			if rest, ok := strings.CutPrefix(path, e.key+"."); ok {
				return e.key, rest
			}
		}
	}
	key, below, _ = strings.Cut(path, ".")
	return key, below
}

// WriteRows prints rows in columns.
func WriteRows(w io.Writer, rows []Row, o Showing) {
	width, values := 0, 0
	for _, r := range rows {
		width = max(width, len(r.Path))
		values = max(values, min(len(r.Value), 40))
	}
	for _, r := range rows {
		if o.Origin {
			fmt.Fprintf(w, "%-*s  %-*s  %s\n", width, r.Path, values, r.Value, r.Origin)
			continue
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%-*s  %s", width, r.Path, r.Value), " "))
	}
}

func firstLine(text string) string {
	line, rest, cut := strings.Cut(strings.TrimSpace(text), "\n")
	if cut && rest != "" {
		return line + " …"
	}
	return line
}
