package server

import (
	"context"
	"crypto/rand"

	"github.com/trestle-bridge/trestle/spaces"
)

// typingNotifier shows on every chat of a space that an agent is at it. Signs that
// come faster than platforms take them are dropped.
type typingNotifier struct {
	conns *connectionSet
	signs chan typingEvent
}

type typingEvent struct {
	space  spaces.SpaceID
	thread spaces.ThreadID
}

// newTypingNotifier returns a presence over these connections; it shows nothing before Run.
func newTypingNotifier(cs *connectionSet) *typingNotifier {
	cs.presence = &typingNotifier{cs, make(chan typingEvent, 256)}
	return cs.presence
}

// Active notes that an agent is at it in a thread. It never blocks.
func (t *typingNotifier) Active(space spaces.SpaceID, thread spaces.ThreadID) {
	select {
	case t.signs <- typingEvent{space, thread}:
	default: // a missing typing sign is harmless
	}
}

// Run shows the signs until ctx is done.
func (t *typingNotifier) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-t.signs:
			t.show(ctx, s)
		}
	}
}

func (t *typingNotifier) show(ctx context.Context, s typingEvent) {
	chats, err := t.conns.mapping.External(ctx, s.space)
	if err != nil {
		t.conns.Log.Debug("chats of a space not readable", "space", s.space, "error", err)
		return
	}
	for _, c := range chats {
		if out := t.conns.egress(c.Account); out != nil {
			out.Typing(ctx, c.Chat, t.threadIn(ctx, c, s, len(chats)))
		}
	}
}

// threadIn returns how a chat calls the thread of a sign, one of several chats of
// the space.
func (t *typingNotifier) threadIn(ctx context.Context, c spaces.ChatMapping, s typingEvent, several int) spaces.ThreadID {
	if s.thread == "" || several < 2 {
		return s.thread
	}
	m, err := t.conns.Store.Border().ThreadAnchor(ctx, c.Account, c.Chat, s.space, s.thread)
	if err != nil {
		t.conns.Log.Debug("thread of a space not readable", "space", s.space, "error", err)
	}
	return m.There
}

// NewNonce mints the secret word of one cycle's acts.
func NewNonce() string { return rand.Text()[:10] }
