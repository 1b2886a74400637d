package storetest

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var inboxTests = map[string]func(*testing.T, *world){
	"ClaimTakesEveryReadyRow":              claimTakesAll,
	"WhatOneClaimDoesNotHoldIsNotLost":     claimOverflows,
	"MessageClaimsAMindThatIsFree":         claimedAtOnce,
	"ClaimThatIsUndoneWakesNobody":         claimUndone,
	"IgnoredRowsWaitForNobody":             ignored,
	"GateIsGivenAllItNeeds":                gateGiven,
	"LeasedPlaceIsLeftAlone":               leased,
	"LostLeaseIsTakenOverAndResumed":       takenOver,
	"CycleThatCrashesThreeTimesIsGivenUp":  givenUp,
	"OnlyTheCulpritIsGivenUp":              innocent,
	"SuspectsTakeTurns":                    suspectsTakeTurns,
	"CleanStopIsNoCrash":                   handedOver,
	"WhatIsYieldedGoesOnElsewhere":         yielded,
	"WhatBrokeOffGoesOnWithItsHolder":      brokeOff,
	"OneRoomsTroubleLeavesOthersAlone":     isolation,
	"NoMindHidesThatOthersWait":            nobodyHidden,
	"OnlyWhatIsSaidOrDoneToWordsIsBrought": knocking,
	"RestartEndsEveryLease":                restartEndsLeases,
	"StoppedChainIsShownToTheGate":         stoppedChain,
}

// F48: more rows than one claim judges wait for the next one.
func claimOverflows(t *testing.T, w *world) {
	room := w.family()
	items := make([]spaces.IngestItem, 1001)
	for i := range items {
		items[i] = w.message(room, "zoe", "more")
	}
	w.record(items...)
	if w.claimAs(holder, ada, room, wakeNone) != nil {
		t.Fatal("it wakes although the gate lets nothing pass")
	}
	if wake := w.woken(ada, room); len(wake.Rows) != 1 {
		t.Errorf("%d rows are left, want the last", len(wake.Rows))
	}
}

// DESIGN 2, 6.2: the commit that records a message may claim the minds that are
// free, and no others.
func claimedAtOnce(t *testing.T, w *world) {
	room, other := w.family(), w.open(spaces.OpenRequest{Key: "club", Name: "Club", Circle: "home", Agents: []spaces.AgentID{"ada"}})
	var asked []spaces.PendingWork
	done, err := w.s.Border.Record(t.Context(), spaces.IngestBatch{
		Account: account, Items: []spaces.IngestItem{w.message(room, "zoe", "one"), w.message(other, "zoe", "two")}, At: w.now,
		Claims: func(ws []spaces.PendingWork) []spaces.WakeClaim {
			asked = slices.Clone(ws)
			return []spaces.WakeClaim{{Mind: ada, Space: room, Holder: holder, TTL: ttl, At: w.now, Judge: wakeAll}}
		},
	})
	w.ok(err)
	if len(asked) != 2 || len(done.Woken) != 1 || len(done.Wakes) != 1 || done.Wakes[0].Space != other {
		t.Fatalf("asked about %+v; woke %+v and left %+v", asked, done.Woken, done.Wakes)
	}
	wake := &done.Woken[0]
	if len(wake.Rows) != 1 || wake.Rows[0].State != spaces.RowClaimed || wake.Lease.Epoch != 1 || wake.Events[0].ID != w.last(room).ID {
		t.Errorf("wake %+v", wake)
	}
	if w.claim(ada, room) != nil {
		t.Error("it is claimed twice")
	}
	w.rest(wake, 0)
	w.rest(w.woken(ada, other), 0)
}

// I10: a mind for which more rooms wait than are listed leaves room for others.
func nobodyHidden(t *testing.T, w *world) {
	for n := range 12 {
		key := "room " + strconv.Itoa(n)
		w.say(w.open(spaces.OpenRequest{Key: key, Name: key, Circle: "home", Agents: []spaces.AgentID{"ada"}}), "zoe", "hello")
		w.now = w.now.Add(time.Second)
	}
	late := w.open(spaces.OpenRequest{Key: "late", Name: "late", Circle: "home", Agents: []spaces.AgentID{"bea"}})
	w.say(late, "zoe", "hello")
	got, err := w.s.Shell.Waiting(t.Context(), w.now, 8)
	w.ok(err)
	if len(got) < 2 || len(got) > 8 || got[0].Mind != ada || got[len(got)-1] != (spaces.PendingWork{Mind: bea, Space: late, Since: w.now}) {
		t.Errorf("listed are %+v", got)
	}
}

