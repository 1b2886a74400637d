package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var waitTests = map[string]func(*testing.T, *world){
	"AnswerAndWakeAreOneCommit":             waitAnswered,
	"WaitTimesOutOnceAlsoOverARestart":      waitTimeout,
	"WaitForSeveralLastsUntilAllHaveSpoken": waitForAll,
	"WaitKnowsWhyNobodyAnswers":             waitUnanswered,
	"WaitEndsWithAnAgentThatFails":          waitForAFailingAgent,
	"WaitForSomeEndsWithEnoughAnswers":      waitForSome,
	"WaitForSomeEndsWhenTooFewCanAnswer":    waitUnmet,
	"WaitSaysWhoDidNotAnswerInTime":         waitLate,
	"WaitForSomeOfAnybodyCountsSenders":     waitForPeople,
	"WaitForAProgramIsAnsweredByIt":         waitForProgram,
	"TwoAnswersAtOnceEndAWaitOnce":          waitRaced,
	"WaitForAPersonCannotBeAnsweredUnsent":  waitUndelivered,
	"StopForgetsWaits":                      waitHalted,
	"WaitGoesBackWithItsCycle":              waitReturned,
	"WaitOutlastsAnOutage":                  waitSpared,
	"WaitIsNotAnsweredByTheWay":             waitAside,
	"WaitThatEndsInARunIsChargedForIt":      waitCharged,
}

// ask has an agent ask in a room and rest until it is answered.
func (w *world) ask(m spaces.Mind, room spaces.SpaceID, text string, a spaces.WaitSpec) spaces.Event {
	w.t.Helper()
	wake := w.woken(m, room)
	a.Call, a.Due = "call-"+string(wake.Cycle.ID), w.now.Add(5*time.Minute)
	c := w.step(wake, 0)
	f := w.reply(wake, text)
	f.Wait = &a
	c.Effect, c.Upto = []spaces.RoomEffect{f}, wake.Rows[len(wake.Rows)-1].Seq
	c.Close = &spaces.CycleClose{Stop: spaces.StopWaitingReply, Rest: "Asked."}
	return w.commit(c).Events[0]
}

// lasting returns what a mind waits for.
func (w *world) lasting(m spaces.Mind) []spaces.PendingWait {
	w.t.Helper()
	waits, err := w.s.Shell.Waits(w.t.Context(), m)
	w.ok(err)
	return waits
}

// ended claims a place and expects it to be woken by the end of one wait.
func (w *world) ended(m spaces.Mind, room spaces.SpaceID, o spaces.WaitOutcome) *spaces.Wake {
	w.t.Helper()
	wake := w.woken(m, room)
	if len(wake.Waits) != 1 || wake.Waits[0].Outcome != o {
		w.t.Fatalf("woken by the ends of %+v, want one that is %s", wake.Waits, o)
	}
	return wake
}

// over closes a wake that a wait alone may have caused, and expects no second one.
func (w *world) over(wake *spaces.Wake, n int) {
	w.t.Helper()
	c := w.step(wake, n)
	c.Close = &spaces.CycleClose{Stop: spaces.StopSilent, Rest: "Rested."}
	w.commit(c)
	y := wake.Cycle
	if again := w.claim(y.Mind, y.Space); again != nil {
		w.t.Errorf("woken again by %+v %+v", again.Rows, again.Waits)
	}
}

// K24, BLU-52, BLU-19, PRD-7.1-A3: the process ends right after the answer was recorded; the
// wake is there, with the call that asked, once.
func waitAnswered(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "find out when")
	asked := w.ask(ada, room, "When?", spaces.WaitSpec{People: true})
	if got := w.lasting(ada); len(got) != 1 || got[0].Message != asked.ID || got[0].Seq != asked.Seq || got[0].Root != asked.Root {
		t.Fatalf("waits %+v, want one for %+v", got, asked)
	}
	w.settleAll(w.due())
	answer := w.say(room, "zoe", "at six")
	w.s = w.s.Restart(t, false)
	if got := w.waiting(); len(got) != 1 || got[0].Mind != ada || got[0].Space != room {
		t.Fatalf("waiting %+v, want ada in the room", got)
	}
	wake := w.ended(ada, room, spaces.WaitReplied)
	want := []spaces.WaitAnswer{{Who: answer.Actor, Outcome: spaces.WaitReplied, Event: answer.ID}}
	testutil.Same(t, "answers", want, wake.Waits[0].Answers)
	if len(wake.Rows) != 1 || wake.Waits[0].Call == "" || len(w.lasting(ada)) != 0 {
		t.Errorf("rows %+v, call %q, still waits for %+v", wake.Rows, wake.Waits[0].Call, w.lasting(ada))
	}
	w.over(wake, 0)
}

