package activity

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// runs is a platform that is told of runs; where it says so, a status shows them.
type runs struct {
	*platform
	status bool
}

func (r runs) ShowRun(context.Context, adapters.RunStatus) (adapters.StopControl, error) {
	return adapters.StopGrown, nil
}

func (r runs) ShowsStatus(string) bool { return r.status }

// asking begins a run that message m of chat c woke, and returns how it ends.
func asking(e *Egress, r *record, run spaces.CycleID) (end func()) {
	m := spaces.MessageRef{Account: ours.Key(), Chat: "c", Message: "m"}
	sign := spaces.RunSign{Run: run, Message: m, Asked: []spaces.AckReaction{{Run: run, Event: "e", Message: m, Thread: "t", Emoji: "👀"}}}
	rested := make(chan bool, 1)
	e.ShowRun(sign, "t", rested)
	return func() {
		r.ends(run)
		rested <- false
		close(rested)
	}
}

// reactions lists the calls about reactions.
func reactions(calls []call) (all []string) {
	for _, c := range did(calls) {
		if strings.HasPrefix(c, "react") {
			all = append(all, c)
		}
	}
	return all
}

// NEWS: a reaction shows that a message is worked on. It is taken back with the answer, when
// the run ends without one, and by the next process.
func TestAMessageIsAcknowledged(t *testing.T) {
	const set, taken = `react m "👀"`, `react m ""`
	for name, c := range map[string]struct {
		status bool
		during func(*Egress, *record)
		ends   bool
		want   []string
	}{
		"a silent run": {ends: true, want: []string{set, taken}},
		"an answer": {during: func(e *Egress, r *record) {
			r.put(spaces.Action{ID: "a", Chat: "c", Cycle: "run", Text: "yes"})
			e.Ring()
		}, want: []string{set, taken}},
		"an answer to the message": {during: func(e *Egress, r *record) {
			r.put(spaces.Action{ID: "a", Chat: "c", Cycle: "run", Text: "yes", Target: "e"})
			e.Ring()
		}, want: []string{set, taken}},
		"a message elsewhere": {during: func(e *Egress, r *record) {
			r.put(spaces.Action{ID: "a", Chat: "d", Cycle: "run", Text: "yes"})
			e.Ring()
		}, want: []string{set}},
		"a message of another run": {during: func(e *Egress, r *record) {
			r.put(spaces.Action{ID: "a", Chat: "c", Cycle: "other", Text: "yes"})
			e.Ring()
		}, want: []string{set}},
		"two runs, one of which ends": {during: func(e *Egress, r *record) {
			end := asking(e, r, "other")
			after(3 * time.Second)
			end()
		}, want: []string{set}},
		"a status": {status: true, ends: true},
		"a reaction of the agent": {during: func(e *Egress, r *record) {
			r.put(spaces.Action{ID: "a", Kind: spaces.ActReact, Chat: "c", Cycle: "run", Target: "e", Text: "👍"})
			e.Ring()
		}, ends: true, want: []string{set, `react m "👍"`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, r := &platform{}, newRecord()
				r.where = map[spaces.EventID][]spaces.MessageRef{"e": {{Account: ours.Key(), Chat: "c", Message: "m"}}}
				e := on(t, runs{p, c.status}, r, EgressOptions{Acks: r})
				end := asking(e, r, "run")
				after(5 * time.Second)
				if c.during != nil {
					c.during(e, r)
				}
				after(5 * time.Second)
				if c.ends {
					end()
				}
				after(5 * time.Second)
				testutil.Same(t, "reactions", c.want, reactions(p.accepted()))
				if rows, _ := e.acks.mayHave(); rows != (len(r.acks) > 0) {
					t.Errorf("rows may be there: %t, there are %d", rows, len(r.acks))
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p, r := &platform{}, newRecord()
		r.acks = []StoredAck{{AckReaction: spaces.AckReaction{Run: "run", Event: "e", Message: spaces.MessageRef{Account: ours.Key(), Chat: "c", Message: "m"}}, Left: true}}
		on(t, p, r, EgressOptions{Acks: r})
		after(2 * time.Second)
		testutil.Same(t, "reactions after a restart", []string{taken}, reactions(p.accepted()))
	})
}

// NEWS: a chat that refuses the reaction is not asked again, and neither its refusal nor an
// unanswered call delays what is sent. One whose outcome is unknown is taken back.
func TestARefusedAcknowledgementIsNotRepeated(t *testing.T) {
	for kind, want := range map[adapters.FailureKind][]string{
		adapters.Forbidden: {`react m "👀"`},
		adapters.Invalid:   {`react m "👀"`},
		adapters.NoTarget:  {`react m "👀"`, `react m "👀"`}, // the message is gone, and its chat is not
		adapters.NotSent:   {`react m "👀"`, `react m "👀"`},
		adapters.Unknown:   {`react m "👀"`, `react m ""`, `react m "👀"`, `react m ""`},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, r := &platform{}, newRecord()
			p.script = func(c call) error {
				if c.Op == "react" && c.Text != "" {
					return refusal(kind)
				}
				return nil
			}
			e := on(t, runs{p, false}, r, EgressOptions{Acks: r})
			for range 2 {
				end := asking(e, r, "run")
				after(10 * time.Second)
				end()
				after(5 * time.Second)
			}
			if got := reactions(p.attempts()); !slices.Equal(got, want) {
				t.Errorf("%s: tried %q, want %q", kind, got, want)
			}
			if len(r.acks) > 0 {
				t.Errorf("%s: %d rows are left", kind, len(r.acks))
			}
		})
	}
}

// NEWS: reactions that show work take only calls that no message needs: as many messages go at
// once as without them, and a chat that is full of messages has no reactions until they are sent.
func TestAcknowledgementsDelayNoMessage(t *testing.T) {
	chat := adapters.RateLimit{Every: 3 * time.Second, Burst: 5}
	now := time.Unix(0, 0)
	p := newRateLimits(adapters.RateLimit{}, func(string) adapters.RateLimit { return chat })
	unused := func(want ...bool) {
		t.Helper()
		for i, w := range want {
			if got := p.unused("c", now, 2); got != w {
				t.Errorf("after %s, reaction %d: %t, want %t", now.Sub(time.Unix(0, 0)), i+1, got, w)
			}
		}
	}
	sends := func(n int, last time.Duration) {
		t.Helper()
		for i := range n {
			if wait, _ := p.take("c", now, time.Hour); wait > 0 && (i < n-1 || wait != last) || wait == 0 && last > 0 && i == n-1 {
				t.Errorf("after %s, message %d of %d waits %s", now.Sub(time.Unix(0, 0)), i+1, n, wait)
			}
		}
	}
	unused(true, true, false)
	sends(6, 3*time.Second)
	now = now.Add(18 * time.Second) // all is paid for, and nothing is left over
	unused(false)
	now = now.Add(6 * time.Second)
	unused(true, false)
	sends(6, 3*time.Second)
}

// attempts returns all calls, accepted or not.
func (p *platform) attempts() []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.tries)
}
