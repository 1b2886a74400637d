package server

import (
	"context"
	"crypto/rand"

	"github.com/trestle-bridge/trestle/spaces"
)

// typingNotifier shows in every chat of a space that an agent is typing. It drops signs that
// come faster than platforms take them.
type typingNotifier struct {
	conns *connectionSet
	signs chan typingEvent
}

type typingEvent struct {
	space  spaces.SpaceID
	thread spaces.ThreadID
}

// newTypingNotifier returns a notifier over these connections, which shows nothing before Run.
func newTypingNotifier(cs *connectionSet) *typingNotifier {
	cs.presence = &typingNotifier{cs, make(chan typingEvent, 256)}
	return cs.presence
}

// Active reports that an agent is at work in a thread. It never blocks.
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

// threadIn returns the chat's id of the thread of a sign; the space has several chats.
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

// NewNonce returns the random secret of one cycle's tool calls.
func NewNonce() string { return rand.Text()[:10] }
