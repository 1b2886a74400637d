package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/internal/testservers"
)

// A resourceUse is what messages take of an installation.
type resourceUse struct {
	rate float64       // messages a second
	p95  time.Duration // from a message to its answer
	cost float64       // milliseconds of CPU for a message, of all processes
}

// processes is 50 chats in closed loop, answered by one, two and four processes
// that share a database and a Redis, beside one with a file. The servers' own CPU
// time is not among what is counted; all share the machine.
func processes(ctx context.Context, b *bench) (err error) {
	var database testservers.PostgresServer
	var bells testservers.RedisServer
	defer func() { err = errors.Join(err, database.Stop(), bells.Stop()) }()
	redis, err := bells.Open(ctx)
	if err != nil {
		return err
	}
	file, err := b.levy(ctx, 1)
	if err != nil {
		return err
	}
	for _, n := range []int{1, 2, 4} {
		name, err := database.Create(ctx)
		if err != nil {
			return err
		}
		got, err := b.levy(ctx, n, fmt.Sprintf("database: %q", database.URL(name)), fmt.Sprintf("redis: %q", redis))
		if err != nil {
			return err
		}
		b.add(fmt.Sprintf("50 chats, Postgres and Redis, processes: %d", n), "", true,
			fmt.Sprintf("a file: %.0f/s, p95 %s, %.2f ms (%.2fx, %.2fx, %.2fx)", file.rate, millis(file.p95), file.cost,
				got.rate/file.rate, got.p95.Seconds()/file.p95.Seconds(), got.cost/file.cost),
			"%.0f messages/s, p95 %s, %.2f ms of CPU a message", got.rate, millis(got.p95), got.cost)
	}
	return nil
}

// levy measures so many processes with these lines in their configuration.
func (b *bench) levy(ctx context.Context, n int, lines ...string) (got resourceUse, err error) {
	w, err := newWorld(ctx, worldOptions{rooms: 50, ledger: -1, keep: -1})
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	var crew []*subject
	for range n {
		s, err := b.prepare(w, trestle, lines...)
		if err != nil {
			return got, err
		}
		if err := s.start(); err != nil {
			return got, err
		}
		defer func() { err = s.explain(errors.Join(err, s.end())) }()
		crew = append(crew, s)
		if _, err := w.rooms[0].converse(ctx); err != nil { // the first migrates, and serves the account
			return got, s.explain(err)
		}
	}
	spent := func() (sum time.Duration, err error) {
		for _, s := range crew {
			one, failed := s.cpu()
			sum, err = sum+one, errors.Join(err, failed)
		}
		return sum, err
	}
	if _, _, err := w.timed(ctx, time.Second); err != nil { // every room once and more
		return got, err
	}
	before, err := spent()
	if err != nil {
		return got, err
	}
	began := time.Now()
	answers, p95, err := w.timed(ctx, time.Duration(b.pick(3, 10))*time.Second)
	if err != nil {
		return got, err
	}
	took := time.Since(began)
	after, err := spent()
	return resourceUse{float64(answers) / took.Seconds(), p95, (after - before).Seconds() * 1000 / float64(answers)}, err
}

// timed has every room converse for so long, and returns how many answers there
// were and how long all but a twentieth of them took at most.
func (w *world) timed(ctx context.Context, span time.Duration) (n int, p95 time.Duration, err error) {
	var mu sync.Mutex
	var times []time.Duration
	began := time.Now()
	g, ctx := errgroup.WithContext(ctx)
	for _, r := range w.rooms {
		g.Go(func() error {
			for time.Since(began) < span {
				took, err := r.converse(ctx)
				if err != nil {
					return err
				}
				mu.Lock()
				times = append(times, took)
				mu.Unlock()
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return 0, 0, err
	}
	slices.Sort(times)
	return len(times), times[len(times)*95/100], nil
}