// DESIGN 6.2, BLU-03
func claimTakesAll(t *testing.T, w *world) {
	room := w.family()
	cursor := w.last(room).Seq
	one, two := w.say(room, "zoe", "one"), w.say(room, "tom", "two")
	wake := w.woken(ada, room)
	want := spaces.Cycle{
		ID: wake.Cycle.ID, Mind: ada, Space: room, Epoch: 1, State: spaces.CycleOpen, Wake: "direct", Active: room,
		Upto: cursor, Authority: spaces.OfMember, Started: w.now,
	}
	testutil.Same(t, "cycle", want, wake.Cycle)
	if wake.Lease != (spaces.MindLease{Mind: ada, Space: room, Holder: holder, Epoch: 1, Expires: w.now.Add(ttl)}) {
		t.Errorf("lease %+v", wake.Lease)
	}
	testutil.Same(t, "events", []spaces.Event{one, two}, wake.Events)
	consumed := []spaces.ConsumedRow{{Event: one.ID, Root: one.ID, At: one.Seq}, {Event: two.ID, Root: two.ID, At: two.Seq}}
	testutil.Same(t, "consumed", consumed, wake.Consumed)
	for _, r := range wake.Rows {
		if r.State != spaces.RowClaimed || r.Cycle != wake.Cycle.ID || r.Reason != "direct" {
			t.Errorf("row %+v, want claimed by the cycle", r)
		}
	}
	woke := w.inner(ada)[1].(spaces.CycleStarted)
	if diff := cmp.Diff(spaces.CycleStarted{
		Cycle: wake.Cycle.ID, Space: room, Reason: "direct", Events: []spaces.EventID{one.ID, two.ID}, Active: room,
	}, woke); diff != "" {
		t.Errorf("woke (-want +got):\n%s", diff)
	}
	if len(w.waiting()) != 0 {
		t.Errorf("waiting %+v, want nothing", w.waiting())
	}
}

// I3: nothing is left without a reason.
func ignored(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "to nobody in particular")
	if wake := w.claimAs(holder, ada, room, wakeNone); wake != nil {
		t.Fatalf("woken by %+v", wake.Rows)
	}
	if len(w.waiting()) != 0 {
		t.Errorf("waiting %+v, want nothing", w.waiting())
	}
	second := w.say(room, "zoe", "ada?")
	wake := w.woken(ada, room)
	if len(wake.Rows) != 1 || wake.Rows[0].Event != second.ID {
		t.Errorf("rows %+v, want the second message alone", wake.Rows)
	}
	if wake.Cycle.Upto >= second.Seq-1 {
		t.Errorf("the cycle has read up to %d, want what was ignored to be seen too", wake.Cycle.Upto)
	}
	w.rest(wake, 0)
}

func gateGiven(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	hello := w.say(room, "zoe", "hello")
	answer := w.answer(ada, room, "hi")
	w.record(w.fact(room, "zoe", spaces.ReactionAdded{Target: hello.ID, Emoji: "👍"}))
	reply := w.message(room, "zoe", "how are you?")
	reply.Event.ReplyTo = answer.ID
	w.record(reply)
	var got spaces.GateInput
	w.claimAs(holder, bea, room, func(j spaces.GateInput) []spaces.GateDecision { got = j; return wakeNone(j) })
	if got.Space.ID != room || got.Uplink.Mind != bea || len(got.Members) != 3 || len(got.Rows) != 4 || len(got.Events) != 4 {
		t.Fatalf("judged %+v", got)
	}
	for i, r := range got.Rows {
		if got.Events[i].ID != r.Event || got.Events[i].Seq != r.Seq {
			t.Errorf("row %d is about %s, its event is %s", i, r.Event, got.Events[i].ID)
		}
	}
	testutil.Same(t, "authors", map[spaces.EventID]spaces.EntityID{answer.ID: "agent:ada", hello.ID: hello.Actor}, got.ReplyTos)
	if tally := got.Roots[answer.Root]; tally.Messages != 1 || tally.Tokens == 0 {
		t.Errorf("tally of the chain %+v, want one message and its tokens", tally)
	}
}

