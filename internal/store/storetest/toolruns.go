package storetest

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var toolRunTests = map[string]func(*testing.T, *world){
	"CrashedCycleDoesNotCallAToolTwice":         toolNotCalledTwice,
	"CrashedCycleMayRepeatWhatOnlyReads":        toolReadAgain,
	"CallIsUnknownAfterItsProcess":              toolUnknown,
	"CrashedCycleThatWroteIsNotTriedAnew":       wroteAndCrashed,
	"CrashedCycleThatBeganNoCallIsTriedAnew":    readAndCrashed,
	"CallThatWaitsForAChoiceOutlivesItsCycle":   choiceOutlivesCrashes,
	"ResultThatNoCycleCouldReadIsToldToPeople":  unreadResult,
	"CallsOfADeadProcessAreFreeAtOnce":          freedAtOnce,
	"CallIsNotBegunTwiceByProcessesAtOneMoment": begunOnce,
	"ResultIsToldBetweenRunsOfItsRoom":          toldBetweenRuns,
	"CallsOfAnAgentAreCounted":                  callsCounted,
}

// onlyCall is the call of a test.
const onlyCall = "run-1"

// calls has a wake commit a step that calls a tool.
func (w *world) calls(wake *spaces.Wake, repeats bool) {
	w.t.Helper()
	c := w.step(wake, 0)
	c.Runs = []spaces.ToolRun{{
		ID: onlyCall, Cycle: wake.Cycle.ID, Call: "call-1", Mind: wake.Cycle.Mind, Space: wake.Cycle.Space, Tool: "jot", Args: `{"word":"x"}`,
		Risk: spaces.RiskWriteOutside, Repeats: repeats, State: spaces.ToolReady, Proposed: w.now,
	}}
	w.commit(c)
}

// start begins the call in the name of a process and expects its state.
func (w *world) start(who string, want spaces.ToolRunState) {
	w.t.Helper()
	run, err := w.s.Tools.StartRun(w.t.Context(), onlyCall, who, ttl, false, w.now)
	w.ok(err)
	if run.State != want {
		w.t.Fatalf("the call is %s, want %s", run.State, want)
	}
}

// crashes has the cycle's process end until the cycle is abandoned; a message joins it on
// the way.
func (w *world) crashes(room spaces.SpaceID, id spaces.CycleID) {
	w.t.Helper()
	for i := range 2 {
		w.say(room, "kai", "and one more thing")
		w.now = w.now.Add(2 * ttl)
		if again := w.claim(ada, room); again == nil || again.Cycle.ID != id {
			w.t.Fatalf("resumed %d times as %+v", i+1, again)
		}
	}
	w.now = w.now.Add(2 * ttl)
}

// TOOLS 3.3: where a cycle called a tool that writes and then crashes too often, the result
// wakes the mind before any message does: without it the model would call the tool again.
func toolNotCalledTwice(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "jot it down")
	wake := w.woken(ada, room)
	w.calls(wake, false)
	w.start(holder, spaces.ToolRunning)
	done, err := w.s.Tools.EndRun(t.Context(), spaces.ToolRunEnd{ID: onlyCall, Holder: holder, State: spaces.ToolDone, Result: "jotted", At: w.now})
	w.ok(err)
	if !done {
		t.Fatal("the result was not stored")
	}
	w.crashes(room, wake.Cycle.ID)
	if next := w.claim(ada, room); next != nil {
		t.Errorf("woken by %+v before the result of the call", next.Rows)
	}
	due := w.fire()
	if len(due) != 1 || due[0].Timer.Kind != spaces.TimerTool || due[0].Timer.Note != onlyCall {
		t.Fatalf("woken by the timers of %+v, want the result of the call", due)
	}
	w.endTimer(&due[0])
	w.rest(w.woken(ada, room), 0)
}

// A call that may be made twice keeps nothing from being tried anew.
func toolReadAgain(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "look it up")
	wake := w.woken(ada, room)
	w.calls(wake, true)
	w.start(holder, spaces.ToolRunning)
	w.crashes(room, wake.Cycle.ID)
	next := w.woken(ada, room)
	if due := w.fire(); next.Cycle.ID == wake.Cycle.ID || len(next.Rows) != 2 || len(due) > 0 {
		t.Fatalf("woken by rows %+v and %d timers, want what joined the cycle", next.Rows, len(due))
	}
	w.rest(next, 0)
}

