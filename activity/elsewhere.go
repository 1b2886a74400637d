package activity

import (
	"context"
	"errors"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/spaces"
)

// threadGone introduces a message that is posted in the chat because its thread no
// longer exists.
const threadGone = "*(The thread that this belongs to is closed or gone.)*"

// outsideThread returns the parts of an action, and the first for where its face cannot be
// shown, as they are posted in the chat itself, when its thread is not there any
// more: with a hint, if that takes no further part. None are returned for an action outside
// threads.
func (e *stepBuilder) outsideThread(a spaces.Action, parts []string, unmasked string) ([]string, string) {
	if a.Thread == "" && a.RoomThread == "" || len(parts) == 0 {
		return nil, ""
	}
	a.Text = threadGone + "\n\n" + a.Text
	if hinted, masked := e.parts(a); len(hinted) == len(parts) {
		return hinted, masked
	}
	return parts, unmasked
}

// elsewhere is a step that posts its part in the chat itself, as text or unmasked, when the platform
// says that the thread is closed or not there. That is a definite refusal, so the
// part is there once. Where the chat refuses it too, the first refusal counts.
func (e *stepBuilder) elsewhere(at *sendTarget, s sendStep, text, unmasked string) sendStep {
	post, find := s.do, s.find
	outside := func() adapters.OutgoingMessage {
		p := s.shown
		p.Text, p.Unmasked, p.Thread, p.ReplyTo, p.Start, p.Broadcast = text, unmasked, "", "", "", false
		return p
	}
	s.do = func(ctx context.Context) (adapters.Receipt, error) {
		receipt, err := post(ctx)
		if !at.refused(err) {
			return receipt, err
		}
		receipt, wider := e.adapter.Send(ctx, outside())
		if adapters.KindOf(wider).Permanent() && wider != nil {
			return receipt, err
		}
		if wider == nil {
			e.logger.Info("thread is gone, said in the chat", "action", string(at.action.ID), "chat", at.action.Chat, "thread", at.thread, "err", err)
		}
		return receipt, wider
	}
	if find != nil {
		s.find = func(ctx context.Context) (adapters.Receipt, bool, error) {
			receipt, found, err := find(ctx)
			if found || err != nil && !at.refused(err) {
				return receipt, found, err
			}
			if there, foundThere, errThere := e.finder.Find(ctx, outside()); foundThere || err != nil {
				return there, foundThere, errThere
			}
			return receipt, found, err
		}
	}
	return s
}

// refused reports whether err says that the thread of the action is closed or not there.
func (b *sendTarget) refused(err error) bool {
	e, ok := errors.AsType[*adapters.Error](err)
	return ok && e.Kind == adapters.NoTarget && b.found && b.thread != ""
}
