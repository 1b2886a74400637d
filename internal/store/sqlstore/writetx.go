package sqlstore

import (
	"context"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"log/slog"
	"time"
)

// A writeTx is a write transaction with what the writer remembers of the tables.
type writeTx struct {
	*engine.Tx
	cache *cache
	newID func() string
	now   func() time.Time
	idle  time.Duration
	lg    *slog.Logger
}

func newWriteTx(t *engine.Tx, o Options) *writeTx {
	return &writeTx{Tx: t, cache: newCache(), newID: o.NewID, now: o.Now, idle: o.Idle, lg: o.Logger}
}

// Reset implements [TableCache].
func (t *writeTx) Reset() { t.cache.clear() }

// Invalidate implements [TableCache].
func (t *writeTx) Invalidate() { t.cache.news() }

// Trim implements [TableCache].
func (t *writeTx) Trim() { t.cache.trim() }

// follow runs do after all writes of the group; see [Tx.Follow].
func (t *writeTx) follow(do writeFunc, then func()) {
	t.Follow(func(ctx context.Context, _ *engine.Tx) error { return do(ctx, t) }, then)
}
