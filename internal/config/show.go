package config

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// ShowOptions select what `config show` prints.
type ShowOptions struct {
	Origin bool // include the origin of each value
	All    bool // include unchanged settings
}

// ShownValue is one line of `config show`: a path, its value with credentials as
// ***, and the origin of the value.
type ShownValue struct {
	Path   string `json:"path"`
	Value  string `json:"value"`
	Origin string `json:"origin"`

	whole adapters.SecretString // unredacted, for comparison
}

// A rowLister collects shown values.
type rowLister struct {
	of   *Config
	all  bool
	rows []ShownValue
}

func (l *rowLister) add(path, value string) {
	if value != "" || l.all {
		l.rows = append(l.rows, ShownValue{path, value, l.of.originOf(path), adapters.SecretString(value)})
	}
}

// addSecret adds a credential unless it is empty.
func (l *rowLister) addSecret(path string, value adapters.SecretString) {
	if value != "" {
		l.rows = append(l.rows, ShownValue{path, value.String(), l.of.originOf(path), value})
	}
}

// addURL adds a URL without the password in it.
func (l *rowLister) addURL(path, value string) {
	shown := value
	if u, err := url.Parse(value); err == nil && u.User != nil {
		shown = u.Redacted()
	}
	l.add(path, shown)
	if n := len(l.rows); n > 0 && l.rows[n-1].Path == path {
		l.rows[n-1].whole = adapters.SecretString(value)
	}
}

// Rows lists the effective configuration in the order of the file.
func (c *Config) Rows(o ShowOptions) []ShownValue {
	l := &rowLister{of: c, all: o.All}
	l.add("data", c.Data)
	l.addSecret("database", c.Database)
	l.addSecret("redis", c.Redis)
	var roles []string
	for _, r := range c.Roles {
		roles = append(roles, string(r))
	}
	l.add("roles", strings.Join(roles, ", "))
	l.add("listen", c.Listen)
	l.add("webhook_listen", c.WebhookListen)
	l.addSecret("token", c.Token)
	l.add("hosts", strings.Join(c.Hosts, ", "))
	var proxies []string
	for _, p := range c.Proxies {
		proxies = append(proxies, p.String())
	}
	l.add("trusted_proxies", strings.Join(proxies, ", "))
	l.addModel("model", c.Model)
	for _, e := range c.Models {
		l.addModel("models."+e.Key, e.Model)
	}
	l.add("admit", c.Admit)
	for _, list := range []struct {
		key string
		who []PersonRef
	}{{"owners", c.Owners}, {"admins", c.Admins}, {"allow", c.Allow}} {
		l.add(list.key, strings.Join(personTexts(list.who), ", "))
	}
	for _, k := range c.People {
		l.add("people."+k.Key+".accounts", strings.Join(personTexts(k.Accounts), ", "))
		if k.Timezone != "" {
			l.add("people."+k.Key+".timezone", k.Timezone)
		}
	}
	if o.All || c.Remember != defaultRemember {
		l.add("pairing.remember", c.Remember.String())
	}
	l.add("limits.outgoing", c.Outgoing)
	if o.All || c.SenderPerMinute != defaultSenderPerMinute {
		l.add("limits.sender_per_minute", strconv.Itoa(c.SenderPerMinute))
	}
	l.addTools(c.Tools)
	l.add("default_agents", strings.Join(c.DefaultAgents, ", "))
	l.addSettings("", o.All, c.testLimits(), c.settings)
	for _, a := range c.Adapters {
		l.addAdapter(a)
	}
	for _, a := range c.Agents {
		l.addAgent(a)
	}
	for _, s := range c.Servers {
		l.addRoom("servers."+s.Key, s.Agents, s.Circle, s.Relay)
		l.addSettings("servers."+s.Key+".", false, s.settings)
	}
	for _, s := range c.Spaces {
		l.add("spaces."+s.Key+".name", s.Name)
		l.addRoom("spaces."+s.Key, s.Agents, s.Circle, s.Relay)
		var chats []string
		for _, chat := range s.Chats {
			chats = append(chats, chat.Adapter+":"+chat.Chat)
		}
		l.add("spaces."+s.Key+".chats", strings.Join(chats, ", "))
		l.addSettings("spaces."+s.Key+".", false, s.settings)
	}
	return l.rows
}

