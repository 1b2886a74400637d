// Package config reads the configuration of the program: it finds the file,
// expands references, applies overrides from the environment and from flags,
// checks every key and records where each value was written.
//
// A returned configuration is complete and typed. Every error names its position
// and a fix, an entry with an error leaves the other entries running, and no
// output contains a credential. The package opens no connection, keeps no state
// and imports none of the parts that it configures.
//
// The YAML parser is goccy/go-yaml. Its syntax tree is converted to nodes that
// keep each scalar as written and its position; the decoder reads those, since
// the parser's own decoding stops at the first error and converts ids to numbers.
package config

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/spaces"
)

// Config is a checked configuration with its defaults. After [Load] no code reads
// the environment or the file.
type Config struct {
	// Path is the file it was read from; empty when the environment was enough.
	Path string
	// PromptFolder has the operator's versions of what agents are told: the folder prompts
	// beside the file; empty without a file.
	PromptFolder string

	Data          string // folder of the SQLite file and attachments
	Database      adapters.SecretString
	Redis         adapters.SecretString
	Roles         []ProcessRole // of this process; empty: all
	Listen        string        // console, API, health; empty serves none
	WebhookListen string
	// Token authenticates at the console; it or Proxies is required unless Listen is a loopback address.
	Token   adapters.SecretString
	Hosts   []string       // host names accepted at Listen besides those of this machine
	Proxies []netip.Prefix // whose forwarding headers are trusted

	Model    ModelEndpoint
	Models   []FallbackEntry // of `models`
	Adapters []AdapterEntry
	Admit    string // pairing, allowlist, open, deny
	// Remember is for how long what people write who wait for a pairing is kept, to be
	// answered after it; 0 keeps nothing.
	Remember time.Duration
	Owners   []PersonRef
	Admins   []PersonRef
	Allow    []PersonRef // people for allowlist, programs for every mode
	People   []PersonLink
	Outgoing string // platform, off
	// SenderPerMinute limits the messages of one sender that may wake agents in a
	// minute; 0 is no limit.
	SenderPerMinute int
	DefaultAgents   []string
	Tools           ToolConfig
	Agents          []AgentEntry
	Alerts          AlertSettings
	// Telemetry configures the export of traces.
	Telemetry TelemetryConfig
	Servers   []ServerEntry
	Spaces    []SpaceEntry

	// Problems lists the errors of misconfigured entries. Other entries run.
	Problems []EntryProblem
	// Warnings lists entries that run as written and should be changed.
	Warnings []EntryWarning
	// settings holds the settings at the top of the file; see [Config.SettingsFor].
	settings settingsLayer

	doc   *document
	files []string // that were read, the configuration file first
}

// PersonLink lists the accounts of one person on several platforms.
type PersonLink struct {
	Key      string
	Accounts []PersonRef
	Timezone string // name of a time zone; empty: not given
}

// document holds the tree with the overrides applied and the text of the file, which
// is empty without a file.
type document struct {
	root *node
	text string
}

// EntryProblem is one error that makes an entry misconfigured.
type EntryProblem struct {
	Entry string // its path: "adapters.telegram"
	Err   Error
}

// An EntryWarning describes an entry that runs as written and should be changed.
type EntryWarning struct {
	Entry string // its path: "adapters.telegram.token"; empty for the whole file
	Err   Error
	// Serious warnings make `config check` and `doctor` fail, for example when other
	// users can read a credential.
	Serious bool
	// UnusedPlatform is the platform whose token is in the environment and used by no
	// account; empty for other warnings.
	UnusedPlatform string
	// ReadableFile is the file with a credential that other users can read; empty for
	// other warnings.
	ReadableFile string
}

// ModelEndpoint names a model and the endpoint that serves it.
type ModelEndpoint struct {
	// Provider is the name of the API that the endpoint has: openai, anthropic or gemini;
	// empty is openai.
	Provider string
	BaseURL  string
	APIKey   adapters.SecretString
	Name     string
	Timeout  ModelTimeouts
	// Compat holds the words of `compat`, separated by blanks.
	Compat string
	// Offline selects the built-in model; it is true without an endpoint.
	Offline bool
	// Fallbacks holds the names of the entries under `models` that answer when this
	// model cannot, in order, separated by blanks.
	Fallbacks string
	// Window is `context_tokens` of an entry under `models`; 0 is not given.
	Window int
	// Price is `price` of an entry under `models`, without a currency; zero is not given.
	Price money.TokenPrice
}

// A FallbackEntry is a model that answers in place of others.
type FallbackEntry struct {
	Key           string
	Model         ModelEndpoint
	Misconfigured bool
}

// FallbacksOf returns the entries that answer when a model cannot, in order, without
// those that are misconfigured.
func (c *Config) FallbacksOf(m ModelEndpoint) []FallbackEntry {
	var all []FallbackEntry
	for name := range strings.FieldsSeq(m.Fallbacks) {
		for _, e := range c.Models {
			if e.Key == name && !e.Misconfigured {
				all = append(all, e)
			}
		}
	}
	return all
}

