package shell

import (
	"errors"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// An interruptedCycle is a cycle whose commit failed because the database did not answer.
// This process still holds its lease and resumes it; no other process can before the
// lease ends.
type interruptedCycle struct {
	pause time.Duration
	after time.Time
}

// firstPause is how long after a cycle broke off it is taken up again. It doubles
// until the lease runs out in between, which counts as a crash.
const firstPause = time.Second

// tears notes how the last attempt at a place ended. s.mu is held.
func (s *Shell) tears(p wakeKey, err error) {
	if err == nil || errors.Is(err, spaces.ErrLeaseLost) || errors.Is(err, errSplit) {
		delete(s.torn, p)
		return
	}
	t := s.torn[p]
	if t == nil {
		t = &interruptedCycle{pause: firstPause / 2}
		s.torn[p] = t
	}
	t.pause = min(2*t.pause, 2*s.Lease)
	t.after = time.Now().Add(t.pause)
}

// mend rings for what broke off, when it is time. s.mu is held.
func (s *Shell) mend(now time.Time) {
	for p, t := range s.torn {
		if now.After(t.after) {
			s.rung[p] = true
		}
	}
}
