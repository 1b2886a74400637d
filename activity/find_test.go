package activity

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A searchable platform can be asked what it has.
type searchable struct {
	*platform
	refuses error         // what a look gets
	shows   time.Duration // how long it takes to show what it took
	looks   int
}

var _ adapters.DeliveryChecker = (*searchable)(nil)

func (p *searchable) Find(_ context.Context, post adapters.OutgoingMessage) (adapters.Receipt, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looks++
	if p.refuses != nil {
		return adapters.Receipt{}, false, p.refuses
	}
	for i, c := range p.ledger {
		if c.Key == post.Key && time.Since(c.At) >= p.shows {
			return adapters.Receipt{Message: "found", At: c.At}, i >= 0, nil
		}
	}
	return adapters.Receipt{}, false, nil
}

// took has the platform take the first send and lose its answer; lost has it lose
// the request.
func took(p *platform) func(call) error {
	first := true
	return func(c call) error {
		if !first {
			return nil
		}
		first = false
		p.mu.Lock()
		p.ledger = append(p.ledger, c)
		p.mu.Unlock()
		return refusal(adapters.Unknown)
	}
}

func TestAnUnknownSendIsLookedForAndNeverDoubled(t *testing.T) {
	// DELIVERY 2.4, K17, K18: where a platform can be asked, a copy is impossible.
	for _, policy := range []spaces.UnknownOutcomePolicy{spaces.ResendOnce, spaces.Hold} {
		for name, lost := range map[string]bool{"the answer was lost": false, "the request was lost": true} {
			t.Run(string(policy)+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &searchable{platform: &platform{}}
					if p.script = took(p.platform); lost {
						p.script = once(func(call) bool { return true }, refusal(adapters.Unknown))
					}
					r := newRecord()
					r.put(spaces.Action{ID: "x", Chat: "c", Text: "hello", Policy: policy})
					sendWith(t, p, r)
					after(time.Minute)
					testutil.Same(t, "the chat has", []string{"hello"}, p.texts("c"))
					if a := r.action("x"); a.State != spaces.ActionSent || len(a.Refs) != 1 {
						t.Errorf("state %s with %d messages, want sent with one", a.State, len(a.Refs))
					}
					if p.looks != 1 {
						t.Errorf("looked %d times, want once", p.looks)
					}
				})
			})
		}
	}
}

func TestALookThatFailsIsNotTakenForAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &searchable{platform: &platform{}, refuses: refusal(adapters.Unknown)}
		p.script = took(p.platform)
		r := newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Text: "hello", Policy: spaces.Hold})
		sendWith(t, p, r)
		after(time.Minute)
		if n := len(p.attempted()); n != 1 {
			t.Errorf("sent %d times while nobody could tell, want once", n)
		}
		p.mu.Lock()
		p.refuses = nil
		p.mu.Unlock()
		after(3 * time.Minute)
		if a := r.action("x"); a.State != spaces.ActionSent || len(p.attempted()) != 1 {
			t.Errorf("state %s after %d sends, want sent after one", a.State, len(p.attempted()))
		}
	})
}

func TestWhereLookingIsForbiddenThePolicyDecides(t *testing.T) {
	for policy, want := range map[spaces.UnknownOutcomePolicy]int{spaces.ResendOnce: maxResends - 1, spaces.Hold: 1} {
		synctest.Test(t, func(t *testing.T) {
			p := &searchable{platform: &platform{}, refuses: refusal(adapters.Forbidden)}
			p.script = func(call) error { return refusal(adapters.Unknown) }
			r := newRecord()
			r.put(spaces.Action{ID: "x", Chat: "c", Text: "hello", Policy: policy})
			sendWith(t, p, r)
			after(3 * time.Hour)
			if a := r.action("x"); a.State != spaces.ActionUnknown || len(p.attempted()) != want {
				t.Errorf("%s: %s after %d sends, want unknown after %d", policy, a.State, len(p.attempted()), want)
			}
		})
	}
}

func TestWhatAnEarlierProcessWasSendingIsLookedFor(t *testing.T) {
	// DELIVERY K16 … K18
	synctest.Test(t, func(t *testing.T) {
		p := &searchable{platform: &platform{}}
		r := newRecord()
		r.put(spaces.Action{ID: "arrived", Chat: "c", Text: "one", State: spaces.ActionSending, Policy: spaces.Hold})
		r.put(spaces.Action{ID: "lost", Chat: "d", Text: "two", State: spaces.ActionSending, Policy: spaces.Hold})
		p.ledger = append(p.ledger, call{Op: "send", Chat: "c", Text: "one", Key: postKey("arrived", 0)})
		sendWith(t, p, r)
		after(time.Minute)
		testutil.Same(t, "the chats have", [2][]string{{"one"}, {"two"}}, [2][]string{p.texts("c"), p.texts("d")})
		for _, id := range []spaces.ActionID{"arrived", "lost"} {
			if a := r.action(id); a.State != spaces.ActionSent {
				t.Errorf("%s is %s, want sent", id, a.State)
			}
		}
	})
}

// sendWith runs an egress over a searchable platform until the test ends.
func sendWith(t *testing.T, p *searchable, r *record) {
	t.Helper()
	runEgress(t, NewEgress(ours, p, r, NewSpaceMapping(r, r), EgressOptions{}))
}

// runEgress has e at work until the test ends.
func runEgress(t *testing.T, e *Egress) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }() // waited for in the cleanup
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}