// ModelTimeouts limit the calls of a model; 0 is the default.
type ModelTimeouts struct {
	FirstToken, Idle, Total time.Duration
}

// AdapterEntry configures one account on one platform.
type AdapterEntry struct {
	Name          string
	Type          string // telegram, slack, discord, hook
	Token         adapters.SecretString
	BotToken      adapters.SecretString
	AppToken      adapters.SecretString
	SigningSecret adapters.SecretString
	APIURL        string
	WebhookURL    string                // of incoming calls; empty: the adapter polls
	Text          string                // template of the text of a hook's events; empty: they have one
	ReplyURL      adapters.SecretString // takes what is sent to a hook; empty: nobody does
	ReplySecret   adapters.SecretString
	Admit         string
	Outgoing      string
	Misconfigured bool
}

// AgentEntry configures one agent.
type AgentEntry struct {
	ID            string // key of the entry
	Name          string
	Persona       string
	Avatar        string // an https address, or an emoji in colons; empty: the account's
	Model         ModelEndpoint
	Tools         []string // names and patterns of what it is granted
	Suggest       []string // what people may begin with; nil: not given
	settings      settingsLayer
	Misconfigured bool
}

// ServerEntry configures the channels of a Discord server or a Slack workspace that
// have no entry of their own.
type ServerEntry struct {
	Key           string // "adapter:server"
	Circle        string
	Agents        []string
	Relay         bool
	DeniedTools   []string // names and patterns that no agent has there
	settings      settingsLayer
	Misconfigured bool
}

// SpaceEntry configures one space.
type SpaceEntry struct {
	Key           string
	Name          string
	Circle        string
	Agents        []string
	Relay         bool
	Chats         []ChatRef
	DeniedTools   []string // names and patterns that no agent has there
	settings      settingsLayer
	Misconfigured bool
}

// ChatRef identifies a chat by adapter and platform id.
type ChatRef struct {
	Adapter string // name of the adapter's entry
	Chat    string // the platform's id
}

// PersonRef identifies a person by the id that the platform assigned.
type PersonRef struct {
	Adapter string // name of an adapter's entry
	Scope   string // the Slack team; empty elsewhere
	User    string
}

// ParsePerson reads a reference in the form of the configuration. It does not check that
// there is such an adapter.
func ParsePerson(text string) (PersonRef, bool) {
	adapter, user, ok := strings.Cut(text, ":")
	p := PersonRef{Adapter: adapter, User: user}
	if scope, user, ok := strings.Cut(user, "/"); ok {
		p.Scope, p.User = scope, user
	}
	return p, ok && p.Adapter != "" && p.User != ""
}

// String returns the reference in the form of the configuration.
func (p PersonRef) String() string {
	if p.Scope != "" {
		return p.Adapter + ":" + p.Scope + "/" + p.User
	}
	return p.Adapter + ":" + p.User
}

// AlertSettings configure where alerts are sent.
type AlertSettings struct {
	Chats     []ChatRef
	Webhook   adapters.SecretString // takes the JSON of Prometheus' Alertmanager
	DeadMan   adapters.SecretString // requested every minute while there is no alert
	MinLevel  string                // warn, fail
	BackupAge time.Duration         // an older backup raises an alert; 0: none does
}

// TelemetryConfig says what other programs are told of this one beside /metrics.
type TelemetryConfig struct {
	Traces  adapters.SecretString // the OTLP endpoint; it may hold a credential
	Content bool
}

// A ProcessRole is one kind of work of a process. Processes that share a database
// can divide the kinds among themselves.
type ProcessRole string

// The roles.
const (
	RoleAdapters ProcessRole = "adapters" // runs the accounts on platforms and jobs that read from them
	RoleMinds    ProcessRole = "minds"    // runs wakes, cycles, timers and transcription
	RoleConsole  ProcessRole = "console"  // serves the console and the API at listen
)

// AllRoles returns all roles. A process without configured roles has all of them.
func AllRoles() []ProcessRole { return []ProcessRole{RoleAdapters, RoleMinds, RoleConsole} }

// HasRole reports whether the process has a role.
func (c *Config) HasRole(r ProcessRole) bool { return len(c.Roles) == 0 || slices.Contains(c.Roles, r) }

// ActiveRoles returns the roles that the process has.
func (c *Config) ActiveRoles() []ProcessRole {
	return slices.DeleteFunc(AllRoles(), func(r ProcessRole) bool { return !c.HasRole(r) })
}

// DefaultCircle is the circle of spaces that name none.
const DefaultCircle = "home"

// DefaultModel is the model name used when none is configured.
const DefaultModel = "gpt-5-mini"

// DefaultListen is the default address of the console, the API and health.
const DefaultListen = "127.0.0.1:7420"

// DefaultPersona is the persona of the agent that runs when none is configured.
const DefaultPersona = "You are Ada, a friendly and careful member of this conversation. You answer briefly, you say so when you do not know, and you keep your promises."

