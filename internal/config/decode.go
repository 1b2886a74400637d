package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// A decoder converts a tree to a [Config]. Errors in keys that the program needs to
// start are fatal; any other error makes its entry misconfigured.
type decoder struct {
	config     *Config
	folder     string // of relative paths in the file
	workFolder string // of relative paths in the environment and in flags
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
		c.Admit = "deny" // an invalid mode admits no one
	}
	pairing := top.subsection("pairing")
	c.Remember = pairing.durationOr0("remember", defaultRemember, "write 1h, or 0 to keep nothing")
	top.mergeErrors(pairing)
	if d.reportKey(top, "pairing") {
		c.Remember = 0
	}
	limits := top.subsection("limits")
	c.Outgoing = limits.oneOf("outgoing", "platform")
	c.SenderPerMinute = limits.number("sender_per_minute", defaultSenderPerMinute)
	top.mergeErrors(limits)
	d.reportKey(top, "limits")
	d.readModels(top.get("models"))
	c.Model = d.readModel("model", top.get("model"), ModelEndpoint{}, "budget.per_day", top.layer)
	d.readAdapters(top.get("adapters"))
	d.readAlerts(top)
	d.readTelemetry(top)
	c.Owners, c.Admins, c.Allow = d.readPeople(top, "owners"), d.readPeople(top, "admins"), d.readPeople(top, "allow")
	d.readPeopleLinks(top.get("people"))
	d.readTools(top.get("tools"))
	d.readAgents(top.get("agents"))
	d.readDefaultAgents(top)
	d.readServers(top.get("servers"))
	d.readSpaces(top.get("spaces"))
	d.readTopSettings(top)
	d.checkCurrencies()
	c.Data = d.resolvePath(c.Data, top.positionOf("data"))
	d.checkAll(top)
	d.reportUnknownKeys(top)
}

// readRoles reads the roles of this process. Errors are fatal: with a wrong division
// no process would do a part of the work.
func (d *decoder) readRoles(top *section) {
	c := d.config
	for _, l := range top.list("roles") {
		switch r := ProcessRole(l.text); {
		case !slices.Contains(AllRoles(), r):
			top.addError(l.at, fmt.Sprintf("roles: there is no role %q", l.text), "write some of "+roleWords())
		case !slices.Contains(c.Roles, r):
			c.Roles = append(c.Roles, r)
		}
	}
	if len(c.Roles) > 0 && len(c.Roles) < len(AllRoles()) && c.Database == "" {
		top.addError(top.positionOf("roles"), "the record is a file, which one process has: it must do everything", "leave roles out, or set database: several processes share a Postgres database")
	}
	d.makeFatal(top)
}

func roleWords() string {
	var all []string
	for _, r := range AllRoles() {
		all = append(all, string(r))
	}
	return strings.Join(all, ", ")
}

// readNetworkAccess reads hosts and trusted_proxies. Errors are fatal, so that a
// mistake opens no access.
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

