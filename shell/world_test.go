package shell_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// TestMain has what is told of times told by one clock, whatever that of the machine.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "rewrite the golden files")

// A world is a shell over a real record, in a bubble of fake time. The border is
// played by the test: it records what people do and reads what is in the
// outbox.
type world struct {
	claims   atomic.Int64 // made by the last record
	t        *testing.T
	dir      string
	store    *sqlstore.Store
	shell    *shell.Shell
	bus      *bus
	agents   []shell.Agent
	settings func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings
	// ports, when set, is between the shell and the record.
	ports func(sqlstore.AgentStore) ports

	drafts   shell.DraftDisplay   // nil: nobody sees an answer grow
	presence shell.TypingNotifier // nil: nobody sees that an agent is at it
	poll     time.Duration        // 0: the shell's own
	cycles   int                  // at once; 0: the shell's own
	texts    shell.DocumentSource // nil: agents read no files
	tools    shell.ToolBox        // nil: agents have no outside tools
	told     shell.PromptSource   // nil: agents are told what is built in
	zone     *time.Location       // of the clock that agents live by; nil: the machine's
	listen   func(line string)    // hears every line of the log

	minted  atomic.Int64
	updates int
	process int
	cancel  func() // tells the process to stop
	end     func() // and waits until it has
}

// ports is what the shell asks of the record.
type ports interface {
	shell.WakeQueue
	shell.CycleStore
	shell.LogReader
	shell.RunStopper
}

const account = "telegram:42"

// play runs a test with a world whose agents all have the same model, in a
// bubble of fake time.
func play(t *testing.T, m llm.ChatModel, story func(w *world), agents ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, m, agents...)
		story(w)
		w.stop()
		w.sound()
	})
}

// newWorld returns a world that is not started yet. Without names there is Ada.
func newWorld(t *testing.T, m llm.ChatModel, agents ...string) *world {
	t.Helper()
	if len(agents) == 0 {
		agents = []string{"Ada"}
	}
	w := &world{
		t: t, dir: t.TempDir(), bus: &bus{}, ports: func(s sqlstore.AgentStore) ports { return s },
		settings: func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return twoPhases() },
	}
	for _, name := range agents {
		w.agents = append(w.agents, shell.Agent{ID: agentID(name), Name: name, Model: moreToDo(m)})
	}
	w.open()
	return w
}

// agentID is the id of the agent of that name.
func agentID(name string) spaces.AgentID {
	return spaces.AgentID(string(name[0]|0x20) + name[1:])
}

// newID mints ids that rise.
func (w *world) newID() string { return fmt.Sprintf("id-%09d", w.minted.Add(1)) }

func (w *world) ok(err error) {
	w.t.Helper()
	testutil.OK(w.t, err)
}

func (w *world) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

// Write takes a line of the log. Warnings are shown with the test's output.
func (w *world) Write(line []byte) (int, error) {
	if w.listen != nil {
		w.listen(string(line))
	}
	if strings.Contains(string(line), "level=INFO") {
		return len(line), nil
	}
	return w.t.Output().Write(line)
}

func (w *world) open() {
	w.t.Helper()
	store, err := sqlite.Open(w.t.Context(), sqlite.Options{Dir: w.dir, NewID: w.newID, Logger: w.logger(), Lives: true})
	w.ok(err)
	w.store = store
	w.t.Cleanup(func() { _ = store.Close(context.WithoutCancel(w.t.Context())) })
	var who []spaces.Entity
	for _, a := range w.agents {
		who = append(who, spaces.Entity{ID: a.ID.Entity(), Kind: spaces.Agent, Name: a.Name})
	}
	w.ok(store.Border().Agents(w.t.Context(), who))
}

// start brings a process up on the record. Settings made before it hold.
func (w *world) start() {
	w.t.Helper()
	w.process++
	p := w.ports(w.store.Shell())
	w.shell = shell.New(w.options(p, "process-"+strconv.Itoa(w.process)))
	ctx, cancel := context.WithCancel(w.t.Context())
	w.cancel = cancel // before anything runs that may kill it
	var wg sync.WaitGroup
	wg.Go(func() { _ = w.shell.Run(ctx) })
	w.end = func() {
		cancel()
		wg.Wait()
	}
}

