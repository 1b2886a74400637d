package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// held is what has a [holder] wait.
var held = regexp.MustCompile(`\bhold[0-9]+\b`)

// A holder answers as a [responder] does, but a message that says so holds the call until
// it is cancelled.
type holder struct {
	responder
	begun, ended chan time.Time
}

// Generate answers r.
func (h holder) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if last := r.Messages[len(r.Messages)-1].Text + r.Messages[max(len(r.Messages)-2, 0)].Text; !held.MatchString(last) {
		return h.responder.Generate(ctx, r)
	}
	h.begun <- time.Now()
	<-ctx.Done()
	h.ended <- time.Now()
	return llm.ModelResponse{}, llm.Interrupted(ctx)
}

// stops is the time from /stop to the end of the model's call, in one room while 50 others
// write again as soon as they are answered.
func stops(ctx context.Context, b *bench) error {
	const busy = 50
	model := holder{begun: make(chan time.Time, 1), ended: make(chan time.Time, 1)}
	var took []time.Duration
	err := b.with(ctx, worldOptions{rooms: busy + 1, ledger: -1, keep: -1, model: model}, trestle, func(w *world, _ *subject) error {
		stopped := w.rooms[busy]
		w.rooms = w.rooms[:busy]
		ctx, done := context.WithCancel(ctx)
		defer done()
		var loops errgroup.Group
		loops.Go(func() error {
			_, err := w.loop(ctx, func(int) bool { return ctx.Err() == nil })
			if ctx.Err() != nil {
				return nil
			}
			return err
		})
		for n := range b.pick(20, 100) {
			stopped.speak(fmt.Sprintf("hold%d", n))
			if _, err := await(ctx, model.begun); err != nil {
				return err
			}
			began := time.Now()
			stopped.speak("/stop")
			end, err := await(ctx, model.ended)
			if err != nil {
				return err
			}
			took = append(took, end.Sub(began))
		}
		done()
		return loops.Wait()
	})
	if err != nil {
		return err
	}
	slices.Sort(took)
	p95 := took[len(took)*95/100]
	b.add("from /stop to the end of the model's call, 50 busy rooms, p95", "<= 1 s", p95 <= time.Second, "", "%s, p50 %s", millis(p95), millis(took[len(took)/2]))
	return nil
}

// await waits for a time.
func await(ctx context.Context, times <-chan time.Time) (time.Time, error) {
	select {
	case at := <-times:
		return at, nil
	case <-time.After(30 * time.Second):
		return time.Time{}, fmt.Errorf("nothing within 30 s")
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}