// I8
func leased(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "one")
	wake := w.woken(ada, room)
	w.say(room, "zoe", "two")
	if got := w.waiting(); len(got) != 0 {
		t.Errorf("waiting %+v while the place is leased", got)
	}
	for _, who := range []string{"process-2", holder} {
		if again := w.claimAs(who, ada, room, wakeAll); again != nil {
			t.Errorf("%s was given a leased place", who)
		}
	}
	w.rest(wake, 0)
	if got := w.waiting(); len(got) != 1 {
		t.Errorf("waiting %+v after the rest, want the second message", got)
	}
}

// K7, K27, F41, F42: epochs grow, the old holder's writes are refused.
func takenOver(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "one")
	first := w.woken(ada, room)
	c := w.step(first, 0)
	c.Step.Phase = spaces.Contemplation
	c.Turns = []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "INBOX"}, {Role: spaces.RoleAssistant, Text: "hm"}}
	w.commit(c)
	w.now = w.now.Add(2 * ttl)
	if got := w.waiting(); len(got) != 1 {
		t.Fatalf("waiting %+v, want the cycle whose lease ran out", got)
	}
	second := w.claimAs("process-2", ada, room, wakeNone)
	if second == nil || !second.Resumed || second.Cycle.ID != first.Cycle.ID || second.Lease.Epoch != first.Lease.Epoch+1 {
		t.Fatalf("taken over as %+v", second)
	}
	if len(second.Steps) != 1 || second.Steps[0].Request != "r0" || len(second.Rows) != 1 || len(second.Consumed) != 1 {
		t.Errorf("resumed with steps %+v rows %+v", second.Steps, second.Rows)
	}
	if diff := cmp.Diff([]spaces.TranscriptTurn{
		{Cycle: first.Cycle.ID, N: 0, Role: spaces.RoleUser, Text: "INBOX"},
		{Cycle: first.Cycle.ID, N: 1, Role: spaces.RoleAssistant, Text: "hm"},
	}, second.Turns); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if second.Cycle.Usage.Prompt != 100 {
		t.Errorf("usage so far %+v", second.Cycle.Usage)
	}
	w.refused(w.step(first, 1))
	w.rest(second, 1)
	w.refused(w.step(second, 2)) // it is closed
}

// DESIGN 2, K7, I4: a place that is given back is free at once, its cycle goes on in
// another process, and however often that happens it is no crash; who gave it back
// has no word in it any more.
func yielded(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "one")
	first := w.woken(ada, room)
	wake := first
	for i := range 5 {
		w.ok(w.s.Shell.Yield(t.Context(), wake.Lease))
		if got := w.waiting(); len(got) != 1 {
			t.Fatalf("waiting %+v, want the cycle that was given back", got)
		}
		last := wake
		if wake = w.claimAs([]string{"process-2", holder}[i%2], ada, room, wakeNone); wake == nil || !wake.Resumed || wake.Cycle.ID != first.Cycle.ID || len(wake.Rows) != 1 {
			t.Fatalf("given back %d times it is taken up as %+v", i+1, wake)
		}
		w.is(w.s.Shell.Yield(t.Context(), last.Lease), spaces.ErrLeaseLost)
		w.refused(w.step(last, 0))
	}
	w.rest(wake, 0)
	w.is(w.s.Shell.Yield(t.Context(), first.Lease), spaces.ErrLeaseLost)
}

// refused commits and expects the lease to be lost, with nothing written.
func (w *world) refused(c spaces.StepCommit) {
	w.t.Helper()
	before := w.log(c.Lease.Mind.Inner(), c.Lease.Mind.Branch())
	c.Inner = []spaces.EventBody{spaces.ThoughtRecorded{Text: "too late"}}
	_, err := w.s.Shell.Commit(w.t.Context(), c)
	w.is(err, spaces.ErrLeaseLost)
	if after := w.log(c.Lease.Mind.Inner(), c.Lease.Mind.Branch()); len(after) != len(before) {
		w.t.Errorf("a refused commit wrote %d events", len(after)-len(before))
	}
}

