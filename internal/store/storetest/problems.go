package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/spaces"
)

// AlertStore is what the watch asks of a store.
type AlertStore interface {
	alerts.Store
	alerts.MetricsReader
}

var problemTests = map[string]func(*testing.T, *world){
	"ProblemIsKeptOverARestart":         problemKept,
	"OneOpenProblemOfACodeAndASubject":  problemOnce,
	"AcknowledgementIsNotOverwritten":   problemAcked,
	"ClosedProblemStaysClosed":          problemClosed,
	"VitalsCountWhatWaitsAndWhatFailed": vitals,
	"WhatNobodyTakesUpIsSeen":           idleMinds,
	"WhatNobodyIsWokenByIsSeen":         idleTimes,
	"WhatNobodySendsIsSeen":             idleQueues,
}

func (w *world) kept(since time.Time) []alerts.Alert {
	w.t.Helper()
	all, err := w.s.Problems.Problems(w.t.Context(), since)
	w.ok(err)
	return all
}

func silent(w *world) alerts.Alert {
	return alerts.Alert{
		Code: alerts.Deaf, Severity: alerts.Fail, Subject: "acme", Evidence: "silent",
		Opened: w.now, Seen: w.now, Count: 1,
	}
}

// ECOSYSTEM 8
func problemKept(t *testing.T, w *world) {
	want := silent(w)
	w.ok(w.s.Problems.Keep(t.Context(), []alerts.Alert{want}))
	want.ID, want.Told, want.Count = 1, 2, 3
	want.Evidence, want.Seen, want.Well = "still silent", w.now.Add(time.Minute), w.now.Add(2*time.Minute)
	w.ok(w.s.Problems.Keep(t.Context(), []alerts.Alert{want}))
	w.s = w.s.Restart(t, false)
	if diff := cmp.Diff([]alerts.Alert{want}, w.kept(w.now), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func problemOnce(t *testing.T, w *world) {
	w.ok(w.s.Problems.Keep(t.Context(), []alerts.Alert{silent(w), silent(w)}))
	w.ok(w.s.Problems.Keep(t.Context(), []alerts.Alert{silent(w)}))
	other := silent(w)
	other.Subject = "guild"
	w.ok(w.s.Problems.Keep(t.Context(), []alerts.Alert{other}))
	if got := w.kept(w.now); len(got) != 2 || got[0].Subject != "acme" || got[1].Subject != "guild" {
		t.Errorf("open are %+v", got)
	}
}

func problemAcked(t *testing.T, w *world) {
	w.ok(w.s.Problems.Keep(t.Context(), []alerts.Alert{silent(w)}))
	p := w.kept(w.now)[0]
	until := w.now.Add(2 * time.Hour)
	w.ok(w.s.Problems.Ack(t.Context(), p.ID, until))
	p.Told = 1 // by a process that read it before
	w.ok(w.s.Problems.Keep(t.Context(), []alerts.Alert{p}))
	if got := w.kept(w.now)[0]; !got.Acked.Equal(until) || got.Told != 1 {
		t.Errorf("kept is %+v", got)
	}
	if err := w.s.Problems.Ack(t.Context(), p.ID+1, until); !errors.Is(err, alerts.ErrUnknown) {
		t.Errorf("acknowledging nothing: %v", err)
	}
}

func problemClosed(t *testing.T, w *world) {
	w.ok(w.s.Problems.Keep(t.Context(), []alerts.Alert{silent(w)}))
	open := w.kept(w.now)[0]
	shut := open
	shut.Well, shut.Closed = w.now.Add(time.Minute), w.now.Add(2*time.Minute)
	w.ok(w.s.Problems.Keep(t.Context(), []alerts.Alert{shut}))
	w.ok(w.s.Problems.Keep(t.Context(), []alerts.Alert{open})) // too late
	if got := w.kept(w.now); len(got) != 1 || !got[0].Closed.Equal(shut.Closed) {
		t.Errorf("closed is %+v", got)
	}
	if got := w.kept(shut.Closed); len(got) != 0 {
		t.Errorf("closed before: %+v", got)
	}
	if err := w.s.Problems.Ack(t.Context(), open.ID, w.now); !errors.Is(err, alerts.ErrUnknown) {
		t.Errorf("acknowledging what is over: %v", err)
	}
	w.ok(w.s.Problems.Keep(t.Context(), []alerts.Alert{silent(w)}))
	if got := w.kept(shut.Closed); len(got) != 1 || got[0].ID == open.ID {
		t.Errorf("a new one is %+v", got)
	}
}

func vitals(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	w.answer(ada, room, "hello yourself")
	v, err := w.s.Problems.Vitals(t.Context(), w.now.Add(-time.Hour), w.now)
	w.ok(err)
	want := alerts.StoreMetrics{
		Queues: []alerts.AccountQueue{{Account: account, Waiting: 1, Oldest: w.now}},
		Spent:  []alerts.DailyUsage{{Agent: "ada", Space: string(room), Used: money.UsedTokens{Tokens: 240, Cost: 2 * stepCost}}},
	}
	if diff := cmp.Diff(want, v, cmpopts.IgnoreFields(alerts.StoreMetrics{}, "Slowest", "Began")); diff != "" {
		t.Errorf("vitals (-want +got):\n%s", diff)
	}
	if v.Slowest <= 0 || v.Began.IsZero() {
		t.Errorf("the slowest commit took %s, the record began at %s", v.Slowest, v.Began)
	}
	w.unsure(t)
	v, err = w.s.Problems.Vitals(t.Context(), w.now.Add(-time.Hour), w.now)
	w.ok(err)
	if diff := cmp.Diff([]alerts.NamedCount{{Name: account, N: 1}}, v.Unknown); diff != "" || len(v.Queues) != 0 {
		t.Errorf("unknown (-want +got):\n%s queues %+v", diff, v.Queues)
	}
	if v, err = w.s.Problems.Vitals(t.Context(), w.now.Add(time.Hour), w.now); err != nil || len(v.Unknown) != 0 {
		t.Errorf("later: %+v, %v", v.Unknown, err)
	}
}

// unsure leaves what waits in the outbox with an unknown outcome.
func (w *world) unsure(t *testing.T) {
	t.Helper()
	claimed, err := w.s.Border.Claim(t.Context(), account, w.now, 1)
	w.ok(err)
	w.settle(activity.SendResult{Action: claimed[0].ID, State: spaces.ActionUnknown, Code: "unknown", Reason: "no answer"})
}