func personTexts(people []PersonRef) []string {
	var all []string
	for _, p := range people {
		all = append(all, p.String())
	}
	return all
}

func (l *rowLister) addModel(path string, m ModelEndpoint) {
	if m.Offline {
		l.add(path, "offline")
		return
	}
	if m.Provider != "" {
		l.add(path+".provider", m.Provider)
	}
	if m.BaseURL != "" || m.Provider == "" {
		l.addURL(path+".base_url", m.BaseURL)
	}
	l.addSecret(path+".api_key", m.APIKey)
	l.add(path+".name", m.Name)
	for _, t := range []struct {
		name string
		d    time.Duration
	}{{"first_token", m.Timeout.FirstToken}, {"idle", m.Timeout.Idle}, {"total", m.Timeout.Total}} {
		if t.d > 0 {
			l.add(path+".timeout."+t.name, t.d.String())
		}
	}
	if m.Window > 0 {
		l.add(path+".context_tokens", strconv.Itoa(m.Window))
	}
	if m.Price.Known() {
		for i, p := range []float64{m.Price.Input, m.Price.Cached, m.Price.CacheWrite, m.Price.Output} {
			l.add(path+".price."+priceKeys[i].name, strconv.FormatFloat(p, 'f', -1, 64))
		}
	}
	if m.Fallbacks != "" {
		l.add(path+".fallbacks", strings.ReplaceAll(m.Fallbacks, " ", ", "))
	}
	if m.Compat != "" {
		l.add(path+".compat", strings.ReplaceAll(m.Compat, " ", ", "))
	}
}

func (l *rowLister) addAdapter(a AdapterEntry) {
	path := "adapters." + a.Name
	l.add(path+".type", a.Type)
	l.addSecret(path+".token", a.Token)
	l.addSecret(path+".bot_token", a.BotToken)
	l.addSecret(path+".app_token", a.AppToken)
	l.addSecret(path+".signing_secret", a.SigningSecret)
	l.addURL(path+".api_url", a.APIURL)
	if a.WebhookURL != "" {
		l.addURL(path+".webhook_url", a.WebhookURL)
	}
	if a.Type == "hook" {
		l.add(path+".text", a.Text)
		l.addSecret(path+".reply_url", a.ReplyURL)
		l.addSecret(path+".reply_secret", a.ReplySecret)
	}
	l.add(path+".admit", a.Admit)
	l.add(path+".limits.outgoing", a.Outgoing)
}

func (l *rowLister) addAgent(a AgentEntry) {
	path := "agents." + a.ID
	l.add(path+".name", a.Name)
	l.add(path+".persona", firstLine(a.Persona))
	if n := len(l.rows); a.Persona != "" {
		l.rows[n-1].whole = adapters.SecretString(a.Persona)
	}
	if a.Avatar != "" {
		l.add(path+".avatar", a.Avatar)
	}
	if a.Model != l.of.Model {
		l.addModel(path+".model", a.Model)
	}
	if a.Suggest != nil {
		l.add(path+".suggest", strings.Join(a.Suggest, ", "))
	}
	if len(a.Tools) > 0 {
		l.add(path+".tools", strings.Join(a.Tools, ", "))
	}
	l.addSettings(path+".", false, a.settings)
}

