package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// The world most tests live in: one account, one chat, two agents.
const (
	account = "telegram:42"
	chat    = "-100"
	other   = "-200" // a second chat
	holder  = "process-1"
	ttl     = time.Minute
)

var (
	ada = spaces.Mind{Agent: "ada", Circle: "home"}
	bea = spaces.Mind{Agent: "bea", Circle: "home"}
	// morning is when every world begins.
	morning = time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)
)

// A world is a record with the means to live in it.
type world struct {
	t   *testing.T
	s   Store
	now time.Time
	n   int // updates so far
}

func newWorld(t *testing.T, s Store) *world {
	t.Helper()
	return &world{t: t, s: s, now: morning}
}

// ok ends the test when something that must work does not.
func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// sound ends the test with every breach of an invariant.
func (w *world) sound() {
	w.t.Helper()
	found, err := w.s.Audit(w.t.Context(), w.now)
	w.ok(err)
	for _, f := range found {
		w.t.Error("audit: " + f)
	}
}

// opening is a room named by the configuration.
func opening(key string, agents ...spaces.AgentID) spaces.OpenRequest {
	return spaces.OpenRequest{
		Key: key, Name: key, Circle: "home", Wake: spaces.WakeAuto, Agents: agents, At: morning,
		Chats: []spaces.ChatMapping{{Account: account, Chat: chat, Title: "Family", Live: true}},
	}
}

// family opens the room that most tests use.
func (w *world) family(agents ...spaces.AgentID) spaces.SpaceID {
	w.t.Helper()
	if len(agents) == 0 {
		agents = []spaces.AgentID{"ada"}
	}
	return w.open(opening("family", agents...))
}

func (w *world) open(o spaces.OpenRequest) spaces.SpaceID {
	w.t.Helper()
	p, err := w.s.Border.Open(w.t.Context(), o)
	w.ok(err)
	return p.Space
}

// person returns a person's identity on the platform.
func person(name string) spaces.PlatformIdentity {
	return spaces.PlatformIdentity{Platform: "telegram", User: "u-" + name, Kind: spaces.Human, Name: name}
}

// message is an update with words.
func (w *world) message(space spaces.SpaceID, from, text string) spaces.IngestItem {
	w.n++
	id := strconv.Itoa(w.n)
	return spaces.IngestItem{
		Event: spaces.Event{
			Space: space, Object: spaces.ChatObject, At: w.now, Source: account + "|m" + id, Body: spaces.MessagePosted{Text: text},
		},
		From: person(from), Ref: ref(id),
	}
}

// ref names a message of the chat.
func ref(id string) spaces.MessageRef {
	return spaces.MessageRef{Account: account, Chat: chat, Message: id}
}

// fact is an update without words of its own.
func (w *world) fact(space spaces.SpaceID, from string, body spaces.EventBody) spaces.IngestItem {
	it := w.message(space, from, "")
	it.Event.Body, it.Ref = body, spaces.MessageRef{}
	return it
}

func (w *world) record(items ...spaces.IngestItem) spaces.IngestResult {
	w.t.Helper()
	done, err := w.s.Border.Record(w.t.Context(), spaces.IngestBatch{Account: account, Items: items, At: w.now})
	w.ok(err)
	return done
}

// say records one message and returns its event.
func (w *world) say(space spaces.SpaceID, from, text string) spaces.Event {
	w.t.Helper()
	w.record(w.message(space, from, text))
	return w.last(space)
}

// log returns all events of a branch; the primary one when none is named.
func (w *world) log(space spaces.SpaceID, branch ...spaces.BranchID) []spaces.Event {
	w.t.Helper()
	b := spaces.Primary
	if len(branch) > 0 {
		b = branch[0]
	}
	events, err := w.s.Shell.Events(w.t.Context(), space, b, 0, 100000)
	w.ok(err)
	return events
}

func (w *world) last(space spaces.SpaceID) spaces.Event {
	w.t.Helper()
	events := w.log(space)
	if len(events) == 0 {
		w.t.Fatalf("%s has no events", space)
	}
	return events[len(events)-1]
}

// kinds returns the kinds of events in order.
func kinds(events []spaces.Event) []spaces.EventKind {
	out := make([]spaces.EventKind, len(events))
	for i, e := range events {
		out[i] = e.Body.Kind()
	}
	return out
}

