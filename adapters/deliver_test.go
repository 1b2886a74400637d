package adapters_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// An away is a record that takes nothing until then.
type away struct{ until time.Time }

func (a away) Accept(context.Context, adapters.UpdateBatch) error {
	if time.Now().Before(a.until) {
		return errors.New("away")
	}
	return nil
}

func (away) Alive(time.Time) {}

// F36: however long the record has been away, what it did not take is handed in soon
// after it is back.
func TestRecordThatWasAwayForLongIsNotWaitedFor(t *testing.T) {
	for _, gone := range []time.Duration{time.Second, 20 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			record := away{time.Now().Add(gone)}
			if err := adapters.DeliverBatch(t.Context(), record, adapters.UpdateBatch{}, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
			if late := time.Since(record.until); late > 7*time.Second {
				t.Errorf("it came back after %s and was asked %s later", gone, late)
			}
		})
	}
}