// The calls that an agent has asked for are counted from an instant on.
func callsCounted(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "jot it down")
	w.calls(w.woken(ada, room), false)
	called := w.now
	for _, c := range []struct {
		agent         spaces.AgentID
		day, minute   time.Time
		today, lately int
	}{
		{ada.Agent, called, called, 1, 1},
		{ada.Agent, called.Add(-time.Hour), called.Add(time.Millisecond), 1, 0},
		{ada.Agent, called.Add(time.Millisecond), called, 0, 1}, // a minute that began yesterday
		{"bea", called, called, 0, 0},
	} {
		today, lately, err := w.s.Shell.CountRuns(t.Context(), c.agent, c.day, c.minute)
		w.ok(err)
		if today != c.today || lately != c.lately {
			t.Errorf("%s since %s and %s: %d and %d, want %d and %d", c.agent, c.day, c.minute, today, lately, c.today, c.lately)
		}
	}
}

// A call whose process has ended may have happened: it is not begun again.
func toolUnknown(_ *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "jot it down")
	wake := w.woken(ada, room)
	w.calls(wake, false)
	w.start(holder, spaces.ToolRunning)
	w.start("process-2", spaces.ToolRunning)
	w.now = w.now.Add(2 * ttl)
	w.start("process-2", spaces.ToolUnknown)
	w.rest(w.woken(ada, room), 1)
}

// callsFor has the agent call tools for a message of zoe, and returns the wake.
func (w *world) callsFor(room spaces.SpaceID, runs ...spaces.ToolRun) *spaces.Wake {
	w.t.Helper()
	said := w.say(room, "zoe", "order a shirt")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Upto = said.Seq
	for _, run := range runs {
		run.Cycle, run.Call, run.Mind, run.Space, run.Asker, run.Args, run.Proposed = wake.Cycle.ID, run.ID, ada, room, said.Actor, "{}", w.now
		c.Runs = append(c.Runs, run)
	}
	w.commit(c)
	return wake
}

// crashesThrice lets the process end three times, and expects the cycle to be resumed twice.
func (w *world) crashesThrice(wake *spaces.Wake) {
	w.t.Helper()
	for range 2 {
		w.now = w.now.Add(2 * ttl)
		if again := w.claim(ada, wake.Cycle.Space); again == nil || again.Cycle.ID != wake.Cycle.ID {
			w.t.Fatalf("resumed as %+v", again)
		}
	}
	w.now = w.now.Add(2 * ttl)
}

// begin begins a call.
func (w *world) begin(id, who string) spaces.ToolRun {
	w.t.Helper()
	run, err := w.s.Tools.StartRun(w.t.Context(), id, who, ttl, false, w.now)
	w.ok(err)
	return run
}

// end ends a call and reports whether its end was stored.
func (w *world) end(e spaces.ToolRunEnd) bool {
	w.t.Helper()
	e.At = w.now
	ended, err := w.s.Tools.EndRun(w.t.Context(), e)
	w.ok(err)
	return ended
}

// state returns the state of a call.
func (w *world) state(id string) spaces.ToolRunState {
	w.t.Helper()
	run, err := w.s.Shell.ToolRun(w.t.Context(), id)
	w.ok(err)
	return run.State
}

// texts returns what is due to be sent, and settles it.
func (w *world) texts() (texts []string) {
	w.t.Helper()
	due := w.due()
	w.settleAll(due)
	for _, a := range due {
		texts = append(texts, a.Text)
	}
	return texts
}

const crashedAlone = "The program ended several times while I worked on the last messages here, and I will not begin again. Ask again if you still need an answer."

const crashedCalls = "The program ended several times while I worked on the last messages here, and I will not begin again, because I had called tools. I will tell what came of these calls; ask again for the rest."

