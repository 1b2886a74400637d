package activity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// A till is a purse in memory; with an error it gives nothing.
type till struct {
	pace *rateLimits
	err  error
}

func (t till) Take(_ context.Context, chat string, _, _ adapters.RateLimit, patience time.Duration) (time.Duration, bool, error) {
	if t.err != nil {
		return 0, false, t.err
	}
	wait, taken := t.pace.take(chat, time.Now(), patience)
	return wait, taken, nil
}

func (t till) Hold(_ context.Context, chat string, d time.Duration) error {
	if t.err == nil {
		t.pace.hold(chat, time.Now(), time.Now().Add(d))
	}
	return t.err
}

// DESIGN 8: two processes that send for one account share one rate limit, and each
// keeps its own while the shared one is not reachable.
func TestProcessesThatSendForOneAccountShareItsPace(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		most int // within the first ten seconds
	}{
		"together": {nil, 3 + 10},
		"apart":    {errors.New("nobody answers"), 2 * (3 + 10)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limit := adapters.RateLimit{Every: time.Second, Burst: 3}
				p := &platform{every: limit}
				shared := till{newRateLimits(adapters.RateLimit{}, func(string) adapters.RateLimit { return limit }), test.err}
				var records []*record
				began := time.Now()
				for process := range 2 {
					r := newRecord()
					for i := range 40 {
						r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprint(process, "-", i)), Chat: "c", Text: fmt.Sprint(i)})
					}
					records = append(records, r)
					defer send(t, p, r, EgressOptions{SharedLimiter: shared, Patience: 100 * time.Millisecond}).stop()
				}
				after(2 * time.Minute)
				sent := p.accepted()
				if len(sent) != 80 {
					t.Fatalf("%d of 80 messages were sent", len(sent))
				}
				n := len(slices.DeleteFunc(slices.Clone(sent), func(c call) bool { return c.At.Sub(began) > 10*time.Second }))
				if n > test.most || n < test.most-2 {
					t.Errorf("%d were sent in ten seconds, want %d", n, test.most)
				}
				for _, r := range records {
					for _, a := range r.actions {
						if a.State != spaces.ActionSent {
							t.Errorf("%s is %s", a.ID, a.State)
						}
					}
				}
			})
		})
	}
}

// DELIVERY K21: a chat that the platform wants left alone is left alone by the
// other process, too.
func TestChatThatIsHeldIsHeldForOtherProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := till{newRateLimits(adapters.RateLimit{}, func(string) adapters.RateLimit { return adapters.RateLimit{Every: time.Millisecond, Burst: 9} }), nil}
		wait := refusal(adapters.Limited)
		wait.RetryAfter = time.Minute
		p := &platform{every: adapters.RateLimit{Every: time.Millisecond, Burst: 9}}
		p.script = once(func(c call) bool { return c.Text == "first" }, wait)
		r := newRecord()
		r.put(spaces.Action{ID: "first", Chat: "c", Text: "first"})
		defer send(t, p, r, EgressOptions{SharedLimiter: shared}).stop()
		after(time.Second)
		other := newRecord()
		other.put(spaces.Action{ID: "second", Chat: "c", Text: "second"})
		other.put(spaces.Action{ID: "elsewhere", Chat: "d", Text: "elsewhere"})
		defer send(t, p, other, EgressOptions{SharedLimiter: shared}).stop()
		after(30 * time.Second)
		if got := p.texts("c"); len(got) != 0 {
			t.Errorf("%q went to a chat that is held", got)
		}
		if got := p.texts("d"); len(got) != 1 {
			t.Errorf("%q went to another chat, want one message", got)
		}
		after(2 * time.Minute)
		if got := p.texts("c"); len(got) != 2 {
			t.Errorf("%q went to the chat in the end", got)
		}
	})
}
