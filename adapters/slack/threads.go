package slack

import (
	"cmp"
	"context"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.ThreadOpener = (*Client)(nil)

// Thread returns the thread on message m: its own name. There is nothing to open,
// and threads have no titles.
func (*Client) Thread(_ context.Context, m adapters.MessageRef, _ string) (string, error) {
	return m.Message, nil
}

// threadOf returns the thread that a post goes into: an answer's is named after its
// first message, and never after another answer
// (docs.slack.dev/reference/methods/chat.postMessage, thread_ts).
func threadOf(p adapters.OutgoingMessage) string { return cmp.Or(p.Thread, p.Start, p.ReplyTo) }
