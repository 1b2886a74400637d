package adapters

import (
	"context"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// DeliverBatch hands a batch to sink until it is taken: ever more slowly, but every few
// seconds, for the record is ours and may be asked often. It fails when ctx is done.
func DeliverBatch(ctx context.Context, sink UpdateSink, b UpdateBatch, lg *slog.Logger) error {
	pause := &backoff.ExponentialBackOff{
		InitialInterval: 500 * time.Millisecond, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: 5 * time.Second,
	}
	pause.Reset()
	for {
		err := sink.Accept(ctx, b)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rest := pause.NextBackOff()
		lg.Error("updates not recorded, handing them in again", "updates", len(b.Updates), "pause", rest, "error", err)
		SleepContext(ctx, rest)
	}
}

// OrDone returns err, or nil when the end of ctx explains it.
func OrDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// SleepContext returns after d or when ctx is done, whichever is first.
func SleepContext(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
