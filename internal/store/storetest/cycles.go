package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

var cycleTests = map[string]func(*testing.T, *world){
	"StepIsWholeOrNothing":                 stepWhole,
	"StaleSpeechUndoesTheCommit":           staleSpeech,
	"OwnWordsAndOtherThreadsAreNotStale":   notStale,
	"RowsThatArriveMeanwhileJoin":          rowsJoin,
	"ClosingConsumesWhatWasShown":          closingConsumes,
	"ClosingNumbersSumsUpAndMovesCursor":   closing,
	"EachEndHasItsReason":                  endHasReason,
	"RowsThatGoBackComeDueLaterAndDie":     goBack,
	"RowsOfAnOutageWait":                   goBackSpared,
	"OtherMindsHearTheAgent":               othersHear,
	"UsageIsCountedByDayAndChain":          usageCounted,
	"DenialIsARowAndAnEvent":               denialKept,
	"EditsDeletesAndReactionsBecomeEvents": deeds,
	"ClosedCyclesAreReadInOrder":           closedInOrder,
}

// is ends the test when err is not the one that is wanted.
func (w *world) is(err, want error) {
	w.t.Helper()
	if !errors.Is(err, want) {
		w.t.Fatalf("got %v, want %v", err, want)
	}
}

// I5, SEQ-96, K14: the event, its action, turns, inner events and usage together.
func stepWhole(t *testing.T, w *world) {
	room := w.family()
	asked := w.say(room, "zoe", "what is up?")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Inner = []spaces.EventBody{spaces.ThoughtRecorded{Cycle: wake.Cycle.ID, Text: "hm"}, spaces.NoteAdded{Text: "zoe asks", Cycle: wake.Cycle.ID}}
	c.Turns = []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "INBOX", Refs: []spaces.EventID{asked.ID}, Tokens: 7}}
	f := w.reply(wake, "not **much**")
	f.Target = asked.ID
	c.Effect = []spaces.RoomEffect{f}
	done := w.commit(c)

	e := w.last(room)
	if diff := cmp.Diff([]spaces.Event{e}, done.Events); diff != "" {
		t.Errorf("committed events (-log +got):\n%s", diff)
	}
	if e.ID != f.ID || e.Actor != "agent:ada" || e.ReplyTo != asked.ID || e.Cause != asked.ID || e.Root != asked.ID || e.Depth != 1 {
		t.Errorf("event %+v", e)
	}
	if got := e.Body.(spaces.MessagePosted).Text; got != "not **much**" {
		t.Errorf("text %q", got)
	}
	due, err := w.s.Border.Claim(t.Context(), account, w.now, 10)
	w.ok(err)
	if len(due) != 1 {
		t.Fatalf("due %+v, want one action", due)
	}
	want := spaces.Action{
		ID: due[0].ID, Cycle: wake.Cycle.ID, Kind: spaces.ActSend, Space: room, Event: e.ID, Account: account, Chat: chat,
		Agent: "ada", Text: "not **much**", Target: asked.ID, Policy: spaces.ResendOnce, State: spaces.ActionSending,
		Attempts: 1, Expires: w.now.Add(time.Hour), Created: w.now,
	}
	testutil.Same(t, "action", want, due[0])
	inner := w.inner(ada)
	testutil.Same(t, "inner log", c.Inner, inner[len(inner)-2:])
	self, err := w.s.Shell.Self(t.Context(), ada)
	w.ok(err)
	if len(self) != 1 || self[0].Body.(spaces.NoteAdded).Text != "zoe asks" || self[0].Object != spaces.NotesObject {
		t.Errorf("self %+v, want the note alone", self)
	}
	w.rest(wake, 1)
}

// DESIGN 2, I5: a stale commit leaves nothing behind.
func staleSpeech(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "when?")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	f := w.reply(wake, "at five")
	f.Strict = true
	c.Effect = []spaces.RoomEffect{f}
	c.Inner = []spaces.EventBody{spaces.ThoughtRecorded{Text: "five"}}
	w.say(room, "zoe", "never mind")
	before, inner := w.log(room), w.inner(ada)
	_, err := w.s.Shell.Commit(t.Context(), c)
	w.is(err, spaces.ErrStale)
	if len(w.log(room)) != len(before) || len(w.inner(ada)) != len(inner) {
		t.Error("a stale commit wrote events")
	}
	c.Effect[0].Strict = false
	done := w.commit(c)
	seen := before[len(before)-2]
	if got := done.Events[0].Parents; !slices.Equal(got, []spaces.EventID{seen.ID}) {
		t.Errorf("parents %v, want what the agent had seen: %s", got, seen.ID)
	}
	w.rest(wake, 1)
}

func notStale(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "when?")
	wake := w.woken(ada, room)
	strict := w.reply(wake, "at six")
	strict.Strict = true
	elsewhere := w.message(room, "zoe", "in a topic")
	elsewhere.Event.Thread = "topic-7"
	w.record(elsewhere, w.fact(room, "zoe", spaces.ReactionAdded{Ref: ref("1"), Emoji: "👀"}))
	first := w.step(wake, 0)
	loose := w.reply(wake, "one moment")
	first.Effect = []spaces.RoomEffect{loose}
	w.commit(first)
	second := w.step(wake, 1)
	second.Effect = []spaces.RoomEffect{strict}
	w.commit(second)
	w.rest(wake, 2)
}