func (w *world) options(p ports, holder string) shell.Options {
	now := time.Now
	if w.zone != nil {
		now = func() time.Time { return time.Now().In(w.zone) }
	}
	var outside shell.OutsideAccess
	if w.tools != nil {
		outside = shell.OutsideAccess{Box: w.tools, Runner: w.store.Shell(), Reader: w.store.Shell()}
	}
	return shell.Options{
		MediaAccess: shell.MediaAccess{Texts: w.texts}, Outside: outside, Now: now, Inbox: p, Journal: p, Record: p, Halter: p, Forgetter: w.store.Shell(), Digests: w.store.Shell(), Meanings: w.store.Shell(), ProgressDisplay: shell.ProgressDisplay{Drafts: w.drafts, Presence: w.presence}, Agents: w.agents, Prompts: w.told, Settings: w.settings, Bus: w.bus, Counter: &hud.TokenCounter{},
		Poll: w.poll, Cycles: w.cycles, Holder: holder, NewID: w.newID, Nonce: func() string { return "NONCE" }, Logger: w.logger(),
	}
}

// stop ends the process in good order.
func (w *world) stop() {
	if w.end != nil {
		w.end()
		w.end = nil
	}
}

// crash ends the process as a kill would and starts the next one on what was on
// disk at that moment.
func (w *world) crash() {
	w.t.Helper()
	w.stop()
	left := w.t.TempDir()
	w.ok(copyFiles(w.dir, left))
	w.ok(w.store.Close(w.t.Context()))
	w.dir = left
	w.open()
}

