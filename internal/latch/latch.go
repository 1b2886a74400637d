// Package latch has a lock that may be held while the record is asked.
//
// Whoever waits for a [sync.Mutex] keeps the clock of a synctest bubble from going
// on. The engine of the record sleeps by that clock when it finds its files locked for
// a moment: if somebody waits for a mutex meanwhile, neither ever goes on. Who waits
// here waits at a channel, and time passes.
//
// It knows nothing of what it guards.
package latch

// A Latch is held by one at a time. Make it with [New].
type Latch chan struct{}

// New returns a latch that nobody holds.
func New() Latch { return make(Latch, 1) }

// Lock waits until nobody holds the latch, and holds it.
func (l Latch) Lock() { l <- struct{}{} }

// Unlock gives it up. The caller holds it.
func (l Latch) Unlock() { <-l }
