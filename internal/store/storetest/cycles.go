package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/spaces"
)

var cycleTests = map[string]func(*testing.T, *world){
	"StepIsWholeOrNothing":                 stepWhole,
	"StaleSpeechUndoesTheCommit":           staleSpeech,
	"OwnWordsAndOtherThreadsAreNotStale":   notStale,
	"RowsThatArriveMeanwhileJoin":          rowsJoin,
	"ClosingNumbersSumsUpAndMovesCursor":   closing,
	"EachEndHasItsReason":                  endHasReason,
	"RowsThatGoBackComeDueLaterAndDie":     goBack,
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
	c.Inner = []spaces.Body{spaces.Thought{Cycle: wake.Cycle.ID, Text: "hm"}, spaces.Noted{Text: "zoe asks", Cycle: wake.Cycle.ID}}
	c.Turns = []spaces.Turn{{Role: spaces.RoleUser, Text: "INBOX", Refs: []spaces.EventID{asked.ID}, Tokens: 7}}
	f := w.reply(wake, "not **much**")
	f.Target = asked.ID
	c.Effect = []spaces.Effect{f}
	done := w.commit(c)

	e := w.last(room)
	if diff := cmp.Diff([]spaces.Event{e}, done.Events); diff != "" {
		t.Errorf("committed events (-log +got):\n%s", diff)
	}
	if e.ID != f.ID || e.Actor != "agent:ada" || e.ReplyTo != asked.ID || e.Cause != asked.ID || e.Root != asked.ID || e.Depth != 1 {
		t.Errorf("event %+v", e)
	}
	if got := e.Body.(spaces.Said).Text; got != "not **much**" {
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
	if diff := cmp.Diff(want, due[0]); diff != "" {
		t.Errorf("action (-want +got):\n%s", diff)
	}
	inner := w.inner(ada)
	if diff := cmp.Diff(c.Inner, inner[len(inner)-2:]); diff != "" {
		t.Errorf("inner log (-want +got):\n%s", diff)
	}
	self, err := w.s.Shell.Self(t.Context(), ada)
	w.ok(err)
	if len(self) != 1 || self[0].Body.(spaces.Noted).Text != "zoe asks" || self[0].Object != spaces.NotesObject {
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
	c.Effect = []spaces.Effect{f}
	c.Inner = []spaces.Body{spaces.Thought{Text: "five"}}
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
	w.record(elsewhere, w.fact(room, "zoe", spaces.Reacted{Ref: ref("1"), Emoji: "👀"}))
	first := w.step(wake, 0)
	loose := w.reply(wake, "one moment")
	first.Effect = []spaces.Effect{loose}
	w.commit(first)
	second := w.step(wake, 1)
	second.Effect = []spaces.Effect{strict}
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

// CON-23, CON-30, R-13
func closing(t *testing.T, w *world) {
	room := w.family()
	for n := int64(1); n <= 3; n++ {
		e := w.say(room, "zoe", "hello")
		wake := w.woken(ada, room)
		if wake.Cycle.Base != n-1 || wake.Cycle.Epoch != n {
			t.Errorf("cycle %d has base %d and epoch %d", n, wake.Cycle.Base, wake.Cycle.Epoch)
		}
		if done := w.rest(wake, 0); done.N != n {
			t.Errorf("cycle got number %d, want %d", done.N, n)
		}
		ups, err := w.s.Shell.Uplinks(t.Context(), ada)
		w.ok(err)
		if ups[0].Cursor != e.Seq || ups[0].CursorID != e.ID {
			t.Errorf("cursor %d %s, want %d %s", ups[0].Cursor, ups[0].CursorID, e.Seq, e.ID)
		}
		inner := w.inner(ada)
		tail := inner[len(inner)-2:]
		want := []spaces.Body{
			spaces.Summed{Cycle: wake.Cycle.ID, N: n, Text: "Responded."},
			spaces.Stopped{Cycle: wake.Cycle.ID, Reason: spaces.StopCompleted},
		}
		if diff := cmp.Diff(want, tail); diff != "" {
			t.Errorf("inner log (-want +got):\n%s", diff)
		}
	}
}

// PRD-5.2-A1
func endHasReason(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Close = &spaces.Closing{Stop: spaces.StopBudget, Detail: "daily tokens", Denials: 1, Manifest: "m", Plan: []byte("{}")}
	w.commit(c)
	closed, err := w.s.Shell.Cycles(t.Context(), ada, 0, false, 10)
	w.ok(err)
	if len(closed) != 1 || closed[0].Stop != spaces.StopBudget {
		t.Errorf("cycles %+v", closed)
	}
}

// I10: dead after five attempts, with a reason; the next message lives.
func goBack(t *testing.T, w *world) {
	room := w.family()
	bad := w.say(room, "zoe", "unanswerable")
	for n := range 5 {
		wake := w.woken(ada, room)
		if wake.Rows[0].Event != bad.ID || wake.Rows[0].Attempts != n {
			t.Fatalf("attempt %d: rows %+v", n, wake.Rows)
		}
		c := w.step(wake, 0)
		c.Upto = bad.Seq
		c.Close = &spaces.Closing{Stop: spaces.StopModelError, Back: true, RetryAt: w.now.Add(time.Minute)}
		if done := w.commit(c); done.N != 0 {
			t.Errorf("a cycle that went back got number %d", done.N)
		}
		if len(w.waiting()) != 0 || w.claim(ada, room) != nil {
			t.Error("the row is due before its time")
		}
		at, waits, err := w.s.Shell.NextTimer(t.Context())
		w.ok(err)
		if n < 4 && (!waits || !at.Equal(w.now.Add(time.Minute))) {
			t.Errorf("next timer %v %t, want the row's time", at, waits)
		}
		w.now = w.now.Add(time.Minute)
	}
	if w.claim(ada, room) != nil {
		t.Error("a row was tried a sixth time")
	}
	ups, err := w.s.Shell.Uplinks(t.Context(), ada)
	w.ok(err)
	if ups[0].Cursor >= bad.Seq {
		t.Errorf("the cursor moved to %d although nothing was handled", ups[0].Cursor)
	}
	w.say(room, "zoe", "and this?")
	w.answer(ada, room, "yes")
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
	if got.Agent != 240 || got.Space != 240 || got.All != 240 {
		t.Errorf("spent %+v, want 240 each", got)
	}
	if got, err := w.s.Shell.Spent(t.Context(), w.now.Add(24*time.Hour), "ada", room); err != nil || got.All != 0 {
		t.Errorf("spent tomorrow %+v, %v", got, err)
	}
	later := w.message(room, "zoe", "go on")
	later.Event.Root = e.ID
	w.record(later)
	w.claimAs(holder, ada, room, func(j spaces.Judged) []spaces.Verdict {
		if tally := j.Roots[e.ID]; tally.Messages != 1 || tally.Tokens != 240 {
			t.Errorf("tally %+v, want 1 message and 240 tokens", tally)
		}
		return wakeNone(j)
	})
}

// PRD-5.1-1, PRD-5.1-A1, PRD-5.1-A2
func denialKept(t *testing.T, w *world) {
	room := w.family()
	d := spaces.Denial{
		Agent: "ada", Act: "send_message", Code: "no_active_space", Reason: "There is no active space.", Hint: "enter_space",
		Space: room, Phase: "engagement", Tier: spaces.TierSystem, Risk: spaces.RiskWriteOwn, At: w.now,
	}
	w.ok(w.s.Shell.Deny(t.Context(), ada, d))
	inner := w.inner(ada)
	if diff := cmp.Diff(spaces.Body(spaces.Denied{Denial: d}), inner[len(inner)-1]); diff != "" {
		t.Errorf("inner log (-want +got):\n%s", diff)
	}
}

func deeds(t *testing.T, w *world) {
	room := w.family()
	asked := w.say(room, "zoe", "hello")
	answer := w.answer(ada, room, "hi")
	w.settleAll(w.due())
	w.say(room, "zoe", "fix that")
	wake := w.woken(ada, room)
	for n, f := range []spaces.Effect{
		{Kind: spaces.ActEdit, Target: answer.ID, Text: "hello"},
		{Kind: spaces.ActReact, Target: asked.ID, Text: "👍"},
		{Kind: spaces.ActDelete, Target: answer.ID},
	} {
		f.Space, f.Chain = room, spaces.NextChain(wake.Consumed, "", "")
		c := w.step(wake, n)
		c.Effect = []spaces.Effect{f}
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

// CON-31, CON-34
func closedInOrder(t *testing.T, w *world) {
	room := w.family()
	for range 4 {
		w.say(room, "zoe", "hello")
		wake := w.woken(ada, room)
		c := w.step(wake, 0)
		c.Turns = []spaces.Turn{{Role: spaces.RoleUser, Text: "a", Tokens: 3}, {Role: spaces.RoleAssistant, Text: "b", Tokens: 4}}
		w.commit(c)
		w.rest(wake, 1)
	}
	w.s = w.s.Restart(t, false)
	got, err := w.s.Shell.Cycles(t.Context(), ada, 1, true, 2)
	w.ok(err)
	if len(got) != 2 || got[0].N != 2 || got[1].N != 3 || len(got[1].Turns) != 2 || got[1].Tokens != 7 || got[1].Rest != "Responded." {
		t.Errorf("cycles %+v, want the second and the third with their turns", got)
	}
	bare, err := w.s.Shell.Cycles(t.Context(), ada, 0, false, 10)
	w.ok(err)
	if len(bare) != 4 || bare[0].Turns != nil {
		t.Errorf("cycles %+v, want four without turns", bare)
	}
}