// readModel reads a model over the inherited one. Settings in it go to the layer
// around; perDay names the setting of its daily limit.
func (d *decoder) readModel(path string, n *node, inherited ModelEndpoint, perDay string, around settingsLayer) ModelEndpoint {
	m := inherited
	f := keyForm{of: modelKeys}
	if n != nil && n.kind == scalarNode {
		s := openSection(nil, f)
		m.Name = cmp.Or(s.scalarText(n, "model"), m.Name, DefaultModel)
		m.Offline = d.reportEntry(path, s.finish()) || (m.BaseURL == "" && m.APIKey == "")
		return m
	}
	s := openSection(n, f)
	if p := s.provider(inherited.Provider); p != m.Provider { // a key goes to no other endpoint than its own
		m = ModelEndpoint{Provider: p, Timeout: m.Timeout, Fallbacks: m.Fallbacks}
	}
	if s.has("base_url") {
		m.BaseURL = s.stringAt("base_url")
		s.checkURL("base_url", m.BaseURL)
	}
	if s.has("api_key") {
		m.APIKey = s.secret("api_key")
		s.checkNoBlank("api_key", m.APIKey)
	}
	s.checkKey(m)
	m.Name = cmp.Or(s.stringAt("name"), m.Name, providerNamed(m.Provider).Model)
	if s.has("compat") {
		m.Compat = s.compat()
	}
	if s.has("fallbacks") {
		m.Fallbacks = d.readFallbacks(s)
	}
	s.readTimeouts(&m.Timeout)
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

// provider returns the provider of a model, empty for the usual one.
func (s *section) provider(inherited string) string {
	p := s.oneOf("provider", inherited)
	if p == Providers()[0].Name {
		return ""
	}
	return p
}

// checkKey reports a model without the key that its provider needs.
func (s *section) checkKey(m ModelEndpoint) {
	if p := providerNamed(m.Provider); m.Provider != "" && m.APIKey == "" && len(s.errs) == 0 {
		s.addError(s.positionOf("provider"), "the provider "+m.Provider+" needs api_key", "write api_key: ${"+p.KeyVariables[0]+"}")
	}
}

// readFallbacks reads the names of models, which must be entries under models.
func (d *decoder) readFallbacks(s *section) string {
	var known, names []string
	for _, e := range d.config.Models {
		known = append(known, e.Key)
	}
	for _, item := range s.list("fallbacks") {
		switch {
		case !slices.Contains(known, item.text):
			s.addError(item.at, fmt.Sprintf("the model %q is not under models", item.text), cmp.Or(textformat.DidYouMean(item.text, known), "add it under models"))
		case slices.Contains(names, item.text):
			s.addError(item.at, fmt.Sprintf("the model %q is named twice", item.text), "name it once")
		default:
			names = append(names, item.text)
		}
	}
	return strings.Join(names, " ")
}

// compat reads what an endpoint demands.
func (s *section) compat() string {
	var words []string
	for _, item := range s.list("compat") {
		name := strings.TrimPrefix(item.text, "-")
		if !slices.Contains(compatWords, name) && item.text != "-all" {
			s.addError(item.at, "compat: "+errNotOneOf(name, compatWords).Error(), "see docs/models.md")
			continue
		}
		words = append(words, item.text)
	}
	return strings.Join(words, " ")
}

// readTimeouts reads the limits of time that are written over the inherited ones.
func (s *section) readTimeouts(into *ModelTimeouts) {
	inner := s.subsection("timeout")
	for i, d := range []*time.Duration{&into.FirstToken, &into.Idle, &into.Total} {
		name := modelTimeoutKeys[i].name
		text := inner.stringAt(name)
		if text == "" {
			continue
		}
		v, err := ParseDuration(text)
		if err != nil || v < time.Second {
			inner.addError(inner.positionOf(name), fmt.Sprintf("timeout.%s: %q is no length of time of a second or more", name, text), "write it like 90s or 5m")
			continue
		}
		*d = v
	}
	s.mergeErrors(inner)
}

// readAlerts reads where alerts are sent. Errors are a problem of that key.
func (d *decoder) readAlerts(top *section) {
	s := top.subsection("alarms")
	a := &d.config.Alerts
	for _, chat := range s.list("chat") {
		if c, ok := d.adapterOf(s, chat, "chat, such as telegram:1234567"); ok {
			a.Chats = append(a.Chats, c)
		}
	}
	a.Webhook, a.DeadMan = s.secretURL("webhook"), s.secretURL("dead_man")
	a.MinLevel = s.oneOf("least", "warn")
	a.BackupAge = s.durationOr0("backup_age", defaultBackupAge, "write 7d, or 0 for any age")
	top.mergeErrors(s)
	d.reportKey(top, "alarms")
}

// readTelemetry reads where traces are sent. Errors are a problem of that key.
func (d *decoder) readTelemetry(top *section) {
	s := top.subsection("telemetry")
	d.config.Telemetry = TelemetryConfig{Traces: s.secretURL("traces"), Content: s.boolean("content")}
	top.mergeErrors(s)
	d.reportKey(top, "telemetry")
}

// readDefaultAgents reads the agents that join chats whose entry names none: the
// known ones, or else the first agent.
func (d *decoder) readDefaultAgents(top *section) {
	for _, l := range top.list("default_agents") {
		if !slices.Contains(d.agentIDs(), l.text) {
			top.addError(l.at, fmt.Sprintf("default_agents names %q, which is not under agents", l.text), cmp.Or(textformat.DidYouMean(l.text, d.agentIDs()), "name one of the agents"))
			continue
		}
		d.config.DefaultAgents = append(d.config.DefaultAgents, l.text)
	}
	d.reportKey(top, "default_agents")
	if len(d.config.DefaultAgents) == 0 {
		d.config.DefaultAgents = []string{d.config.Agents[0].ID}
	}
}

// readTopSettings reads the settings at the top. An invalid one keeps its default.
func (d *decoder) readTopSettings(top *section) {
	for _, e := range top.node.entries {
		one := openSection(&node{kind: mapNode, entries: []mapEntry{e}}, keyForm{settings: true})
		one.readSettings()
		maps.Copy(top.layer, one.layer)
		d.reportEntry(e.key, one.errs)
	}
	d.config.settings = top.layer
}

// reportUnknownKeys reports unknown keys at the top. One that resembles data,
// database or listen is fatal: the program would open another database.
func (d *decoder) reportUnknownKeys(top *section) {
	for _, f := range top.finish() {
		near := slices.ContainsFunc([]string{"data", "database", "listen"}, func(k string) bool {
			return f.Remedy == textformat.DidYouMean(k, []string{k})
		})
		if near {
			d.fatal = append(d.fatal, f)
			continue
		}
		d.config.Problems = append(d.config.Problems, EntryProblem{f.key, f})
	}
}

// requiredText reads a key whose errors are fatal.
func (d *decoder) requiredText(top *section, name string) string {
	value := top.stringAt(name)
	d.makeFatal(top)
	return value
}

// makeFatal makes the errors collected so far fatal.
func (d *decoder) makeFatal(top *section) {
	d.fatal = append(d.fatal, top.errs...)
	top.errs = nil
	d.noteSecrets("", top)
}

// reportKey makes the errors collected so far problems of a key at the top.
func (d *decoder) reportKey(top *section, name string) (misconfigured bool) {
	faults := top.errs
	top.errs = nil
	d.noteSecrets(name, top)
	return d.reportEntry(name, faults)
}

// reportEntry adds the errors of an entry as problems and reports whether there are
// any.
func (d *decoder) reportEntry(path string, faults []Error) (misconfigured bool) {
	for _, f := range faults {
		d.config.Problems = append(d.config.Problems, EntryProblem{path, f})
	}
	return len(faults) > 0
}

// noteSecrets records where the credentials of a section are stored.
func (d *decoder) noteSecrets(path string, s *section) {
	if len(s.literals) > 0 || len(s.files) > 0 {
		d.secrets = append(d.secrets, secretSource{path, s.literals, s.files})
	}
	s.literals, s.files = nil, nil
}

// resolvePath joins a relative path to the folder of the file, or to the working
// folder when it came from the environment or a flag.
func (d *decoder) resolvePath(path string, at ValueOrigin) string {
	if at.Env != "" || at.Flag != "" {
		return absoluteFrom(d.workFolder, path)
	}
	return absoluteFrom(d.folder, path)
}

// defaultSenderPerMinute is more than a person types.
const defaultSenderPerMinute = 60

// defaultRemember is the default of pairing.remember.
const defaultRemember = time.Hour

// defaultBackupAge is the default of alarms.backup_age.
const defaultBackupAge = 7 * 24 * time.Hour
