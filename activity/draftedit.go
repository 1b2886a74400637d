package activity

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/spaces"
)

// unfinished returns a text with a sign that more will come, on a line of its own
// behind what ends with its line.
func unfinished(text string) string {
	last := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	if strings.HasSuffix(last, "```") || strings.HasSuffix(last, "~~~") || strings.HasSuffix(last, "|") {
		return text + "\n\n…"
	}
	return text + " …"
}

// editsDrafts reports whether drafts can be messages here: they are edited while they
// grow, and deleted when they are not said.
func (e *Egress) editsDrafts() bool { return e.o.Drafts != nil && e.editor != nil && e.deleter != nil }

// postOrEditDraft shows a draft as a message: the first time it is posted, then edited. at is
// its place in the chat, empty before. It reports whether it is worth going on.
//
// The row is there before the post, so that a crash leaves no message that no process
// knows of. Where the fate of a post is unknown, the message that takes the
// draft over looks for it, and nothing more is shown.
func (e *Egress) postOrEditDraft(ctx context.Context, d spaces.MessageDraft, at string) (stands string, on bool) {
	text := e.firstPart(unfinished(d.Text))
	if at != "" {
		return at, e.editDraft(ctx, d, at, text)
	}
	d.Text = text
	was, state, err := e.o.Drafts.Draft(ctx, d, time.Now())
	switch {
	case err != nil || state == DraftRefused:
		return "", false
	case state == DraftKnown && was.Message == "":
		return "", false // only the message itself may look for it
	case state == DraftKnown:
		return was.Message, e.editDraft(ctx, d, was.Message, text)
	}
	e.drafts.expect()
	if failpoint.Point("draft.begun") != nil {
		return "", false
	}
	post, err := e.postOf(ctx, d)
	if err != nil {
		return "", e.draftPostFailed(ctx, d, err)
	}
	receipt, err := e.adapter.Send(ctx, post)
	if err != nil {
		return "", e.draftPostFailed(ctx, d, err)
	}
	if failpoint.Point("draft.posted") != nil || e.o.Drafts.MarkPosted(context.WithoutCancel(ctx), d.ID, receipt.Message) != nil {
		return "", false
	}
	return receipt.Message, failpoint.Point("draft.kept") == nil
}

// postOf returns a stored draft as it is posted.
func (e *Egress) postOf(ctx context.Context, d spaces.MessageDraft) (adapters.OutgoingMessage, error) {
	p := adapters.OutgoingMessage{
		Chat: d.Chat, Thread: string(d.Thread), Text: d.Text, Key: draftKey(d.ID), Face: e.persona(spaces.Action{Agent: d.Agent}),
		Choices: e.stopButton(d),
	}
	var err error
	p.ReplyTo, p.Start, err = e.replyTarget(ctx, d.Account, d.Chat, d.Target)
	if err != nil {
		err = &adapters.Error{Kind: adapters.NotSent, Op: "prepare", Err: err}
	}
	return p, err
}

// firstPart returns as much of a text as one message holds.
func (e *Egress) firstPart(text string) string {
	parts := e.adapter.Split(text)
	if len(parts) == 0 {
		return ""
	}
	return parts[0]
}

// draftPostFailed judges a post that failed, and reports whether it is worth another. What
// may have arrived keeps its row.
func (e *Egress) draftPostFailed(ctx context.Context, d spaces.MessageDraft, err error) bool {
	kind := adapters.KindOf(err)
	if kind == adapters.Unknown {
		return false
	}
	e.limits.noteLimit(ctx, d.Chat, err)
	return e.o.Drafts.Forget(context.WithoutCancel(ctx), d.ID) == nil && !kind.Permanent()
}

// editDraft edits a posted draft.
func (e *Egress) editDraft(ctx context.Context, d spaces.MessageDraft, at, text string) bool {
	err := e.growTo(ctx, d, adapters.MessageRef{Chat: d.Chat, Thread: string(d.Thread), Message: at}, text)
	e.limits.noteLimit(ctx, d.Chat, err)
	if err == nil {
		return failpoint.Point("draft.edited") == nil
	}
	kind := adapters.KindOf(err)
	return !kind.Permanent() && kind != adapters.Moved
}