// BLU-31, BLU-55, BLU-T6, I15
func waitTimeout(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "find out when")
	asked := w.ask(ada, room, "When?", spaces.WaitSpec{People: true})
	w.settleAll(w.due())
	w.now = w.now.Add(5*time.Minute - time.Millisecond)
	if early := w.claim(ada, room); early != nil || len(w.waiting()) != 0 {
		t.Fatalf("woken early by %+v", early)
	}
	w.s = w.s.Restart(t, false)
	w.now = w.now.Add(time.Hour)
	if got := w.waiting(); len(got) != 1 || got[0].Mind != ada || got[0].Space != room {
		t.Fatalf("waiting %+v, want ada in the room", got)
	}
	wake := w.ended(ada, room, spaces.WaitTimeout)
	// The chain goes on: a question asked again and again meets its bounds.
	if next := spaces.NextChain(wake.Consumed, "", "x"); next.Root != asked.Root || next.Depth != asked.Depth+1 {
		t.Errorf("what follows a timeout has root %s and depth %d, the question %s and %d", next.Root, next.Depth, asked.Root, asked.Depth)
	}
	if len(wake.Rows) != 0 || wake.Cycle.Upto == 0 || wake.Cycle.Active != room {
		t.Errorf("wake %+v", wake.Cycle)
	}
	w.over(wake, 0)
	w.say(room, "zoe", "at six, sorry")
	late := w.woken(ada, room)
	if len(late.Waits) != 0 {
		t.Errorf("a late answer ended %+v", late.Waits)
	}
	w.rest(late, 0)
}

// BLU-54
func waitForAll(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	zoe := w.say(room, "zoe", "ask everybody").Actor
	w.ask(ada, room, "@zoe and @bea?", spaces.WaitSpec{Who: []spaces.EntityID{zoe, bea.Agent.Entity()}})
	w.settleAll(w.due())
	w.say(room, "kai", "me?") // no agent asked
	first := w.woken(ada, room)
	if len(first.Waits) != 0 {
		t.Fatalf("kai ended %+v", first.Waits)
	}
	w.rest(first, 0)
	w.say(room, "zoe", "yes")
	part := w.claimAs(holder, ada, room, func(j spaces.GateInput) []spaces.GateDecision {
		if len(j.Waits) != 1 || j.Waits[0].Outcome != "" || !j.Waits[0].AnsweredBy(j.Events[0].ID) {
			t.Errorf("the gate is shown %+v", j.Waits)
		}
		return wakeNone(j)
	})
	if part != nil {
		t.Fatalf("woken by a part of the answer")
	}
	w.answer(bea, room, "yes")
	w.settleAll(w.due())
	wake := w.ended(ada, room, spaces.WaitReplied)
	if n := len(wake.Waits[0].Answers); n != 2 {
		t.Errorf("%d answers, want both", n)
	}
	w.over(wake, 0)
}

// DESIGN 6: silent, declined, budget_stopped.
func waitUnanswered(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	w.asksBea(room)
	silent := w.woken(bea, room)
	w.over(silent, 0)
	w.over(w.ended(ada, room, spaces.WaitSilent), 0)

	for reason, want := range map[string]spaces.WaitOutcome{"muted": spaces.WaitDenied, "stopped": spaces.WaitStopped, "depth": spaces.WaitBudget} {
		w.asksBea(room)
		w.claimAs(holder, bea, room, func(j spaces.GateInput) []spaces.GateDecision {
			verdicts := wakeNone(j)
			for i := range verdicts {
				verdicts[i].Reason = reason
			}
			return verdicts
		})
		w.over(w.ended(ada, room, want), 0)
	}

	w.asksBea(room)
	w.ok(w.s.Border.Dismiss(t.Context(), spaces.AgentRemoval{Space: room, Agents: []spaces.AgentID{"bea"}, At: w.now}))
	w.over(w.ended(ada, room, spaces.WaitLeft), 0)
}

