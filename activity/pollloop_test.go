package activity

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// DELIVERY 2.7: while rounds fail, the rests between them are a poll at least and grow,
// and no bell cuts them short; a round that goes well ends that. One that finds work is
// followed at once, one that finds none by the bell or a poll.
func TestRoundsThatFailComeMoreAndMoreSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		bell := make(chan struct{}, 1)
		last, n, told := time.Now(), 0, 0
		rest := func() time.Duration { d := time.Since(last); last = time.Now(); return d }
		fails := errors.New("no room")
		results := []struct {
			err        error
			busy, ring bool
			before     time.Duration // that the round comes after the one before it
		}{
			{busy: true},
			{before: 0, err: fails, ring: true},
			{before: poll, err: fails, ring: true},
			{before: poll, err: fails, ring: true},
			{before: 2 * poll, err: fails, ring: true},
			{before: 4 * poll, busy: true},
			{before: 0, err: fails},
			{before: poll, ring: true},
			{before: 0},
			{before: poll},
		}
		carryOn(ctx, bell, func(context.Context) (bool, error) {
			if n == len(results) {
				stop()
				return false, context.Canceled
			}
			r := results[n]
			if got := rest(); got < max(min(r.before, poll), r.before*4/5) || got > r.before*6/5 { // by chance a fifth more or less
				t.Errorf("round %d comes after %s, want %s", n, got, r.before)
			}
			select { // what was rung while it rested
			case <-bell:
			default:
			}
			if n++; r.ring {
				ringOn(bell)
			}
			return r.busy, r.err
		}, func(error) { told++ })
		if n != len(results) || told != 5 {
			t.Errorf("%d rounds, %d failures told", n, told)
		}
	})
}
