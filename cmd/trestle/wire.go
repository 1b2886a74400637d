package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/discord"
	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/adapters/slack"
	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/model"
	"github.com/trestle-bridge/trestle/internal/model/offline"
	"github.com/trestle-bridge/trestle/internal/model/openai"
	"github.com/trestle-bridge/trestle/internal/notify/inproc"
	"github.com/trestle-bridge/trestle/internal/notify/redis"
	"github.com/trestle-bridge/trestle/internal/problems"
	"github.com/trestle-bridge/trestle/internal/skew"
	"github.com/trestle-bridge/trestle/internal/store/files"
	"github.com/trestle-bridge/trestle/internal/store/record"
	"github.com/trestle-bridge/trestle/internal/telemetry"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// localName is the name of the adapter for rooms that Trestle serves itself.
const localName = "local"

// homeRoom is the room of the terminal when no space is configured.
const homeRoom = "home"

// parts is everything a running process is made of.
type parts struct {
	current atomic.Pointer[config.Config] // see config and apply
	log     *slog.Logger
	store   *record.Store
	unkept  problems.Reserve // see troubles
	border  border
	mapping *activity.SpaceMapping
	bus     *inproc.Bus
	bells   bell
	far     far           // those of other processes; nil where the record is a file
	redis   *redis.Client // the same, where there is one
	shell   *shell.Shell
	rooms   *local.Rooms
	lineup  lineup
	known   atomic.Pointer[[]fellow]        // the processes of the installation; nil where there is one
	files   *files.Folder                   // nil: files are not fetched
	folder  string                          // what marks it; empty where no other process has one
	scribe  atomic.Pointer[activity.Scribe] // nil: voices are not heard
	hooks   hooks                           // what is called at webhook_listen

	presence *presence
	spaceKeys
	settings sync.Map // settingsKey to shell.Settings

	// opening is held while rooms are opened as the configuration says, so that an
	// account that joins and a configuration that changes do not mix. It guards
	// joined and misfits.
	opening sync.Mutex
	joined  []joined
	own     atomic.Pointer[[]adapters.Account] // those of joined; replaced under opening
	misfits []config.Problem                   // entries that turned out not to run

	sensed sync.Map // entries of models to *endpointSense

	clock skew.Clock // beside those of the platforms and the models

	clients      map[config.Model]model.Model // of the agents; whoever sets them holds opening, or starts
	modelFailure atomic.Value                 // string; see modelFailed

	telemetry *telemetry.Telemetry // nil where nothing is counted

	outside
}

// config returns the configuration that counts now. Whoever needs several values
// of it asks once.
func (p *parts) config() *config.Config { return p.current.Load() }

// modelFailed says why the configured model cannot be asked; empty when it can.
func (p *parts) modelFailed() string {
	why, _ := p.modelFailure.Load().(string)
	return why
}

// problems lists the entries that do not run: those that were read so, and those
// that turned out so.
func (p *parts) problems() []config.Problem {
	p.opening.Lock()
	defer p.opening.Unlock()
	return slices.Concat(p.config().Problems, p.misfits)
}

// joined is an account that is connected, with its way in.
type joined struct {
	adapter string // the name of its entry
	account string
	in      *activity.Ingress
}

// outside is what a process takes from beyond itself, so that scenes can play
// it on a network in memory with a scripted model.
type outside struct {
	mint   func() string                                    // ids that are unique for ever and rise with time
	nonce  func() string                                    // the secret word of one cycle's acts
	client *http.Client                                     // for platforms; nil is the adapter's own
	models func(config.Model) model.Model                   // nil asks the configured endpoints
	hearer activity.Transcriber                             // nil asks the configured endpoint
	times  map[string]activity.LineOptions                  // of lines by their name; what is not there is the line's own
	disk   func(dir string) (free, total uint64, err error) // nil asks the system
	hold   time.Duration                                    // how long a platform may hold a poll open; 0 is the adapter's own
}

