package activity

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// DELIVERY 2.2-7: after a stop nothing more of a run leaves: no further part of a message
// that is being sent, and nothing that the egress holds while it waits for its turn.
func TestNothingMoreOfAStoppedRunIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped atomic.Bool
		p, r := &platform{every: adapters.RateLimit{Every: 500 * time.Millisecond, Burst: 1}}, newRecord()
		r.put(spaces.Action{ID: "x", Chat: "c", Cycle: "run", Text: "one\n---\ntwo\n---\nthree"})
		e := on(t, p, r, EgressOptions{Stopped: func(_ context.Context, run spaces.CycleID) (bool, error) {
			return run == "run" && stopped.Load(), nil
		}})
		r.put(spaces.Action{ID: "y", Chat: "c", Thread: "t", Cycle: "run", Text: "held"})
		r.put(spaces.Action{ID: "z", Chat: "c", Thread: "u", Text: "of nobody"})
		e.Ring()
		after(100 * time.Millisecond)
		stopped.Store(true)
		after(10 * time.Second) // the turns of what is not sent pass as well
		testutil.Same(t, "sent", []string{"one", "of nobody"}, p.texts("c"))
	})
}

// A working platform shows buttons and runs.
type working struct {
	*buttoned
	control adapters.StopControl
	states  *[]adapters.RunState
}

func (w working) ShowRun(_ context.Context, s adapters.RunStatus) (adapters.StopControl, error) {
	*w.states = append(*w.states, s.State)
	return w.control, nil
}

// statuses is a platform that keeps what it was told of runs.
type statuses struct {
	*buttoned
	shown *[]adapters.RunStatus
}

func (w statuses) ShowRun(_ context.Context, s adapters.RunStatus) (adapters.StopControl, error) {
	*w.shown = append(*w.shown, s)
	return adapters.StopNative, nil
}

// NEWS: a run that an answer or the result of a tool woke is shown where the run was that
// waited for it. Where a message of its own woke it, what was shown of that run ends.
func TestARunGoesOnWhereItWaited(t *testing.T) {
	for name, message := range map[string]string{"by a button": "", "in words": "2", "in its thread": "1"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := statuses{&buttoned{platform: &platform{}}, &[]adapters.RunStatus{}}
				r := newRecord()
				e := on(t, p, r, EgressOptions{Drafts: r})
				show := func(s spaces.RunSign, message string, waits bool) {
					rested := make(chan bool, 1)
					if message != "" {
						s.Message, s.Title = spaces.MessageRef{Account: ours.Key(), Chat: "c", Message: message}, "title "+message
					}
					e.ShowRun(s, "", rested)
					after(time.Second)
					rested <- waits
					close(rested)
					after(time.Second)
				}
				show(spaces.RunSign{Run: "asks"}, "1", true)
				show(spaces.RunSign{Run: "other"}, "", false) // that nobody's message woke
				show(spaces.RunSign{Run: "goes on", After: "asks"}, message, false)
				status := func(message string, state adapters.RunState) adapters.RunStatus {
					return adapters.RunStatus{Chat: "c", Message: message, Title: "title " + message, State: state}
				}
				want := []adapters.RunStatus{status("1", adapters.RunProcessing), status("1", adapters.RunSuspended)}
				if message == "2" {
					want = append(want, status("1", adapters.RunActive), status("2", adapters.RunProcessing), status("2", adapters.RunActive))
				} else {
					want = append(want, status("1", adapters.RunProcessing), status("1", adapters.RunActive))
				}
				testutil.Same(t, "statuses", want, *p.shown)
				if len(e.runs.waiting) != 0 || len(e.runs.all) != 0 {
					t.Errorf("%d runs wait and %d are kept", len(e.runs.waiting), len(e.runs.all))
				}
			})
		})
	}
}

// NEWS: a run that shows nothing for five seconds has a line with a Stop button, which is
// gone when it ends; the platform is told the states.
func TestALongRunCanBeStopped(t *testing.T) {
	for control, want := range map[adapters.StopControl]struct {
		before, after int
		states        []adapters.RunState
	}{
		adapters.StopLine:   {0, 1, []adapters.RunState{adapters.RunProcessing, adapters.RunSuspended}},
		adapters.StopNative: {0, 0, []adapters.RunState{adapters.RunProcessing, adapters.RunSuspended}},
		adapters.StopGrown:  {0, 0, []adapters.RunState{adapters.RunProcessing, adapters.RunSuspended}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := working{&buttoned{platform: &platform{}}, control, &[]adapters.RunState{}}
			r := newRecord()
			e := on(t, p, r, EgressOptions{Drafts: r})
			rested := make(chan bool, 1)
			sign := spaces.RunSign{Run: "run", Name: "Ada", Message: spaces.MessageRef{Account: ours.Key(), Chat: "c", Message: "1"}, Began: time.Now()}
			for range 2 {
				e.ShowRun(sign, "", rested)
			}
			after(4 * time.Second)
			testutil.Same(t, "shown at first", want.before, len(p.texts("c")))
			after(4 * time.Second)
			testutil.Same(t, "shown then", want.after, len(p.texts("c")))
			if want.after > 0 {
				testutil.Same(t, "line", "Ada is at work …", p.texts("c")[0])
				testutil.Same(t, "buttons", []string{"Stop"}, p.labels)
			}
			rested <- true
			close(rested)
			after(time.Second)
			testutil.Same(t, "states", want.states, *p.states)
			if len(e.runs.all) != 0 || len(e.drafts.all) != 0 {
				t.Errorf("%d runs and %d drafts are kept", len(e.runs.all), len(e.drafts.all))
			}
		})
	}
}
