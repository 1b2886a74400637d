package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var timerTests = map[string]func(*testing.T, *world){
	"TimerFiresOnceAndNotEarly":        timerOnce,
	"TimerSurvivesARestart":            timerRestart,
	"TimersOfAMindFireOneAtATime":      timersInTurn,
	"TimersOfABusyMindHideNoOthers":    timersHeldBack,
	"TimersCycleIsResumedWithItsTimer": timerResumed,
	"TimersOfWhoIsNotHereStayDue":      timersOfTheAbsent,
	"WhoHadATimerSetPays":              timerPaid,
	"WhatATimerUsedIsItsMinds":         timerCounted,
}

// setTimer has the agent set a timer for a minute from now and returns it.
func (w *world) setTimer(room spaces.SpaceID, id string) spaces.WakeTimer {
	w.t.Helper()
	w.say(room, "zoe", "remind me")
	wake := w.woken(ada, room)
	timer := spaces.WakeTimer{ID: id, Mind: ada, Kind: spaces.TimerAct, Space: room, Note: "tea", Due: w.now.Add(time.Minute), Cycle: wake.Cycle.ID}
	c := w.step(wake, 0)
	c.Timers = []spaces.WakeTimer{timer}
	w.commit(c)
	w.rest(wake, 1)
	return timer
}

func (w *world) fire() []spaces.Wake {
	w.t.Helper()
	out, err := w.s.Shell.Due(w.t.Context(), w.now, holder, ttl, 10, func(spaces.AgentID) bool { return true })
	w.ok(err)
	return out
}

// endTimer closes a cycle that a timer woke.
func (w *world) endTimer(wake *spaces.Wake) {
	w.t.Helper()
	c := w.step(wake, 0)
	c.Close = &spaces.CycleClose{Stop: spaces.StopSilent, Rest: "Rested."}
	w.commit(c)
}

// I15, K23
func timerOnce(t *testing.T, w *world) {
	room := w.family()
	timer := w.setTimer(room, "t1")
	if at, waits, err := w.s.Shell.NextTimer(t.Context()); err != nil || !waits || !at.Equal(timer.Due) {
		t.Errorf("next timer %v %t %v, want %v", at, waits, err, timer.Due)
	}
	w.now = timer.Due.Add(-time.Millisecond)
	if got := w.fire(); len(got) != 0 {
		t.Errorf("fired early: %+v", got)
	}
	w.now = timer.Due
	got := w.fire()
	if len(got) != 1 {
		t.Fatalf("fired %d times, want once", len(got))
	}
	testutil.Same(t, "timer", &timer, got[0].Timer)
	if y := got[0].Cycle; y.Space != "" || y.Active != "" || y.Wake != "timer" || y.Mind != ada {
		t.Errorf("cycle %+v, want one without a space (BLU-10)", y)
	}
	if again := w.fire(); len(again) != 0 {
		t.Errorf("fired again: %+v", again)
	}
	w.endTimer(&got[0])
	if _, waits, err := w.s.Shell.NextTimer(t.Context()); err != nil || waits {
		t.Errorf("a fired timer waits (%v)", err)
	}
}

func timerRestart(t *testing.T, w *world) {
	w.setTimer(w.family(), "t1")
	w.s = w.s.Restart(t, false)
	w.now = w.now.Add(time.Hour)
	got := w.fire()
	if len(got) != 1 {
		t.Fatalf("fired %d times after the restart, want once", len(got))
	}
	w.endTimer(&got[0])
}

func timersInTurn(t *testing.T, w *world) {
	room := w.family()
	w.setTimer(room, "t1")
	w.setTimer(room, "t2")
	w.now = w.now.Add(time.Minute)
	first := w.fire()
	if len(first) != 1 || first[0].Timer.ID != "t1" {
		t.Fatalf("fired %+v, want the first alone", first)
	}
	w.endTimer(&first[0])
	second := w.fire()
	if len(second) != 1 || second[0].Timer.ID != "t2" {
		t.Fatalf("fired %+v, want the second", second)
	}
	w.endTimer(&second[0])
}

// I15: however much is due to a mind whose wake goes on, as that of an agent which is
// no longer here does, the timers of others fire.
func timersHeldBack(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	wake := w.woken(ada, w.say(room, "zoe", "remind us").Space)
	c := w.step(wake, 0)
	for i := range 20 {
		c.Timers = append(c.Timers, spaces.WakeTimer{ID: fmt.Sprint("t", 10+i), Mind: ada, Kind: spaces.TimerAct, Space: room, Due: w.now, Cycle: wake.Cycle.ID})
	}
	c.Timers = append(c.Timers, spaces.WakeTimer{ID: "last", Mind: bea, Kind: spaces.TimerAct, Space: room, Due: w.now.Add(time.Second), Cycle: wake.Cycle.ID})
	w.commit(c)
	w.rest(wake, 1)
	w.now = w.now.Add(time.Minute)
	if got := w.fire(); len(got) != 1 || got[0].Timer.ID != "t10" {
		t.Fatalf("fired %+v, want the first", got)
	}
	got := w.fire()
	if len(got) != 1 || got[0].Timer.ID != "last" {
		t.Fatalf("fired %+v, want the timer of the other mind", got)
	}
}

