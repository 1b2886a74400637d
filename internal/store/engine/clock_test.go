package engine

import (
	"testing"
	"time"
)

// F43: instants are stored by the clock that all processes share and read by the clock
// of the process that reads.
func TestInstantsAreStoredByTheSharedClock(t *testing.T) {
	own := time.Now()
	for name, ahead := range map[string]time.Duration{"behind": -time.Hour, "ahead": 24 * time.Hour} {
		c := DatabaseClock{Shared: own.Add(-ahead).Round(0), Own: own}
		at := own.Add(time.Minute)
		stored := c.ToShared(at)
		if want := at.Add(-ahead); !stored.Equal(want) {
			t.Errorf("%s: stored %s, want %s", name, stored, want)
		}
		if back := c.ToLocal(stored); !back.Equal(at) {
			t.Errorf("%s: came back as %s, want %s", name, back, at)
		}
	}
}

// Clocks that differ by less than a second count as one: instants are stored
// unchanged.
func TestClocksInStepChangeNoInstant(t *testing.T) {
	own := time.Now()
	at := own.Add(time.Minute).Round(time.Millisecond)
	for name, c := range map[string]DatabaseClock{"one clock": {}, "in step": {Shared: own.Add(900 * time.Millisecond).Round(0), Own: own}} {
		if stored := c.ToShared(at); !stored.Equal(at) {
			t.Errorf("%s: stored %s, want %s", name, stored, at)
		}
		if back := c.ToLocal(at); !back.Equal(at) {
			t.Errorf("%s: came back as %s, want %s", name, back, at)
		}
		if !c.ToShared(time.Time{}).IsZero() || !c.ToLocal(time.Time{}).IsZero() {
			t.Errorf("%s: no time became one", name)
		}
	}
}