// I10: a poisoned message is dead after three crashes, the next is answered.
func givenUp(t *testing.T, w *world) {
	room := w.family()
	poison := w.say(room, "zoe", "poison")
	id := w.woken(ada, room).Cycle.ID
	for range 2 {
		w.now = w.now.Add(2 * ttl)
		if again := w.claim(ada, room); again == nil || again.Cycle.ID != id {
			t.Fatalf("resumed as %+v", again)
		}
	}
	w.now = w.now.Add(2 * ttl)
	next := w.say(room, "zoe", "are you well?")
	wake := w.woken(ada, room)
	if wake.Cycle.ID == id || len(wake.Rows) != 1 || wake.Rows[0].Event != next.ID {
		t.Errorf("rows %+v, want the next message alone and not %s", wake.Rows, poison.ID)
	}
	stopped := slices.ContainsFunc(w.inner(ada), func(b spaces.EventBody) bool {
		s, ok := b.(spaces.CycleStopped)
		return ok && s.Cycle == id && s.Reason == spaces.StopCoordinator
	})
	if !stopped {
		t.Errorf("nothing in the inner log says why cycle %s ended", id)
	}
	w.rest(wake, 0)
}

// F50, I10: upgrades by turns, one after the other, do not make a message a poison.
func handedOver(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "a long story")
	w.s = w.s.Restart(t, true) // no cycle has begun
	first := w.woken(ada, room)
	for range 5 {
		w.s = w.s.Restart(t, true)
		if again := w.claim(ada, room); again == nil || again.Cycle.ID != first.Cycle.ID || len(again.Rows) != 1 {
			t.Fatalf("resumed as %+v, want cycle %s", again, first.Cycle.ID)
		}
	}
	for range 2 { // crashes count as ever
		w.s = w.s.Restart(t, false)
		first = w.claim(ada, room)
	}
	if first == nil {
		t.Fatal("two crashes after clean stops made it a poison")
	}
	w.s = w.s.Restart(t, false)
	if again := w.claim(ada, room); again != nil {
		t.Errorf("three crashes left cycle %s alive", again.Cycle.ID)
	}
}

// F35, I8: a holder whose cycle was interrupted resumes it at once, any number of
// times, with a new epoch; other processes do not before the lease has run out.
func brokeOff(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	first := w.woken(ada, room)
	again := func(who string) *spaces.Wake {
		wake, err := w.s.Shell.Claim(t.Context(), spaces.WakeClaim{Mind: ada, Space: room, Holder: who, TTL: ttl, At: w.now, Judge: wakeAll, Again: true})
		w.ok(err)
		return wake
	}
	last := first
	for range 5 {
		if wake := again("process-2"); wake != nil {
			t.Fatal("another process was given what is leased")
		}
		wake := again(holder)
		if wake == nil || wake.Cycle.ID != first.Cycle.ID || !wake.Resumed || len(wake.Rows) != 1 {
			t.Fatalf("taken up as %+v, want cycle %s", wake, first.Cycle.ID)
		}
		w.refused(w.step(last, 0))
		last = wake
	}
	w.rest(last, 0)
	if wake := again(holder); wake != nil {
		t.Errorf("what is closed was taken up as %+v", wake)
	}
}

func isolation(t *testing.T, w *world) {
	first := w.family()
	o := opening("team", "ada")
	o.Chats[0].Chat = other
	second := w.open(o)
	w.say(first, "zoe", "one")
	w.now = w.now.Add(time.Second)
	w.say(second, "tom", "two")
	if got := w.waiting(); len(got) != 2 || got[0].Space != first {
		t.Fatalf("waiting %+v, want both, oldest first", got)
	}
	w.woken(ada, first)
	wake := w.woken(ada, second)
	w.rest(wake, 0)
	if got, err := w.s.Shell.Waiting(t.Context(), w.now, 1); err != nil || len(got) != 0 {
		t.Errorf("waiting %+v, %v", got, err)
	}
}

func knocking(t *testing.T, w *world) {
	room := w.family()
	m := w.message(room, "zoe", "hello")
	quiet := []spaces.IngestItem{
		w.fact(room, "zoe", spaces.SpaceRenamed{Title: "New"}), w.fact(room, "zoe", spaces.MessagePinned{Ref: m.Ref}),
		w.fact(room, "", spaces.HistoryGap{Reason: "outage"}),
	}
	w.record(m)
	w.rest(w.woken(ada, room), 0)
	if got := w.record(quiet...); got.New != 3 || len(got.Wakes) != 0 {
		t.Errorf("recorded %+v, want nobody brought to", got)
	}
	got := w.record(w.fact(room, "zoe", spaces.MessageEdited{Ref: m.Ref, Text: "hello!"}), w.fact(room, "zoe", spaces.MessageDeleted{Ref: m.Ref}))
	if len(got.Wakes) != 1 {
		t.Errorf("recorded %+v, want an edit and a delete brought to ada", got)
	}
	w.claimAs(holder, ada, room, wakeNone)
}

