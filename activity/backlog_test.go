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

// busiest returns the most calls to a chat within any minute.
func busiest(calls []call, chat string) int {
	var at []time.Time
	for _, c := range calls {
		if c.Chat == chat {
			at = append(at, c.At)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	most := 0
	for i := range at {
		n := 0
		for _, t := range at[i:] {
			if t.Sub(at[i]) < time.Minute {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// DELIVERY I9: after a recovery at most five messages a minute go to one chat, in
// order, over all of its threads; what is decided afterwards keeps the platform's
// own pace.
func TestABacklogComesBackSlowly(t *testing.T) {
	for name, again := range map[string]func(e *Egress){
		"after a start":           func(*Egress) {},
		"after a lost connection": (*Egress).Recover,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &platform{every: adapters.RateLimit{Every: 100 * time.Millisecond, Burst: 3}}
				r := newRecord()
				decided := time.Now()
				after(time.Minute)
				var want []string
				for i := range 23 {
					thread := spaces.ThreadID("")
					if i%5 == 4 {
						thread = "t"
					} else {
						want = append(want, fmt.Sprint(i))
					}
					r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprint("old", i)), Chat: "c", Thread: thread, Text: fmt.Sprint(i), Created: decided})
				}
				r.put(spaces.Action{ID: "elsewhere", Chat: "d", Text: "elsewhere", Created: decided})
				e := send(t, p, r, EgressOptions{})
				again(e.Egress)
				after(30 * time.Second)
				if n := len(p.accepted()); n != 6 {
					t.Errorf("%d messages left in the first half minute, want 5 and one to another chat", n)
				}
				after(10 * time.Minute)
				if n := busiest(p.accepted(), "c"); n != 5 {
					t.Errorf("%d messages went to the chat within a minute, want 5", n)
				}
				var got []string
				for _, c := range p.accepted() {
					if c.Chat == "c" && c.Thread == "" {
						got = append(got, c.Text)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("they left as %v", got)
				}
				for i := range 10 {
					r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprint("new", i)), Chat: "c", Text: "new", Created: time.Now()})
				}
				e.Ring()
				after(3 * time.Second)
				if n := len(p.accepted()); n != 34 {
					t.Errorf("%d messages have left, want 34: what is new does not wait for a minute", n)
				}
			})
		})
	}
}

// patchy is a platform that is out of reach for as long as gone, each time it has been
// there for as long as there.
func patchy(there, gone time.Duration) *platform {
	began := time.Now()
	reach := func() time.Duration { // how long it is still in reach
		return there - time.Since(began)%(there+gone)
	}
	p := &platform{every: adapters.RateLimit{Every: 2 * time.Second, Burst: 1}}
	p.script = func(call) error {
		if reach() <= 0 {
			return refusal(adapters.NotSent)
		}
		return nil
	}
	p.connect = func(int) error { return p.script(call{}) }
	p.receive = func(ctx context.Context, _ int, _ []byte, s adapters.UpdateSink) error {
		ctx, cancel := context.WithTimeout(ctx, reach())
		defer cancel()
		s.Alive(time.Now())
		if err := beats(ctx, s); err != nil {
			return err
		}
		return errors.New("connection lost")
	}
	return p
}

// I9, I13: a connection that blips makes nothing old of what was decided before, or a
// busy chat would fall ever further behind.
func TestABlipMakesNothingOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := patchy(time.Minute, 20*time.Second), newRecord()
		l := run(t, p, r)
		for i := range 600 { // twenty a minute, and the platform takes thirty
			r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprint(i)), Chat: "c", Text: fmt.Sprint(i), Created: time.Now()})
			l.Ring()
			after(3 * time.Second)
		}
		if n := len(p.accepted()); n < 500 {
			t.Errorf("%d of 600 messages have left", n)
		}
	})
}

// I9, I13: after a silence for which a line is deaf, what waited goes slowly.
func TestASilenceMakesOldWhatWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, r := patchy(4*time.Minute, 4*time.Minute), newRecord()
		run(t, p, r)
		after(5 * time.Minute)
		for i := range 40 {
			r.put(spaces.Action{ID: spaces.ActionID(fmt.Sprint(i)), Chat: "c", Text: fmt.Sprint(i), Created: time.Now()})
		}
		after(7 * time.Minute)
		if n, most := len(p.accepted()), busiest(p.accepted(), "c"); n < 15 || most != 5 {
			t.Errorf("%d messages have left, %d within a minute, want 5 within each", n, most)
		}
	})
}

// F43, I9: after the clock was put back, what is decided leaves at once, and what was
// old stays old.
func TestAClockThatIsPutBackMakesNothingOld(t *testing.T) {
	began := time.Date(2026, 1, 2, 18, 0, 0, 0, time.UTC)
	for name, back := range map[string]time.Duration{"by six hours": 6 * time.Hour, "by seconds": 5 * time.Second} {
		e := backlogThrottle{most: 5}
		e.begin(began)
		now := began.Add(-back)
		for i := range 20 {
			now = now.Add(time.Second)
			if wait := e.take(spaces.Action{Kind: spaces.ActSend, Chat: "c", Created: now}, now); wait > 0 {
				t.Fatalf("%s: message %d waits %s", name, i, wait)
			}
		}
	}
	e := backlogThrottle{most: 5}
	e.begin(began)
	now, eased := began.Add(-5*time.Second), 0
	for range 20 {
		if e.take(spaces.Action{Kind: spaces.ActSend, Chat: "c", Created: began.Add(-time.Hour)}, now) > 0 {
			eased++
		}
	}
	if eased != 15 {
		t.Errorf("%d of 20 old messages wait, want 15", eased)
	}
}
