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
}