func restartEndsLeases(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	w.s = w.s.Restart(t, false)
	if got := w.waiting(); len(got) != 1 {
		t.Fatalf("waiting %+v, want the open cycle at once", got)
	}
	again := w.claimAs("process-2", ada, room, wakeAll)
	if again == nil || !again.Resumed || again.Cycle.ID != wake.Cycle.ID || again.Lease.Epoch != 2 {
		t.Fatalf("resumed as %+v", again)
	}
	w.refused(w.step(wake, 0))
	w.rest(again, 0)
}

func stoppedChain(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	e := w.say(room, "zoe", "hello")
	answer := w.answer(ada, room, "hi")
	w.ok(w.s.Shell.Stop(t.Context(), e.ID))
	var got spaces.ChainUsage
	_, err := w.s.Shell.Claim(t.Context(), spaces.WakeClaim{
		Mind: bea, Space: room, Holder: holder, TTL: ttl, At: w.now,
		Judge: func(j spaces.GateInput) []spaces.GateDecision { got = j.Roots[answer.Root]; return wakeNone(j) },
	})
	w.ok(err)
	if !got.Stopped {
		t.Errorf("tally %+v, want stopped", got)
	}
}

// I10, DELIVERY 2.2 promise 7: of several cycles that run when a process ends, only the one
// is given up that ends it again when it runs alone. The others go on after it, and what
// commits is held to have ended nothing.
func innocent(t *testing.T, w *world) {
	poison, other := w.family(), w.open(opening("office", "ada"))
	w.say(poison, "zoe", "poison")
	w.say(other, "zoe", "are you well?")
	w.woken(ada, poison)
	w.woken(ada, other)
	end := func() { w.now = w.now.Add(2 * ttl) }
	end()
	w.woken(ada, poison)
	w.woken(ada, other)
	end()
	w.woken(ada, poison)
	if beside := w.claim(ada, other); beside != nil {
		t.Errorf("%s runs beside what two ends have met as well", beside.Cycle.ID)
	}
	end()
	if again := w.claim(ada, poison); again != nil {
		t.Errorf("%s is taken up a third time", again.Cycle.ID)
	}
	wake := w.woken(ada, other)
	w.commit(w.step(wake, 0))
	for range 2 {
		end()
		wake = w.woken(ada, other)
	}
	w.rest(wake, 1)
}

// I10: who waits for another to run alone does not wait for ever: a model may take minutes.
func suspectsTakeTurns(t *testing.T, w *world) {
	rooms := []spaces.SpaceID{w.family(), w.open(opening("office", "ada")), w.open(opening("hall", "ada"))}
	for _, room := range rooms {
		w.say(room, "zoe", "hello")
		w.woken(ada, room)
	}
	w.now = w.now.Add(2 * ttl)
	for _, room := range rooms {
		w.woken(ada, room)
	}
	w.now = w.now.Add(2 * ttl)
	for i, room := range rooms {
		wake := w.woken(ada, room)
		if i == 1 {
			w.rest(wake, 0) // makes way at once
			continue
		}
		w.now = w.now.Add(6 * time.Second)
	}
}

// Commit 2, I4: a claim that the record does not take after all hands out no wake. What it was
// for waits as before.
func claimUndone(t *testing.T, w *world) {
	room := w.family()
	for range 2 { // from now on nothing has to be looked up for a claim
		w.say(room, "zoe", "hello")
		w.answer(ada, room, "hello")
	}
	half := func(j spaces.GateInput) []spaces.GateDecision {
		all := wakeAll(j)
		all[1] = spaces.GateDecision{Seq: all[1].Seq} // without a reason, which the record refuses
		return all
	}
	done, err := w.s.Border.Record(t.Context(), spaces.IngestBatch{
		Account: account, Items: []spaces.IngestItem{w.message(room, "zoe", "one"), w.message(room, "zoe", "two")}, At: w.now,
		Claims: func([]spaces.PendingWork) []spaces.WakeClaim {
			return []spaces.WakeClaim{{Mind: ada, Space: room, Holder: holder, TTL: ttl, At: w.now, Judge: half}}
		},
	})
	w.ok(err)
	if done.New != 2 || len(done.Woken) != 0 || len(done.Wakes) != 1 {
		t.Errorf("recorded %+v, want two messages, one mind that waits, and no wake", done)
	}
	if wake := w.claim(ada, room); wake == nil || len(wake.Rows) != 2 {
		t.Errorf("the next claim gives %+v", wake)
	}
}
