package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// MetaDealt is the name under which a record that was put back keeps until when what
// platforms kept for it counts as dealt with.
const MetaDealt = "dealt"

// DealtValue is how the record keeps that moment.
func DealtValue(until time.Time) string { return strconv.FormatInt(ms(until), 10) }

// DealUntil notes that moment in a record that was put back.
func (b BridgeStore) DealUntil(ctx context.Context, until time.Time) error {
	err := b.s.write(ctx, func(ctx context.Context, t *tx) error { return t.run(ctx, storeMeta, MetaDealt, DealtValue(until)) })
	if err != nil {
		return fmt.Errorf("note until when all is dealt with: %w", err)
	}
	return nil
}

// DealtUntil returns until when what platforms kept for the record counts as dealt
// with: it was put back, and lacks what became of that. Zero where nothing does.
func (b BridgeStore) DealtUntil(ctx context.Context) (time.Time, error) {
	at, err := numberOf(ctx, b.s.engine, MetaDealt)
	if err != nil {
		return time.Time{}, fmt.Errorf("until when all is dealt with: %w", err)
	}
	return instant(at), nil
}
