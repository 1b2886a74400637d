package httpx

import (
	"log/slog"
	"sync"
	"time"
)

// tellEvery is how often calls that were refused are told of.
const tellEvery = time.Minute

// RejectedCallLog counts calls that are refused and tells the log of them, the first at once and
// those behind it once a minute: whoever finds the address can make any number. Its
// zero value is ready. It may be used concurrently.
type RejectedCallLog struct {
	mu     sync.Mutex // guards what follows
	all    int64
	untold int64
	reason string // of the last
	quiet  bool   // until somebody tells the next
}

// Note counts a call that was refused for a reason, which holds no word of the caller's.
func (r *RejectedCallLog) Note(lg *slog.Logger, reason string) {
	r.mu.Lock()
	r.all, r.untold, r.reason = r.all+1, r.untold+1, reason
	first := !r.quiet
	r.quiet = true
	r.mu.Unlock()
	if first {
		r.tell(lg)
	}
}

// tell tells of what nobody was told of, and again in a minute, until there is nothing.
func (r *RejectedCallLog) tell(lg *slog.Logger) {
	r.mu.Lock()
	n, reason := r.untold, r.reason
	r.untold, r.quiet = 0, n > 0
	r.mu.Unlock()
	if n == 0 {
		return
	}
	lg.Warn("calls refused", "calls", n, "reason", reason)
	time.AfterFunc(tellEvery, func() { r.tell(lg) })
}

// All returns how many calls were refused since the start.
func (r *RejectedCallLog) All() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}