// copyFiles copies what a kill at this moment would leave. SQLite's log goes first:
// what is folded into the database while files are copied then is in both.
func copyFiles(from, to string) error {
	entries, err := os.ReadDir(from)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(b.Name(), a.Name()) })
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, failed := os.ReadFile(filepath.Join(from, e.Name()))
		if failed == nil {
			failed = os.WriteFile(filepath.Join(to, e.Name()), data, 0o600)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// sound delivers what is still to be sent and ends the test with every breach of
// an invariant in the record.
func (w *world) sound() {
	w.t.Helper()
	w.deliver()
	found, err := w.store.Audit(w.t.Context(), time.Now())
	w.ok(err)
	for _, f := range found {
		w.t.Errorf("audit: %s", f)
	}
}

// deliver hands everything in the outbox to the platform, which takes it.
func (w *world) deliver() {
	w.t.Helper()
	border := w.store.Border()
	for {
		due, err := border.Claim(w.t.Context(), account, time.Now(), 100)
		w.ok(err)
		if len(due) == 0 {
			return
		}
		w.settleAll(due)
	}
}

// settleAll has the platform take what was claimed.
func (w *world) settleAll(due []spaces.Action) {
	w.t.Helper()
	var done []activity.SendResult
	for _, a := range due {
		w.updates++
		done = append(done, activity.SendResult{
			Action: a.ID, State: spaces.ActionSent, Part: 1,
			Ref: spaces.MessageRef{Account: account, Chat: a.Chat, Message: strconv.Itoa(w.updates)},
		})
	}
	w.ok(w.store.Border().Settle(w.t.Context(), time.Now(), done))
}

// pass lets the bubble's clock run for d, and what is due at that very instant
// happen: whoever looks then, or does something, comes last.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// settle lets the shell run until no cycle is under way and nothing waits that
// is due.
func (w *world) settle() {
	w.t.Helper()
	for n := range 5000 {
		synctest.Wait()
		waiting, err := w.store.Shell().Waiting(w.t.Context(), time.Now(), 1)
		w.ok(err)
		if w.shell.Idle() && len(waiting) == 0 {
			return
		}
		<-time.After(time.Duration(1+n/20) * 100 * time.Millisecond)
	}
	w.t.Fatal("the shell does not come to rest")
}

// room opens a room of all agents, or of those named, with one chat of the same
// name, in the circle home.
func (w *world) room(name string, change ...func(*spaces.OpenRequest)) spaces.SpaceID {
	w.t.Helper()
	o := spaces.OpenRequest{
		Key: name, Name: name, Circle: "home", Wake: spaces.WakeAuto, At: time.Now(),
		Chats: []spaces.ChatMapping{{Account: account, Chat: name, Title: name, Live: true}},
	}
	for _, a := range w.agents {
		o.Agents = append(o.Agents, a.ID)
	}
	for _, f := range change {
		f(&o)
	}
	p, err := w.store.Border().Open(w.t.Context(), o)
	w.ok(err)
	return p.Space
}

// direct makes a room one person's own.
func direct(o *spaces.OpenRequest) { o.Direct, o.Closed = true, true }

// circle puts a room into a circle.
func circle(id spaces.CircleID) func(*spaces.OpenRequest) {
	return func(o *spaces.OpenRequest) { o.Circle = id }
}

// with seats only these agents in a room.
func with(names ...string) func(*spaces.OpenRequest) {
	return func(o *spaces.OpenRequest) {
		o.Agents = nil
		for _, n := range names {
			o.Agents = append(o.Agents, agentID(n))
		}
	}
}

// mind is an agent's mind in the circle home.
func mind(name string) spaces.Mind { return spaces.Mind{Agent: agentID(name), Circle: "home"} }

// update is something a person does in a room. Said gets a place on the platform.
func (w *world) update(room spaces.SpaceID, who string, body spaces.EventBody) spaces.IngestItem {
	w.updates++
	id := strconv.Itoa(w.updates)
	in := spaces.IngestItem{
		Event: spaces.Event{Space: room, Object: spaces.ChatObject, At: time.Now(), Source: account + "|" + id, Body: body},
		From:  spaces.PlatformIdentity{Platform: "telegram", User: "u-" + who, Kind: spaces.Human, Name: who},
	}
	if _, ok := body.(spaces.MessagePosted); ok {
		in.Ref = w.ref()
	}
	return in
}

// ref names the newest update on the platform.
func (w *world) ref() spaces.MessageRef {
	return spaces.MessageRef{Account: account, Chat: "chat", Message: strconv.Itoa(w.updates)}
}

// record stores a batch and rings for it, as the border does.
func (w *world) record(items ...spaces.IngestItem) {
	w.t.Helper()
	in := spaces.IngestBatch{Account: account, Items: items, At: time.Now()}
	var claims []spaces.WakeClaim
	if w.shell != nil {
		in.Claims = func(ws []spaces.PendingWork) []spaces.WakeClaim { claims = w.shell.Claims(ws); return claims }
	}
	done, err := w.store.Border().Record(w.t.Context(), in)
	w.ok(err)
	w.claims.Store(int64(len(claims)))
	if w.shell != nil {
		w.shell.Claimed(claims, done.Woken, nil)
		w.shell.Ring(done.Wakes)
	}
}

// says records a message and returns its place on the platform.
func (w *world) says(room spaces.SpaceID, who, text string) spaces.MessageRef {
	w.t.Helper()
	in := w.update(room, who, spaces.MessagePosted{Text: text})
	w.record(in)
	return in.Ref
}

// does records something that is no message.
func (w *world) does(room spaces.SpaceID, who string, body spaces.EventBody) {
	w.t.Helper()
	w.record(w.update(room, who, body))
}

// log returns what happened in a room.
func (w *world) log(room spaces.SpaceID) []spaces.Event {
	w.t.Helper()
	events, err := w.store.Shell().Events(w.t.Context(), room, spaces.Primary, 0, 10000)
	w.ok(err)
	return events
}

// inner returns the log of a mind.
func (w *world) inner(m spaces.Mind) []spaces.Event {
	w.t.Helper()
	events, err := w.store.Shell().Events(w.t.Context(), m.Inner(), m.Branch(), 0, 10000)
	w.ok(err)
	return events
}

// spoken returns what agents said in a room, in order.
func (w *world) spoken(room spaces.SpaceID) []string {
	w.t.Helper()
	var out []string
	for _, e := range w.log(room) {
		_, agent := e.Actor.IsAgent()
		if said, ok := e.Body.(spaces.MessagePosted); ok && agent {
			out = append(out, said.Text)
		}
	}
	return out
}

// bodies returns those of one kind from a log.
func bodies[B spaces.EventBody](events []spaces.Event) []B {
	var out []B
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			out = append(out, b)
		}
	}
	return out
}

// stops returns the stop reasons of a mind's cycles, in order.
func (w *world) stops(m spaces.Mind) []spaces.StopReason {
	w.t.Helper()
	var out []spaces.StopReason
	for _, b := range bodies[spaces.CycleStopped](w.inner(m)) {
		out = append(out, b.Reason)
	}
	return out
}

