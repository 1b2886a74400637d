package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/corpus"
)

// weights are those of relevance, as trestle replay --weigh names them.
var weights = []string{"neighbour", "second", "answer", "session", "focus", "alike", "kin", "date", "crowding", "thrift"}

// sensitivity tells what half, and half as much again, of each weight of relevance
// does to recall: a method that holds for one set of numbers only holds for one
// corpus only.
func sensitivity(ctx context.Context, b *bench) error {
	rooms := map[string]corpus.Conversation{
		"written": together(b.parlours(corpus.Written)[:3]), "chat": together(b.parlours(corpus.Chat)[:3]),
	}
	for _, name := range []string{"written", "chat"} {
		measure := func(more ...string) (mean, margin float64, err error) {
			var all scores
			err = b.replay(ctx, &all, rooms[name], 4000, more...)
			all = slices.DeleteFunc(all, func(s scored) bool { return !s.evident })
			mean, margin = all.interval()
			return mean, margin, err
		}
		base, margin, err := measure()
		if err != nil {
			return err
		}
		for _, w := range weights {
			half, _, err := measure("--weigh", w+"=0.5")
			if err != nil {
				return err
			}
			more, _, err := measure("--weigh", w+"=1.5")
			if err != nil {
				return err
			}
			b.add(fmt.Sprintf("weight %s, three %s spaces at 4k", w, name), "within 3 points", max(base-half, base-more) <= 3, "",
				"%+.1f points at half, %+.1f at 1.5 times, of %.1f ± %.1f", half-base, more-base, base, margin)
		}
	}
	return nil
}

// large measures Y6b: how long a frame takes with 100,000 messages behind the mind.
func large(ctx context.Context, b *bench) error {
	var rooms []corpus.Conversation
	lines := 0
	for i := 0; lines < b.pick(20_000, 100_000); i++ {
		r := corpus.Make(uint64(500+i), fmt.Sprintf("hall%02d", i), corpus.Chat)
		r.Questions = r.Questions[:3]
		lines += len(r.Lines)
		rooms = append(rooms, r)
	}
	var all scores
	if err := b.replay(ctx, &all, together(rooms), 1500); err != nil {
		return err
	}
	// The first question has the mind read its log and make its index.
	first, ms := all[0].ms, []float64{}
	for _, s := range all[1:] {
		first = max(first, s.ms)
		ms = append(ms, s.ms)
	}
	slices.Sort(ms)
	p95 := ms[len(ms)*95/100]
	b.add(fmt.Sprintf("Y6b frame at 1.5k, %d messages in %d spaces behind the mind", lines, len(rooms)), "p95 ≤ 10 ms", p95 <= 10, "",
		"p50 %.1f ms, p95 %.1f ms; the first, reading the log, %.0f ms", ms[len(ms)/2], p95, first)
	return nil
}
