// Package config holds everything an operator decides: it finds the file,
// expands references, lays the environment over it, checks every key and says
// where each value was written.
//
// It promises that a configuration it returns is whole and typed, that each
// fault names its place and what to do, that one bad entry leaves the others
// running, and that no credential is in anything it writes. It opens no
// connection, keeps no state and knows nothing of the parts it configures.
package config

import (
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// Config is everything an operator decides, checked and with its defaults.
// Nothing after [Load] reads the environment or the file again.
type Config struct {
	// Path is the file it was read from; empty when the environment was enough.
	Path string

	Data          string // folder of the SQLite file and attachments
	Database      adapters.Secret
	Redis         adapters.Secret
	Roles         []ProcessRole // what this process does; empty: everything
	Listen        string        // console, API, health; empty serves none
	WebhookListen string
	// Token opens the console; it or Proxies are required where Listen is no loopback address.
	Token   adapters.Secret
	Hosts   []string       // names by which Listen may be called beside those of this machine
	Proxies []netip.Prefix // whose forwarding headers are believed

	Model    ModelEndpoint
	Adapters []AdapterEntry
	Admit    string // pairing, allowlist, open, deny
	Owners   []PersonRef
	Admins   []PersonRef
	Allow    []PersonRef // people for allowlist, programs for every mode
	People   []PersonLink
	Outgoing string // platform, off
	// SenderPerMinute is how many messages of one sender may wake agents in a
	// minute; 0 is no bound.
	SenderPerMinute int
	DefaultAgents   []string
	Agents          []AgentEntry
	Alerts          AlertSettings
	Telemetry       Telemetry
	Servers         []ServerEntry
	Spaces          []SpaceEntry

	// Problems are the entries that cannot run as they are written. The rest runs.
	Problems []EntryProblem
	// Warnings are what runs as it is written and should not stay so.
	Warnings []EntryWarning
	// settings are the file's own words on settings; see [Config.SettingsFor].
	settings settingsLayer

	doc   *document
	files []string // it was read from; its own first
}

// PersonLink is one person on several platforms.
type PersonLink struct {
	Key      string
	Accounts []PersonRef
}

// document is what was read: the tree with the environment over it, and the
// text of the file, which is empty without one.
type document struct {
	root *node
	text string
}

// EntryProblem is one misconfigured entry.
type EntryProblem struct {
	Entry string // its path: "adapters.telegram"
	Err   Error
}

// An EntryWarning is something that runs as it is written and should not stay so.
type EntryWarning struct {
	Entry string // its path: "adapters.telegram.token"; empty for the whole file
	Err   Error
	// Serious is true for what `config check` and `doctor` fail at: others can read a
	// credential, for example.
	Serious bool
	// ReadableFile is the file with a credential that others can read; empty for other
	// warnings.
	ReadableFile string
}

// ModelEndpoint says which model answers.
type ModelEndpoint struct {
	BaseURL string
	APIKey  adapters.Secret
	Name    string
	// Offline is true when there is no endpoint: the built-in model answers.
	Offline bool
}

// AdapterEntry is one account on one platform.
type AdapterEntry struct {
	Name          string
	Type          string // telegram, slack, discord
	Token         adapters.Secret
	BotToken      adapters.Secret
	AppToken      adapters.Secret
	SigningSecret adapters.Secret
	APIURL        string
	WebhookURL    string // where the platform should call; empty: it is polled
	Admit         string
	Outgoing      string
	Misconfigured bool
}

// AgentEntry is one agent.
type AgentEntry struct {
	ID            string // key of the entry
	Name          string
	Persona       string
	Avatar        string // an https address, or an emoji in colons; empty: the account's
	Model         ModelEndpoint
	settings      settingsLayer
	Misconfigured bool
}

// ServerEntry is what every channel of a Discord server or Slack workspace
// becomes.
type ServerEntry struct {
	Key           string // "adapter:server"
	Circle        string
	Agents        []string
	Relay         bool
	settings      settingsLayer
	Misconfigured bool
}

// SpaceEntry is one room.
type SpaceEntry struct {
	Key           string
	Name          string
	Circle        string
	Agents        []string
	Relay         bool
	Chats         []ChatRef
	settings      settingsLayer
	Misconfigured bool
}

// ChatRef names one chat of a space.
type ChatRef struct {
	Adapter string // name of the adapter's entry
	Chat    string // the platform's id
}

// PersonRef names somebody on a platform by the id that the platform minted.
type PersonRef struct {
	Adapter string // name of an adapter's entry
	Scope   string // the Slack team; empty elsewhere
	User    string
}

// String returns the person as the configuration writes them.
func (p PersonRef) String() string {
	if p.Scope != "" {
		return p.Adapter + ":" + p.Scope + "/" + p.User
	}
	return p.Adapter + ":" + p.User
}

// AlertSettings say who is told of problems, and of which.
type AlertSettings struct {
	Chats     []ChatRef
	Webhook   adapters.Secret // takes the JSON of Prometheus' Alertmanager
	DeadMan   adapters.Secret // asked every minute while all is well
	MinLevel  string          // warn, fail
	BackupAge time.Duration   // a backup older than this is a problem; 0: none is
}

// Telemetry says what other programs are told of this one beside /metrics.
type Telemetry struct {
	Traces  adapters.Secret // the OTLP endpoint; it may hold a credential
	Content bool
}

// A ProcessRole is one kind of work that a process does. Processes that share a database
// may divide the kinds among themselves.
type ProcessRole string

// The roles.
const (
	RoleAdapters ProcessRole = "adapters" // accounts on platforms, and jobs that read from them
	RoleMinds    ProcessRole = "minds"    // wakes, cycles, timers, voices
	RoleConsole  ProcessRole = "console"  // what is served at listen
)

// AllRoles are all there are, and what a process does that is told nothing else.
func AllRoles() []ProcessRole { return []ProcessRole{RoleAdapters, RoleMinds, RoleConsole} }

// HasRole reports whether the process has a role.
func (c *Config) HasRole(r ProcessRole) bool { return len(c.Roles) == 0 || slices.Contains(c.Roles, r) }

// ActiveRoles returns the roles that the process has.
func (c *Config) ActiveRoles() []ProcessRole {
	return slices.DeleteFunc(AllRoles(), func(r ProcessRole) bool { return !c.HasRole(r) })
}

// DefaultCircle is what spaces share that name no circle.
const DefaultCircle = "home"

// DefaultModel is the name of the model where none is configured.
const DefaultModel = "gpt-5-mini"

// DefaultListen is where the console, the API and health are served unless the
// configuration says otherwise.
const DefaultListen = "127.0.0.1:7420"

// DefaultPersona is who the agent is where none is configured.
const DefaultPersona = "You are Ada, a friendly and careful member of this conversation. You answer briefly, you say so when you do not know, and you keep your promises."

// SettingsFor returns the settings of an agent in a space: the space's word
// before the agent's before the file's. Either may be empty.
func (c *Config) SettingsFor(agent, space string) Settings {
	return resolveSettings(c.layers(agent, space)...)
}

// AgentWakePolicy returns what an agent's entry says on what wakes it in a space; empty where
// it says nothing, or the space has a word of its own. The space may be empty.
func (c *Config) AgentWakePolicy(agent, space string) spaces.WakePolicy {
	for _, a := range c.Agents {
		if own, ok := a.settings["wake"]; ok && a.ID == agent && winningValue(settingKey{name: "wake"}, c.layers(agent, space)...) == own {
			return spaces.WakePolicy(own.text)
		}
	}
	return ""
}

func (c *Config) layers(agent, space string) []settingsLayer {
	all := []settingsLayer{c.testLimits(), c.settings}
	for _, a := range c.Agents {
		if a.ID == agent {
			all = append(all, a.settings)
		}
	}
	for _, s := range c.Spaces {
		if s.Key == space {
			all = append(all, s.settings)
		}
	}
	for _, s := range c.Servers {
		if s.Key == space {
			all = append(all, s.settings)
		}
	}
	return all
}

// testLimits lifts the default token caps along with the platforms' pace, for
// tests that drive the program harder than anybody would pay for. Caps that are
// written in the file stay.
func (c *Config) testLimits() settingsLayer {
	if c.Outgoing != "off" {
		return nil
	}
	lifted := settingsLayer{}
	for _, k := range settingKeys {
		if len(k.name) > len("budget.") && k.name[:len("budget.")] == "budget." {
			lifted[k.name] = writtenSetting{text: "0"}
		}
	}
	return lifted
}

// HasEntry reports whether an entry for a space or for a server has that key.
func (c *Config) HasEntry(key string) bool {
	return slices.ContainsFunc(c.Spaces, func(s SpaceEntry) bool { return s.Key == key }) ||
		slices.ContainsFunc(c.Servers, func(s ServerEntry) bool { return s.Key == key })
}

// Agent returns the agent of that id that can run.
func (c *Config) Agent(id string) (AgentEntry, bool) {
	for _, a := range c.Agents {
		if a.ID == id && !a.Misconfigured {
			return a, true
		}
	}
	return AgentEntry{}, false
}

// AdmitFor returns who may talk on an account in chats that nobody names.
func (c *Config) AdmitFor(adapter string) string {
	for _, a := range c.Adapters {
		if a.Name == adapter && a.Admit != "" {
			return a.Admit
		}
	}
	return c.Admit
}

// SenderLimit returns how many messages of one sender may wake agents in a
// minute. Tests that lift the platforms' pace lift it too.
func (c *Config) SenderLimit() int {
	if c.Outgoing == "off" {
		return 0
	}
	return c.SenderPerMinute
}

func (c *Config) platformOf(adapter string) string {
	for _, a := range c.Adapters {
		if a.Name == adapter {
			return a.Type
		}
	}
	return ""
}

// PeopleOnAccount returns the people of a list who are on an account: those listed
// under its entry, and those of another entry of the same platform, whose ids
// mean the same person there.
func (c *Config) PeopleOnAccount(list []PersonRef, adapter string) []PersonRef {
	var on []PersonRef
	for _, p := range list {
		if p.Adapter == adapter || c.platformOf(p.Adapter) == c.platformOf(adapter) {
			on = append(on, p)
		}
	}
	return on
}

// LinkedAccount returns what an adapter's platform calls the person whom another calls that;
// false when nobody has said that they are one.
func (c *Config) LinkedAccount(platform, scope, user, adapter string) (PersonRef, bool) {
	for _, k := range c.People {
		if !slices.ContainsFunc(k.Accounts, func(p PersonRef) bool {
			return c.platformOf(p.Adapter) == platform && p.Scope == scope && p.User == user
		}) {
			continue
		}
		on := c.PeopleOnAccount(k.Accounts, adapter)
		if i := slices.IndexFunc(on, func(p PersonRef) bool { return p.Adapter == adapter }); i > 0 {
			on = on[i:]
		}
		if len(on) > 0 {
			return on[0], true
		}
	}
	return PersonRef{}, false
}

// Secrets returns every credential of the configuration, to scrub logs with.
func (c *Config) Secrets() []adapters.Secret {
	all := []adapters.Secret{c.Database, c.Redis, c.Token, c.Model.APIKey, c.Alerts.Webhook, c.Alerts.DeadMan, c.Telemetry.Traces}
	for _, a := range c.Adapters {
		all = append(all, a.Token, a.BotToken, a.AppToken, a.SigningSecret)
	}
	addresses := []string{string(c.Database), string(c.Redis), c.Model.BaseURL}
	for _, a := range c.Adapters {
		addresses = append(addresses, a.APIURL, a.WebhookURL)
	}
	for _, a := range c.Agents {
		all = append(all, a.Model.APIKey)
		addresses = append(addresses, a.Model.BaseURL)
	}
	for _, address := range addresses {
		if u, err := url.Parse(address); err == nil && u.User != nil {
			password, _ := u.User.Password()
			all = append(all, adapters.Secret(password))
		}
	}
	return slices.DeleteFunc(all, func(s adapters.Secret) bool { return s == "" })
}

// KeepStartValues returns c as it counts over a configuration that is running: what only a
// start reads is running's. It shares its parts with both.
func (c *Config) KeepStartValues(running *Config) *Config {
	merged := *c
	merged.Data, merged.Database, merged.Redis = running.Data, running.Database, running.Redis
	merged.Roles, merged.Listen, merged.WebhookListen = running.Roles, running.Listen, running.WebhookListen
	merged.Outgoing, merged.Alerts, merged.Telemetry = running.Outgoing, running.Alerts, running.Telemetry
	return &merged
}
