// Package consoletest is a console over a record of its own, for tests of what
// it shows and whom it serves: a real store, a running program that is made up,
// and lives in which every field that a person outside can choose holds a text
// of the test's.
//
// It promises that what it shows is read from the record as in production, and
// knows nothing of browsers.
package consoletest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/console/web"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/pubsub/inproc"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// A ConsoleWorld is a console with all it is on. It ends with its test.
type ConsoleWorld struct {
	Console *console.Console
	Store   *sqlstore.Store
	Bus     *inproc.EventBus
	Program *FakeProgram
	// Settings is the configuration file.
	Settings *FakeSettings
	// Prompts are the versions of what agents are told; its folder is that of the world.
	Prompts *PromptShelf
	// Offered are the acts that runs are offered from now on.
	Offered spaces.ToolManifest
	// Signs are shown in the room that an operator talks in.
	Signs chan console.ChatSign

	t      testing.TB
	minted atomic.Int64
	said   int
	// keyframe is what frames begin with from now on; nil without one.
	keyframe *spaces.Keyframe
	wake     *spaces.Wake // the newest run
	steps    int          // that it has taken after the first

	mu     sync.Mutex // guards access
	access console.Access
}

// Open returns a world whose record is empty and whose console serves this
// machine alone.
func Open(tb testing.TB) *ConsoleWorld {
	tb.Helper()
	w := &ConsoleWorld{t: tb, Bus: &inproc.EventBus{After: 1000, Keep: 64}, Program: &FakeProgram{}, Offered: Acts(), Signs: make(chan console.ChatSign, 64)}
	w.Settings = &FakeSettings{Program: w.Program}
	store, err := sqlite.Open(tb.Context(), sqlite.Options{Dir: tb.TempDir(), NewID: w.mint})
	w.ok(err)
	tb.Cleanup(func() {
		if err := store.Close(context.WithoutCancel(tb.Context())); err != nil {
			tb.Error(err)
		}
	})
	w.Store = store
	w.Prompts = &PromptShelf{prompts.PromptRegistry{Folder: tb.TempDir(), Reader: store.Prompts()}, store.Prompts()}
	o := console.Options{
		Store: store.Console(), Figures: store.Figures(), Keys: store.Keys(), Process: w.Program, Jobs: longWork{store.Jobs(), store.Jobs()}, Settings: w.Program, Live: stream{w.Bus}, Desk: w.Program, People: w.Program, Agents: w.Program, Prompts: w.Prompts, Editor: w.Settings,
		Rehearse: w.Program.rehearse, ChangeSend: w.Program.changeSend, Chat: chatDesk{w}, ReasonWords: func(reason string) string { return "it is " + reason }, OpenFile: openFile,
		PersonTools: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { fmt.Fprint(rw, console.AccessOf(r.Context()).As) }),
		Grant: func(_ context.Context, q console.TokenRequest) (console.PersonAccess, error) {
			return console.PersonAccess{Person: "maya", As: q.As, Agent: q.Agent, Send: q.Send}, nil
		},
		Tools: Acts, Metrics: http.NotFoundHandler(), Access: w.Access, Logger: slog.New(slog.NewTextHandler(alarm{tb}, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	a := api.New(o)
	site := web.New(o, a)
	w.Console = console.New(o, site, a.Routes(), site.Routes())
	return w
}

// Acts is what the agents of a world may ask for.
func Acts() spaces.ToolManifest {
	return spaces.NewManifest([]spaces.ToolDefinition{
		{Name: "send_message", Tier: spaces.TierPlatform, Risk: spaces.RiskWriteOwn, About: "Says something.", Schema: []byte(`{"type":"object"}`)},
	})
}

// An alarm fails the test with what is written to it: a console of a test has
// nothing to complain of.
type alarm struct{ t testing.TB }

// Write implements io.Writer.
func (a alarm) Write(p []byte) (int, error) {
	a.t.Errorf("the console logs: %s", p)
	return len(p), nil
}

func (w *ConsoleWorld) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *ConsoleWorld) mint() string {
	return fmt.Sprintf("00000000-0000-7000-8000-%012d", w.minted.Add(1))
}

// Access returns from where the console may be called now.
func (w *ConsoleWorld) Access() console.Access {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.access
}

// Allow changes from where the console may be called, as a reloaded
// configuration does.
func (w *ConsoleWorld) Allow(a console.Access) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.access = a
}

// Key makes a key of a kind and returns it with its secret.
func (w *ConsoleWorld) Key(kind console.KeyKind) console.IssuedKey {
	w.t.Helper()
	m := console.NewKey(kind, "test", time.Now())
	w.ok(w.Store.Keys().AddKey(w.t.Context(), m.Key))
	return m
}

// PersonKey adds a token for the rooms of a person and returns it.
func (w *ConsoleWorld) PersonKey(a console.PersonAccess) console.IssuedKey {
	w.t.Helper()
	m := console.NewKey(console.KeyToken, "test", time.Now())
	m.Person = &a
	w.ok(w.Store.Keys().AddKey(w.t.Context(), m.Key))
	return m
}

// longWork is the jobs of the record as a console steers them.
type longWork struct {
	jobs.JobReader
	desk jobs.JobQueue
}

// Ask implements [console.Jobs].
func (l longWork) Ask(ctx context.Context, id int64, want jobs.JobState) (jobs.Job, error) {
	return l.desk.Ask(ctx, id, want, time.Now())
}

// stream is the bus as a console reads it.
type stream struct{ bus *inproc.EventBus }

// Open implements [console.EventSource].
func (s stream) Open(room int) pubsub.LiveStream { return s.bus.Open(room) }

// Resume implements [console.EventSource].
func (s stream) Resume(id int64, room int) pubsub.LiveStream { return s.bus.Resume(id, room) }
