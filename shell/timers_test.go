package shell_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// A slowEnd answers later than it commits when a cycle closes.
type slowEnd struct {
	sqlstore.AgentStore
	ending *atomic.Int32 // cycles that are closed, and whose commit has not answered
}

func (s slowEnd) Commit(ctx context.Context, c spaces.StepCommit) (spaces.CommitResult, error) {
	done, err := s.AgentStore.Commit(ctx, c)
	if c.Close != nil {
		s.ending.Add(1)
		<-time.After(1500 * time.Millisecond)
		s.ending.Add(-1)
	}
	return done, err
}

// K23, DELIVERY 2.2 promise 7: a timer that fires when the wake before it is closed in the record
// and is about to end here waits for that, and runs.
func TestATimerWaitsForTheWakeBeforeIt(t *testing.T) {
	const timers = 20
	set := 0
	var ending atomic.Int32
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if ending.Load() > 0 {
			t.Error("a cycle began before the one before it had come to its end")
		}
		if r.NoCalls || set == timers {
			return telling("Nothing to add."), nil
		}
		many := llm.ModelResponse{Finish: llm.Called}
		for ; set < timers; set++ {
			many.Calls = append(many.Calls, calling(set, "timer", fmt.Sprintf(`{"seconds":%d,"note":"look"}`, 10+set)).Calls...)
		}
		return many, nil
	})
	play(t, m, func(w *world) {
		w.ports = func(s sqlstore.AgentStore) ports { return slowEnd{s, &ending} }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "remind me often")
		w.settle()
		<-time.After(5 * time.Minute)
		w.settle()
		if n := len(w.stops(mind("Ada"))); n != timers+1 {
			t.Errorf("%d cycles ended, want one by Kai and one by each of %d timers", n, timers)
		}
	})
}

// PRD-5.2, DELIVERY 2.5 I17: timers that set timers cost tokens with nobody there: they are a minute apart at least.
func TestTimersDoNotSetTimersAtOnce(t *testing.T) {
	for _, act := range []string{"timer", "sleep", "plan"} {
		t.Run(act, func(t *testing.T) {
			id := 0
			m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				if r.NoCalls || acts(r) > 1 {
					return telling("Nothing to add."), nil
				}
				id++
				seconds := `{"seconds":1,"note":"again"}`
				if acts(r) == 1 {
					seconds = `{"seconds":60,"note":"again"}`
				}
				if act == "sleep" {
					seconds = `{"seconds":` + map[bool]string{false: "1", true: "60"}[acts(r) == 1] + `}`
				}
				if act == "plan" { // one that happens once is a timer by another name
					due := time.Now().Add(map[bool]time.Duration{false: time.Second, true: time.Minute}[acts(r) == 1])
					seconds = `{"at":"` + due.UTC().Format(time.RFC3339Nano) + `","note":"again"}`
				}
				return calling(id, act, seconds), nil
			})
			play(t, m, func(w *world) {
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "go on for ever")
				w.settle()
				<-time.After(10 * time.Minute)
				w.settle()
				if n := len(w.stops(mind("Ada"))); n < 5 || n > 25 {
					t.Errorf("%d cycles in ten minutes", n)
				}
			})
		})
	}
}

// A looker counts how often the record is asked for timers that are due.
type looker struct {
	sqlstore.AgentStore
	looks *atomic.Int64
}

func (l looker) Due(ctx context.Context, at time.Time, holder string, ttl time.Duration, limit int, here func(spaces.AgentID) bool) ([]spaces.Wake, error) {
	l.looks.Add(1)
	return l.AgentStore.Due(ctx, at, holder, ttl, limit, here)
}

// DELIVERY 2.5 I15: timers that are due while their mind is busy with another one, or
// whose agent is no longer here, are looked for as often as any, and not all the time.
func TestTimersThatCannotFireAreNotLookedForAllTheTime(t *testing.T) {
	const wakes = 3
	var looks atomic.Int64
	set := 0
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			return telling("Hm."), nil
		}
		if set == wakes {
			<-time.After(time.Minute)
			return telling("Nothing to add."), nil
		}
		many := llm.ModelResponse{Finish: llm.Called}
		for ; set < wakes; set++ {
			many.Calls = append(many.Calls, calling(set, "timer", fmt.Sprintf(`{"seconds":%d,"note":"look"}`, 10+set)).Calls...)
		}
		return many, nil
	})
	play(t, m, func(w *world) {
		w.ports = func(s sqlstore.AgentStore) ports { return looker{s, &looks} }
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "remind me often")
		<-time.After(5 * time.Minute)
		w.settle()
		if n := len(w.stops(mind("Ada"))); n != wakes+1 {
			t.Errorf("%d cycles ended, want one by Kai and one by each of %d timers", n, wakes)
		}
		if n := looks.Load(); n > 400 {
			t.Errorf("in five minutes timers were looked for %d times, want about once a second", n)
		}
	})
}
