package server

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// rememberServer stores the server entry of a space, also for the next start and for processes
// that do not serve the account.
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

// loadServers reads the server entries of all stored spaces.
func (sm *SpaceManager) loadServers(ctx context.Context) error {
	of, err := sm.border.Served(ctx)
	for id, key := range of {
		sm.remember(id, key)
	}
	return err
}

// loadServersOf reads the server entries of spaces with work: another process may have opened
// them since.
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

// serverAwareQueue is the shell's inbox. It reads the server entry of a space before work in it
// is claimed.
type serverAwareQueue struct {
	sqlstore.AgentStore
	learn func(context.Context, []spaces.PendingWork) error
}

// Waiting lists pending work after it has read the server entries of its spaces.
func (i serverAwareQueue) Waiting(ctx context.Context, at time.Time, limit int) ([]spaces.PendingWork, error) {
	ws, err := i.AgentStore.Waiting(ctx, at, limit)
	if err != nil {
		return nil, err
	}
	return ws, i.learn(ctx, ws)
}
