package activity

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// F45: when a platform said wait, what waited meanwhile does not go out in a
// burst; elsewhere, and without a pace, nothing is different.
func TestNoBurstAfterAHold(t *testing.T) {
	from := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := newRateLimits(adapters.RateLimit{}, func(chat string) adapters.RateLimit {
		if chat == "unpaced" {
			return adapters.RateLimit{}
		}
		return adapters.RateLimit{Every: time.Second, Burst: 5}
	})
	sent := func(chat string, during time.Duration) (n int) {
		for at := from; at.Before(from.Add(during)); at = at.Add(10 * time.Millisecond) {
			if wait, taken := p.take(chat, at, 0); taken && wait == 0 {
				n++
			}
			if n == 100 {
				break
			}
		}
		return n
	}
	until := from.Add(8 * time.Second)
	p.hold("held", from, until)
	p.hold("held", from, until.Add(-time.Second))
	p.hold("unpaced", from, until)
	if n := sent("held", 8*time.Second); n != 0 {
		t.Errorf("%d calls before the time the platform named", n)
	}
	from = until
	if n := sent("held", 4500*time.Millisecond); n != 5 {
		t.Errorf("%d calls in the 4.5 s after it, want one a second", n)
	}
	if n := sent("free", 4500*time.Millisecond); n != 9 {
		t.Errorf("%d calls in 4.5 s to a chat that nobody held, want a burst of 5 and 4", n)
	}
	if n := sent("unpaced", 4500*time.Millisecond); n != 100 {
		t.Errorf("%d calls to a chat without a pace, want all", n)
	}
}