// An agent whose runs fail until its messages are given up does not answer: who waits for it is
// told that at once, and not when the time of the wait is over.
func waitForAFailingAgent(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	w.asksBea(room)
	for range spaces.MaxAttempts {
		if n := len(w.lasting(ada)); n != 1 {
			t.Fatalf("ada waits for %d answers while bea is tried again", n)
		}
		c := w.step(w.woken(bea, room), 0)
		c.Close = &spaces.CycleClose{Stop: spaces.StopModelError, Back: true, RetryAt: w.now.Add(time.Second)}
		w.commit(c)
		w.now = w.now.Add(time.Second)
	}
	w.over(w.ended(ada, room, spaces.WaitFailed), 0)

	w.asksBea(room)
	for n := range 3 { // its process ends each time
		if wake := w.claim(bea, room); (wake != nil) != (n < 3) {
			t.Fatalf("claim %d: %v", n, wake)
		}
		w.now = w.now.Add(2 * ttl)
	}
	w.claim(bea, room)
	w.over(w.ended(ada, room, spaces.WaitFailed), 0)
}

// asksBea has ada ask bea in a room, and wait.
func (w *world) asksBea(room spaces.SpaceID) {
	w.t.Helper()
	w.say(room, "zoe", "ask bea")
	w.ask(ada, room, "@bea?", spaces.WaitSpec{Who: []spaces.EntityID{bea.Agent.Entity()}})
	w.settleAll(w.due())
}

// outcomes returns what became of each of those who were asked.
func outcomes(w spaces.PendingWait) map[spaces.EntityID]spaces.WaitOutcome {
	all := map[spaces.EntityID]spaces.WaitOutcome{}
	for _, a := range w.Answers {
		all[a.Who] = a.Outcome
	}
	return all
}

// people has persons speak in a room and returns who they are.
func (w *world) people(room spaces.SpaceID, names ...string) (who []spaces.EntityID) {
	w.t.Helper()
	for _, name := range names {
		who = append(who, w.say(room, name, "I am here").Actor)
	}
	return who
}

// Any of two: the first answer ends the wait, and the second is a message like any other.
func waitForSome(t *testing.T, w *world) {
	room := w.family()
	who := w.people(room, "zoe", "kai")
	w.ask(ada, room, "@zoe or @kai?", spaces.WaitSpec{Who: who, Need: 1})
	w.settleAll(w.due())
	answer := w.say(room, "kai", "yes")
	w.s = w.s.Restart(t, false)
	if n := len(w.lasting(ada)); n != 0 {
		t.Fatalf("ada waits for %d answers after the first of any", n)
	}
	wake := w.ended(ada, room, spaces.WaitReplied)
	testutil.Same(t, "answers", []spaces.WaitAnswer{{Who: who[1], Outcome: spaces.WaitReplied, Event: answer.ID}}, wake.Waits[0].Answers)
	testutil.Same(t, "missing", who[:1], wake.Waits[0].Missing())
	w.over(wake, 0)
	w.say(room, "zoe", "yes, too")
	late := w.woken(ada, room)
	if len(late.Waits) != 0 {
		t.Errorf("the second answer ended %+v", late.Waits)
	}
	w.rest(late, 0)
}

