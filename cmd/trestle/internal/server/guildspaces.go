package server

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// rememberServer notes of which entry of a server a space is, also for processes that do not
// serve the server's account and for the next start.
func (sm *SpaceManager) rememberServer(ctx context.Context, id spaces.SpaceID, key string) error {
	if sm.keyOf(id) == key {
		return nil
	}
	if err := sm.border.Serve(ctx, id, key); err != nil {
		return err
	}
	sm.remember(id, key)
	return nil
}

// loadServers learns of which servers the spaces are that are in the record.
func (sm *SpaceManager) loadServers(ctx context.Context) error {
	of, err := sm.border.Served(ctx)
	for id, key := range of {
		sm.remember(id, key)
	}
	return err
}

// loadServersOf does so for the spaces in which something waits: another process may
// have opened them since.
func (sm *SpaceManager) loadServersOf(ctx context.Context, ws []spaces.PendingWork) error {
	if len(sm.Config().Servers) == 0 {
		return nil
	}
	for _, w := range ws {
		if sm.keyOf(w.Space) != "" {
			continue
		}
		key, err := sm.border.ServedBy(ctx, w.Space)
		if err != nil {
			return err
		}
		if key != "" {
			sm.remember(w.Space, key)
		}
	}
	return nil
}

// serverAwareQueue is the shell's inbox. Where a space comes from is known before anything is
// claimed in it.
type serverAwareQueue struct {
	sqlstore.AgentStore
	learn func(context.Context, []spaces.PendingWork) error
}

// Waiting lists what waits, as the record does.
func (i serverAwareQueue) Waiting(ctx context.Context, at time.Time, limit int) ([]spaces.PendingWork, error) {
	ws, err := i.AgentStore.Waiting(ctx, at, limit)
	if err != nil {
		return nil, err
	}
	return ws, i.learn(ctx, ws)
}
