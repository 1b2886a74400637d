package main

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

// localName is the name of the adapter for rooms that Trestle serves itself.
const localName = "local"

// homeRoom is the room of the terminal when no space is configured.
const homeRoom = "home"

// components is everything a running process is made of.
type components struct {
	current atomic.Pointer[config.Config] // see config and apply
	log     *slog.Logger
	store   *sqlstore.Store
	unkept  alerts.MemoryBuffer // see troubles
	border  notifyingStore
	mapping *activity.SpaceMapping
	bus     *inproc.Bus
	bells   notifier
	far     remoteNotifier // those of other processes; nil where the record is a file
	redis   *redis.Client  // the same, where there is one
	shell   *shell.Shell
	rooms   *local.Rooms
	lineup  accountSet
	known   atomic.Pointer[[]peer]                    // the processes of the installation; nil where there is one
	files   *blobs.Dir                                // nil: files are not fetched
	folder  string                                    // what marks it; empty where no other process has one
	scribe  atomic.Pointer[media.TranscriptionWorker] // nil: voices are not heard
	hooks   webhookMux                                // what is called at webhook_listen

	presence *typingNotifier
	spaceKeys
	settings sync.Map // settingsKey to shell.Settings

	// opening is held while rooms are opened as the configuration says, so that an
	// account that joins and a configuration that changes do not mix. It guards
	// joined and misfits.
	opening latch.Latch
	joined  []connectedAccount
	own     atomic.Pointer[[]adapters.Account] // those of joined; replaced under opening
	misfits []config.EntryProblem              // entries that turned out not to run

	sensed sync.Map // models of agents to *endpointSense

	clock clockskew.Clock // beside those of the platforms and the models

	clients      map[config.ModelEndpoint]llm.Model // of the agents; whoever sets them holds opening, or starts
	modelFailure atomic.Value                       // string; see modelFailed

	telemetry *telemetry.Telemetry // nil where nothing is counted

	testSeams
}

// config returns the configuration that counts now. Whoever needs several values
// of it asks once.
func (p *components) config() *config.Config { return p.current.Load() }

// modelFailed says why the configured model cannot be asked; empty when it can.
func (p *components) modelFailed() string {
	why, _ := p.modelFailure.Load().(string)
	return why
}

// problems lists the entries that do not run: those that were read so, and those
// that turned out so.
func (p *components) problems() []config.EntryProblem {
	p.opening.Lock()
	defer p.opening.Unlock()
	return slices.Concat(p.config().Problems, p.misfits)
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
	mint   func() string                                    // ids that are unique for ever and rise with time
	nonce  func() string                                    // the secret word of one cycle's acts
	client *http.Client                                     // for platforms; nil is the adapter's own
	models func(config.ModelEndpoint) llm.Model             // nil asks the configured endpoints
	hearer media.Transcriber                                // nil asks the configured endpoint
	times  map[string]activity.ConnectionOptions            // of lines by their name; what is not there is the line's own
	disk   func(dir string) (free, total uint64, err error) // nil asks the system
	hold   time.Duration                                    // how long a platform may hold a poll open; 0 is the adapter's own
}

// ringLines tells every line, of this process and of others, that the outbox may
// have something new.
func (p *components) ringLines() {
	if p.far != nil {
		p.far.Ring(outboxBell)
		return
	}
	p.ringOwnLines()
}

// ringOwnLines tells every line of this process.
func (p *components) ringOwnLines() {
	for _, l := range p.lineup.all() {
		l.Ring()
	}
}