// K12, TOOLS 8: a cycle that crashed too often and had called a tool that writes is not
// tried anew with the same messages: the ends of its calls wake the mind, each once, and
// the room is told. What is said next waits until the mind was told, and the messages are
// not shown as new beside it.
func wroteAndCrashed(t *testing.T, w *world) {
	room := w.family()
	wake := w.callsFor(room,
		spaces.ToolRun{ID: "r1", Tool: "order", Risk: spaces.RiskWriteOutside, State: spaces.ToolReady},
		spaces.ToolRun{ID: "r2", Tool: "order", Risk: spaces.RiskWriteOutside, State: spaces.ToolReady},
		spaces.ToolRun{ID: "r3", Tool: "order", Risk: spaces.RiskWriteOutside, State: spaces.ToolReady},
		spaces.ToolRun{ID: "r4", Tool: "order", Risk: spaces.RiskWriteOutside, State: spaces.ToolAsked, ToolApproval: spaces.ToolApproval{Code: "K7QDX", Expires: w.now.Add(time.Hour)}},
	)
	w.begin("r1", holder)
	w.end(spaces.ToolRunEnd{ID: "r1", Holder: holder, State: spaces.ToolDone, Result: "ordered"})
	w.begin("r2", holder)
	w.crashesThrice(wake)
	if again := w.claim(ada, room); again != nil {
		t.Fatalf("what called the tool is tried anew: %+v", again.Rows)
	}
	testutil.Same(t, "told", []string{crashedCalls}, w.texts())
	unattended, err := w.s.Tools.UnattendedRuns(t.Context(), w.now, 10)
	w.ok(err)
	for _, run := range unattended { // as the runner does
		if got := w.begin(run.ID, "process-2"); got.State == spaces.ToolRunning {
			if run.ID != "r3" {
				t.Errorf("%s was begun again", run.ID)
			}
			w.end(spaces.ToolRunEnd{ID: run.ID, Holder: "process-2", State: spaces.ToolDone, Result: "ordered"})
		}
	}
	want := map[string]spaces.ToolRunState{"r1": spaces.ToolDone, "r2": spaces.ToolUnknown, "r3": spaces.ToolDone, "r4": spaces.ToolExpired}
	woken := map[string]int{}
	w.say(room, "kai", "and now?")
	for range want {
		for _, got := range w.fire() {
			woken[got.Timer.Note]++
			if early := w.claim(ada, room); early != nil {
				t.Errorf("a cycle begins before the mind was told of %s", got.Timer.Note)
			}
			w.endTimer(&got)
		}
	}
	if next := w.claim(ada, room); next == nil || len(next.Rows) != 1 || next.Cycle.Upto != wake.Rows[len(wake.Rows)-1].Seq {
		t.Errorf("what is said next wakes %+v, want one message, after the last that the crashed cycle gave up", next)
	}
	for id, state := range want {
		if got := w.state(id); got != state || woken[id] != 1 {
			t.Errorf("%s is %s and woke the mind %d times, want %s and once", id, got, woken[id], state)
		}
	}
}

// A cycle that only read, or asked for what no person was asked about yet, has done
// nothing: its calls are cancelled, people are told, and later messages are answered by a
// new cycle.
func readAndCrashed(t *testing.T, w *world) {
	room := w.family()
	wake := w.callsFor(room,
		spaces.ToolRun{ID: "r1", Tool: "look", Risk: spaces.RiskReadOutside, Repeats: true, State: spaces.ToolReady},
		spaces.ToolRun{ID: "r2", Tool: "order", Risk: spaces.RiskWriteOutside, State: spaces.ToolAsked, ToolApproval: spaces.ToolApproval{Code: "K7QDX", Expires: w.now.Add(time.Hour)}},
	)
	w.begin("r1", holder)
	w.crashesThrice(wake)
	next := w.say(room, "zoe", "are you well?")
	again := w.woken(ada, room)
	if len(again.Rows) != 1 || again.Rows[0].Event != next.ID {
		t.Errorf("rows %+v, want the next message", again.Rows)
	}
	testutil.Same(t, "states", [2]spaces.ToolRunState{spaces.ToolCancelled, spaces.ToolCancelled}, [2]spaces.ToolRunState{w.state("r1"), w.state("r2")})
	if fired := w.fire(); len(fired) > 0 {
		t.Errorf("woken by %+v", fired)
	}
	testutil.Same(t, "told", []string{crashedAlone}, w.texts())
	w.rest(again, 0)
}

// A tool that was called and asked a person for a choice is not called from the start
// again: the run goes on waiting for the choice, and its result wakes the mind.
func choiceOutlivesCrashes(t *testing.T, w *world) {
	room := w.family()
	wake := w.callsFor(room, spaces.ToolRun{ID: "r1", Tool: "order", Risk: spaces.RiskWriteOutside, State: spaces.ToolReady})
	run := w.begin("r1", holder)
	run.Input = spaces.ToolInput{Question: "Which?", Options: days}
	w.end(spaces.ToolRunEnd{
		ID: "r1", Holder: holder, State: spaces.ToolAsked, Input: run.Input,
		ToolApproval: spaces.ToolApproval{Code: "K7QDX", Expires: w.now.Add(time.Hour)},
		Notice:       spaces.RoomNotice{Room: room, Key: run.RequestKey(), Text: "Which?\nWrite it.", Choices: []spaces.ChoiceButton{{Label: "Tuesday", Value: "choose K7QDX 1"}}},
	})
	w.texts()
	w.crashesThrice(wake)
	if again := w.claim(ada, room); again != nil {
		t.Fatalf("what called the tool is tried anew: %+v", again.Rows)
	}
	testutil.Same(t, "told", []string{crashedCalls}, w.texts())
	_, decided, err := w.s.Shell.DecideRun(t.Context(), spaces.ToolDecision{Code: "K7QDX", By: run.Asker, Allow: true, Choice: 1, Outcome: "Chosen.", At: w.now})
	w.ok(err)
	if got := w.begin("r1", "process-2"); !decided || got.Attempt != 2 || got.Input.Choice != 1 {
		t.Fatalf("decided %v, begun as %+v", decided, got)
	}
	w.end(spaces.ToolRunEnd{ID: "r1", Holder: "process-2", State: spaces.ToolDone})
	if fired := w.fire(); len(fired) != 1 || fired[0].Timer.Note != "r1" {
		t.Errorf("woken by %+v, want the call", fired)
	}
}