// growTo edits a posted draft and leaves it its button.
func (e *Egress) growTo(ctx context.Context, d spaces.MessageDraft, m adapters.MessageRef, text string) error {
	if e.chooser == nil {
		return e.editor.Edit(ctx, m, text)
	}
	return e.chooser.EditChoices(ctx, m, text, e.stopButton(d))
}

// stopButton returns the button below a draft, by which people stop the run.
func (e *Egress) stopButton(d spaces.MessageDraft) []adapters.ChoiceButton {
	return choiceButtons([]spaces.ChoiceButton{spaces.StopButton(d.Cycle)})
}

// takeOverDraft is the first step of an action that replaces a draft: it edits the
// draft's message to the decided text. If the message is gone, the step posts the text,
// as it would have without a draft.
func (e *Egress) takeOverDraft(a spaces.Action, s sendStep, text string) sendStep {
	post, find, buttons := s.do, s.find, s.shown.Choices
	s.shown = adapters.OutgoingMessage{} // it is
	s.do = func(ctx context.Context) (adapters.Receipt, error) {
		d, stands, err := e.postedDraft(ctx, a.Account, a.Draft)
		if err != nil {
			return adapters.Receipt{}, err
		}
		if !stands {
			return post(ctx)
		}
		if d.Chat != a.Chat { // the chat has moved, and there that name may be another message's
			if err := e.deleteDraft(ctx, d); err != nil {
				return adapters.Receipt{}, err
			}
			return post(ctx)
		}
		at := adapters.MessageRef{Chat: a.Chat, Thread: string(a.Thread), Message: d.Message}
		switch err := e.settle(ctx, at, text, buttons); {
		case err == nil:
			return adapters.Receipt{Message: d.Message, At: time.Now()}, nil
		case adapters.KindOf(err) == adapters.Unknown: // an edit may be repeated
			return adapters.Receipt{}, &adapters.Error{Kind: adapters.NotSent, Op: "edit draft", Err: err}
		case !adapters.KindOf(err).Permanent() || adapters.KindOf(err) == adapters.Forbidden:
			return adapters.Receipt{}, err
		}
		if err := e.deleteDraft(ctx, d); err != nil { // it was deleted, or is too old to be edited
			return adapters.Receipt{}, err
		}
		return post(ctx)
	}
	if find != nil {
		s.find = func(ctx context.Context) (adapters.Receipt, bool, error) {
			_, stands, err := e.postedDraft(ctx, a.Account, a.Draft)
			if err != nil || stands {
				return adapters.Receipt{}, false, err
			}
			return find(ctx)
		}
	}
	return s
}

// settle edits a draft to the decided text, with the buttons of the message.
func (e *Egress) settle(ctx context.Context, m adapters.MessageRef, text string, buttons []adapters.ChoiceButton) error {
	if e.chooser == nil || len(buttons) == 0 {
		return e.editor.Edit(ctx, m, text)
	}
	return e.chooser.EditChoices(ctx, m, text, buttons)
}

// postedDraft returns a draft whose message is in its chat. It waits for what is on
// its way of it, looks for a post whose fate is unknown, and lets go of one that
// cannot be found. All of its errors mean that nothing was sent.
func (e *Egress) postedDraft(ctx context.Context, account string, id spaces.DraftID) (d StoredDraft, stands bool, err error) {
	if ended := e.drafts.close(id); ended != nil {
		select {
		case <-ended:
		case <-ctx.Done():
			return d, false, &adapters.Error{Kind: adapters.NotSent, Op: "draft", Err: context.Cause(ctx)}
		}
	}
	all, err := e.o.Drafts.Drafts(ctx, account)
	if err != nil {
		return d, false, &adapters.Error{Kind: adapters.NotSent, Op: "draft", Err: err}
	}
	for _, d = range all {
		if d.ID == id {
			return e.findDraft(ctx, d)
		}
	}
	return d, false, nil
}

