package server

import (
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/local"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/toolbox"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/clockskew"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/latch"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/pubsub/inproc"
	"github.com/trestle-bridge/trestle/internal/pubsub/redis"
	"github.com/trestle-bridge/trestle/internal/store/blobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/telemetry"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// LocalName is the name of the adapter for rooms that Trestle serves itself.
const LocalName = "local"

// HomeRoom is the room of the terminal when no space is configured.
const HomeRoom = "home"

// Core is what every part of a process uses. The store, border and mapping are set once the
// store is open.
type Core struct {
	Current  atomic.Pointer[config.Config] // see Config and AccountManager.apply
	Log      *slog.Logger
	Bus      *inproc.EventBus
	Store    *sqlstore.Store
	Unstored alerts.MemoryBuffer // see troubles
	border   notifyingStore
	mapping  *activity.SpaceMapping
	spaceKeys

	// Opening is held while rooms are opened, so that an account that connects and a
	// configuration that changes do not interleave. It guards faults, the connected accounts
	// and, after the start, the models of the agents.
	Opening latch.Latch
	faults  []config.EntryProblem // entries that turned out not to run

	clock     clockskew.HostClock  // beside those of the platforms and the models
	telemetry *telemetry.Telemetry // nil where nothing is counted

	testSeams
}

// agentSet runs the agents of a process and knows the state of their models.
type agentSet struct {
	*Core
	shell        *shell.Shell
	presence     *typingNotifier
	tools        *toolbox.Box
	prompts      *prompts.PromptRegistry
	settings     sync.Map                               // settingsKey to shell.AgentSettings, priceKey to money.TokenPrice
	health       sync.Map                               // models of agents to *endpointHealth
	clients      map[config.ModelEndpoint]llm.ChatModel // of the agents; guarded by Opening
	fallbacks    sync.Map                               // models with fallbacks to *fallbackModel
	learned      *llm.CapabilityFile                    // of models; only read unless the process runs
	modelFailure atomic.Value                           // string; see ModelFailed
	factsChanged atomic.Int64                           // how often what endpoints tell of models has changed
}

// clusterNode is this process among those of the installation: what each of them owns, and how
// they notify each other.
type clusterNode struct {
	*Core
	*agentSet
	notifier notifier
	remote   remoteNotifier         // those of other processes; nil where the store is a file
	redis    *redis.Client          // nil without one
	known    atomic.Pointer[[]peer] // the processes of the installation; nil where there is one
	folder   string                 // what marks the folder of files; empty where no other process has one
}

// connectionSet holds the connections of the accounts that this process serves.
type connectionSet struct {
	*Core
	*agentSet
	*clusterNode
	conns  accountSet
	joined []connectedAccount                    // guarded by Opening
	own    atomic.Pointer[[]adapters.BotAccount] // those of joined; replaced while Opening is held
}

// fileManager fetches, keeps and removes the files of messages, and transcribes voices.
type fileManager struct {
	*Core
	*connectionSet
	files  *blobs.BlobDir                            // nil: files are not fetched
	voices atomic.Pointer[media.TranscriptionWorker] // nil: voices are not transcribed

	speaker *messageSpeaker
}

// SpaceManager opens, changes and retires spaces as the configuration has them.
type SpaceManager struct {
	*Core
	*connectionSet
	rooms   *local.RoomAdapter
	directs map[spaces.SpaceID][]spaces.AgentID // rooms with one agent that were entered, guarded by Opening

	seatsMu sync.Mutex     // guards seats
	seats   map[string]int // terminals and browsers in each room of the terminal, by its key
}

// AccountManager connects the accounts of platforms, with what their messages need: spaces,
// files, agents, and the other processes.
type AccountManager struct {
	*Core
	*agentSet
	*clusterNode
	*connectionSet
	*fileManager
	*SpaceManager
	webhooks webhookMux // what is called at webhook_listen
}

// NewAccountManager returns the accounts of a process that has opened nothing yet. It can
// make clients of platforms and models.
func NewAccountManager(c *config.Config, log *slog.Logger) *AccountManager {
	core := &Core{Log: log, Opening: latch.New(), Bus: newEventBus(), testSeams: testSeams{Mint: storeopen.NewID, nonce: NewNonce}}
	core.Current.Store(c)
	agents := &agentSet{Core: core, learned: &llm.CapabilityFile{Path: filepath.Join(c.Data, LearnedFile), ReadOnly: true}}
	node := &clusterNode{Core: core, agentSet: agents, notifier: new(inproc.LocalNotifier)}
	conns := &connectionSet{Core: core, agentSet: agents, clusterNode: node}
	files := &fileManager{Core: core, connectionSet: conns, speaker: &messageSpeaker{agentSet: agents}}
	return &AccountManager{
		Core: core, agentSet: agents, clusterNode: node, connectionSet: conns,
		fileManager: files, SpaceManager: &SpaceManager{Core: core, connectionSet: conns, rooms: newRooms(c, files.openUpload)},
	}
}

// Config returns the configuration in force. A caller that needs several values of it calls
// Config once.
func (core *Core) Config() *config.Config { return core.Current.Load() }

// ModelFailed returns why the configured model cannot be called; empty when it can.
func (as *agentSet) ModelFailed() string {
	why, _ := as.modelFailure.Load().(string)
	return why
}

// entryFaults lists the entries that do not run, by the check of the configuration or by what
// happened since.
func (core *Core) entryFaults() []config.EntryProblem {
	core.Opening.Lock()
	defer core.Opening.Unlock()
	return slices.Concat(core.Config().Problems, core.faults)
}

// connectedAccount is an account that has connected, with its ingress.
type connectedAccount struct {
	adapter string // the name of its entry
	account string
	in      *activity.Ingress
}

// testSeams replaces what a process takes from outside, so that tests can run it on a network
// in memory with a scripted model.
type testSeams struct {
	Mint        func() string                                    // ids that are unique for ever and rise with time
	nonce       func() string                                    // the secret word of one cycle's acts
	Client      *http.Client                                     // for platforms; nil is the adapter's own
	Models      func(config.ModelEndpoint) llm.ChatModel         // nil asks the configured endpoints
	transcriber media.VoiceTranscriber                           // nil asks the configured endpoint
	speech      llm.SpeechSynthesizer                            // nil asks the configured endpoint
	Times       map[string]activity.ConnectionOptions            // of lines by their name; what is not there is the line's own
	disk        func(dir string) (free, total uint64, err error) // nil asks the system
	Hold        time.Duration                                    // how long a platform may hold a poll open; 0 is the adapter's own
}

// notifyOutbox notifies every connection, of this process and of others, that the outbox may
// have changed.
func (cs *connectionSet) notifyOutbox() {
	if cs.remote != nil {
		cs.remote.Ring(outboxBell)
		return
	}
	cs.notifyOwnOutbox()
}

// notifyOwnOutbox notifies every connection of this process.
func (cs *connectionSet) notifyOwnOutbox() {
	for _, l := range cs.conns.all() {
		l.Ring()
	}
}

// spaceKeys maps spaces to their entries in the configuration, which have their settings. The
// zero value is empty; its methods may be called concurrently.
type spaceKeys struct {
	mu   sync.RWMutex // guards keys
	keys map[spaces.SpaceID]string
}

func (k *spaceKeys) remember(id spaces.SpaceID, key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys == nil {
		k.keys = map[spaces.SpaceID]string{}
	}
	k.keys[id] = key
}

// keyOf returns the entry of a space; empty when it has none.
func (k *spaceKeys) keyOf(id spaces.SpaceID) string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.keys[id]
}