// inner returns the bodies of a mind's own log.
func (w *world) inner(m spaces.Mind) []spaces.EventBody {
	w.t.Helper()
	var out []spaces.EventBody
	for _, e := range w.log(m.Inner(), m.Branch()) {
		out = append(out, e.Body)
	}
	return out
}

// wakeAll is a gate that lets everything through.
func wakeAll(j spaces.GateInput) []spaces.GateDecision {
	out := make([]spaces.GateDecision, len(j.Rows))
	for i, r := range j.Rows {
		out[i] = spaces.GateDecision{Seq: r.Seq, Wake: true, Reason: "direct"}
	}
	return out
}

// wakeNone is a gate that lets nothing through.
func wakeNone(j spaces.GateInput) []spaces.GateDecision {
	out := make([]spaces.GateDecision, len(j.Rows))
	for i, r := range j.Rows {
		out[i] = spaces.GateDecision{Seq: r.Seq, Reason: "ambient"}
	}
	return out
}

func (w *world) claim(m spaces.Mind, space spaces.SpaceID) *spaces.Wake {
	w.t.Helper()
	return w.claimAs(holder, m, space, wakeAll)
}

func (w *world) claimAs(who string, m spaces.Mind, space spaces.SpaceID, judge func(spaces.GateInput) []spaces.GateDecision) *spaces.Wake {
	w.t.Helper()
	wake, err := w.s.Shell.Claim(w.t.Context(), spaces.WakeClaim{Mind: m, Space: space, Holder: who, TTL: ttl, At: w.now, Judge: judge})
	w.ok(err)
	return wake
}

// woken claims and expects a wake.
func (w *world) woken(m spaces.Mind, space spaces.SpaceID) *spaces.Wake {
	w.t.Helper()
	wake := w.claim(m, space)
	if wake == nil {
		w.t.Fatalf("%s is not woken in %s", m, space)
	}
	return wake
}

// step returns the commit of a wake's step n.
func (w *world) step(wake *spaces.Wake, n int) spaces.StepCommit {
	return spaces.StepCommit{
		Lease: wake.Lease, Active: wake.Cycle.Active, At: w.now,
		Step: spaces.Step{
			Cycle: wake.Cycle.ID, N: n, Phase: spaces.Engagement, State: spaces.StepDone, Request: "r" + strconv.Itoa(n), At: w.now,
			Usage: spaces.TokenUsage{Prompt: 100, Output: 20, Calls: 1, Cost: stepCost},
		},
	}
}

func (w *world) commit(c spaces.StepCommit) spaces.CommitResult {
	w.t.Helper()
	done, err := w.s.Shell.Commit(w.t.Context(), c)
	w.ok(err)
	return done
}

// reply is an effect that answers in the wake's room.
func (w *world) reply(wake *spaces.Wake, text string) spaces.RoomEffect {
	w.n++
	id := spaces.EventID("reply-" + strconv.Itoa(w.n))
	return spaces.RoomEffect{
		Kind: spaces.ActSend, Space: wake.Cycle.Space, ID: id, Text: text, Policy: spaces.ResendOnce,
		Chain: spaces.NextChain(wake.Consumed, "", id), Seen: w.last(wake.Cycle.Space).Seq, Expires: w.now.Add(time.Hour),
	}
}

// answer lives a whole cycle that says one thing, and returns its event.
func (w *world) answer(m spaces.Mind, space spaces.SpaceID, text string) spaces.Event {
	w.t.Helper()
	wake := w.woken(m, space)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, text)}
	done := w.commit(c)
	w.rest(wake, 1)
	return done.Events[0]
}

// rest closes a wake's cycle with step n.
func (w *world) rest(wake *spaces.Wake, n int) spaces.CommitResult {
	w.t.Helper()
	c := w.step(wake, n)
	c.Upto = wake.Rows[len(wake.Rows)-1].Seq
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Responded."}
	return w.commit(c)
}

// rows returns the states of the rows a mind has in a space, by looking at what
// waits and what a cycle took.
func (w *world) waiting() []spaces.PendingWork {
	w.t.Helper()
	out, err := w.s.Shell.Waiting(w.t.Context(), w.now, 100)
	w.ok(err)
	return out
}

// stepCost is what a step costs, in millionths of the currency.
const stepCost = 7
