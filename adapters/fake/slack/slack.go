package slack

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// Options say how a workspace behaves.
type Options struct {
	// Team is the workspace's id. Default: T0000001
	Team string
	// Limits plays Slack's rate limits: one message a second in a channel, and the
	// tiers of methods. Default: false.
	Limits bool
	// LedgerSize bounds how many entries of each sort the ledger keeps; negative
	// keeps none. Default: 100,000.
	LedgerSize int
	// Retries are the pauses before each further attempt to deliver an event.
	// Default: none, one minute, five minutes.
	Retries []time.Duration
	// Client carries the requests to apps that are called over HTTP. Default:
	// http.DefaultClient.
	Client *http.Client
}

// Server is one workspace. All its methods, and those of its apps and channels,
// may be called concurrently.
type Server struct {
	o      Options
	ledger ledger
	faults fake.FaultList
	pace   pace
	calls  sync.WaitGroup // requests to apps that are under way

	mu       sync.Mutex // guards what follows, and all that hangs on it
	origin   string     // by which apps reach us; learned from their requests
	lastTS   int64      // in microseconds; no two messages have the same
	behind   time.Duration
	lastID   int
	apps     []*WorkspaceApp
	people   map[string]*HumanUser
	channels map[string]*WorkspaceChannel
	order    []*WorkspaceChannel
	tickets  map[string]*WorkspaceApp // addresses of sockets not used yet
	files    map[string]*file
	// responses are the addresses by which commands can be answered, by trigger.
	responses map[string]*response
	changed   chan struct{} // closed and replaced whenever something is sent
}

// New returns an empty workspace.
func New(o Options) *Server {
	if o.Team == "" {
		o.Team = "T0000001"
	}
	if o.LedgerSize == 0 {
		o.LedgerSize = 100_000
	}
	if o.Retries == nil {
		o.Retries = []time.Duration{0, time.Minute, 5 * time.Minute}
	}
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	return &Server{
		o: o, ledger: ledger{limit: o.LedgerSize}, pace: newPace(),
		people: map[string]*HumanUser{}, channels: map[string]*WorkspaceChannel{}, tickets: map[string]*WorkspaceApp{},
		files: map[string]*file{}, responses: map[string]*response{}, changed: make(chan struct{}),
	}
}

// Behind has what happens from now on have happened that long ago, but later than
// all before it.
func (s *Server) Behind(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behind = d
}

// Team returns the workspace's id.
func (s *Server) Team() string { return s.o.Team }

// Serve answers on ln until ctx is done, then drops every connection at once and
// returns nil.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	defer s.calls.Wait()
	defer s.dropAll()
	return fake.ServeUntilDone(ctx, ln, s)
}

// dropAll ends every socket without a word and gives up what was to be delivered.
func (s *Server) dropAll() {
	for _, a := range s.Apps() {
		a.end()
	}
}

// Fault puts f in force: of its matchers, Method and the counting ones apply here.
func (s *Server) Fault(f fake.CallFault) *fake.ArmedFault { return s.faults.Arm(f) }

// ClearFaults takes every fault out of force.
func (s *Server) ClearFaults() { s.faults.Clear() }

// Ledger returns a copy of everything seen so far.
func (s *Server) Ledger() CallLog { return s.ledger.snapshot() }

// Apps returns the apps, oldest first.
func (s *Server) Apps() []*WorkspaceApp {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*WorkspaceApp(nil), s.apps...)
}

// ServeHTTP answers one request of an app's.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.origin = fake.RequestOrigin(r)
	s.mu.Unlock()
	switch path := r.URL.Path; {
	case len(path) > 5 && path[:5] == "/api/":
		s.serveAPI(w, r, path[5:])
	case path == "/socket":
		s.serveSocket(w, r)
	case len(path) > 8 && path[:8] == "/upload/":
		s.serveUpload(w, r, path[8:])
	case len(path) > 7 && path[:7] == "/files/":
		s.serveFile(w, r, path[7:])
	case len(path) > 9 && path[:9] == "/respond/":
		serveResponseURL(s, w, r, path[9:])
	default:
		http.NotFound(w, r)
	}
}

// id mints an id of a sort. mu is held.
func (s *Server) id(sort string) string {
	s.lastID++
	return fmt.Sprintf("%s%07d", sort, s.lastID)
}

// lag is how long ago the workspace says that something happened which happens
// now. In a bubble, where time does not move, it leaves room for many names.
const lag = 10 * time.Millisecond

// ts mints a message's name, which is its time. mu is held.
func (s *Server) ts() string {
	now := time.Now().Add(-lag - s.behind).UnixMicro()
	if now <= s.lastTS {
		now = s.lastTS + 1
	}
	s.lastTS = now
	return fmt.Sprintf("%d.%06d", now/1_000_000, now%1_000_000)
}

// ring tells those who wait that something was sent. mu is held.
func (s *Server) ring() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Control returns the handler of /control/…, which drives this workspace over
// HTTP: what the methods of Slack, App and Channel do, as JSON. A call that cannot
// be done answers 400 with {"error": …}.
//
//	curl -s localhost:8082/control/apps     -d '{"name":"Ada","bot_token":"xoxb-1","app_token":"xapp-1"}'
//	curl -s localhost:8082/control/people   -d '{"name":"Maya"}'
//	curl -s localhost:8082/control/channels -d '{"kind":"public","name":"ops","people":["U0000004"],"apps":["A0000001"]}'
//	curl -s localhost:8082/control/says     -d '{"channel":"C0000005","from":"U0000004","text":"@ada hello"}'
//	curl -s localhost:8082/control/does     -d '{"do":"reacts","channel":"C0000005","from":"U0000004","ts":"…","names":["+1"]}'
//	curl -s 'localhost:8082/control/sent?channel=C0000005&wait=5s&n=1'
//	curl -s localhost:8082/control/fault    -d '{"do":"refuse","method":"chat.postMessage","retry_after":2}'
//	curl -s localhost:8082/control/clock    -d '{"behind":"72h"}'
//	curl -s localhost:8082/control/ledger
func (s *Server) Control() http.Handler { return controlAPI{s}.handler() }
