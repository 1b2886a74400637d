package activity

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// A tower is a record whose clock is ahead of the bubble's until a person puts it
// back.
type tower struct {
	*record
	ahead func() time.Duration
	down  error // of the next Hurry
}

func (b *tower) Next(ctx context.Context, account string) (time.Time, bool, error) {
	due, found, err := b.record.Next(ctx, account)
	return due.Add(-b.ahead()), found, err
}

func (b *tower) Claim(ctx context.Context, account string, at time.Time, limit int) ([]spaces.Action, error) {
	return b.record.Claim(ctx, account, at.Add(b.ahead()), limit)
}

func (b *tower) Settle(ctx context.Context, at time.Time, all []SendResult) error {
	for i := range all {
		all[i].NotBefore = all[i].NotBefore.Add(b.ahead())
	}
	return b.record.Settle(ctx, at, all)
}

func (b *tower) ShiftDue(ctx context.Context, account string, by time.Duration, at time.Time) error {
	if err := b.down; err != nil {
		b.down = nil
		return err
	}
	return b.record.ShiftDue(ctx, account, by, at.Add(b.ahead()))
}

// putBack runs an egress over p and one action, by a clock that is put back by an hour
// after some time, and returns what was sent.
func putBack(t *testing.T, p *platform, a spaces.Action, later time.Duration, down error) []call {
	t.Helper()
	began := time.Now()
	b := &tower{record: newRecord(), down: down, ahead: func() time.Duration {
		if time.Since(began) < later {
			return time.Hour
		}
		return 0
	}}
	a.NotBefore = began.Add(b.ahead())
	b.put(a)
	e := NewEgress(ours, p, b, NewSpaceMapping(b, b), EgressOptions{})
	e.clock.shows = func(now time.Time) time.Time { return now.Add(b.ahead()) }
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }() // waited for below
	after(2 * time.Minute)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return slices.DeleteFunc(p.accepted(), func(c call) bool { return c.Op == "typing" })
}

// F43, R-TG: a clock that is put back while a send waits makes the wait no longer than
// the platform asked for, and no shorter.
func TestWaitIsAsLongAsItWasAskedForWhenTheClockIsPutBack(t *testing.T) {
	for name, down := range map[string]error{"at once": nil, "after a failure of the record": errors.New("busy")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				limit := refusal(adapters.Limited)
				limit.RetryAfter = time.Minute
				p := &platform{script: once(func(call) bool { return true }, limit)}
				sent := putBack(t, p, spaces.Action{ID: "a", Chat: "c", Text: "one"}, 20*time.Second, down)
				if len(sent) != 1 || sent[0].At.Sub(began) < time.Minute || sent[0].At.Sub(began) > 67*time.Second {
					t.Errorf("sent %+v, want one a minute after %s", sent, began)
				}
			})
		})
	}
}

// F43: a wait that begins right after the clock was put back is not taken for an older
// one.
func TestWaitThatBeginsWhenTheClockIsPutBackIsNoShorter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		const takes = 20500 * time.Millisecond
		p := &platform{takes: takes, script: once(func(call) bool { return true }, refusal(adapters.Unknown))}
		sent := putBack(t, p, spaces.Action{ID: "a", Chat: "c", Text: "one", Policy: spaces.ResendOnce}, takes-100*time.Millisecond, nil)
		if len(sent) != 1 || sent[0].At.Sub(began) < takes+resendAfter || sent[0].At.Sub(began) > takes+resendAfter+2*time.Second {
			t.Errorf("sent %+v, want one %s after %s", sent, takes+resendAfter, began)
		}
	})
}

// F43: a step back is told once, and creeping, or a step forward, is none.
func TestStepOfTheClockIsSeenOnceAndInFull(t *testing.T) {
	now := time.Now()
	var shift time.Duration
	w := wallClock{shows: func(now time.Time) time.Time { return now.Add(shift) }}
	for i, look := range []struct{ shift, want time.Duration }{
		{5 * time.Hour, 0}, // the first: its beginning is not known
		{5 * time.Hour, 0},
		{5*time.Hour - 900*time.Millisecond, 0}, // it creeps
		{time.Hour, 4*time.Hour - 900*time.Millisecond},
		{time.Hour, 0},
		{3 * time.Hour, 0}, // put forward
		{2 * time.Hour, time.Hour},
	} {
		now, shift = now.Add(time.Second), look.shift
		if got := w.setBack(now); got != look.want {
			t.Errorf("look %d: put back by %s, want %s", i, got, look.want)
		}
	}
	at := now.Add(time.Minute)
	if got := afterClockShift(at, now); !got.Equal(at) || !afterClockShift(time.Time{}, now).IsZero() {
		t.Errorf("an instant became %s", got)
	}
}