// Two of three: when two of them can answer no more the wait is over, whatever the third does.
func waitUnmet(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	who := append(w.people(room, "zoe", "kai"), bea.Agent.Entity())
	w.ask(ada, room, "@zoe, @kai, @bea?", spaces.WaitSpec{Who: who, Need: 2})
	w.settleAll(w.due())
	w.record(w.fact(room, "", spaces.MemberLeft{Who: who[0]}))
	if n := len(w.lasting(ada)); n != 1 {
		t.Fatalf("ada waits for %d answers while two can come", n)
	}
	w.over(w.woken(bea, room), 0) // says nothing
	ended := w.ended(ada, room, spaces.WaitLeft)
	testutil.Same(t, "outcomes", map[spaces.EntityID]spaces.WaitOutcome{who[0]: spaces.WaitLeft, who[2]: spaces.WaitSilent}, outcomes(ended.Waits[0]))
	w.over(ended, 0)

	// All of two: the one who is left is waited for.
	w.people(room, "zoe")
	w.ask(ada, room, "@zoe and @kai?", spaces.WaitSpec{Who: who[:2]})
	w.settleAll(w.due())
	w.record(w.fact(room, "", spaces.MemberLeft{Who: who[0]}))
	w.say(room, "kai", "yes")
	part := w.ended(ada, room, spaces.WaitPartial)
	testutil.Same(t, "outcomes", map[spaces.EntityID]spaces.WaitOutcome{who[0]: spaces.WaitLeft, who[1]: spaces.WaitReplied}, outcomes(part.Waits[0]))
	w.over(part, 0)
}

// Two of three within the time: one answers.
func waitLate(t *testing.T, w *world) {
	room := w.family()
	who := w.people(room, "zoe", "kai", "ann")
	w.ask(ada, room, "@zoe, @kai, @ann?", spaces.WaitSpec{Who: who, Need: 2})
	w.settleAll(w.due())
	w.say(room, "kai", "yes")
	w.rest(w.woken(ada, room), 0)
	w.now = w.now.Add(time.Hour)
	want := map[spaces.EntityID]spaces.WaitOutcome{who[0]: spaces.WaitTimeout, who[1]: spaces.WaitReplied, who[2]: spaces.WaitTimeout}
	wake := w.ended(ada, room, spaces.WaitTimeout)
	testutil.Same(t, "outcomes", want, outcomes(wake.Waits[0]))
	w.s = w.s.Restart(t, false)
	w.now = w.now.Add(2 * ttl)
	wake = w.ended(ada, room, spaces.WaitTimeout)
	testutil.Same(t, "outcomes after a restart", want, outcomes(wake.Waits[0]))
	w.over(wake, 0)
}

// A wait for two answers of any member ends when two different members have answered.
func waitForPeople(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "who comes?")
	w.ask(ada, room, "Who comes?", spaces.WaitSpec{People: true, Need: 2})
	w.settleAll(w.due())
	w.say(room, "kai", "I do")
	w.say(room, "kai", "and I bring cake")
	if n := len(w.lasting(ada)); n != 1 {
		t.Fatalf("ada waits for %d answers after two of one person", n)
	}
	w.say(room, "zoe", "so do I")
	wake := w.ended(ada, room, spaces.WaitReplied)
	if n := len(wake.Waits[0].Answers); n != 2 || wake.Waits[0].Need != 2 {
		t.Errorf("answers %+v of a wait for %d", wake.Waits[0].Answers, wake.Waits[0].Need)
	}
	w.over(wake, 0)
}

// A wait that names a program which a room admits is answered by it, beside people; one for
// any person is not.
func waitForProgram(t *testing.T, w *world) {
	room := w.family()
	bell := func(text string) spaces.Event {
		it := w.message(room, "bell", text)
		it.From.Kind = spaces.Bot
		w.record(it)
		return w.last(room)
	}
	who := []spaces.EntityID{bell("I watch the door").Actor, w.say(room, "zoe", "who is at the door?").Actor}
	w.ask(ada, room, "@bell, @zoe, who is it?", spaces.WaitSpec{Who: who})
	w.settleAll(w.due())
	bell("the post")
	if n := len(w.lasting(ada)); n != 1 {
		t.Fatalf("ada waits for %d answers after that of the program", n)
	}
	w.say(room, "zoe", "it is the post")
	wake := w.ended(ada, room, spaces.WaitReplied)
	testutil.Same(t, "outcomes", map[spaces.EntityID]spaces.WaitOutcome{who[0]: spaces.WaitReplied, who[1]: spaces.WaitReplied}, outcomes(wake.Waits[0]))
	w.over(wake, 0)

	w.say(room, "zoe", "and who else?")
	w.ask(ada, room, "Does anybody know?", spaces.WaitSpec{People: true})
	w.settleAll(w.due())
	bell("I do")
	if n := len(w.lasting(ada)); n != 1 {
		t.Errorf("a program has answered a question to people, %d waits last", n)
	}
}

