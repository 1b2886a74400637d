package alerts

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/internal/money"
)

// StoreMetrics are the figures of a record that problems are read from.
type StoreMetrics struct {
	Queues  []AccountQueue // one for each account that something waits for, by account
	Unknown []NamedCount   // deliveries of unknown outcome since the given moment, by account
	Denials []NamedCount   // acts refused since the given moment, by agent
	Spent   []DailyUsage   // tokens of the day
	Lost    int64          // writes turned away for an old lease, since the record began
	Slowest time.Duration
	Began   time.Time // when the record was made
}

// An AccountQueue is what waits to be sent on one account.
type AccountQueue struct {
	Account string
	Waiting int
	Oldest  time.Time // when the oldest of it was decided
}

// UnclaimedWork is work that is due and that no process has claimed.
type UnclaimedWork struct {
	Minds  []UnclaimedMind  // by agent and circle
	Queues []UnclaimedQueue // by account
}

// An UnclaimedMind is a mind with work that could begin: no process has leased it, the
// mind does not sleep, and no time to wait for is set.
type UnclaimedMind struct {
	Agent, Circle string
	Rooms         int
	Since         time.Time // when the oldest of it could have begun
	Runs          int       // that the mind has under way elsewhere, in all processes
}

// An UnclaimedQueue is what could be sent on one account: nothing is before it in its chat
// and thread, and no time to wait for is set.
type UnclaimedQueue struct {
	Account string
	Waiting int
	Since   time.Time // when the oldest of it could have been sent
	First   int64     // the number of the first action of it
}

// A NamedCount counts something of one name.
type NamedCount struct {
	Name string
	N    int
}

// DailyUsage is what an agent used in a space on one day.
type DailyUsage struct {
	Agent, Space string
	Used         money.UsedTokens
}

// A MetricsReader reads the vitals of a record.
type MetricsReader interface {
	// Vitals counts since a moment, and the day of at (UTC). Slowest is the slowest
	// commit since the last call.
	Vitals(ctx context.Context, since, at time.Time) (StoreMetrics, error)
	// Idle returns what could have begun before a moment and has not at another, which
	// is now.
	Idle(ctx context.Context, before, now time.Time) (UnclaimedWork, error)
}