// border is the record as the lines see it, with a bell on what they must
// notice at once.
type border struct {
	record.Border
	ring  func()
	shell func() *shell.Shell // made after the record is open

	thinks bool // minds run in this process
}

// newBorder joins the open record with the bells.
func (p *parts) newBorder() border {
	return border{p.store.Border(), p.ringLines, func() *shell.Shell { return p.shell }, p.config().Does(config.RunsMinds)}
}

// Record makes a batch durable, and wakes with the same commit the minds that are
// free.
func (b border) Record(ctx context.Context, in spaces.Intake) (spaces.Recorded, error) {
	var claims []spaces.Claim
	if b.thinks {
		in.Claims = func(ws []spaces.Waiting) []spaces.Claim {
			claims = b.shell().Claims(ws)
			return claims
		}
	}
	done, err := b.Border.Record(ctx, in)
	b.shell().Claimed(claims, done.Woken, err)
	if len(done.Waiting) > 0 {
		b.ring()
	}
	return done, err
}

// Post stores a notice and rings for it.
func (b border) Post(ctx context.Context, n activity.Notice) error {
	if err := b.Border.Post(ctx, n); err != nil {
		return err
	}
	b.ring()
	return nil
}

// newID mints ids that are unique for ever and rise with time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// ringLines tells every line, of this process and of others, that the outbox may
// have something new.
func (p *parts) ringLines() {
	if p.far != nil {
		p.far.Ring(outboxBell)
		return
	}
	p.ringOwnLines()
}

// ringOwnLines tells every line of this process.
func (p *parts) ringOwnLines() {
	for _, l := range p.lineup.all() {
		l.Ring()
	}
}

// face returns how an agent appears where several speak through one account: by
// its name and picture. An only agent is the account.
func (p *parts) face(agent spaces.AgentID) adapters.Face {
	c := p.config()
	a, ok := c.Agent(string(agent))
	if !ok || len(c.Agents) < 2 {
		return adapters.Face{}
	}
	return adapters.Face{Name: a.Name, Avatar: a.Avatar}
}

// egress returns the way out of an account, or nil when no line of this process
// has joined with it.
func (p *parts) egress(account string) *activity.Egress {
	for _, l := range p.lineup.all() {
		if out := l.Egress(); out != nil && out.Account() == account {
			return out
		}
	}
	return nil
}

// agents returns the agents that can run, with their models.
func (p *parts) agents() []shell.Agent {
	p.modelFailure.Store("")
	clients := map[config.Model]model.Model{}
	var all []shell.Agent
	for _, a := range p.config().Agents {
		if a.Misconfigured {
			continue
		}
		if client, known := p.clients[a.Model].(*model.Retry); known {
			clients[a.Model] = client // it keeps what it knows of its endpoint
		}
		if clients[a.Model] == nil {
			clients[a.Model] = p.model(entryOf(p.config(), a), a.Model)
		}
		all = append(all, shell.Agent{ID: spaces.AgentID(a.ID), Name: a.Name, Persona: a.Persona, Model: clients[a.Model], Embedder: p.embedder(a)})
	}
	p.clients = clients
	return all
}

// model returns the client of an endpoint: one for each credential, so that a
// refused key pauses itself alone. Where there is no usable endpoint the
// built-in model answers, and health says so.
func (p *parts) model(entry string, m config.Model) model.Model {
	switch {
	case p.models != nil:
		return p.models(m)
	case m.Offline:
		return offline.Model{}
	}
	client, err := p.openEndpoint(m)
	if err != nil {
		p.modelFailure.Store(err.Error())
		return offline.Model{}
	}
	return &model.Retry{Model: model.Witness{Model: client, Saw: p.saw(entry)}}
}

// openEndpoint makes the client of an endpoint. It calls nobody.
func (p *parts) openEndpoint(m config.Model) (*openai.Client, error) {
	return openai.New(openai.Options{BaseURL: m.BaseURL, APIKey: string(m.APIKey), Around: p.clock.Around})
}