// A cycle that a result woke and that crashes too often leaves the result to people.
func unreadResult(t *testing.T, w *world) {
	room := w.family()
	wake := w.callsFor(room, spaces.ToolRun{ID: "r1", Tool: "order", Risk: spaces.RiskWriteOutside, State: spaces.ToolReady})
	w.begin("r1", holder)
	w.rest(wake, 1)
	w.end(spaces.ToolRunEnd{ID: "r1", Holder: holder, State: spaces.ToolDone, Result: "ordered"})
	fired := w.fire()
	if len(fired) != 1 {
		t.Fatalf("fired %+v", fired)
	}
	w.crashesThrice(&fired[0])
	if again := w.claim(ada, ""); again != nil {
		t.Errorf("resumed as %+v", again)
	}
	testutil.Same(t, "told", []string{"The program ended several times while I read what came of order. It is done."}, w.texts())
}

// Two runs at once would both take up what an earlier run of their room has left: the
// result of a call waits for the run in its room, and what is said there for the result.
// Other rooms go on.
func toldBetweenRuns(t *testing.T, w *world) {
	o := opening("porch", "ada")
	o.Chats[0].Chat = "-9001"
	room, elsewhere := w.family(), w.open(o)
	wake := w.callsFor(room, spaces.ToolRun{ID: "r1", Tool: "order", Risk: spaces.RiskWriteOutside, State: spaces.ToolReady})
	w.begin("r1", holder)
	w.rest(wake, 1)
	w.say(room, "kai", "and now?")
	next := w.woken(ada, room)
	w.end(spaces.ToolRunEnd{ID: "r1", Holder: holder, State: spaces.ToolDone, Result: "ordered"})
	if fired := w.fire(); len(fired) > 0 {
		t.Errorf("the result is told beside the run of its room: %+v", fired)
	}
	w.rest(next, 0)
	w.say(room, "kai", "and then?")
	w.say(elsewhere, "kai", "and here?")
	if early := w.claim(ada, room); early != nil {
		t.Errorf("a run begins before a result that is due: %+v", early.Rows)
	}
	fired := w.fire()
	if len(fired) != 1 {
		t.Fatalf("fired %+v, want the result", fired)
	}
	if early := w.claim(ada, room); early != nil {
		t.Errorf("a run begins while the result is told: %+v", early.Rows)
	}
	w.rest(w.woken(ada, elsewhere), 0)
	w.endTimer(&fired[0])
	w.rest(w.woken(ada, room), 0)
}

// The next process need not wait until the lease of a call runs out that its last process
// left.
func freedAtOnce(t *testing.T, w *world) {
	room := w.family()
	wake := w.callsFor(room, spaces.ToolRun{ID: "r1", Tool: "order", Risk: spaces.RiskWriteOutside, State: spaces.ToolReady})
	w.begin("r1", holder)
	w.rest(wake, 1)
	unattended := func() int {
		runs, err := w.s.Tools.UnattendedRuns(t.Context(), w.now, 10)
		w.ok(err)
		return len(runs)
	}
	if unattended() != 0 {
		t.Error("a call is free whose process runs")
	}
	w.s = w.s.Restart(t, false)
	if unattended() != 1 {
		t.Error("the call of a process that ended is not free")
	}
	if got := w.begin("r1", "process-2"); got.State != spaces.ToolUnknown {
		t.Errorf("taken up as %s", got.State)
	}
	if w.end(spaces.ToolRunEnd{ID: "r1", Holder: holder, State: spaces.ToolDone}) {
		t.Error("the end was stored of a call that had ended")
	}
}

// Of two processes that take up a call one begins it, and the other does not end it.
func begunOnce(t *testing.T, w *world) {
	room := w.family()
	wake := w.callsFor(room, spaces.ToolRun{ID: "r1", Tool: "order", Risk: spaces.RiskWriteOutside, State: spaces.ToolReady})
	w.rest(wake, 1)
	first, second := w.begin("r1", holder), w.begin("r1", "process-2")
	if first.Attempt != 1 || first.Holder != holder || second.Attempt != 1 || second.Holder != holder {
		t.Errorf("begun as %+v and %+v", first.ToolLease, second.ToolLease)
	}
	if w.end(spaces.ToolRunEnd{ID: "r1", Holder: "process-2", State: spaces.ToolFailed}) || w.state("r1") != spaces.ToolRunning {
		t.Error("another process ended the call")
	}
}
