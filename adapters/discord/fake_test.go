package discord_test

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/discord"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// world is the fake Discord with one bot of ours on a server, inside a bubble.
type world struct {
	*fakediscord.Server
	t      *testing.T
	bot    *fakediscord.BotUser
	kai    *fakediscord.HumanUser
	guild  *fakediscord.Guild
	room   *fakediscord.GuildChannel
	client *discord.Client
	http   *http.Client
	inbox  inbox
	stop   func() error // ends Receive and returns what it did
}

// inbox keeps what was received.
type inbox struct {
	mu      sync.Mutex    // guards what follows
	hold    chan struct{} // Accept waits until it is closed; nil: it does not
	updates []adapters.Update
	cursor  []byte
}

func (in *inbox) Accept(_ context.Context, b adapters.UpdateBatch) error {
	in.mu.Lock()
	hold := in.hold
	in.mu.Unlock()
	if hold != nil {
		<-hold
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.updates = append(in.updates, b.Updates...)
	if b.Cursor != nil {
		in.cursor = b.Cursor
	}
	return nil
}

// block makes Accept wait until it is let go.
func (in *inbox) block() (release func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.hold = make(chan struct{})
	hold := in.hold
	return sync.OnceFunc(func() {
		close(hold)
		in.mu.Lock()
		defer in.mu.Unlock()
		in.hold = nil
	})
}

func (*inbox) Alive(time.Time) {}

// take returns what has come since it was last asked.
func (in *inbox) take() []adapters.Update {
	synctest.Wait()
	in.mu.Lock()
	defer in.mu.Unlock()
	out := in.updates
	in.updates = nil
	return out
}

func (in *inbox) saved() []byte {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.cursor
}

// texts returns the words of the messages, each once, in the order they came.
func texts(updates []adapters.Update) []string {
	var all []string
	keys := map[string]bool{}
	for _, u := range updates {
		if m, ok := u.Body.(adapters.IncomingMessage); ok && !keys[u.Key] {
			keys[u.Key] = true
			all = append(all, m.Text)
		}
	}
	return all
}

// body returns the first update whose body is a B.
func body[B adapters.UpdateBody](t *testing.T, updates []adapters.Update) (adapters.Update, B) {
	t.Helper()
	for _, u := range updates {
		if b, ok := u.Body.(B); ok {
			return u, b
		}
	}
	var none B
	t.Fatalf("no %T among %+v", none, updates)
	return adapters.Update{}, none
}

// pass lets that much of the bubble's time go by.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// newWorld serves the fake and makes the adapter, which does not receive yet.
func newWorld(t *testing.T, o fakediscord.Options, p fakediscord.BotProfile) *world {
	t.Helper()
	var network fake.MemoryNetwork
	ln, err := network.Listen("discord.test")
	testutil.OK(t, err)
	w := &world{Server: fakediscord.New(o), t: t, http: network.Client()}
	p.Token, p.Name = rigToken, "ada"
	w.bot = w.AddBot(p)
	w.kai = w.AddPerson(fakediscord.UserProfile{Name: "Kai"})
	w.guild = w.NewGuild("Work", w.kai)
	w.room = w.guild.NewChannel("general", fakediscord.TextChannel)
	w.guild.Adds(w.bot, fakediscord.ManageWebhooks)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	served := make(chan error, 1)
	go func() { served <- w.Serve(ctx, ln) }()
	t.Cleanup(func() {
		if w.stop != nil {
			if err := w.stop(); err != nil {
				t.Errorf("receive: %v", err)
			}
		}
		w.http.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	w.client = w.newClient()
	return w
}

// newClient is the adapter as a new process makes it.
func (w *world) newClient() *discord.Client {
	w.t.Helper()
	c, err := discord.New(discord.Options{
		Token: rigToken, APIURL: "http://discord.test", HTTPClient: w.http, Logger: slog.New(slog.NewTextHandler(w.t.Output(), nil)),
	})
	testutil.OK(w.t, err)
	if _, err := c.Connect(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// receive begins to receive from the inbox's cursor and waits until it listens.
func (w *world) receive() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
	ended := make(chan error, 1)
	client, cursor := w.client, w.inbox.saved()
	go func() { ended <- client.Receive(ctx, cursor, &w.inbox) }()
	w.stop = func() error {
		w.stop = nil
		cancel()
		return <-ended
	}
	synctest.Wait()
}

// restart has a new client go on where the one before ended, as a new process does.
func (w *world) restart() {
	w.t.Helper()
	testutil.OK(w.t, w.stop())
	w.client = w.newClient()
	w.receive()
}

// failure waits for Receive to end by itself.
func (w *world) failure(d time.Duration) error {
	w.t.Helper()
	for ; d > 0 && w.stop != nil; d -= time.Second {
		pass(time.Second)
	}
	stop := w.stop
	w.stop = nil
	return stop()
}

// open is a world that listens.
func open(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, fakediscord.Options{}, fakediscord.BotProfile{})
	w.receive()
	w.inbox.take()
	return w
}

func (w *world) says(text string) fakediscord.SnowflakeID {
	return w.room.Says(w.kai, text, fakediscord.PostOptions{})
}

// begun returns how many sessions were begun, and how many resumed.
func (w *world) begun() (fresh, resumed int) {
	for _, s := range w.Ledger().Sessions {
		switch {
		case s.Refused:
		case s.Resumed:
			resumed++
		default:
			fresh++
		}
	}
	return fresh, resumed
}

// hang makes calls of that name hang.
func hang(method string) fake.CallFault {
	return fake.CallFault{Method: method, Do: fake.Hang, Times: -1}
}