// newShell makes the agents' shell over the record.
func (p *parts) newShell() *shell.Shell {
	view := p.store.Shell()
	o := shell.Options{
		Inbox: view, Journal: journal{view, p.egress, p.ringAccount}, Record: view, Halter: view, Forgetter: view, Digests: view, Meanings: view,
		Agents: p.agents(), Settings: p.shellSettings, Bus: shown{p}, Presence: newPresence(p), Drafts: drafts{p},
		Counter: new(hud.Counter), Holder: cmp.Or(p.store.Process(), p.mint()), NewID: p.mint, Nonce: p.nonce, Logger: p.log,
	}
	if p.files != nil {
		o.Sight = newSight(p.border, p.files)
		o.Files = p.config().SettingsFor("", "").Attachments.Send
		if p.hears() {
			o.Ears = ears{p.border}
		}
	}
	return shell.New(o)
}

// settingsKey names the settings of an agent in an entry of a configuration.
type settingsKey struct {
	of           *config.Config
	agent, entry string
}

// shellSettings returns the settings of an agent in a space. Those of each entry
// are worked out once for a configuration.
func (p *parts) shellSettings(agent spaces.AgentID, space spaces.SpaceID) shell.Settings {
	key := settingsKey{p.config(), string(agent), p.keyOf(space)}
	if known, ok := p.settings.Load(key); ok {
		return known.(shell.Settings)
	}
	a, _ := key.of.Agent(key.agent)
	s := shellSettings(a, key.of.SettingsFor(key.agent, key.entry))
	p.settings.Store(key, s)
	return s
}

// focusWeights are what the words for `focus` mean, and usualPriority is the
// `render_priority` that changes nothing.
var focusWeights = map[string]float64{"low": 0.5, "normal": 1, "high": 2}

const usualPriority = 5

// shellSettings says in the shell's words what the configuration says.
func shellSettings(a config.Agent, s config.Settings) shell.Settings {
	return shell.Settings{
		ModelName: a.Model.Name, ContextTokens: s.ContextTokens, MaxOutput: s.MaxOutputTokens,
		MaxSteps: s.MaxSteps, MaxRoomActs: s.MaxSpaceActs,
		Without: without(s), GreetPlainly: !s.Greeting.LookUp,
		OnePhase: s.Phases == "one", Tags: s.Dialect == "tags", SendStale: s.OnStale == "send", Drafts: s.Streaming != "off", DraftMessages: s.Streaming == "edits", WaitTimeout: s.Wait.Timeout,
		Histories: hud.Histories{
			Origin: s.CrossSpace.OriginLimit, Target: s.CrossSpace.TargetLimit,
			LongOrigin: s.CrossSpace.LongOriginLimit, LongTarget: s.CrossSpace.LongTargetLimit,
		},
		Parallel: s.Parallel, Expires: s.Expires, OnUnknown: s.OnUnknown, RecallTokens: s.RecallTokens, Across: s.Across,
		Pictures: s.Images.Most, PictureSide: s.Images.Side,
		HighWater: s.HighWater, LowWater: s.LowWater, FullCycles: s.Consciousness.FullCycles, MinCycles: s.Consciousness.MinRecentCycles,
		LogTokens: s.Consciousness.MaxTokens, SingleCycles: s.Consciousness.SingleCycles, GroupSize: s.Consciousness.GroupSize,
		SpansShown: s.Spans.Limit, SpanBeside: !s.Spans.IncludeActive, KeepRecent: s.Chat.KeepRecent, SummariseFrom: s.Chat.SummariseAbove,
		Threads:    hud.Shares{Keep: s.Threads.Keep, Partial: s.Threads.Partial, Summary: s.Threads.Summary},
		LevelStart: s.Levels.Start, LevelMax: s.Levels.Max, Guard: s.Guard, Snippet: s.Relevance.Snippet,
		Weight: focusWeights[s.Focus] * float64(s.Priority) / usualPriority, ReadLimit: s.Read.Limit, MemoryChars: s.Memory.MaxChars, Onboarding: s.Prompts.Onboarding,
		CompactAfter: s.Compact.AfterTurns, CompactKeep: s.Compact.Keep, SummaryTokens: s.Compact.SummaryTokens, CacheTTL: s.CacheTTL, DigestModel: cheap(a, s.Summary.Model), MeaningModel: cheap(a, s.Relevance.Embeddings),
		CycleTokens: s.Budget.PerCycle, RootTokens: s.Budget.PerRoot, SenderTokens: s.Budget.SenderPerDay,
		AgentTokens: s.Budget.AgentPerDay, SpaceTokens: s.Budget.SpacePerDay, AllTokens: s.Budget.PerDay,
	}
}

