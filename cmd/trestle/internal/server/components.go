package server

import (
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/local"
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
)

// LocalName is the name of the adapter for rooms that Trestle serves itself.
const LocalName = "local"

// HomeRoom is the room of the terminal when no space is configured.
const HomeRoom = "home"

// Components is everything a running process is made of.
type Components struct {
	Current  atomic.Pointer[config.Config] // see config and apply
	Log      *slog.Logger
	Store    *sqlstore.Store
	Unstored alerts.MemoryBuffer // see troubles
	border   notifyingStore
	mapping  *activity.SpaceMapping
	Bus      *inproc.EventBus
	bells    notifier
	far      remoteNotifier // those of other processes; nil where the record is a file
	redis    *redis.Client  // the same, where there is one
	shell    *shell.Shell
	rooms    *local.RoomAdapter
	lineup   accountSet
	known    atomic.Pointer[[]peer]                    // the processes of the installation; nil where there is one
	files    *blobs.BlobDir                            // nil: files are not fetched
	folder   string                                    // what marks it; empty where no other process has one
	scribe   atomic.Pointer[media.TranscriptionWorker] // nil: voices are not heard
	hooks    webhookMux                                // what is called at webhook_listen

	presence *typingNotifier
	spaceKeys
	settings sync.Map // settingsKey to shell.Settings

	// Opening is held while rooms are opened as the configuration says, so that an
	// account that joins and a configuration that changes do not mix. It guards
	// joined and misfits.
	Opening latch.Latch
	joined  []connectedAccount
	own     atomic.Pointer[[]adapters.BotAccount] // those of joined; replaced under opening
	misfits []config.EntryProblem                 // entries that turned out not to run

	sensed sync.Map // models of agents to *endpointSense

	clock clockskew.HostClock // beside those of the platforms and the models

	clients      map[config.ModelEndpoint]llm.ChatModel // of the agents; set while opening is held, or at the start
	modelFailure atomic.Value                           // string; see modelFailed

	telemetry *telemetry.Telemetry // nil where nothing is counted

	testSeams
}

// Config returns the configuration that counts now. Whoever needs several values
// of it asks once.
func (p *Components) Config() *config.Config { return p.Current.Load() }

// ModelFailed says why the configured model cannot be asked; empty when it can.
func (p *Components) ModelFailed() string {
	why, _ := p.modelFailure.Load().(string)
	return why
}

// problems lists the entries that do not run: those that were read so, and those
// that turned out so.
func (p *Components) problems() []config.EntryProblem {
	p.Opening.Lock()
	defer p.Opening.Unlock()
	return slices.Concat(p.Config().Problems, p.misfits)
}

// connectedAccount is an account that is connected, with its way in.
type connectedAccount struct {
	adapter string // the name of its entry
	account string
	in      *activity.Ingress
}

// testSeams is what a process takes from beyond itself, so that scenes can play
// it on a network in memory with a scripted model.
type testSeams struct {
	Mint   func() string                                    // ids that are unique for ever and rise with time
	nonce  func() string                                    // the secret word of one cycle's acts
	Client *http.Client                                     // for platforms; nil is the adapter's own
	Models func(config.ModelEndpoint) llm.ChatModel         // nil asks the configured endpoints
	hearer media.VoiceTranscriber                           // nil asks the configured endpoint
	Times  map[string]activity.ConnectionOptions            // of lines by their name; what is not there is the line's own
	disk   func(dir string) (free, total uint64, err error) // nil asks the system
	Hold   time.Duration                                    // how long a platform may hold a poll open; 0 is the adapter's own
}

// ringLines tells every line, of this process and of others, that the outbox may
// have something new.
func (p *Components) ringLines() {
	if p.far != nil {
		p.far.Ring(outboxBell)
		return
	}
	p.ringOwnLines()
}

// ringOwnLines tells every line of this process.
func (p *Components) ringOwnLines() {
	for _, l := range p.lineup.all() {
		l.Ring()
	}
}
