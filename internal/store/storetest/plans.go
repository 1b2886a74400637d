package storetest

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

var planTests = map[string]func(*testing.T, *world){
	"PlanRecursUntilItIsForgotten":       planRecurs,
	"PlanRecursByItsOwnClock":            planByItsClock,
	"TimesThatPassedAreMadeUpForByOne":   planMissed,
	"PlansNoteIsHushedWithWhatItRepeats": planHushed,
	"WhatALookCameToIsKeptForTheNext":    planLooked,
}

// What a plan looks at first, and what came of it, is kept with the timer that
// fired and with the next one of the plan, not with others.
func planLooked(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "tell us what is new")
	wake := w.woken(ada, room)
	look := spaces.TimerLook{Tool: "builds", Args: `{"of":"main"}`}
	timer := spaces.WakeTimer{ID: "t1", Mind: ada, Kind: spaces.TimerPlan, Space: room, Note: "builds", Due: w.now.Add(time.Minute), Cycle: wake.Cycle.ID, Plan: "p1", Cron: "0 * * * *", Look: look}
	other := timer
	other.ID, other.Plan, other.Look = "t2", "p2", spaces.TimerLook{Messages: true, Seen: 3}
	other.Due = w.now.Add(time.Hour)
	c := w.step(wake, 0)
	c.Timers = []spaces.WakeTimer{timer, other}
	w.commit(c)
	w.rest(wake, 1)
	w.now = timer.Due
	fired := w.fire()
	if len(fired) != 1 {
		t.Fatalf("fired %+v, want one", fired)
	}
	testutil.Same(t, "look", look, fired[0].Timer.Look)
	looked := *fired[0].Timer
	looked.Look.At, looked.Look.Outcome, looked.Look.Seen = w.now, spaces.LookNothing, 7
	c = w.step(&fired[0], 0)
	c.Looked, c.Close = &looked, &spaces.CycleClose{Stop: spaces.StopSkipped, Back: true}
	w.commit(c)
	for _, p := range w.plans() {
		want := looked.Look
		if p.Plan == "p2" {
			want = other.Look
		}
		want.At = p.Look.At
		testutil.Same(t, "look of "+p.Plan, want, p.Look)
		if p.Plan == "p1" && !p.Look.At.Equal(w.now) {
			t.Errorf("it looked at %v, want %v", p.Look.At, w.now)
		}
	}
}

// plan has the agent, who is shown some messages, plan something for each full hour
// and returns the first timer.
func (w *world) plan(room spaces.SpaceID, note string, shown ...spaces.EventID) spaces.WakeTimer {
	w.t.Helper()
	w.say(room, "zoe", "tell us every hour")
	wake := w.woken(ada, room)
	timer := spaces.WakeTimer{
		ID: "t1", Mind: ada, Kind: spaces.TimerPlan, Space: room, Note: note, Due: w.now.Truncate(time.Hour).Add(time.Hour), Cycle: wake.Cycle.ID,
		Plan: "p1", Cron: "0 * * * *",
	}
	c := w.step(wake, 0)
	c.Timers, c.Turns = []spaces.WakeTimer{timer}, []spaces.TranscriptTurn{{Role: spaces.RoleUser, Refs: shown}}
	w.commit(c)
	w.rest(wake, 1)
	return timer
}

func (w *world) plans() []spaces.WakeTimer {
	w.t.Helper()
	plans, err := w.s.Shell.Plans(w.t.Context(), ada, 10)
	w.ok(err)
	return plans
}

