package activity

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// A sendTarget is the thread and the reply anchor of an action. It is resolved on first
// use and cached for all steps of the action.
type sendTarget struct {
	builder *stepBuilder
	action  spaces.Action
	found   bool
	thread  string
	anchor  string // what the first part answers where the chat has no thread for it
	start   string // of the answers among which the action's is
}

// target returns where an action goes.
func (e *stepBuilder) target(a spaces.Action) *sendTarget {
	return &sendTarget{builder: e, action: a, found: a.RoomThread == "", thread: string(a.Thread)}
}

// find finds the thread of the chat in which the room's thread goes on. Where the
// chat has none, it is opened on the message that the thread hangs on; where none
// can be, the thread is a chain of answers to that message.
func (b *sendTarget) find(ctx context.Context) error {
	if b.found {
		return nil
	}
	a, e := b.action, b.builder
	m, err := e.box.ThreadAnchor(ctx, a.Account, a.Chat, a.Space, a.RoomThread)
	if err != nil {
		return &adapters.Error{Kind: adapters.NotSent, Op: "prepare", Err: fmt.Errorf("find place of thread: %w", err)}
	}
	b.thread, b.anchor = string(m.There), m.Anchor.Message
	if b.thread == "" && b.anchor != "" && e.threader != nil {
		title, err := e.box.ThreadTitle(ctx, a.Space, a.RoomThread)
		if err != nil {
			return &adapters.Error{Kind: adapters.NotSent, Op: "prepare", Err: fmt.Errorf("find title of thread: %w", err)}
		}
		limited, cancel := context.WithTimeout(ctx, e.o.SendLimit)
		defer cancel()
		thread, err := e.threader.Thread(limited, adapters.MessageRef{Chat: a.Chat, Message: b.anchor}, title)
		switch {
		case err == nil:
			b.thread = thread
		case !adapters.KindOf(err).Permanent():
			return notSentBecause("open thread", err)
		default:
			e.logger.Info("thread is a chain of answers", "chat", a.Chat, "thread", string(a.RoomThread), "err", err)
		}
	}
	b.found = true
	return nil
}

// notSentBecause is what a failure means for the step that was to follow: nothing of it
// was sent.
func notSentBecause(op string, err error) error {
	kind := adapters.KindOf(err)
	if kind == adapters.Unknown {
		kind = adapters.NotSent
	}
	wait, _ := adapters.RetryDelay(err)
	return &adapters.Error{Kind: kind, Op: op, RetryAfter: wait, Err: err}
}

// in returns p as it is posted there. The part that answers nothing and is the
// first joins the chain.
func (b *sendTarget) in(ctx context.Context, p adapters.OutgoingMessage, first bool) (adapters.OutgoingMessage, error) {
	if err := b.find(ctx); err != nil {
		return p, err
	}
	p.Thread = b.thread
	if p.Thread != "" && p.ReplyTo == b.anchor {
		p.ReplyTo = "" // being in the thread answers it
	}
	if first && p.Thread == "" && p.ReplyTo == "" {
		p.ReplyTo = b.anchor
	}
	return p, nil
}

// ref returns a message of the action as its chat names it.
func (b *sendTarget) ref(ctx context.Context, r spaces.MessageRef) (adapters.MessageRef, error) {
	err := b.find(ctx)
	return adapters.MessageRef{Chat: b.action.Chat, Thread: b.thread, Message: r.Message}, err
}
