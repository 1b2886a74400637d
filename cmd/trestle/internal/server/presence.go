package server

import (
	"context"
	"crypto/rand"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// typingNotifier shows in every chat of a space that an agent is typing. It drops signs that
// come faster than platforms take them.
type typingNotifier struct {
	conns *connectionSet
	signs chan typingEvent
}

type typingEvent struct {
	spaces.RunSign
	rested <-chan bool
}

// newTypingNotifier returns a notifier over these connections, which shows nothing before Run.
func newTypingNotifier(cs *connectionSet) *typingNotifier {
	cs.presence = &typingNotifier{cs, make(chan typingEvent, 256)}
	return cs.presence
}

// Active implements [shell.TypingNotifier].
func (t *typingNotifier) Active(s spaces.RunSign, rested <-chan bool) {
	select {
	case t.signs <- typingEvent{s, rested}:
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
	chats, err := t.conns.mapping.External(ctx, s.Space)
	if err != nil {
		t.conns.Log.Debug("chats of a space not readable", "space", s.Space, "error", err)
		return
	}
	for _, c := range chats {
		if out := t.conns.egress(c.Account); out != nil {
			thread := t.threadIn(ctx, c, s.Space, s.Thread, len(chats))
			at := adapters.MessageRef{Chat: c.Chat, Thread: string(thread)}
			here := c.Account == s.Message.Account && c.Chat == s.Message.Chat
			if here {
				at.Message = s.Message.Message
			}
			if here || s.Message.IsZero() {
				sign := s.RunSign
				sign.Asked = t.askedIn(ctx, c, s, len(chats))
				out.ShowRun(sign, thread, s.rested)
			}
			out.Typing(ctx, at)
		}
	}
}

// askedIn returns those of the messages that a run works on which are in a chat, with their
// threads as the chat calls them.
func (t *typingNotifier) askedIn(ctx context.Context, c spaces.ChatMapping, s typingEvent, several int) (all []spaces.AckReaction) {
	for _, k := range s.Asked {
		if k.Message.Account == c.Account && k.Message.Chat == c.Chat {
			k.Thread = t.threadIn(ctx, c, s.Space, k.Thread, several)
			all = append(all, k)
		}
	}
	return all
}

// threadIn returns the chat's id of a thread of a space, which has several chats.
func (t *typingNotifier) threadIn(ctx context.Context, c spaces.ChatMapping, space spaces.SpaceID, thread spaces.ThreadID, several int) spaces.ThreadID {
	if thread == "" || several < 2 {
		return thread
	}
	m, err := t.conns.Store.Border().ThreadAnchor(ctx, c.Account, c.Chat, space, thread)
	if err != nil {
		t.conns.Log.Debug("thread of a space not readable", "space", space, "error", err)
	}
	return m.There
}

// drafts shows partial answers through the egresses of this process. An account that another
// process serves shows none.
type drafts struct{ conns *connectionSet }

var _ shell.DraftDisplay = drafts{}

// Shows implements [shell.Drafts].
func (d drafts) Shows(account, chat string, p spaces.StreamingPolicy) bool {
	out := d.conns.egress(account)
	return out != nil && out.ShowsDrafts(chat, p)
}

// Show implements [shell.Drafts].
func (d drafts) Show(x spaces.MessageDraft) {
	if out := d.conns.egress(x.Account); out != nil {
		out.ShowDraft(x)
	}
}

// Over implements [shell.Drafts].
func (d drafts) Over(x spaces.MessageDraft) {
	if out := d.conns.egress(x.Account); out != nil {
		out.EndDraft(x.ID)
	}
}

// NewNonce returns the random secret of one cycle's tool calls.
func NewNonce() string { return rand.Text()[:10] }
