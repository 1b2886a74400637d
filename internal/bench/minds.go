package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// wave is how many minds answer at once.
const wave = 100

// minds is what one idle mind costs in memory: thousands of people write once,
// each in a chat of their own, and what is resident afterwards is compared with
// what a hundred of them left.
func minds(ctx context.Context, b *bench) error {
	many := b.pick(1000, 10_000)
	o := worldOptions{rooms: many + wave, unasked: true, ledger: -1, keep: -1}
	return b.with(ctx, o, trestle, func(w *world, s *subject) error {
		few, err := w.answered(ctx, s, w.rooms[:wave])
		if err != nil {
			return err
		}
		all, err := w.answered(ctx, s, w.rooms[wave:])
		if err != nil {
			return err
		}
		each := (all - few) * 1024 / float64(many)
		b.add(fmt.Sprintf("memory of an idle mind, %d of them", many), "<= 2 KB", each <= 2, "", "%.2f KB, %.1f MB for all", each, all)
		return nil
	})
}

// answered posts one message in each of the rooms, wave by wave, and returns the
// resident memory when all have been answered and are idle.
func (w *world) answered(ctx context.Context, s *subject, rooms []*room) (float64, error) {
	for len(rooms) > 0 {
		g, ctx := errgroup.WithContext(ctx)
		for _, r := range rooms[:wave] {
			g.Go(func() error {
				_, err := r.converse(ctx)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return 0, err
		}
		rooms = rooms[wave:]
	}
	return s.rested(ctx)
}
