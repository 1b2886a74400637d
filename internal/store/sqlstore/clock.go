package sqlstore

import "time"

// A clock is one moment by the clock that a record's leases, timers and deadlines go
// by, and by this process's own. The zero clock is that of a record that has no other
// than its process's.
//
// Instants of this process are told apart by what passed between them, not by what
// the machine's clock was set to meanwhile.
type clock struct{ shared, own time.Time }

// inStep is how far apart the two may be and count as the same, so that what is
// stored is what was asked for.
const inStep = time.Second

// of returns an instant of this process by the shared clock.
func (c clock) of(at time.Time) time.Time {
	if c.own.IsZero() || at.IsZero() {
		return at
	}
	there := c.shared.Add(at.Sub(c.own))
	if there.Sub(at).Abs() < inStep {
		return at
	}
	return there
}

// here returns a stored instant by the clock of this process.
func (c clock) here(stored time.Time) time.Time {
	if c.own.IsZero() || stored.IsZero() {
		return stored
	}
	if c.shared.Sub(c.own).Abs() < inStep {
		return c.own.Add(stored.Sub(c.own)) // the same instant, whatever the clock is set to from now on
	}
	return c.own.Add(stored.Sub(c.shared))
}
