package storetest

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

var lineTests = map[string]func(*testing.T, *world){
	"LineSpanLastsUntilTheNextBegins":         lineSpans,
	"LineSpanOfADeadRunEndsWhenItWasLastSeen": lineCrash,
	"LineSpansAreKeptForNinetyDays":           lineKept,
	"AccountIsCalledAsItWasServedLast":        lineNamed,
}

func (w *world) stood(s activity.ConnPeriod, after time.Duration) {
	w.t.Helper()
	s.Line, s.From = "acme", w.now.Add(after)
	w.ok(w.s.Border.StateChanged(w.t.Context(), s))
}

func (w *world) lines(from, to time.Duration, limit int) []console.LineSpan {
	w.t.Helper()
	found, err := w.s.Lines(w.t.Context(), w.now.Add(from), w.now.Add(to), limit)
	w.ok(err)
	return found
}

// ECOSYSTEM 6: was it connected when X happened?
func lineSpans(t *testing.T, w *world) {
	w.stood(activity.ConnPeriod{State: activity.ConnConnecting, First: true}, 0)
	w.stood(activity.ConnPeriod{State: activity.ConnConnecting, Reason: "no route", First: true}, 0)
	w.stood(activity.ConnPeriod{State: activity.ConnConnected, Account: account}, time.Minute)
	w.ok(w.s.Border.StateChanged(t.Context(), activity.ConnPeriod{Line: "guild", State: activity.ConnConflict, Reason: "another", From: w.now.Add(90 * time.Second), First: true}))
	w.ok(w.s.Border.StillInState(t.Context(), "acme", w.now.Add(5*time.Minute)))
	w.stood(activity.ConnPeriod{State: activity.ConnDegraded, Account: account, Reason: "silent"}, 7*time.Minute)
	w.ok(w.s.Border.StillInState(t.Context(), "acme", w.now.Add(8*time.Minute)))
	at := func(d time.Duration) time.Time { return w.now.Add(d).UTC() }
	want := []console.LineSpan{
		{Line: "acme", State: "connecting", Reason: "no route", From: at(0), To: at(time.Minute)},
		{Line: "acme", Account: account, State: "connected", From: at(time.Minute), To: at(7 * time.Minute)},
		{Line: "guild", State: "conflict", Reason: "another", From: at(90 * time.Second), To: at(90 * time.Second), Newest: true},
		{Line: "acme", Account: account, State: "degraded", Reason: "silent", From: at(7 * time.Minute), To: at(8 * time.Minute), Newest: true},
	}
	testutil.Same(t, "lines", want, w.lines(0, time.Hour, 10))
	testutil.Same(t, "in between", want[1:2], w.lines(2*time.Minute, 3*time.Minute, 10))
	if got := w.lines(0, time.Hour, 2); len(got) != 2 {
		t.Errorf("%d of at most 2", len(got))
	}
}

// A run that ended without a word was not connected until the next one began.
func lineCrash(t *testing.T, w *world) {
	w.stood(activity.ConnPeriod{State: activity.ConnConnected, Account: account, First: true}, 0)
	w.ok(w.s.Border.StillInState(t.Context(), "acme", w.now.Add(3*time.Minute)))
	w.s = w.s.Restart(t, false)
	w.stood(activity.ConnPeriod{State: activity.ConnConnecting, First: true}, time.Hour)
	w.stood(activity.ConnPeriod{State: activity.ConnConnecting, First: true, Reason: "no route"}, time.Hour)
	got := w.lines(0, 2*time.Hour, 10)
	if len(got) != 2 || !got[0].To.Equal(w.now.Add(3*time.Minute)) || got[1].Reason != "no route" {
		t.Errorf("lines are %+v", got)
	}
}

func lineKept(t *testing.T, w *world) {
	w.stood(activity.ConnPeriod{State: activity.ConnConnected, First: true}, 0)
	w.stood(activity.ConnPeriod{State: activity.ConnDegraded}, time.Hour)
	w.stood(activity.ConnPeriod{State: activity.ConnConnected}, 90*24*time.Hour)
	if got := w.lines(0, 100*24*time.Hour, 10); len(got) != 3 {
		t.Errorf("after ninety days %+v", got)
	}
	w.stood(activity.ConnPeriod{State: activity.ConnDegraded}, 90*24*time.Hour+2*time.Hour)
	if got := w.lines(0, 100*24*time.Hour, 10); len(got) != 3 || got[0].State != "degraded" {
		t.Errorf("an hour later %+v", got)
	}
}

// Actions that wait for an account without a process are reported under the name of its
// entry.
func lineNamed(t *testing.T, w *world) {
	named := func() string {
		t.Helper()
		line, err := w.s.LineOf(t.Context(), account)
		w.ok(err)
		return line
	}
	testutil.Same(t, "before", "", named())
	w.ok(w.s.Border.StateChanged(t.Context(), activity.ConnPeriod{Line: "old", Account: account, State: activity.ConnConnected, From: w.now.Add(-time.Hour), First: true}))
	testutil.Same(t, "at first", "old", named())
	w.stood(activity.ConnPeriod{State: activity.ConnConnected, Account: account, First: true}, 0)
	w.stood(activity.ConnPeriod{State: activity.ConnConnecting, First: true}, time.Minute)
	testutil.Same(t, "in the end", "acme", named())
}
