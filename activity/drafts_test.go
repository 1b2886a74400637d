package activity

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A screen is a platform that shows in its private chats what is no message.
type screen struct {
	*platform
	stops bool
}

var _ adapters.DraftShower = screen{}

func (s screen) Preview(ctx context.Context, p adapters.OutgoingMessage) error {
	_, err := s.do(ctx, call{Op: "show", Chat: p.Chat, Text: p.Text, Key: p.Key})
	return err
}

func (s screen) Stoppable() bool { return s.stops }

func (screen) Whole(chat string) bool { return strings.HasPrefix(chat, "private") }

// on runs an egress over an adapter until the test ends.
func on(t *testing.T, ad adapters.Adapter, r *record, o EgressOptions) *Egress {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	e := NewEgress(ours, ad, r, NewSpaceMapping(r, r), o)
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }() // waited for at the end
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	synctest.Wait()
	return e
}

// growth has a draft grow by a word ten times a second, for n words.
func growth(e *Egress, d spaces.MessageDraft, n int) {
	for i := range n {
		d.Text += fmt.Sprintf("%d.", i)
		e.ShowDraft(d)
		<-time.After(102 * time.Millisecond)
	}
}

// BLU-12, DELIVERY 2.2: a draft changes no faster than it can be read, and nothing
// of it is shown when its step is over.
func TestADraftGrowsSlowlyAndEndsWithItsStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := screen{platform: &platform{}}
		e := on(t, p, newRecord(), EgressOptions{})
		began := time.Now()
		d := spaces.MessageDraft{ID: "y/0", Account: ours.Key(), Chat: "private", Agent: "ada", Show: spaces.StreamDrafts}
		growth(e, d, 30)
		e.EndDraft(d.ID)
		after(5 * time.Second)
		var got []string
		for _, c := range p.accepted() {
			got = append(got, fmt.Sprintf("%s %s %d", c.At.Sub(began), c.Op, len(c.Text)))
			if c.Key == "" || c.Key != p.accepted()[0].Key {
				t.Errorf("shown under %q", c.Key)
			}
		}
		testutil.Same(t, "shown", []string{"0s show 2", "1s show 20", "2s show 50", "3s show 80"}, got)
		if len(e.drafts.all) != 0 {
			t.Errorf("%d drafts are kept", len(e.drafts.all))
		}
	})
}

// DELIVERY 2.2: a draft gives way: it takes nothing of the budget that a message
// needs, and waits when the platform says so.
func TestADraftGivesWay(t *testing.T) {
	for name, c := range map[string]struct {
		p    *platform
		busy bool
		most int // times shown within ten seconds
	}{
		"to a full budget": {&platform{every: adapters.RateLimit{Every: time.Second, Burst: 1}}, false, 0},
		"to messages":      {&platform{every: adapters.RateLimit{Every: time.Second, Burst: 2}}, true, 0},
		"to what it is told": {&platform{script: func(c call) error {
			if c.Op == "show" {
				return &adapters.Error{Kind: adapters.Limited, RetryAfter: 4 * time.Second}
			}
			return nil
		}}, false, 3},
		"to a refusal": {&platform{script: func(c call) error {
			if c.Op == "show" {
				return &adapters.Error{Kind: adapters.Invalid}
			}
			return nil
		}}, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecord()
				if c.busy {
					for i := range 30 {
						r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprint(i)), Chat: "private", Text: fmt.Sprint(i)})
					}
				}
				e := on(t, screen{platform: c.p}, r, EgressOptions{})
				growth(e, spaces.MessageDraft{ID: "y/0", Chat: "private", Show: spaces.StreamDrafts}, 100)
				e.EndDraft("y/0")
				shown := 0
				for _, x := range c.p.attempted() {
					if x.Key == draftKey("y/0") {
						shown++
					}
				}
				if shown > c.most || c.most > 0 && shown == 0 {
					t.Errorf("shown %d times, want at most %d", shown, c.most)
				}
			})
		})
	}
}

