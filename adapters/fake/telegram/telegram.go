package telegram

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
)

// Server is a loopback server that behaves towards bots as api.telegram.org
// does, together with the world behind it: people, chats and what they do. It
// is an [http.Handler] for /bot<token>/<method> and /file/bot<token>/<path>.
// All its methods, and those of its bots and chats, may be called concurrently.
type Server struct {
	opts   Options
	ledger ledger
	faults fake.FaultList
	floods floods
	changed
	lastPerson, lastGroup, lastFile atomic.Int64

	mu      sync.RWMutex // guards what follows; no other lock is taken under it
	bots    map[string]*BotUser
	byID    map[int64]*BotUser
	people  map[int64]*HumanUser
	chats   map[int64]*Chat // groups and channels; direct chats hang on their bot
	files   map[string]SharedFile
	presses map[string]pressPlace // by the id of the callback query
	guests  []*GuestQuery
}

// Options tune a fake platform. The zero value is an honest, unlimited one.
type Options struct {
	// Limits plays the platform's own rate limits: one message a second for each
	// chat with a short burst, twenty a minute for each group, thirty a second
	// for each bot. Default: none.
	Limits bool
	// Ledger bounds how many entries of each sort the ledger keeps; the older
	// half is given up when it is full. Negative: none. Default: 100,000.
	Ledger int
	// History bounds how many messages each chat remembers. Default: 10,000.
	History int
	// Old plays a server of Bot API 10.0, which ignores what is newer.
	Old bool
	// Strict refuses names of updates that the server does not know, as servers of others
	// may. Default: they are ignored.
	Strict bool
	// Seed decides whatever is left to chance: how a [Reordering] mixes. Default: 0.
	Seed uint64
}

// NewTelegram returns a Telegram without bots, people or chats.
func NewTelegram(o Options) *Server {
	if o.Ledger == 0 {
		o.Ledger = 100_000
	}
	if o.History == 0 {
		o.History = 10_000
	}
	return &Server{
		opts:    o,
		ledger:  ledger{limit: o.Ledger},
		floods:  floods{until: make(map[flood]time.Time), buckets: make(map[flood]*bucket)},
		bots:    make(map[string]*BotUser),
		byID:    make(map[int64]*BotUser),
		people:  make(map[int64]*HumanUser),
		chats:   make(map[int64]*Chat),
		files:   make(map[string]SharedFile),
		presses: make(map[string]pressPlace),
	}
}

// Serve answers on ln until ctx is done; see [Serve].
func (t *Server) Serve(ctx context.Context, ln net.Listener) error {
	return fake.ServeUntilDone(ctx, ln, t)
}

// Fault puts f in force. Faults are tried in the order they were armed.
func (t *Server) Fault(f fake.CallFault) *fake.ArmedFault { return t.faults.Arm(f) }

// ClearFaults takes every fault out of force.
func (t *Server) ClearFaults() { t.faults.Clear() }

// Ledger returns a copy of what was received and acknowledged so far.
func (t *Server) Ledger() CallLog { return t.ledger.snapshot() }

// Person returns the person with that id.
func (t *Server) Person(id int64) (*HumanUser, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	p, ok := t.people[id]
	return p, ok
}

// Bot returns the bot with that user id.
func (t *Server) Bot(id int64) (*BotUser, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	b, ok := t.byID[id]
	return b, ok
}

// Bots returns every bot, in no particular order.
func (t *Server) Bots() []*BotUser {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := make([]*BotUser, 0, len(t.byID))
	for _, b := range t.byID {
		all = append(all, b)
	}
	return all
}

// Chat returns the group or channel with that id. Direct chats belong to a bot;
// see [Bot.Direct].
func (t *Server) Chat(id int64) (*Chat, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	c, ok := t.chats[id]
	return c, ok
}

// ServeHTTP answers one request of a bot.
func (t *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if rest, ok := strings.CutPrefix(r.URL.Path, "/file/bot"); ok {
		t.serveFile(w, rest)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/bot")
	token, method, found := strings.Cut(rest, "/")
	if !ok || !found {
		refuse(http.StatusNotFound, "Not Found").write(w)
		return
	}
	t.mu.RLock()
	bot := t.bots[token]
	t.mu.RUnlock()
	if bot == nil {
		refuse(http.StatusUnauthorized, "Unauthorized").write(w)
		return
	}
	c, bad := t.readCall(bot, method, r)
	if bad != nil {
		bad.write(w)
		return
	}
	t.answer(w, r, c)
}

func (t *Server) serveFile(w http.ResponseWriter, rest string) {
	token, path, _ := strings.Cut(rest, "/")
	t.mu.RLock()
	_, known := t.bots[token]
	f, ok := t.files[path]
	t.mu.RUnlock()
	switch {
	case !known:
		refuse(http.StatusUnauthorized, "Unauthorized").write(w)
	case !ok:
		refuse(http.StatusNotFound, "Not Found").write(w)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(f.Data) // the client's hanging up is its own affair
	}
}

// changed lets callers wait for a change of the world.
type changed struct {
	mu   sync.Mutex // guards what follows
	bell chan struct{}
}

func (c *changed) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bell == nil {
		c.bell = make(chan struct{})
	}
	return c.bell
}

func (c *changed) ring() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bell != nil {
		close(c.bell)
		c.bell = nil
	}
}

// Until waits until cond holds, asking it again after every call a bot made and
// everything that happened in the world. It returns the context's cause when
// ctx ends first.
func (t *Server) Until(ctx context.Context, cond func() bool) error {
	for {
		next := t.next()
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

// Control returns the handler of /control/…, which drives this world over HTTP:
// what the methods of Telegram, Bot and Chat do, as JSON. A call that cannot be
// done answers 400 with {"error": …}. The package comment has examples.
func (t *Server) Control() http.Handler { return controlAPI{t}.handler() }
