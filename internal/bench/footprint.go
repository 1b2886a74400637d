package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// memory is what is resident some seconds after the start, and after a day's
// worth of messages.
func memory(ctx context.Context, b *bench) error {
	const rooms = 20
	each := b.pick(10, 100)
	idle, used, quiet := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for _, name := range []string{bareModel, trestle} {
		err := b.with(ctx, worldOptions{ledger: -1, keep: -1}, name, func(_ *world, s *subject) (err error) {
			idle[name], err = s.rested(ctx)
			return err
		})
		if err != nil {
			return err
		}
		err = b.with(ctx, worldOptions{rooms: rooms, ledger: -1, keep: -1}, name, func(w *world, s *subject) error {
			_, err := w.loop(ctx, func(n int) bool { return n < each })
			var atOnce, later error
			used[name], atOnce = s.resident()
			quiet[name], later = s.rested(ctx)
			return errors.Join(err, atOnce, later)
		})
		if err != nil {
			return err
		}
	}
	b.add("resident memory idle", "<= 30 MB", idle[trestle] <= 30, fmt.Sprintf("echo+model %.1f MB", idle[bareModel]), "%.1f MB", idle[trestle])
	b.add(fmt.Sprintf("resident memory after %d messages", rooms*each), "<= 45 MB", used[trestle] <= 45,
		fmt.Sprintf("echo+model %.1f MB", used[bareModel]), "%.1f MB", used[trestle])
	b.add("the same, 4 s later", "<= 45 MB", quiet[trestle] <= 45, fmt.Sprintf("echo+model %.1f MB", quiet[bareModel]), "%.1f MB", quiet[trestle])
	return nil
}

// rested returns the memory of the subject that is in RAM, in megabytes, when it
// has had nothing to do for a while.
func (s *subject) rested(ctx context.Context) (float64, error) {
	rest := time.NewTimer(4 * time.Second)
	defer rest.Stop()
	select {
	case <-rest.C:
		return s.resident()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}
