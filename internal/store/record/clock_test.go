package record

import (
	"testing"
	"time"
)

// F43: what is stored goes by the clock that all processes share, and comes back by
// that of the process which reads.
func TestInstantsAreStoredByTheSharedClock(t *testing.T) {
	own := time.Now()
	for name, ahead := range map[string]time.Duration{"behind": -time.Hour, "ahead": 24 * time.Hour} {
		c := clock{shared: own.Add(-ahead).Round(0), own: own}
		at := own.Add(time.Minute)
		stored := c.of(at)
		if want := at.Add(-ahead); !stored.Equal(want) {
			t.Errorf("%s: stored %s, want %s", name, stored, want)
		}
		if back := c.here(stored); !back.Equal(at) {
			t.Errorf("%s: came back as %s, want %s", name, back, at)
		}
	}
}

// What differs by less than a second is one clock: what is stored is what was asked
// for, to the millisecond.
func TestClocksInStepChangeNoInstant(t *testing.T) {
	own := time.Now()
	at := own.Add(time.Minute).Round(time.Millisecond)
	for name, c := range map[string]clock{"one clock": {}, "in step": {shared: own.Add(900 * time.Millisecond).Round(0), own: own}} {
		if stored := c.of(at); !stored.Equal(at) {
			t.Errorf("%s: stored %s, want %s", name, stored, at)
		}
		if back := c.here(at); !back.Equal(at) {
			t.Errorf("%s: came back as %s, want %s", name, back, at)
		}
		if !c.of(time.Time{}).IsZero() || !c.here(time.Time{}).IsZero() {
			t.Errorf("%s: no time became one", name)
		}
	}
}
