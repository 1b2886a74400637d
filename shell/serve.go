package shell

import (
	"context"
	"errors"

	"github.com/trestle-bridge/trestle/spaces"
)

var errNotHere = errors.New("the agent is not served here")

// Serve is [Shell.Ring] for one place, and returns when everything there has come to
// its end: nil once the cycle that took it in is committed, or there is nothing that
// this process could take in. It fails when the cycle did not come to its end here,
// when the agent is not served here, and with the cause of ctx.
func (s *Shell) Serve(ctx context.Context, w spaces.PendingWork) error {
	p, end := wakeKey{w.Mind, w.Space}, make(chan error, 1)
	s.mu.Lock()
	s.rung[p] = true
	s.awaited[p] = append(s.awaited[p], end)
	s.mu.Unlock()
	s.wakeUp()
	select {
	case err := <-end:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// served tells those who wait for a place what came of it. s.mu is held.
func (s *Shell) served(p wakeKey, err error) {
	for _, end := range s.awaited[p] {
		end <- err
	}
	delete(s.awaited, p)
}
