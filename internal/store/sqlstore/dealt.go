package sqlstore

import (
	"context"
	"fmt"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"time"
)

// DealUntil notes that moment in a record that was put back.
func (b BridgeStore) DealUntil(ctx context.Context, until time.Time) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		return t.Run(ctx, storeMeta, engine.MetaAnsweredUntil, engine.AnsweredUntilValue(until))
	})
	if err != nil {
		return fmt.Errorf("note until when all is dealt with: %w", err)
	}
	return nil
}

// DealtUntil returns until when what platforms kept for the record counts as dealt
// with: it was put back, and lacks what became of that. Zero where nothing does.
func (b BridgeStore) DealtUntil(ctx context.Context) (time.Time, error) {
	at, err := numberOf(ctx, b.s.engine, engine.MetaAnsweredUntil)
	if err != nil {
		return time.Time{}, fmt.Errorf("until when all is dealt with: %w", err)
	}
	return engine.FromMillis(at), nil
}
