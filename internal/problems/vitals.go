package problems

import (
	"context"
	"time"
)

// Vitals are the figures of a record that problems are read from.
type Vitals struct {
	Queues  []Queue // one for each account that something waits for, by account
	Unknown []Count // deliveries of unknown outcome since the given moment, by account
	Denials []Count // acts refused since the given moment, by agent
	Spent   []Spent // tokens of the day
	Lost    int64   // writes turned away for an old lease, since the record began
	Slowest time.Duration
	Began   time.Time // when the record was made
}

// A Queue is what waits to be sent on one account.
type Queue struct {
	Account string
	Waiting int
	Oldest  time.Time // when the oldest of it was decided
}

// Idle is work that is due and that nobody has taken up.
type Idle struct {
	Minds  []IdleMind  // by agent and circle
	Queues []IdleQueue // by account
}

// An IdleMind is a mind with work that could begin: nobody has leased it, the mind
// does not sleep, and no time to wait for is set.
type IdleMind struct {
	Agent, Circle string
	Rooms         int
	Since         time.Time // when the oldest of it could have begun
	Runs          int       // that the mind has under way elsewhere, in all processes
}

// An IdleQueue is what could be sent on one account: nothing is before it in its chat
// and thread, and no time to wait for is set.
type IdleQueue struct {
	Account string
	Waiting int
	Since   time.Time // when the oldest of it could have been sent
	First   int64     // the number of the first action of it
}

// A Count counts something of one name.
type Count struct {
	Name string
	N    int
}

// Spent is what an agent used in a space on one day.
type Spent struct {
	Agent, Space string
	Tokens       int
}

// A Gauge reads the vitals of a record.
type Gauge interface {
	// Vitals counts since a moment, and the day of at (UTC). Slowest is the slowest
	// commit since the last call.
	Vitals(ctx context.Context, since, at time.Time) (Vitals, error)
	// Idle returns what could have begun before a moment and has not at another, which
	// is now.
	Idle(ctx context.Context, before, now time.Time) (Idle, error)
}
