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
	for _, q := range []struct {
		what string
		of   func(result) time.Duration
	}{
		{"latency p50, 1 message in flight", func(r result) time.Duration { return r.p50 }},
		{"latency p99", func(r result) time.Duration { return r.p99 }},
	} {
		ours, call := q.of(found[trestle]), q.of(found[bareModel])
		ratio := ours.Seconds() / call.Seconds()
		b.add(q.what, "<= 3x echo+model", ratio <= 3, fmt.Sprintf("echo %s, echo+model %s", millis(q.of(found[bareEcho])), millis(call)), "%.1fx, %s", ratio, millis(ours))
	}
	return nil
}

func millis(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1000) }

// throughput is 50 chats in closed loop: each writes again when it is answered. What the
// same run uses is divided by its messages. Trestle is run with one model call for a
// message and with two.
func throughput(ctx context.Context, b *bench) error {
	long := time.Duration(b.pick(3, 10)) * time.Second
	echo, err := b.closedLoop(ctx, bareEcho, "", long/2)
	if err != nil {
		return err
	}
	model, err := b.closedLoop(ctx, bareModel, "", long/2)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		phases, calls string
		statements    float64
	}{{"one", "one call", 15}, {"two", "two calls", 20}} {
		got, err := b.closedLoop(ctx, trestle, "phases: "+c.phases, long)
		if err != nil {
			return err
		}
		b.add("50 chats, closed loop, "+c.calls, ">= 0.33x echo+model", got.rate >= model.rate/3,
			fmt.Sprintf("echo %.0f/s, echo+model %.0f/s", echo.rate, model.rate), "%.2fx, %.0f messages/s", got.rate/model.rate, got.rate)
		b.add("CPU per message", "<= 4x echo+model", got.cpu <= 4*model.cpu,
			fmt.Sprintf("echo %.2f ms, echo+model %.2f ms", echo.cpu, model.cpu), "%.1fx, %.2f ms", got.cpu/model.cpu, got.cpu)
		b.add("statements per message", fmt.Sprintf("<= %.0f", c.statements), got.statements <= c.statements, fmt.Sprintf("%.2f commits", got.commits), "%.1f", got.statements)
		b.add("written per message", "", true, "", "%.1f KB", got.written/1024)
	}
	return nil
}

// A messageCost is what one message of a closed loop costs; the rate is messages a second.
type messageCost struct{ rate, cpu, statements, commits, written float64 }

// closedLoop has 50 rooms converse for so long with a subject.
func (b *bench) closedLoop(ctx context.Context, name, config string, span time.Duration) (cost messageCost, err error) {
	console, err := freeAddress(ctx)
	if err != nil {
		return cost, err
	}
	err = b.with(ctx, worldOptions{rooms: 50, ledger: -1, keep: -1, console: console, config: config}, name, func(w *world, s *subject) error {
		before, err := s.used(ctx, console)
		if err != nil {
			return err
		}
		began := time.Now()
		n, err := w.loop(ctx, func(int) bool { return time.Since(began) < span })
		if err != nil {
			return err
		}
		took := time.Since(began)
		after, err := s.used(ctx, console)
		per := func(of func(resources) float64) float64 { return (of(after) - of(before)) / float64(n) }
		cost = messageCost{
			rate:       float64(n) / took.Seconds(),
			cpu:        per(func(r resources) float64 { return r.cpu.Seconds() * 1000 }),
			statements: per(func(r resources) float64 { return r.statements }),
			commits:    per(func(r resources) float64 { return r.commits }),
			written:    per(func(r resources) float64 { return r.written }),
		}
		return err
	})
	return cost, err
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
