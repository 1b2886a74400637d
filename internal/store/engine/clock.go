package engine

import "time"

// A DatabaseClock is one moment by the clock of a database's leases, timers and deadlines,
// and the same moment by the clock of this process. The zero Clock means that both
// are the same clock.
//
// Instants of this process are compared by the monotonic clock, so that setting the
// system clock does not move them.
type DatabaseClock struct{ Shared, Own time.Time }

// maxSkew is the difference up to which the two clocks count as the same, so that an
// instant is stored unchanged.
const maxSkew = time.Second

// ToShared converts an instant of this process to the shared clock.
func (c DatabaseClock) ToShared(at time.Time) time.Time {
	if c.Own.IsZero() || at.IsZero() {
		return at
	}
	there := c.Shared.Add(at.Sub(c.Own))
	if there.Sub(at).Abs() < maxSkew {
		return at
	}
	return there
}

// ToLocal converts a stored instant to the clock of this process.
func (c DatabaseClock) ToLocal(stored time.Time) time.Time {
	if c.Own.IsZero() || stored.IsZero() {
		return stored
	}
	if c.Shared.Sub(c.Own).Abs() < maxSkew {
		return c.Own.Add(stored.Sub(c.Own)) // with a monotonic reading
	}
	return c.Own.Add(stored.Sub(c.Shared))
}