// cheap returns who is asked beside the agent's own model: nobody where that answers
// without an endpoint.
func cheap(a config.Agent, name string) string {
	if a.Model.Offline {
		return ""
	}
	return name
}

// embedder returns who says where words stand: the endpoint of the agent's model,
// asked through connections of its own; nil when it is not to be asked.
func (p *parts) embedder(a config.Agent) model.Embedder {
	if cheap(a, p.config().SettingsFor(a.ID, "").Relevance.Embeddings) == "" {
		return nil
	}
	client, err := p.openEndpoint(a.Model)
	if err != nil {
		p.log.Error("lines are not found by meaning", "agent", a.ID, "error", err)
		return nil
	}
	return client
}

// newAdapter makes the client of a configured account. It calls nobody.
func (p *parts) newAdapter(a config.Adapter) (adapters.Adapter, error) {
	switch a.Type {
	case "telegram":
		return telegram.New(telegram.Options{
			Token: a.Token, APIURL: a.APIURL, HTTPClient: p.client, PollTimeout: p.hold, WebhookURL: a.WebhookURL, Around: p.clock.Around,
			Unpaced: p.unpaced(a), Logger: p.log.With("adapter", a.Name),
		})
	case "slack":
		return slack.New(slack.Options{
			BotToken: a.BotToken, AppToken: a.AppToken, SigningSecret: a.SigningSecret, HookPath: pathOf(a.WebhookURL), APIURL: a.APIURL,
			HTTPClient: p.client, Around: p.clock.Around, Unpaced: p.unpaced(a), Logger: p.log.With("adapter", a.Name),
		})
	case "discord":
		return discord.New(discord.Options{
			Token: a.Token, HookPath: pathOf(a.WebhookURL), APIURL: a.APIURL, HTTPClient: p.client, Around: p.clock.Around,
			Unpaced: p.unpaced(a), Logger: p.log.With("adapter", a.Name),
		})
	}
	return nil, fmt.Errorf("this version does not serve %s", a.Type)
}

// pathOf returns the path of an address; empty when it has none.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Path
}

func (p *parts) unpaced(a config.Adapter) bool {
	if a.Outgoing != "" {
		return a.Outgoing == "off"
	}
	return p.config().Outgoing == "off"
}

// joinPlatform opens what the configuration names on an account and returns its
// two ways.
func (p *parts) joinPlatform(name string, ad adapters.Adapter, unpaced bool) activity.Join {
	return func(ctx context.Context, account adapters.Account) (*activity.Ingress, *activity.Egress, error) {
		in, err := p.welcome(ctx, name, account)
		if err != nil {
			return nil, nil, err
		}
		p.openServers(ctx, ad, joined{name, account.Key(), in})
		o := activity.EgressOptions{Unpaced: unpaced, Drafts: p.border, Face: p.face, Kin: p.kin(name, account.Platform), Logger: p.log.With("adapter", name)}
		if p.redis != nil {
			o.Purse = purse{p.redis, account.Key()}
		}
		if p.files != nil {
			o.Shelf, o.Cupboard = p.border, p.files
		}
		return in, activity.NewEgress(account, ad, p.border, p.mapping, o), nil
	}
}

