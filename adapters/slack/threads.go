package slack

import (
	"context"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.Threader = (*Client)(nil)

// Thread returns the thread on message m: its own name. There is nothing to open,
// and threads have no titles.
func (*Client) Thread(_ context.Context, m adapters.Ref, _ string) (string, error) {
	return m.Message, nil
}