// Answers that are recorded at the same moment end a wait once, and both are kept.
func waitRaced(t *testing.T, w *world) {
	room := w.family()
	who := w.people(room, "zoe", "kai", "ann")
	for round, need := range []int{1, 2, 0} {
		asked := w.say(room, "zoe", "ask us")
		w.ask(ada, room, "@zoe, @kai, @ann?", spaces.WaitSpec{Who: who, Need: need})
		w.settleAll(w.due())
		var all sync.WaitGroup
		for _, name := range []string{"zoe", "kai", "ann"} {
			batch := spaces.IngestBatch{Account: account, Items: []spaces.IngestItem{w.message(room, name, "yes")}, At: w.now}
			all.Go(func() {
				if _, err := w.s.Border.Record(t.Context(), batch); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		wake := w.ended(ada, room, spaces.WaitReplied)
		if n, want := len(wake.Waits[0].Answers), wake.Waits[0].Needed(); n != want || len(wake.Rows) != 3 {
			t.Errorf("round %d: %d answers and %d messages, want %d and 3", round, n, len(wake.Rows), want)
		}
		for i, a := range wake.Waits[0].Answers {
			if a.Event != wake.Rows[i].Event || wake.Rows[i].Seq <= asked.Seq {
				t.Errorf("round %d: answer %d is %s, the message %s", round, i+1, a.Event, wake.Rows[i].Event)
			}
		}
		w.over(wake, 0)
	}
}

func waitUndelivered(t *testing.T, w *world) {
	room := w.family()
	zoe := w.say(room, "zoe", "ask me").Actor
	w.ask(ada, room, "@zoe?", spaces.WaitSpec{Who: []spaces.EntityID{zoe}})
	due := w.due()
	failed := activity.SendResult{Action: due[0].ID, State: spaces.ActionFailed, Code: "forbidden", Reason: "No."}
	w.ok(w.s.Border.Settle(t.Context(), w.now, []activity.SendResult{failed}))
	w.over(w.ended(ada, room, spaces.WaitNotDelivered), 0)
}

// DESIGN 6: a stop ends what is waited for, and the chain it belongs to.
func waitHalted(t *testing.T, w *world) {
	room := w.family()
	for _, h := range []func(spaces.CycleID) spaces.StopRequest{
		func(spaces.CycleID) spaces.StopRequest { return spaces.StopRequest{Space: room} },
		func(run spaces.CycleID) spaces.StopRequest { return spaces.StopRequest{Run: run} },
	} {
		w.say(room, "zoe", "find out when")
		asked := w.ask(ada, room, "When?", spaces.WaitSpec{People: true})
		w.settleAll(w.due())
		if done := w.halt(h(w.lasting(ada)[0].Cycle)); done.Waits != 1 {
			t.Errorf("halted %+v, want one wait", done)
		}
		w.now = w.now.Add(time.Hour)
		if got := w.waiting(); len(got) != 0 || len(w.lasting(ada)) != 0 {
			t.Errorf("waiting %+v after the stop", got)
		}
		w.say(room, "zoe", "at six")
		wake := w.claimAs(holder, ada, room, func(j spaces.GateInput) []spaces.GateDecision {
			if len(j.Waits) != 0 {
				t.Errorf("the gate is shown %+v", j.Waits)
			}
			return wakeAll(j)
		})
		if len(wake.Waits) != 0 {
			t.Errorf("the stopped wait of %s woke", asked.ID)
		}
		w.rest(wake, 0)
	}
}

// DELIVERY 2.2 promise 2: what an outage kept an agent from being told waits for its end.
func waitSpared(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "find out when")
	w.ask(ada, room, "When?", spaces.WaitSpec{People: true})
	w.settleAll(w.due())
	w.now = w.now.Add(time.Hour)
	for range 10 {
		c := w.step(w.ended(ada, room, spaces.WaitTimeout), 0)
		c.Close = &spaces.CycleClose{Stop: spaces.StopMaxRetries, Back: true, Spared: true, RetryAt: w.now.Add(time.Minute)}
		w.commit(c)
		w.now = w.now.Add(time.Minute)
	}
	w.ended(ada, room, spaces.WaitTimeout)
}

// I10: what a failing model could not be told is told again, at its time and not for ever.
func waitReturned(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "find out when")
	w.ask(ada, room, "When?", spaces.WaitSpec{People: true})
	w.settleAll(w.due())
	w.now = w.now.Add(time.Hour)
	for n := range 5 {
		wake := w.ended(ada, room, spaces.WaitTimeout)
		if n == 2 { // its process ends meanwhile
			w.now = w.now.Add(2 * ttl)
			if wake = w.ended(ada, room, spaces.WaitTimeout); !wake.Resumed {
				t.Error("not resumed")
			}
		}
		c := w.step(wake, 0)
		c.Close = &spaces.CycleClose{Stop: spaces.StopMaxRetries, Back: true, RetryAt: w.now.Add(time.Minute)}
		w.commit(c)
		if early := w.claim(ada, room); early != nil {
			t.Error("tried again at once")
		}
		w.now = w.now.Add(time.Minute)
	}
	if again := w.claim(ada, room); again != nil || len(w.waiting()) != 0 {
		t.Error("tried for ever")
	}
}

// An agent that first asks another person has not answered; a message in another thread
// answers no one in particular.
func waitAside(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	zoe := w.say(room, "zoe", "ask bea").Actor
	w.ask(ada, room, "@bea?", spaces.WaitSpec{Who: []spaces.EntityID{bea.Agent.Entity()}})
	w.ask(bea, room, "@zoe?", spaces.WaitSpec{Who: []spaces.EntityID{zoe}})
	w.settleAll(w.due())
	if n := len(w.lasting(ada)); n != 1 {
		t.Fatalf("ada waits for %d answers, want that of bea still", n)
	}
	w.say(room, "zoe", "yes")
	wake := w.ended(bea, room, spaces.WaitReplied)
	c := w.step(wake, 0)
	c.Effect = []spaces.RoomEffect{w.reply(wake, "yes")}
	w.commit(c)
	w.over(wake, 1)
	w.settleAll(w.due())
	w.over(w.ended(ada, room, spaces.WaitReplied), 0)

	w.say(room, "zoe", "ask anybody")
	w.ask(ada, room, "Anybody?", spaces.WaitSpec{People: true})
	elsewhere := w.message(room, "zoe", "by the way")
	elsewhere.Event.Thread = "t9"
	w.record(elsewhere)
	if n := len(w.lasting(ada)); n != 1 {
		t.Errorf("ada waits for %d answers after a word in another thread, want one", n)
	}
	w.settleAll(w.due())
	if wake := w.claim(ada, room); wake != nil {
		w.rest(wake, 0)
	}
}

// S13: a run that goes on with a wait which ended meanwhile counts for that chain, too.
func waitCharged(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	w.say(room, "zoe", "find out when")
	asked := w.ask(ada, room, "When?", spaces.WaitSpec{People: true})
	aside := w.message(room, "kai", "by the way")
	aside.Event.Thread = "t9" // answers no one in particular
	w.record(aside)
	wake := w.woken(ada, room)
	w.now = w.now.Add(time.Hour)
	first := w.step(wake, 0)
	first.Judge = wakeAll
	if ended := w.commit(first).Waits; len(ended) != 1 {
		t.Fatalf("the run goes on with the ends of %+v, want that of one wait", ended)
	}
	next := w.step(wake, 1)
	next.Effect = []spaces.RoomEffect{w.reply(wake, "Never mind.")}
	w.commit(next)
	w.rest(wake, 2)
	var chain spaces.ChainUsage
	w.claimAs(holder, bea, room, func(j spaces.GateInput) []spaces.GateDecision {
		chain = j.Roots[asked.Root]
		return wakeNone(j)
	})
	testutil.Same(t, "counted for the chain of the question", spaces.ChainUsage{Messages: 2, Tokens: 3 * 120, Cost: 3 * stepCost}, chain)
}
