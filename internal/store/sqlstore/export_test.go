package sqlstore

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A Tx is what a write gets.
type Tx = tx

// Write runs do as the ports do.
func (s *Store) Write(ctx context.Context, do func(ctx context.Context, t *Tx) error) error {
	return s.write(ctx, do)
}

// WriteOften runs do as the ports of every message do.
func (s *Store) WriteOften(ctx context.Context, do func(ctx context.Context, t *Tx) error) error {
	return s.writeOften(ctx, do)
}

// Follow has do follow the write.
func (t *tx) Follow(do func(ctx context.Context, t *Tx) error, then func()) { t.follow(do, then) }

// Do runs one statement.
func (t *tx) Do(ctx context.Context, statement string, args ...any) error {
	return t.run(ctx, query(statement), args...)
}

// Take records a batch within a write.
func (t *tx) Take(ctx context.Context, batch spaces.IngestBatch) error {
	i := ingestTx{tx: t, batch: batch}
	return i.record(ctx)
}

// Offer keeps a version of the acts within a write.
func (t *tx) Offer(ctx context.Context, m spaces.ToolManifest, at time.Time) error {
	k := stepTx{tx: t, c: spaces.StepCommit{At: at}}
	return k.offered(ctx, m)
}

// Stays has the write committed although it returns an error.
func (t *tx) Stays() { t.kept = true }

// Count returns the first column of the first row of a statement's answer.
func (s *Store) Count(ctx context.Context, statement string, args ...any) (n int, err error) {
	_, err = one(ctx, s.engine, query(statement), args, &n)
	return n, err
}
