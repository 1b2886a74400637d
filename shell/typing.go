package shell

import (
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// How soon people are shown that the agent is at it, and how often again: the
// sign of most platforms fades after five seconds.
const (
	presenceAfter = 700 * time.Millisecond
	presenceEvery = 4 * time.Second
	presenceLimit = 2 * time.Minute
)

// show lets people see that the agent is at it until the returned function is
// called, for two minutes at most. A short cycle shows nothing, and neither does one in a room where the agent
// says nothing.
func (s *Shell) show(w *spaces.Wake) (stop func()) {
	if s.Presence == nil || len(w.Events) == 0 || !s.speaks(w.Cycle.Mind.Agent, w.Cycle.Space) {
		return func() {}
	}
	thread := w.Events[len(w.Events)-1].Thread
	var mu sync.Mutex // guards timer and done
	var timer *time.Timer
	done, until := false, time.Now().Add(presenceLimit)
	var beat func()
	beat = func() {
		s.Presence.Active(w.Cycle.Space, thread)
		mu.Lock()
		defer mu.Unlock()
		if !done && time.Now().Before(until) {
			timer = time.AfterFunc(presenceEvery, beat)
		}
	}
	mu.Lock()
	timer = time.AfterFunc(presenceAfter, beat)
	mu.Unlock()
	return func() {
		mu.Lock()
		defer mu.Unlock()
		done = true
		timer.Stop()
	}
}
