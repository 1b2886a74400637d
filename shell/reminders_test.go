package shell

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/internal/timezone"
	"github.com/trestle-bridge/trestle/spaces"
)

// remindedIn returns the step of an agent in a room of Zurich, woken by a person who is in
// the time zone.
func remindedIn(t *testing.T, zone string, now string) *stepContext {
	t.Helper()
	at, err := time.Parse(time.RFC3339, now)
	testutil.OK(t, err)
	room := hud.NewRoom(spaces.Space{ID: "sp", Name: "Family"})
	room.SetMembers([]spaces.SpaceMember{{Entity: spaces.Entity{ID: "e-kai", Kind: spaces.Human, Name: "Kai", Zone: zone}}})
	n := 0
	return &stepContext{
		wake:   &spaces.Wake{Events: []spaces.Event{{Actor: "e-kai"}}},
		view:   &hud.MindView{Seats: []hud.RoomView{{Room: room, Zone: timezone.Named("Europe/Zurich"), Uplink: spaces.Uplink{Space: "sp", Live: true}}}},
		active: "sp", now: at, newID: func() string { n++; return string(rune('a' + n)) },
	}
}

// A reminder is due when the clock of the person who asks shows the time, also across
// the days on which clocks are set.
func TestRemindersAreDueByTheClockOfWhoAsks(t *testing.T) {
	for _, c := range []struct {
		zone, now string
		remind    remind
		want      string // empty: refused
	}{
		{"", "2026-11-25T12:00:00Z", remind{At: "2026-11-26 09:00"}, "Thu 2026-11-26 09:00 CET (Europe/Zurich)"},
		{"Asia/Tokyo", "2026-11-25T12:00:00Z", remind{At: "2026-11-26 09:00"}, "Thu 2026-11-26 09:00 JST (Asia/Tokyo)"},
		{"Asia/Tokyo", "2026-11-25T12:00:00Z", remind{At: "2026-11-26 09:00", Timezone: "new york"}, "Thu 2026-11-26 09:00 EST (America/New_York)"},
		{"Asia/Tokyo", "2026-11-25T12:00:00Z", remind{At: "2026-11-26 09:00", Timezone: "Atlantis"}, ""},
		{"Nowhere/City", "2026-11-25T12:00:00Z", remind{At: "2026-11-26T09:00"}, "Thu 2026-11-26 09:00 CET (Europe/Zurich)"},
		{"", "2026-11-25T12:00:00Z", remind{At: "2026-11-26T09:00:00+09:00"}, "Thu 2026-11-26 01:00 CET (Europe/Zurich)"},
		{"", "2026-11-25T12:00:00Z", remind{At: "14:30"}, "Wed 2026-11-25 14:30 CET (Europe/Zurich)"},
		{"", "2026-11-25T12:00:00Z", remind{At: "9:00"}, "Thu 2026-11-26 09:00 CET (Europe/Zurich)"},
		{"", "2026-11-25T12:00:00Z", remind{At: "9 pm"}, "Wed 2026-11-25 21:00 CET (Europe/Zurich)"},
		{"", "2026-11-25T12:00:00Z", remind{At: "2026-11-30"}, "Mon 2026-11-30 09:00 CET (Europe/Zurich)"},
		{"", "2026-11-25T12:00:00Z", remind{At: "2026-11-24 09:00"}, ""},
		{"", "2026-11-25T12:00:00Z", remind{At: "someday"}, ""},
		{"", "2026-11-25T12:00:00Z", remind{At: "2036-11-24 09:00"}, ""},
		{"", "2026-03-28T12:00:00Z", remind{At: "2026-03-29 02:30"}, "Sun 2026-03-29 03:30 CEST (Europe/Zurich)"}, // there is no half past two
		{"", "2026-03-28T12:00:00Z", remind{At: "2026-03-29 09:00"}, "Sun 2026-03-29 09:00 CEST (Europe/Zurich)"},
		{"", "2026-10-24T12:00:00Z", remind{At: "2026-10-25 02:30"}, "Sun 2026-10-25 02:30 CEST (Europe/Zurich)"}, // it comes twice
		{"America/New_York", "2026-03-07T12:00:00Z", remind{Cron: "0 9 * * 0"}, "Sun 2026-03-08 09:00 EDT (America/New_York)"},
		{"", "2026-03-28T12:00:00Z", remind{In: "24h"}, "Sun 2026-03-29 14:00 CEST (Europe/Zurich)"},
		{"", "2026-11-25T12:00:00Z", remind{In: "20m"}, "Wed 2026-11-25 13:20 CET (Europe/Zurich)"},
		{"", "2026-11-25T12:00:00Z", remind{In: "2 hours and 30 minutes"}, "Wed 2026-11-25 15:30 CET (Europe/Zurich)"},
		{"", "2026-11-25T12:00:00Z", remind{In: "in 3 days"}, "Sat 2026-11-28 13:00 CET (Europe/Zurich)"},
		{"", "2026-11-25T12:00:00Z", remind{In: "1w"}, "Wed 2026-12-02 13:00 CET (Europe/Zurich)"},
		{"", "2026-11-25T12:00:00Z", remind{In: "-5m"}, ""},
		{"", "2026-11-25T12:00:00Z", remind{In: "a while"}, ""},
		{"", "2026-11-25T12:00:00Z", remind{In: "20m", At: "14:00"}, ""},
		{"", "2026-11-25T12:00:00Z", remind{Cron: "* * * * *"}, ""},
		{"", "2026-11-25T12:00:00Z", remind{}, ""},
	} {
		s := remindedIn(t, c.zone, c.now)
		c.remind.Note = "tea"
		timer, out := c.remind.timer(s, "sp")
		switch {
		case c.want == "" && out.ok:
			t.Errorf("%+v is taken for %v", c.remind, timer.Due)
		case c.want != "" && (!out.ok || hud.ClockIn(timer.Due) != c.want):
			t.Errorf("%+v of %q at %s is due %s (%v), want %s", c.remind, c.zone, c.now, hud.ClockIn(timer.Due), out, c.want)
		case out.ok && (timer.SetBy != "e-kai" || !timer.SetAt.Equal(s.now) || timer.Space != "sp"):
			t.Errorf("%+v is kept as %+v", c.remind, timer)
		}
	}
}

// Whatever a model writes for a length of time or a moment is read or refused.
func FuzzWhen(f *testing.F) {
	for _, text := range []string{"20m", "2 hours and 30 minutes", "in 3 days", "9 pm", "2026-11-26 09:00", "1e9w", "999999999999999999999h"} {
		f.Add(text)
	}
	now := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if d, ok := readSpan(text); ok && d <= 0 {
			t.Errorf("%q is %v", text, d)
		}
		if at, ok := moment(text, now); ok && at.IsZero() {
			t.Errorf("%q is no time", text)
		}
	})
}