// SettingsFor returns the settings of an agent in a space: the space's value, else
// the agent's, else the file's, else the default. Both arguments may be empty.
func (c *Config) SettingsFor(agent, space string) ResolvedSettings {
	return resolveSettings(c.layers(agent, space)...)
}

// AgentWakePolicy returns the wake policy of an agent's entry for a space, or ""
// when the entry has none or the space overrides it. The space may be empty.
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

// testLimits sets the default token budgets to 0 when limits.outgoing is off, for
// load tests. Budgets that the file sets stay.
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

// HasEntry reports whether spaces or servers has an entry with that key.
func (c *Config) HasEntry(key string) bool {
	return slices.ContainsFunc(c.Spaces, func(s SpaceEntry) bool { return s.Key == key }) ||
		slices.ContainsFunc(c.Servers, func(s ServerEntry) bool { return s.Key == key })
}

// DeniedTools returns what the entries of a room or server take from the agents there.
func (c *Config) DeniedTools(key string) []string {
	var all []string
	for _, s := range c.Spaces {
		if s.Key == key {
			all = append(all, s.DeniedTools...)
		}
	}
	for _, s := range c.Servers {
		if s.Key == key {
			all = append(all, s.DeniedTools...)
		}
	}
	return all
}

// Agent returns the agent with that id unless it is misconfigured.
func (c *Config) Agent(id string) (AgentEntry, bool) {
	for _, a := range c.Agents {
		if a.ID == id && !a.Misconfigured {
			return a, true
		}
	}
	return AgentEntry{}, false
}

// AdmitFor returns the admission mode of an account for chats that no space lists.
func (c *Config) AdmitFor(adapter string) string {
	for _, a := range c.Adapters {
		if a.Name == adapter && a.Admit != "" {
			return a.Admit
		}
	}
	return c.Admit
}

// SenderLimit returns how many messages of one sender may wake agents in a minute, 0
// for no limit. It is 0 when limits.outgoing is off.
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

// PeopleOnAccount returns the people of a list whose ids are valid on an account:
// those listed under its adapter, and those under another adapter of the same
// platform.
func (c *Config) PeopleOnAccount(list []PersonRef, adapter string) []PersonRef {
	var on []PersonRef
	for _, p := range list {
		if p.Adapter == adapter || c.platformOf(p.Adapter) == c.platformOf(adapter) {
			on = append(on, p)
		}
	}
	return on
}

// AccountsOf returns all accounts of the person who has one, as `people` links them, that one
// among them; none when people does not have it.
func (c *Config) AccountsOf(who spaces.PlatformIdentity) (all []spaces.PlatformIdentity) {
	for _, k := range c.People {
		has := func(p PersonRef) bool {
			return c.platformOf(p.Adapter) == who.Platform && p.Scope == who.Scope && p.User == who.User
		}
		if !slices.ContainsFunc(k.Accounts, has) {
			continue
		}
		for _, p := range k.Accounts {
			all = append(all, spaces.PlatformIdentity{Platform: c.platformOf(p.Adapter), Scope: p.Scope, User: p.User})
		}
	}
	return all
}

// LinkedAccount returns the account on an adapter's platform of the person who has
// the given account; false when people has no such entry.
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

// Secrets returns every credential of the configuration, for redaction.
func (c *Config) Secrets() []adapters.SecretString {
	all := []adapters.SecretString{c.Database, c.Redis, c.Token, c.Model.APIKey, c.Alerts.Webhook, c.Alerts.DeadMan, c.Telemetry.Traces}
	for _, a := range c.Adapters {
		all = append(all, a.Token, a.BotToken, a.AppToken, a.SigningSecret, a.ReplyURL, a.ReplySecret)
	}
	addresses := []string{string(c.Database), string(c.Redis), c.Model.BaseURL}
	for _, a := range c.Adapters {
		addresses = append(addresses, a.APIURL, a.WebhookURL)
	}
	for _, e := range c.Models {
		all = append(all, e.Model.APIKey)
		addresses = append(addresses, e.Model.BaseURL)
	}
	for _, a := range c.Agents {
		all = append(all, a.Model.APIKey)
		addresses = append(addresses, a.Model.BaseURL)
	}
	for _, address := range addresses {
		if u, err := url.Parse(address); err == nil && u.User != nil {
			password, _ := u.User.Password()
			all = append(all, adapters.SecretString(password))
		}
	}
	return slices.DeleteFunc(all, func(s adapters.SecretString) bool { return s == "" })
}

// KeepStartValues returns a copy of c in which the keys that are read only at start
// have the values of the running configuration. Slices and maps are shared.
func (c *Config) KeepStartValues(running *Config) *Config {
	merged := *c
	merged.Data, merged.Database, merged.Redis = running.Data, running.Database, running.Redis
	merged.Roles, merged.Listen, merged.WebhookListen = running.Roles, running.Listen, running.WebhookListen
	merged.Outgoing, merged.Alerts, merged.Telemetry = running.Outgoing, running.Alerts, running.Telemetry
	return &merged
}
