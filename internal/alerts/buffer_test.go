package alerts

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// aProblem is one of an account, that began so many minutes after the start; closed
// is when it ended, 0 for one that goes on.
func aProblem(id AlertID, subject string, opened, closed int) Alert {
	p := Alert{ID: id, Code: Deaf, Subject: subject, Opened: start.Add(time.Duration(opened) * time.Minute)}
	if closed > 0 {
		p.Closed = start.Add(time.Duration(closed) * time.Minute)
	}
	return p
}

// DELIVERY 2.7, F30: the list of problems is the stored ones and those that could not
// be stored, each once, in its newest state.
func TestWhatIsHeldLiesOverTheRecord(t *testing.T) {
	acked := aProblem(1, "acme", 0, 0)
	acked.Acked = start.Add(time.Hour)
	ended := aProblem(1, "acme", 0, 8)
	ended.Acked = acked.Acked
	for name, c := range map[string]struct{ rows, held, want []Alert }{
		"nothing is held":                       {rows: []Alert{acked}, want: []Alert{acked}},
		"one that is new":                       {held: []Alert{aProblem(0, "acme", 6, 0)}, want: []Alert{aProblem(0, "acme", 6, 0)}},
		"one of another account":                {rows: []Alert{acked}, held: []Alert{aProblem(0, "bolt", 6, 0)}, want: []Alert{acked, aProblem(0, "bolt", 6, 0)}},
		"one that another process has recorded": {rows: []Alert{acked}, held: []Alert{aProblem(0, "acme", 6, 0)}, want: []Alert{acked}},
		"one that came again":                   {rows: []Alert{aProblem(1, "acme", 0, 7)}, held: []Alert{aProblem(0, "acme", 8, 0)}, want: []Alert{aProblem(1, "acme", 0, 7), aProblem(0, "acme", 8, 0)}},
		"the end of one that somebody took on":  {rows: []Alert{acked}, held: []Alert{aProblem(1, "acme", 0, 8)}, want: []Alert{ended}},
		"an end that was long ago":              {rows: []Alert{acked}, held: []Alert{aProblem(1, "acme", 0, 4)}},
		"one that came and went":                {held: []Alert{aProblem(0, "acme", 6, 8)}, want: []Alert{aProblem(0, "acme", 6, 8)}},
		"one that came and went long ago":       {held: []Alert{aProblem(0, "acme", 1, 5)}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(c.rows)
			got := Overlay(c.rows, c.held, start.Add(5*time.Minute))
			if diff := cmp.Diff(c.want, got); diff != "" && len(c.want)+len(got) > 0 {
				t.Errorf("known is (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, c.rows); diff != "" {
				t.Errorf("the rows it was given were changed (-before +after):\n%s", diff)
			}
		})
	}
}

// DELIVERY 2.7, F30: all that a full record did not take is in it when it takes
// something again: also one that came twice meanwhile, and the ends of those it has.
func TestAllThatWasHeldIsRecorded(t *testing.T) {
	b := book{rows: []Alert{aProblem(1, "acme", 0, 0), aProblem(2, "bolt", 0, 0)}, full: true}
	s := new(MemoryBuffer).Over(&b)
	for _, p := range []Alert{
		aProblem(1, "acme", 0, 3), aProblem(2, "bolt", 0, 4), // these end
		aProblem(0, "acme", 5, 0), aProblem(0, "bolt", 5, 0), // these begin, in the same moment
		aProblem(0, "acme", 5, 6), aProblem(0, "acme", 7, 0), // one ends and comes again
	} {
		if err := s.Keep(t.Context(), []Alert{p}); !errors.Is(err, errFull) {
			t.Fatalf("kept in a full record: %v", err)
		}
	}
	b.full = false
	testutil.OK(t, s.Keep(t.Context(), nil))
	want := []Alert{aProblem(1, "acme", 0, 3), aProblem(2, "bolt", 0, 4), aProblem(3, "acme", 5, 6), aProblem(4, "bolt", 5, 0), aProblem(5, "acme", 7, 0)}
	testutil.Same(t, "recorded is", want, b.rows)
}

// ECOSYSTEM 8: a problem with a number is acknowledged in the store, whatever the
// buffer holds beside it; the store refuses an unknown number.
func TestWhatHasANumberIsTakenOnInTheRecord(t *testing.T) {
	b := book{rows: []Alert{aProblem(1, "acme", 0, 0)}}
	s := new(MemoryBuffer).Over(&b)
	until := start.Add(time.Hour)
	if err := s.Ack(t.Context(), 0, until); !errors.Is(err, errNobody) {
		t.Errorf("a number that nobody has: %v", err)
	}
	b.full = true
	if err := s.Keep(t.Context(), []Alert{aProblem(0, "bolt", 1, 0)}); !errors.Is(err, errFull) {
		t.Fatalf("kept in a full record: %v", err)
	}
	if err := s.Ack(t.Context(), 1, until); err != nil || !b.rows[0].Acked.Equal(until) {
		t.Errorf("taken on: %+v, %v", b.rows[0], err)
	}
}
