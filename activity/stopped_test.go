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
		after(3 * time.Second)
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
