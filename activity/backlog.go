package activity

import (
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// backlogWindow is the stretch of time in which no more than so many old messages
// go to one chat.
const backlogWindow = time.Minute

// A backlogThrottle limits how many messages that were decided before the last recovery
// are sent to one chat within a window. It is safe for concurrent use.
type backlogThrottle struct {
	most int // sends to one chat within the window; 0 is no bound

	mu    sync.Mutex // guards what follows
	since time.Time  // what was decided before it is old
	sent  map[string][]time.Time
}

// begin makes everything old that was decided before at.
func (e *backlogThrottle) begin(at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.since = at.Round(0)
	for chat, sent := range e.sent {
		if len(sent) == 0 || at.Sub(sent[len(sent)-1]) >= backlogWindow {
			delete(e.sent, chat)
		}
	}
}

// take asks for one send of a. It returns how long the send has to wait; a wait
// takes nothing.
func (e *backlogThrottle) take(a spaces.Action, now time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if at := now.Round(0); at.Before(e.since) { // the clock was put back, and what is decided now is not old
		e.since = at
	}
	if !e.isBacklog(a) {
		return 0
	}
	sent := e.sent[a.Chat]
	for len(sent) > 0 && now.Sub(sent[0]) >= backlogWindow {
		sent = sent[1:]
	}
	if len(sent) >= e.most {
		return sent[0].Add(backlogWindow).Sub(now)
	}
	if e.sent == nil {
		e.sent = map[string][]time.Time{}
	}
	e.sent[a.Chat] = append(sent, now)
	return 0
}

// giveBack undoes a take whose send did not begin.
func (e *backlogThrottle) giveBack(a spaces.Action) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.sent[a.Chat]); n > 0 && e.isBacklog(a) {
		e.sent[a.Chat] = e.sent[a.Chat][:n-1]
	}
}

// isBacklog reports whether an action is an old message. mu is held.
func (e *backlogThrottle) isBacklog(a spaces.Action) bool {
	return e.most > 0 && a.Kind == spaces.ActSend && !a.Created.IsZero() && a.Created.Before(e.since)
}
