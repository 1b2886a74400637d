package sqlstore

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// A WriteTx is the argument of a write.
type WriteTx = storeTx

// Write runs do as the ports do.
func (s *Store) Write(ctx context.Context, do func(ctx context.Context, t *WriteTx) error) error {
	return s.write(ctx, do)
}

// WriteFrequent runs do as the ports of every message do.
func (s *Store) WriteFrequent(ctx context.Context, do func(ctx context.Context, t *WriteTx) error) error {
	return s.writeFrequent(ctx, do)
}

// FollowUp runs do after the write; see [Tx.Follow].
func (t *storeTx) FollowUp(do func(ctx context.Context, t *WriteTx) error, then func()) {
	t.follow(do, then)
}

// Do runs one statement.
func (t *storeTx) Do(ctx context.Context, statement string, args ...any) error {
	return t.Run(ctx, engine.QueryText(statement), args...)
}

// Take records a batch within a write.
func (t *storeTx) Take(ctx context.Context, batch spaces.IngestBatch) error {
	i := ingestTx{storeTx: t, batch: batch}
	return i.storeBatch(ctx)
}

// Offer keeps a version of the acts within a write.
func (t *storeTx) Offer(ctx context.Context, m spaces.ToolManifest, at time.Time) error {
	k := stepTx{storeTx: t, commit: spaces.StepCommit{At: at}}
	return k.storeManifest(ctx, m)
}

// Stays has the write committed although it returns an error.
func (t *storeTx) Stays() { t.CommitRefusal() }

// Count returns the first column of the first row of a statement's answer.
func (s *Store) Count(ctx context.Context, statement string, args ...any) (n int, err error) {
	_, err = engine.ScanRow(ctx, s.engine, engine.QueryText(statement), args, &n)
	return n, err
}
