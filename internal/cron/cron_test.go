package cron_test

import (
	"errors"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/cron"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

const layout = "2006-01-02 15:04 MST"

func berlin(t *testing.T) *time.Location {
	t.Helper()
	in, err := time.LoadLocation("Europe/Berlin")
	testutil.OK(t, err)
	return in
}

// CON-13: what recurs comes when clocks on the wall show it, once, also on the days
// when they are set.
func TestNextTimeIsThatOfTheClocksOnTheWall(t *testing.T) {
	for _, test := range []struct{ line, after, want string }{
		{"0 9 * * 1", "2026-11-21 12:00", "2026-11-23 09:00 CET"},
		{"0 9 * * 1", "2026-11-23 08:59", "2026-11-23 09:00 CET"},
		{"0 9 * * 1", "2026-11-23 09:00", "2026-11-30 09:00 CET"},
		{"*/15 * * * *", "2026-11-21 12:07", "2026-11-21 12:15 CET"},
		{"30 8 29 2 *", "2026-11-21 12:00", "2028-02-29 08:30 CET"},
		{"30 2 * * *", "2026-03-28 12:00", "2026-03-29 03:30 CEST"}, // there is no half past two
		{"30 2 * * *", "2026-03-29 03:30", "2026-03-30 02:30 CEST"},
		{"30 2 * * *", "2026-10-24 12:00", "2026-10-25 02:30 CEST"}, // half past two comes twice
		{"0 4 * * *", "2026-03-28 12:00", "2026-03-29 04:00 CEST"},
		{"0 4 * * *", "2026-10-24 12:00", "2026-10-25 04:00 CET"},
		{"0 9 * * *", "2026-03-28 12:00", "2026-03-29 09:00 CEST"},
	} {
		after, err := time.ParseInLocation("2006-01-02 15:04", test.after, berlin(t))
		testutil.OK(t, err)
		got, err := cron.NextTime(test.line, after)
		if err != nil || got.Format(layout) != test.want {
			t.Errorf("%s after %s is %s (%v), want %s", test.line, test.after, got.Format(layout), err, test.want)
		}
	}
}

// Half past two has been, and comes a second time; it is taken once.
func TestTimeThatComesTwiceIsTakenOnce(t *testing.T) {
	first := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC).In(berlin(t))
	for _, after := range []time.Time{first, first.Add(time.Minute), first.Add(time.Hour), first.Add(61 * time.Minute)} {
		got, err := cron.NextTime("30 2 * * *", after)
		if want := "2026-10-26 02:30 CET"; err != nil || got.Format(layout) != want {
			t.Errorf("after %s comes %s (%v), want %s", after.Format(layout), got.Format(layout), err, want)
		}
	}
}

// Whatever the line and the day, the next time is later, and the one after it later
// again: nothing that recurs can turn in place.
func FuzzNext(f *testing.F) {
	for _, line := range []string{"* * * * *", "30 2 * * *", "0 0 31 2 *", "0 9 1-7 JAN,feb MON", "0 0 L * *", "@daily", "* * * * * *", "60 * * * *", "1-0 * * * *", "*/0 * * * *"} {
		f.Add(line, int64(1774745000))
	}
	in, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line string, seconds int64) {
		after := time.Unix(seconds%4_000_000_000, 0).In(in)
		for range 3 {
			next, err := cron.NextTime(line, after)
			if err != nil {
				if !errors.Is(err, cron.ErrLine) && !errors.Is(err, cron.ErrNever) {
					t.Errorf("%q: %v", line, err)
				}
				return
			}
			if !next.After(after) {
				t.Fatalf("%q: after %v comes %v", line, after, next)
			}
			after = next
		}
	})
}

// Lines that no clock ever fits, or that are none, say so.
func TestLineThatNeverComesIsAnError(t *testing.T) {
	after := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for line, want := range map[string]error{
		"0 0 31 2 *": cron.ErrNever, "": cron.ErrLine, "@daily": cron.ErrLine, "* * * * * *": cron.ErrLine, "61 * * * *": cron.ErrLine, "soon": cron.ErrLine,
		"1-9999999999 * * * *": cron.ErrLine, "*/999999 * * * *": cron.ErrLine,
		"0 9 * * MON#0": cron.ErrLine,
	} {
		if got, err := cron.NextTime(line, after); !errors.Is(err, want) {
			t.Errorf("%q is next at %v (%v), want %v", line, got, err, want)
		}
	}
}

func TestClosestFindsTheNearestTwo(t *testing.T) {
	after := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for line, want := range map[string]time.Duration{
		"* * * * *": time.Minute, "0,2 9 * * *": 2 * time.Minute, "0 9 * * *": 24 * time.Hour, "58 23 * * *": 24 * time.Hour, "0,58 * * * *": 2 * time.Minute,
	} {
		if got, err := cron.ShortestInterval(line, after); err != nil || got != want {
			t.Errorf("%q comes at least %v apart (%v), want %v", line, got, err, want)
		}
	}
}