func timerResumed(t *testing.T, w *world) {
	timer := w.setTimer(w.family(), "t1")
	w.now = timer.Due
	first := w.fire()
	w.now = w.now.Add(2 * ttl)
	if got := w.waiting(); len(got) != 1 || got[0].Space != "" {
		t.Fatalf("waiting %+v, want the timer's cycle", got)
	}
	again := w.claim(ada, "")
	if again == nil || again.Cycle.ID != first[0].Cycle.ID || again.Timer == nil || again.Timer.ID != "t1" {
		t.Fatalf("resumed as %+v", again)
	}
	c := w.step(again, 0)
	f := spaces.RoomEffect{Kind: spaces.ActSend, Space: timer.Space, ID: "tea", Text: "tea!", Chain: spaces.NextChain(nil, "", "tea")}
	c.Effect = []spaces.RoomEffect{f}
	done := w.commit(c)
	if e := done.Events[0]; e.Root != e.ID || e.Depth != 1 {
		t.Errorf("a timer's message has root %s and depth %d", e.Root, e.Depth)
	}
	c = w.step(again, 1)
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Reminded."}
	w.commit(c)
	w.settleAll(w.due())
}

// S13: what a timer wakes is counted for the people whose words had it set, what wakes
// by a timer set there too, and so is every firing of a plan.
func timerPaid(t *testing.T, w *world) {
	first := w.setTimer(w.family(), "t1")
	a := w.step(&spaces.Wake{}, 0).Step.Usage.Total()
	paid := 2 * a // the run that set it
	fire := func(at time.Time, set ...spaces.WakeTimer) {
		t.Helper()
		w.now = at
		got := w.fire()
		if len(got) != 1 {
			t.Fatalf("fired %d times, want once", len(got))
		}
		c := w.step(&got[0], 0)
		c.Timers, c.Close = set, &spaces.CycleClose{Stop: spaces.StopSilent, Rest: "Rested."}
		w.commit(c)
		paid += a
		used, err := w.s.Shell.SpentBySenders(t.Context(), w.now, got[0].Cycle.ID)
		if w.ok(err); used.Tokens != paid {
			t.Errorf("zoe's words cost %d tokens, want %d", used.Tokens, paid)
		}
	}
	second := first
	second.ID, second.Due = "t2", first.Due.Add(time.Minute)
	fire(first.Due, second)
	plan := first
	plan.ID, plan.Kind, plan.Plan, plan.Cron, plan.Due = "p1", spaces.TimerPlan, "p1", "* * * * *", second.Due.Add(time.Minute)
	fire(second.Due, plan)
	fire(plan.Due)
	fire(plan.Due.Add(2 * time.Minute))
}

// SECURITY S13: what a wake without a space used is counted for the room where its timer
// was set, and told of its mind, on the day it was used.
func timerCounted(t *testing.T, w *world) {
	room := w.family()
	timer := w.setTimer(room, "t1")
	w.now = timer.Due
	w.endTimer(&w.fire()[0])
	if spent, err := w.s.Shell.Spent(t.Context(), w.now, ada.Agent, room); err != nil || spent.Space != spent.All {
		t.Errorf("of %+v %+v are the room's: %v", spent.All, spent.Space, err)
	}
	today := func() (tokens int) {
		t.Helper()
		minds, err := w.s.Minds(t.Context(), w.now)
		w.ok(err)
		for _, m := range minds {
			if m.Mind == ada {
				tokens += m.Tokens
			}
		}
		return tokens
	}
	if got, want := today(), 3*w.step(&spaces.Wake{}, 0).Step.Usage.Total(); got != want {
		t.Errorf("it used %d tokens today, want %d", got, want)
	}
	w.now = w.now.Add(24 * time.Hour)
	if got := today(); got != 0 {
		t.Errorf("it used %d tokens on the day after", got)
	}
}

// I15, DELIVERY 2.2 promise 7: what an agent that is not here had set waits for it, and
// hides nothing of the others.
func timersOfTheAbsent(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	timer := w.setTimer(room, "t1")
	w.now = timer.Due
	for _, here := range []spaces.AgentID{"bea", "ada"} {
		out, err := w.s.Shell.Due(t.Context(), w.now, holder, ttl, 1, func(a spaces.AgentID) bool { return a == here })
		w.ok(err)
		if want := here == "ada"; len(out) == 1 != want {
			t.Errorf("with %s here %d timers fire", here, len(out))
		}
		w.now = w.now.Add(time.Hour)
	}
}