// R-TG, DELIVERY F45: nothing is sent early, and what is to come is no exception.
func TestNothingIsShownWhileThePlatformSaysWait(t *testing.T) {
	for name, hold := range map[string]func(*platform, till){
		"to us": func(p *platform, _ till) {
			limit := refusal(adapters.Limited)
			limit.RetryAfter = 7 * time.Second
			p.script = once(func(c call) bool { return c.Op == "send" }, limit)
		},
		"to another process": func(_ *platform, shared till) { _ = shared.Hold(t.Context(), "private", 7*time.Second) }, // a till never fails
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limits := adapters.RateLimit{Every: time.Second, Burst: 3}
				p, shared := &platform{every: limits}, till{newRateLimits(adapters.RateLimit{}, func(string) adapters.RateLimit { return limits }), nil}
				hold(p, shared)
				r := newRecord()
				r.put(spaces.Action{ID: "one", Chat: "private", Text: "one"})
				began := time.Now()
				e := on(t, screen{platform: p}, r, EgressOptions{SharedLimiter: shared})
				after(time.Millisecond)
				r.put(spaces.Action{ID: "two", Chat: "private", Thread: "t", Text: "two"})
				e.Ring()
				after(20 * time.Second)
				for _, c := range p.accepted() {
					if took := c.At.Sub(began); took < 7*time.Second {
						t.Errorf("%s %q after %s, want 7 s", c.Op, c.Text, took)
					}
				}
				testutil.Same(t, "sent", spaces.ActionSent, r.action("two").State)
			})
		})
	}
}

// R-TG, DELIVERY F45: a wait that the platform asks for while a message waits for its
// turn, here because of what is shown of it meanwhile, is the message's as well.
func TestAMessageWaitsAsLongAsItsDraftIsToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := refusal(adapters.Limited)
		limit.RetryAfter = 7 * time.Second
		p := &platform{every: adapters.RateLimit{Every: time.Second, Burst: 1}, script: once(func(c call) bool { return c.Op == "show" }, limit)}
		r := newRecord()
		r.put(spaces.Action{ID: "one", Chat: "private", Text: "one"})
		began := time.Now()
		e := on(t, screen{platform: p}, r, EgressOptions{})
		r.put(spaces.Action{ID: "two", Chat: "private", Text: "two"})
		e.Ring()
		after(20 * time.Second)
		for _, c := range p.accepted() {
			if took := c.At.Sub(began); c.Text == "two" && took < 7*time.Second {
				t.Errorf("%s %q after %s, want 7 s", c.Op, c.Text, took)
			}
		}
		testutil.Same(t, "sent", spaces.ActionSent, r.action("two").State)
	})
}

// A chat without such a sign shows no draft, and neither does a way out that is shut.
func TestOnlyWhatIsNoMessageShowsADraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := screen{platform: &platform{}}
		e := on(t, p, newRecord(), EgressOptions{})
		for _, c := range []struct {
			on     adapters.DraftShower
			chat   string
			policy spaces.StreamingPolicy
			want   bool
		}{
			{p, "private", spaces.StreamDrafts, true},
			{p, "group", spaces.StreamDrafts, false},
			{p, "group", spaces.StreamEdits, false},
			{p, "private", spaces.StreamEdits, false},
			{p, "private", spaces.StreamAuto, false},
			{screen{p.platform, true}, "private", spaces.StreamAuto, true},
			{screen{p.platform, true}, "group", spaces.StreamAuto, false},
		} {
			e.draftShower = c.on
			if got := e.ShowsDrafts(c.chat, c.policy); got != c.want {
				t.Errorf("%s, %s, stops %t: shows %t", c.chat, c.policy, c.on.Stoppable(), got)
			}
		}
		e.draftShower = p
		e.outage.pause(time.Now().Add(time.Minute), "no")
		if e.ShowsDrafts("private", spaces.StreamDrafts) {
			t.Error("a way out that is shut shows drafts")
		}
		closed := NewEgress(ours, p, newRecord(), nil, EgressOptions{})
		closed.ShowDraft(spaces.MessageDraft{ID: "y/0", Chat: "private", Text: "x", Show: spaces.StreamDrafts})
		after(5 * time.Second)
		if n := len(p.attempted()); n > 0 {
			t.Errorf("%d calls from a way out that does not run", n)
		}
	})
}
