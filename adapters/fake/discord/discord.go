package discord

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// Options tune a fake Discord. The zero value is an honest one without limits.
type Options struct {
	// Limits plays the platform's request limits: five messages in five seconds
	// for each channel, fifty requests a second for each bot. Default: none.
	Limits bool
	// Heartbeat is how often the gateway wants to hear its clients. Default:
	// 41.25 s.
	Heartbeat time.Duration
	// SessionLife is how long a session waits to be resumed. Default: 2 min.
	SessionLife time.Duration
	// Client makes the calls to bots that are called with interactions. Default: one
	// of its own.
	Client *http.Client
	// Ledger bounds how many entries of each sort the ledger keeps; the older
	// half is given up when it is full. Negative: none. Default: 100,000.
	Ledger int
}

// Server is a loopback server that behaves towards bots as discord.com and its
// gateway do, together with the world behind it. It is an [http.Handler] for
// /api, /gateway and /files. All its methods, and those of its bots, servers and
// channels, may be called concurrently.
type Server struct {
	opts   Options
	faults fake.FaultList
	ledger ledger
	limits limits
	kept   uploadedFile
	routes *http.ServeMux

	mu       sync.Mutex // guards what follows, and all that hangs on it
	lastID   SnowflakeID
	origin   string              // by which we are reached; learned from requests
	bots     map[string]*BotUser // by token
	people   map[SnowflakeID]*HumanUser
	guilds   map[SnowflakeID]*Guild
	channels map[SnowflakeID]*GuildChannel // threads and direct chats, too
	hooks    map[SnowflakeID]*webhook
	acts     map[string]*interaction // by id and token
	sessions map[string]*session
	gate     gatewayServer
	bell     chan struct{} // closed and replaced at every change
}

// SnowflakeID is an id of Discord's: it rises with time.
type SnowflakeID int64

// String returns the id as it is written.
func (id SnowflakeID) String() string { return strconv.FormatInt(int64(id), 10) }

// MarshalText returns what String does.
func (id SnowflakeID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads an id; nothing else is one.
func (id *SnowflakeID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is no snowflake", text)
	}
	*id = SnowflakeID(n)
	return nil
}

// New returns a Discord without bots, people or servers.
func New(o Options) *Server {
	if o.Heartbeat <= 0 {
		o.Heartbeat = 41250 * time.Millisecond
	}
	if o.SessionLife <= 0 {
		o.SessionLife = 2 * time.Minute
	}
	if o.Client == nil {
		o.Client = new(http.Client)
	}
	if o.Ledger == 0 {
		o.Ledger = 100_000
	}
	d := &Server{
		opts: o, ledger: ledger{limit: o.Ledger},
		bots: map[string]*BotUser{}, people: map[SnowflakeID]*HumanUser{}, guilds: map[SnowflakeID]*Guild{}, channels: map[SnowflakeID]*GuildChannel{},
		hooks: map[SnowflakeID]*webhook{}, acts: map[string]*interaction{}, sessions: map[string]*session{},
		bell: make(chan struct{}),
	}
	d.routes = restAPI{d}.table()
	return d
}

// epoch is the first millisecond of ids.
const epoch = 1420070400000

// id mints an id. It needs the lock.
func (d *Server) id() SnowflakeID {
	d.lastID = max(d.lastID+1, SnowflakeID(max(time.Now().UnixMilli()-epoch, 0))<<22)
	return d.lastID
}

// Serve answers on ln until ctx is done; see [fake.Serve].
func (d *Server) Serve(ctx context.Context, ln net.Listener) error {
	defer d.hangUp()
	return fake.ServeUntilDone(ctx, ln, d)
}

// Fault puts f in force for calls of the API. Its Method is the name of a call,
// as the [Record] has it; its chats are channels.
func (d *Server) Fault(f fake.CallFault) *fake.ArmedFault { return d.faults.Arm(f) }

// ClearFaults takes every fault out of force.
func (d *Server) ClearFaults() { d.faults.Clear() }

// Ledger returns a copy of what was received so far.
func (d *Server) Ledger() CallLog { return d.ledger.snapshot() }

// ring tells that the world has changed. It needs the lock.
func (d *Server) ring() {
	close(d.bell)
	d.bell = make(chan struct{})
}

// Until waits until cond holds, asking it again after everything that happened.
// It returns the context's cause when ctx ends first.
func (d *Server) Until(ctx context.Context, cond func() bool) error {
	for {
		d.mu.Lock()
		next := d.bell
		d.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fmt.Errorf("wait for the world to change: %w", context.Cause(ctx))
		}
	}
}

// Control drives everything over HTTP, for `trestle fake discord` and for other
// processes: POST /control/VERB with a JSON object. It has no access control: serve it
// on loopback only.
//
//	curl -s localhost:8083/control/people   -d '{"name":"Maya"}'
//	curl -s localhost:8083/control/bots     -d '{"token":"t","name":"ada"}'
//	curl -s localhost:8083/control/guilds   -d '{"name":"Family","person":1}'
//	curl -s localhost:8083/control/channels -d '{"guild":3,"name":"general"}'
//	curl -s localhost:8083/control/adds     -d '{"guild":3,"bot":2,"rights":536870912}'
//	curl -s localhost:8083/control/says     -d '{"channel":4,"person":1,"text":"hello"}'
//	curl -s 'localhost:8083/control/sent?channel=4&bot=2'
//	curl -s localhost:8083/control/close    -d '{"bot":2,"code":4000}'
//	curl -s localhost:8083/control/fault    -d '{"do":"refuse","method":"create message","retry_after":2}'
//	curl -s localhost:8083/control/ledger
func (d *Server) Control() http.Handler { return controlAPI{d}.handler() }