// errTooSoon says that it is too early to look for a draft whose fate is unknown.
var errTooSoon = errors.New("the platform may not show yet what it took")

// findDraft returns a stored draft with its message. A draft that was not posted is
// deleted from the store. Where the platform cannot be asked, a partial message may
// remain that Trestle cannot delete: findDraft records that.
func (e *Egress) findDraft(ctx context.Context, d StoredDraft) (StoredDraft, bool, error) {
	if d.Message != "" {
		return d, true, nil
	}
	lost := e.finder == nil
	if !lost {
		if time.Since(d.At) < resendAfter {
			return d, false, &adapters.Error{Kind: adapters.NotSent, Op: "draft", Err: errTooSoon}
		}
		p, err := e.postOf(ctx, d.MessageDraft)
		if err != nil {
			return d, false, err
		}
		p.Decided = d.At
		receipt, found, err := e.finder.Find(ctx, p)
		if err != nil && !adapters.KindOf(err).Permanent() {
			return d, false, notSentBecause("find draft", err)
		}
		if found {
			d.Message = receipt.Message
			if err := e.o.Drafts.MarkPosted(ctx, d.ID, d.Message); err != nil {
				return d, false, &adapters.Error{Kind: adapters.NotSent, Op: "draft", Err: err}
			}
			return d, true, nil
		}
		lost = err != nil
	}
	if !lost {
		return d, false, e.forgetDraft(ctx, d)
	}
	e.logger.Warn("part of a message may be left in the chat", "chat", d.Chat, "draft", string(d.ID))
	if err := e.o.Drafts.MarkLost(ctx, d.ID); err != nil {
		return d, false, &adapters.Error{Kind: adapters.NotSent, Op: "draft", Err: err}
	}
	return d, false, nil
}

// deleteDraft deletes the message of a draft and forgets it. In a chat that has moved
// it cannot be deleted any more.
func (e *Egress) deleteDraft(ctx context.Context, d StoredDraft) error {
	err := e.deleter.Delete(ctx, adapters.MessageRef{Chat: d.Chat, Thread: string(d.Thread), Message: d.Message})
	if kind := adapters.KindOf(err); err != nil && !kind.Permanent() && kind != adapters.Moved {
		return notSentBecause("delete draft", err)
	}
	return e.forgetDraft(ctx, d)
}

func (e *Egress) forgetDraft(ctx context.Context, d StoredDraft) error {
	if err := e.o.Drafts.Forget(ctx, d.ID); err != nil {
		return &adapters.Error{Kind: adapters.NotSent, Op: "draft", Err: err}
	}
	return nil
}

// deleteLeftDrafts deletes the drafts that no message will take over. It is done in the
// background, one at a time.
func (e *Egress) deleteLeftDrafts(ctx context.Context) {
	defer e.drafts.tidied()
	all, err := e.o.Drafts.Drafts(ctx, e.account.Key())
	if err != nil {
		return // the next round comes
	}
	if len(all) == 0 {
		e.drafts.clean()
	}
	for _, d := range all {
		if !d.Left || ctx.Err() != nil {
			continue
		}
		if err := e.deleteLeftDraft(ctx, d); err != nil {
			e.logger.Info("draft not deleted yet", "chat", d.Chat, "err", err)
		}
	}
}

// deleteLeftDraft deletes one draft that is left, within the chat's budget.
func (e *Egress) deleteLeftDraft(ctx context.Context, d StoredDraft) error {
	ctx, cancel := context.WithTimeout(ctx, e.o.SendLimit)
	defer cancel()
	if _, taken := e.limits.takeCall(ctx, d.Chat, time.Now()); !taken {
		return nil // soon
	}
	d, stands, err := e.postedDraft(ctx, d.Account, d.ID)
	if err != nil || !stands {
		return err
	}
	err = e.deleteDraft(ctx, d)
	e.limits.noteLimit(ctx, d.Chat, err)
	return err
}