// DESIGN 6.4, CON-35
func rowsJoin(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "one")
	wake := w.woken(ada, room)
	two := w.say(room, "zoe", "two")
	c := w.step(wake, 0)
	c.Judge = wakeAll
	done := w.commit(c)
	if len(done.Joined) != 1 || done.Joined[0].Cycle != wake.Cycle.ID || done.JoinedEvents[0].ID != two.ID {
		t.Fatalf("joined %+v", done.Joined)
	}
	w.say(room, "zoe", "three")
	c = w.step(wake, 1)
	c.Judge = wakeNone
	if done := w.commit(c); len(done.Joined) != 0 {
		t.Errorf("joined %+v, want nothing: the gate said no", done.Joined)
	}
	wake.Rows = append(wake.Rows, done.Joined...)
	w.say(room, "zoe", "four")
	w.rest(wake, 2)
	if got := w.waiting(); len(got) != 1 {
		t.Errorf("waiting %+v, want the row nobody judged", got)
	}
}

// DESIGN 6.4, I4: messages that a cycle was shown before it ended belong to it,
// although the gate had not judged them; later ones wake another cycle.
func closingConsumes(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "one")
	wake := w.woken(ada, room)
	two := w.say(room, "zoe", "two")
	three := w.say(room, "zoe", "three")
	c := w.step(wake, 0)
	c.Upto, c.Judge = two.Seq, wakeAll
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Responded."}
	if done := w.commit(c); len(done.Joined) != 1 || done.Joined[0].Event != two.ID {
		t.Errorf("joined %+v, want the row that was shown", done.Joined)
	}
	next := w.woken(ada, room)
	if len(next.Rows) != 1 || next.Rows[0].Event != three.ID {
		t.Errorf("the next cycle has %+v, want what came later", next.Rows)
	}
	w.rest(next, 0)
}

// BLU-25: agents share a room.
func othersHear(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	w.say(room, "zoe", "hello you two")
	e := w.answer(ada, room, "hello")
	wake := w.woken(bea, room)
	if len(wake.Rows) != 2 || wake.Rows[1].Event != e.ID || wake.Consumed[1].Depth != 1 || wake.Consumed[1].Root != e.Root {
		t.Errorf("bea was brought %+v %+v", wake.Rows, wake.Consumed)
	}
	if w.claim(ada, room) != nil {
		t.Error("ada was brought her own words")
	}
	w.rest(wake, 0)
}

// I17, BLU-27
func usageCounted(t *testing.T, w *world) {
	room := w.family()
	e := w.say(room, "zoe", "hello")
	w.answer(ada, room, "hi") // two steps of 120 tokens
	got, err := w.s.Shell.Spent(t.Context(), w.now, "ada", room)
	w.ok(err)
	each := money.UsedTokens{Tokens: 240, Cost: 2 * stepCost}
	if want := (shell.UsageToday{Agent: each, Space: each, All: each}); got != want {
		t.Errorf("spent %+v, want %+v", got, want)
	}
	if got, err := w.s.Shell.Spent(t.Context(), w.now.Add(24*time.Hour), "ada", room); err != nil || got != (shell.UsageToday{}) {
		t.Errorf("spent tomorrow %+v, %v", got, err)
	}
	later := w.message(room, "zoe", "go on")
	later.Event.Root = e.ID
	w.record(later)
	w.claimAs(holder, ada, room, func(j spaces.GateInput) []spaces.GateDecision {
		if tally := j.Roots[e.ID]; tally.Messages != 1 || tally.Tokens != 240 {
			t.Errorf("tally %+v, want 1 message and 240 tokens", tally)
		}
		return wakeNone(j)
	})
}

// PRD-5.1-1, PRD-5.1-A1, PRD-5.1-A2, PRD-12-1: a denial is an event of the inner log
func denialKept(t *testing.T, w *world) {
	room := w.family()
	d := spaces.Denial{
		Agent: "ada", Act: "send_message", Code: "no_active_space", Reason: "There is no active space.", Hint: "enter_space",
		Space: room, Phase: "engagement", Tier: spaces.TierSystem, Risk: spaces.RiskWriteOwn, At: w.now,
	}
	w.say(room, "zoe", "hello")
	c := w.step(w.woken(ada, room), 0)
	c.Inner = []spaces.EventBody{spaces.CallDenied{Denial: d}}
	w.commit(c)
	inner := w.inner(ada)
	testutil.Same(t, "inner log", spaces.EventBody(spaces.CallDenied{Denial: d}), inner[len(inner)-1])
}

func deeds(t *testing.T, w *world) {
	room := w.family()
	asked := w.say(room, "zoe", "hello")
	answer := w.answer(ada, room, "hi")
	w.settleAll(w.due())
	w.say(room, "zoe", "fix that")
	wake := w.woken(ada, room)
	for n, f := range []spaces.RoomEffect{
		{Kind: spaces.ActEdit, Target: answer.ID, Text: "hello"},
		{Kind: spaces.ActReact, Target: asked.ID, Text: "👍"},
		{Kind: spaces.ActDelete, Target: answer.ID},
	} {
		f.Space, f.Chain = room, spaces.NextChain(wake.Consumed, "", "")
		c := w.step(wake, n)
		c.Effect = []spaces.RoomEffect{f}
		done := w.commit(c)
		id, _ := spaces.Target(done.Events[0].Body)
		if id != f.Target {
			t.Errorf("%s is about %s, want %s", f.Kind, id, f.Target)
		}
		due := w.due()
		if len(due) != 1 || due[0].Kind != f.Kind || due[0].Ordinal != n || due[0].Event != done.Events[0].ID || due[0].Target != f.Target {
			t.Errorf("%s became %+v", f.Kind, due)
		}
		w.settleAll(due)
		if got := w.last(room).Body.Kind(); got == spaces.KindDelivered {
			t.Errorf("%s was told as delivered; only messages are", f.Kind)
		}
	}
	w.rest(wake, 3)
}
