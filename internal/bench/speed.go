package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// latency is one message in flight: from the moment it can be fetched to the
// moment the answer arrives.
func latency(ctx context.Context, b *bench) error {
	type result struct{ p50, p99 time.Duration }
	found := map[string]result{}
	for _, name := range []string{bareEcho, bareModel, trestle} {
		err := b.with(ctx, worldOptions{rooms: 1, ledger: -1, keep: -1}, name, func(w *world, _ *subject) error {
			n := b.pick(100, 400)
			times := make([]time.Duration, 0, n)
			pause := time.NewTicker(10 * time.Millisecond) // people do not answer in no time
			defer pause.Stop()
			for i := range n + 20 {
				took, err := w.rooms[0].converse(ctx)
				if err != nil {
					return err
				}
				if i >= 20 { // the first ones warm up
					times = append(times, took)
				}
				<-pause.C
			}
			slices.Sort(times)
			found[name] = result{times[len(times)/2], times[len(times)*99/100]}
			return nil
		})
		if err != nil {
			return err
		}
	}
	beside := func(of func(result) time.Duration) string {
		ours, echo, call := of(found[trestle]), of(found[bareEcho]), of(found[bareModel])
		return fmt.Sprintf("echo %s, echo+model %s (%.1fx)", millis(echo), millis(call), ours.Seconds()/call.Seconds())
	}
	p50 := func(r result) time.Duration { return r.p50 }
	p99 := func(r result) time.Duration { return r.p99 }
	b.add("latency p50, 1 message in flight", "<= 3 ms", p50(found[trestle]) <= 3*time.Millisecond, beside(p50), "%s", millis(p50(found[trestle])))
	b.add("latency p99", "<= 10 ms", p99(found[trestle]) <= 10*time.Millisecond, beside(p99), "%s", millis(p99(found[trestle])))
	return nil
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

// throughput is 50 chats in closed loop: each writes again when it is answered.
// The CPU time of the same run is divided by its messages.
func throughput(ctx context.Context, b *bench) error {
	rate, cost := map[string]float64{}, map[string]float64{}
	long := time.Duration(b.pick(3, 10)) * time.Second
	for _, name := range []string{bareEcho, bareModel, trestle} {
		span := long
		if name != trestle {
			span = long / 2
		}
		err := b.with(ctx, worldOptions{rooms: 50, ledger: -1, keep: -1}, name, func(w *world, s *subject) error {
			before, err := s.cpu()
			if err != nil {
				return err
			}
			began := time.Now()
			n, err := w.loop(ctx, func(int) bool { return time.Since(began) < span })
			if err != nil {
				return err
			}
			took := time.Since(began)
			after, err := s.cpu()
			rate[name] = float64(n) / took.Seconds()
			cost[name] = (after - before).Seconds() * 1000 / float64(n)
			return err
		})
		if err != nil {
			return err
		}
	}
	b.add("50 chats, closed loop", ">= 1000 messages/s", rate[trestle] >= 1000,
		fmt.Sprintf("echo %.0f/s, echo+model %.0f/s", rate[bareEcho], rate[bareModel]), "%.0f messages/s", rate[trestle])
	b.add("CPU per message", "<= 1.5 ms", cost[trestle] <= 1.5,
		fmt.Sprintf("echo %.2f ms, echo+model %.2f ms", cost[bareEcho], cost[bareModel]), "%.2f ms", cost[trestle])
	return nil
}

// loop has every room converse as long as more holds, and returns how many
// answers there were. more gets the number of a room's next message, from 0.
func (w *world) loop(ctx context.Context, more func(n int) bool) (int, error) {
	answers := make([]int, len(w.rooms))
	g, ctx := errgroup.WithContext(ctx)
	for i, r := range w.rooms {
		g.Go(func() error {
			for more(answers[i]) {
				if _, err := r.converse(ctx); err != nil {
					return err
				}
				answers[i]++
			}
			return nil
		})
	}
	err := g.Wait()
	total := 0
	for _, n := range answers {
		total += n
	}
	return total, err
}

// slowModel is 200 chats that write at once to a model that takes a second a call: no
// chat may wait for another chat's call.
func slowModel(ctx context.Context, b *bench) error {
	const call = time.Second
	took := map[string]time.Duration{}
	for _, name := range []string{bareModel, trestle} {
		err := b.with(ctx, worldOptions{rooms: 200, ledger: -1, keep: -1, delay: call}, name, func(w *world, _ *subject) error {
			began := time.Now()
			for _, r := range w.rooms {
				r.say()
			}
			for _, r := range w.rooms {
				got, err := r.next(ctx)
				if err != nil {
					return err
				}
				took[name] = max(took[name], got.at.Sub(began))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	phase := took[trestle] / 2 // contemplation, then engagement
	b.add("200 chats at once, model takes 1 s per call", "<= 1.2 s per phase", phase <= 1200*time.Millisecond,
		fmt.Sprintf("echo+model, %d at a time: %.2f s", parallel, took[bareModel].Seconds()),
		"%.2f s per phase, %.2f s in all", phase.Seconds(), took[trestle].Seconds())
	return nil
}

// coldStart is from the start of the process to the first answer, for a message
// that was waiting.
func coldStart(ctx context.Context, b *bench) error {
	took := map[string]time.Duration{}
	for _, name := range []string{bareEcho, bareModel, trestle} {
		var times []time.Duration
		for range 5 {
			one, err := b.cold(ctx, name)
			if err != nil {
				return err
			}
			times = append(times, one)
		}
		slices.Sort(times)
		took[name] = times[len(times)/2]
	}
	b.add("cold start to first reply", "<= 100 ms", took[trestle] <= 100*time.Millisecond,
		fmt.Sprintf("echo %s, echo+model %s", millis(took[bareEcho]), millis(took[bareModel])), "%s", millis(took[trestle]))
	return nil
}

// cold starts a subject once, with an empty data folder.
func (b *bench) cold(ctx context.Context, name string) (took time.Duration, err error) {
	w, err := newWorld(ctx, worldOptions{rooms: 1, ledger: -1, keep: -1})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	s, err := b.prepare(w, name)
	if err != nil {
		return 0, err
	}
	w.rooms[0].say()
	began := time.Now()
	if err := s.start(); err != nil {
		return 0, err
	}
	defer func() { err = s.explain(errors.Join(err, s.end())) }()
	got, err := w.rooms[0].next(ctx)
	return got.at.Sub(began), err
}