// A plan of a time zone recurs by its clocks, also when they are set in between.
func planByItsClock(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "wake us at nine")
	wake := w.woken(ada, room)
	w.now = time.Date(2026, 3, 7, 13, 0, 0, 0, time.UTC)
	c := w.step(wake, 0)
	c.Timers = []spaces.WakeTimer{{
		ID: "t1", Mind: ada, Kind: spaces.TimerPlan, Space: room, Note: "nine", Due: time.Date(2026, 3, 7, 14, 0, 0, 0, time.UTC), Cycle: wake.Cycle.ID,
		Plan: "p1", Cron: "0 9 * * *", Zone: "America/New_York", SetBy: "e1", SetAt: w.now,
	}}
	w.commit(c)
	w.rest(wake, 1)
	for _, want := range []time.Time{time.Date(2026, 3, 7, 14, 0, 0, 0, time.UTC), time.Date(2026, 3, 8, 13, 0, 0, 0, time.UTC)} { // summer time begins
		plans := w.plans()
		if len(plans) != 1 || !plans[0].Due.Equal(want) || plans[0].Zone != "America/New_York" || plans[0].SetBy != "e1" || plans[0].SetAt.IsZero() {
			t.Fatalf("planned %+v, want one at %v", plans, want)
		}
		w.now = want
		fired := w.fire()
		if len(fired) != 1 {
			t.Fatalf("fired %+v", fired)
		}
		w.endTimer(&fired[0])
	}
}

// CON-13, I15
func planRecurs(t *testing.T, w *world) {
	due := func() time.Time {
		if got := w.plans(); len(got) == 1 && got[0].Name() == "p1" {
			return got[0].Due
		}
		return time.Time{}
	}
	timer := w.plan(w.family(), "tell the hour")
	ids := map[string]bool{}
	for n := range 3 {
		want := timer.Due.Add(time.Duration(n) * time.Hour)
		if !due().Equal(want) {
			t.Fatalf("planned %+v, want p1 at %v", w.plans(), want)
		}
		w.now = want.Add(-time.Second)
		if got := w.fire(); len(got) != 0 {
			t.Fatalf("fired early: %+v", got)
		}
		w.now = want
		got := w.fire()
		if len(got) != 1 || got[0].Timer.Plan != "p1" || got[0].Cycle.Wake != "plan" || got[0].Cycle.Active != "" || ids[got[0].Timer.ID] {
			t.Fatalf("fired %+v, want p1 once, without a space (BLU-T7)", got)
		}
		ids[got[0].Timer.ID] = true
		w.endTimer(&got[0])
	}
	w.say(w.family(), "zoe", "no more")
	wake := w.woken(ada, w.family())
	c := w.step(wake, 0)
	c.Inner = []spaces.EventBody{spaces.MemoryRemoved{ID: "p1"}}
	w.commit(c)
	w.rest(wake, 1)
	w.now = w.now.Add(24 * time.Hour)
	if got := w.fire(); len(got) != 0 || len(w.plans()) != 0 {
		t.Errorf("forgotten, it fired %+v, and %+v is planned", got, w.plans())
	}
	w.sound()
}

// K23
func planMissed(t *testing.T, w *world) {
	timer := w.plan(w.family(), "tell the hour")
	w.s = w.s.Restart(t, false)
	w.now = timer.Due.Add(5*time.Hour + time.Minute)
	got := w.fire()
	if len(got) != 1 || !got[0].Timer.Due.Equal(timer.Due) {
		t.Fatalf("fired %+v, want one of %v", got, timer.Due)
	}
	w.endTimer(&got[0])
	if again := w.fire(); len(again) != 0 {
		t.Errorf("what was missed fires again: %+v", again)
	}
	if next := w.plans(); len(next) != 1 || !next[0].Due.Equal(timer.Due.Add(6*time.Hour)) {
		t.Errorf("next is %+v, want %v", next, timer.Due.Add(6*time.Hour))
	}
}

// SEQ-98, S14: a plan does not repeat what was deleted.
func planHushed(t *testing.T, w *world) {
	room := w.family()
	secret := w.say(room, "zoe", "the treasure lies below the old mill")
	timer := w.plan(room, "tell them: the treasure lies below the old mill", secret.ID)
	w.record(w.fact(room, "zoe", spaces.MessageDeleted{Target: secret.ID}))
	w.ok(w.s.Shell.Redact(t.Context(), ada, shell.RedactionRequest{Event: secret.ID}))
	for _, p := range w.plans() {
		if p.Note == timer.Note {
			t.Errorf("planned: %q", p.Note)
		}
	}
	w.now = timer.Due
	for _, fired := range w.fire() {
		if fired.Timer.Note == timer.Note {
			t.Errorf("woken by %q", fired.Timer.Note)
		}
	}
}