// A bus keeps what was published on it.
type bus struct {
	mu   sync.Mutex // guards live
	live []live
}

type live struct {
	kind, content string
	metadata      map[string]any
	at            time.Time
}

func (b *bus) Publish(kind, content string, metadata map[string]any, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live = append(b.live, live{kind, content, metadata, at})
}

// golden compares what was published with a file, as the stream writes it
// (PRD-6.2-4, -A5): a field that goes away breaks a person's program.
func (b *bus) golden(t *testing.T, file string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	var got bytes.Buffer
	for _, l := range b.live {
		line, err := json.Marshal(pubsub.LiveEvent{Type: l.kind, Content: l.content, Metadata: l.metadata, At: l.at.Truncate(time.Millisecond)})
		testutil.OK(t, err)
		got.Write(append(line, '\n'))
	}
	testutil.Golden(t, *update, file, got.String())
}

// kinds returns the kinds published, in order.
func (b *bus) kinds() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]string, len(b.live))
	for i, l := range b.live {
		out[i] = l.kind
	}
	return out
}

// A mindful model answers by what it sees, the same every time: what a real one
// does when it is asked again after a crash.
type mindful func(context.Context, llm.ModelRequest) (llm.ModelResponse, error)

func (m mindful) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	return m(ctx, r)
}

// acts counts the acts of the open cycle that the model is shown: those after
// the newest INBOX with a trigger.
func acts(r llm.ModelRequest) int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == llm.User && isInbox(m.Text) {
			n = 0
		}
		n += len(m.Calls)
	}
	return n
}

func isInbox(text string) bool { return len(text) > 7 && text[:7] == "INBOX (" }

// says answers with acts.
func calling(id int, name, args string) llm.ModelResponse {
	return llm.ModelResponse{
		Calls: []llm.ToolCall{{ID: "call-" + strconv.Itoa(id), Name: name, Args: args}}, Finish: llm.Called,
		Usage: llm.TokenUsage{Prompt: 100, Output: 10},
	}
}

// telling answers with text.
func telling(text string) llm.ModelResponse {
	return llm.ModelResponse{Text: text, Finish: llm.Stopped, Usage: llm.TokenUsage{Prompt: 100, Output: 10}}
}

// replier is a model that thinks, says one thing, and rests.
func replier(text string) *llmtest.ScriptedModel {
	return llmtest.NewScripted(nil,
		llmtest.ScriptStep{Always: true, When: func(r llm.ModelRequest) bool { return r.NoCalls }, Response: telling("hm")},
		llmtest.ScriptStep{Always: true, When: func(r llm.ModelRequest) bool { return acts(r) > 0 }, Response: telling("Responded to Kai about it. Answered.")},
		llmtest.ScriptStep{Always: true, Do: func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
			return calling(len(r.Messages), "send_message", fmt.Sprintf(`{"text":%q}`, text)), nil
		}},
	)
}

// twoPhases returns the default settings of agents that think in a call of its own.
func twoPhases() shell.AgentSettings {
	s := shell.DefaultSettings()
	s.Phases = shell.PhasesTwo
	return s
}

// moreToDo has a model say with each message that it has something else to do, so that
// its runs go on until it ends them.
func moreToDo(m llm.ChatModel) llm.ChatModel { return busyModel{m} }

type busyModel struct{ llm.ChatModel }

func (m busyModel) Unwrap() llm.ChatModel { return m.ChatModel }

var messageTag = regexp.MustCompile(`<(msg|reply) k=`)

func (m busyModel) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	res, err := m.ChatModel.Generate(ctx, r)
	if strings.Contains(res.Text, "Responded to") {
		return res, err
	}
	res.Text, res.Calls = messageTag.ReplaceAllString(res.Text, `<$1 more="true" k=`), slices.Clone(res.Calls)
	for i, call := range res.Calls {
		var args map[string]any
		if !strings.HasPrefix(call.Name, "send_") || call.Name == "send_file" || json.Unmarshal([]byte(call.Args), &args) != nil || args == nil || args["more"] != nil {
			continue
		}
		res.Calls[i].Args = strings.Replace(call.Args, "{", `{"more":true,`, 1)
	}
	return res, err
}
