package server

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// notifyingStore is the store as connections use it. It notifies them, and the minds, of what
// they must handle at once.
type notifyingStore struct {
	sqlstore.BridgeStore
	ring  func()
	shell func() *shell.Shell // made after the record is open

	thinks bool // minds run in this process
}

// newBorder returns the store with its notifications.
func (cs *connectionSet) newBorder() notifyingStore {
	return notifyingStore{cs.Store.Border(), cs.notifyOutbox, func() *shell.Shell { return cs.shell }, cs.Config().HasRole(config.RoleMinds)}
}

// Record commits a batch, and claims in the same commit the minds that are free.
func (b notifyingStore) Record(ctx context.Context, in spaces.IngestBatch) (spaces.IngestResult, error) {
	var claims []spaces.WakeClaim
	if b.thinks {
		in.Claims = func(ws []spaces.PendingWork) []spaces.WakeClaim {
			claims = b.shell().Claims(ws)
			return claims
		}
	}
	done, err := b.BridgeStore.Record(ctx, in)
	b.shell().Claimed(claims, done.Woken, err)
	if len(done.Waiting) > 0 {
		b.ring()
	}
	return done, err
}

// Post stores a notice and notifies its connection.
func (b notifyingStore) Post(ctx context.Context, n spaces.ProcessNotice) error {
	if err := b.BridgeStore.Post(ctx, n); err != nil {
		return err
	}
	b.ring()
	return nil
}

// CloseChoices changes notices and notifies their connection.
func (b notifyingStore) CloseChoices(ctx context.Context, key, outcome string, at time.Time) error {
	if err := b.BridgeStore.CloseChoices(ctx, key, outcome, at); err != nil {
		return err
	}
	b.ring()
	return nil
}