// welcome opens what an account that has connected serves, and returns its way in.
func (p *parts) welcome(ctx context.Context, name string, account adapters.Account) (*activity.Ingress, error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	o, err := p.reception(ctx, name, account.Key())
	if err != nil {
		return nil, err
	}
	in := activity.NewIngress(account, p.mapping, p.border, p.border, p.border, o)
	p.joined = append(p.joined, joined{name, account.Key(), in})
	own := append(p.accounts(), account)
	p.own.Store(&own)
	return in, p.dismiss(ctx)
}

// accounts returns the accounts that have connected. The caller may append to it.
func (p *parts) accounts() []adapters.Account {
	if own := p.own.Load(); own != nil {
		return slices.Clip(*own)
	}
	return nil
}

// reception opens the configured rooms that have chats on an account and says
// who may talk there. p.opening is held.
func (p *parts) reception(ctx context.Context, name, account string) (activity.IngressOptions, error) {
	c := p.config()
	named := map[spaces.SpaceID][]spaces.AgentID{}
	for _, s := range c.Spaces {
		if s.Misconfigured {
			continue
		}
		o, ok := p.form(s, account, name)
		if !ok {
			continue
		}
		placed, err := p.mapping.Open(ctx, o)
		if err != nil {
			return activity.IngressOptions{}, fmt.Errorf("open space %s: %w", s.Key, err)
		}
		p.remember(placed.Space, s.Key)
		named[placed.Space] = o.Agents
	}
	if err := p.appoint(ctx, name, account); err != nil {
		return activity.IngressOptions{}, err
	}
	return activity.IngressOptions{
		Admit: activity.Admit(c.AdmitFor(name)), Named: named, Servers: p.servers(name),
		Room: activity.Room{Agents: p.running(c.DefaultAgents), Wake: c.SettingsFor("", "").Wake},
		Name: name, Allow: senders(c.Appointed(c.Allow, name)), SenderPerMinute: c.SenderBound(),
		Files: p.fetches(name), Attendant: p.attendant(), Operators: p.operators(name), Ours: p.accounts, Bell: p.ringFor(name),
		Opened: func(group string, s spaces.SpaceID) { p.remember(s, name+":"+group) }, Logger: p.log.With("adapter", name),
	}, nil
}

// form is how a configured space is opened, with its chats on one account; false
// when it has none there.
func (p *parts) form(s config.Space, account, adapter string) (spaces.Opening, bool) {
	o := spaces.Opening{
		Key: s.Key, Name: s.Name, Circle: spaces.CircleID(s.Circle), Wake: p.config().SettingsFor("", s.Key).Wake,
		Agents: p.running(s.Agents), At: time.Now(),
	}
	for _, c := range s.Chats {
		if c.Adapter == adapter {
			o.Chats = append(o.Chats, spaces.Mapping{Account: account, Chat: c.Chat, Relay: s.Relay, Live: true})
		}
	}
	return o, len(o.Chats) > 0
}

// running returns those of the named agents that can run.
func (p *parts) running(names []string) []spaces.AgentID {
	var ids []spaces.AgentID
	for _, name := range names {
		if _, ok := p.config().Agent(name); ok {
			ids = append(ids, spaces.AgentID(name))
		}
	}
	return ids
}

// servers returns the forms of an adapter's servers by the platform's id.
func (p *parts) servers(adapter string) map[string]activity.Room {
	forms := map[string]activity.Room{}
	for _, s := range p.config().Servers {
		on, id, _ := strings.Cut(s.Key, ":")
		if on == adapter && !s.Misconfigured {
			forms[id] = activity.Room{
				Circle: spaces.CircleID(s.Circle), Wake: p.config().SettingsFor("", s.Key).Wake, Agents: p.running(s.Agents),
			}
		}
	}
	return forms
}
