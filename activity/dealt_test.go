package activity

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// DELIVERY 2.2-1, 2.2-4: in a restored record what the platform had kept of the time
// before counts as dealt with. What it tells as it happens does not, whatever its clock
// says, nor does what was said later.
func TestWhatWasDealtWithIsThePast(t *testing.T) {
	hour := noon.Add(time.Hour)
	for name, c := range map[string]struct {
		until time.Time
		kept  bool
		past  bool
	}{
		"kept, from before":           {hour, true, true},
		"kept, from that moment":      {noon, true, false},
		"kept, from later":            {noon.Add(-time.Hour), true, false},
		"told as it happened":         {hour, false, false},
		"in a record that is its own": {time.Time{}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord()
			in := enter(r, IngressOptions{RestoredUntil: c.until, Commands: r.attendant()})
			us := []adapters.Update{orders(hub, kai, "1", "status"), says(hub, kai, "2", "hi"), says(lobby, kai, "3", "let me in")}
			edit := says(hub, kai, "4", "")
			edit.Body = adapters.MessageEdit{New: adapters.IncomingMessage{ID: "2", Text: "hello"}}
			for i := range us {
				us[i].Kept = c.kept
			}
			take(t, in, "1", append(us, edit)...)
			if len(r.events) != 3 || r.events[2].Event.Body.Kind() != spaces.KindEdited {
				t.Fatalf("recorded %+v, want two messages and the edit", r.events)
			}
			for _, it := range r.events[:2] {
				if b := it.Event.Body.(spaces.MessagePosted); b.Past != c.past || b.Text != "hi" && (b.Command == "") != c.past || b.ToUs && c.past {
					t.Errorf("recorded %+v, past should be %t", b, c.past)
				}
			}
			said := 2 // the order is obeyed, and a stranger shown a code
			if c.past {
				said = 0
			}
			testutil.Same(t, "answers of the program", said, len(r.texts()))
		})
	}
}

// An account's own words come back as ever: as nothing.
func TestOurOwnWordsOfBeforeAreNoNews(t *testing.T) {
	r := newRecord()
	in := enter(r, IngressOptions{RestoredUntil: noon.Add(time.Hour)})
	u := says(hub, adapters.Person{ID: ours.ID, Kind: adapters.Bot}, "1", "as I said")
	u.Kept = true
	take(t, in, "1", u)
	if len(r.events) != 0 || in.Stats().Echoes != 1 {
		t.Errorf("recorded %+v, %d echoes", r.events, in.Stats().Echoes)
	}
}