// addTools adds what is configured of tools; the values of headers and environments are
// not shown.
func (l *rowLister) addTools(t ToolConfig) {
	for _, v := range t.Servers {
		path := "tools.servers." + v.Key
		if v.URL != "" {
			l.addURL(path+".url", v.URL)
		} else {
			l.add(path+".command", strings.Join(v.Command, " "))
		}
		if len(v.Allow) > 0 {
			l.add(path+".allow", strings.Join(v.Allow, ", "))
		}
	}
	for _, v := range t.Commands {
		l.add("tools.commands."+v.Key+".run", strings.Join(v.Run, " "))
	}
	if t.Web.Fetch {
		l.add("tools.web.fetch", "true")
	}
	if t.Web.SearchKind != "" {
		l.add("tools.web.search.kind", t.Web.SearchKind)
		l.addURL("tools.web.search.url", t.Web.SearchURL)
		l.addSecret("tools.web.search.key", t.Web.SearchKey)
	}
}

// addRoom adds the keys that spaces and servers share.
func (l *rowLister) addRoom(path string, agents []string, circle string, relay bool) {
	l.add(path+".circle", circle)
	l.add(path+".agents", strings.Join(agents, ", "))
	if relay {
		l.add(path+".relay", "true")
	}
}

// addSettings adds the settings that layers change, or all of them.
func (l *rowLister) addSettings(prefix string, all bool, layers ...settingsLayer) {
	for _, k := range settingKeys {
		written := slices.ContainsFunc(layers, func(l settingsLayer) bool { _, ok := l[k.name]; return ok })
		if !written && !all {
			continue
		}
		v := winningValue(k, layers...)
		l.rows = append(l.rows, ShownValue{prefix + k.name, v.text, v.at.String(), adapters.SecretString(v.text)})
	}
}

// originOf returns the origin of the value at a path.
func (c *Config) originOf(path string) string {
	n := c.doc.root
	for rest := path; rest != ""; {
		key, below := nextKey(n, rest)
		if n = n.get(key); n == nil {
			return ValueOrigin{}.String()
		}
		rest = below
	}
	return n.origin.String()
}

// nextKey splits the first key off a path. Keys of entries may contain dots.
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
func WriteRows(w io.Writer, rows []ShownValue, o ShowOptions) {
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

// A KeyChange is one difference between two configurations.
type KeyChange struct {
	Path string // "spaces.family.agents"
	Old  string // credentials as ***; "" if absent
	New  string
	// AtStart is true for keys that take effect at the next start.
	AtStart bool
}

// CompareConfigs lists the differences between two configurations in the order of
// the second.
func CompareConfigs(before, after *Config) []KeyChange {
	var changes []KeyChange
	everything := ShowOptions{All: true}
	old := map[string]ShownValue{}
	for _, r := range before.Rows(everything) {
		old[r.Path] = r
	}
	for _, r := range after.Rows(everything) {
		was, there := old[r.Path]
		delete(old, r.Path)
		if there && was.whole != r.whole || !there && r.Value != "" {
			changes = append(changes, KeyChange{r.Path, was.Value, r.Value, countsAtStart(r.Path)})
		}
	}
	for _, r := range before.Rows(everything) {
		if _, gone := old[r.Path]; gone && r.Value != "" {
			changes = append(changes, KeyChange{r.Path, r.Value, "", countsAtStart(r.Path)})
		}
	}
	return changes
}

// countsAtStart reports whether the key at a path is read only at start.
func countsAtStart(path string) bool {
	if k, ok := findSetting(path); ok {
		return k.value.start
	}
	top, rest, inside := strings.Cut(path, ".")
	i := slices.IndexFunc(topKeys, func(k keyRow) bool { return k.name == top })
	switch {
	case i < 0:
		return false
	case top == "adapters":
		return false
	case !inside || topKeys[i].form.kind != aSection:
		return topKeys[i].form.start
	}
	j := slices.IndexFunc(topKeys[i].form.of, func(k keyRow) bool { return k.name == rest })
	return j >= 0 && topKeys[i].form.of[j].form.start
}
