package activity

import (
	"context"
	"errors"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/retry"
	"github.com/trestle-bridge/trestle/spaces"
)

// deliver takes a claimed action as far as it goes now: to its end, or back to the
// outbox. Once stopping is closed no further part is begun. It reports whether all of
// it was sent.
func (e *Egress) deliver(ctx context.Context, stopping <-chan struct{}, a spaces.Action) (sent bool) {
	var steps []sendStep
	err := e.catchPanic("prepare "+string(a.Kind), func() (err error) {
		steps, err = e.steps(ctx, a)
		return err
	})
	if err != nil {
		if _, final := errors.AsType[*adapters.Error](err); !final { // the record's trouble, no platform's
			err = &adapters.Error{Kind: adapters.NotSent, Op: "prepare", Err: err}
		}
		e.recordResult(ctx, a, e.resultOf(ctx, a, err, sendStep{repeatable: true}))
		return false
	}
	if a.Kind == spaces.ActSend && a.Draft != "" && e.editsDrafts() && !steps[0].file {
		steps[0] = e.takeOverDraft(a, steps[0], steps[0].shown.Text)
	}
	if a.Part >= len(steps) {
		return e.recordResult(ctx, a, SendResult{State: spaces.ActionSent}) // only the last receipt's word was missing
	}
	for n := a.Part; n < len(steps); n++ {
		if s, back := e.waitTurn(ctx, stopping, a, steps[n]); back {
			e.recordResult(ctx, a, s)
			return false
		}
		receipt, err := e.attempt(ctx, a, &steps[n])
		if err != nil {
			e.recordResult(ctx, a, e.resultOf(ctx, a, err, steps[n]))
			return false
		}
		a.Part++
		if !e.recordResult(ctx, a, acceptedResult(a, receipt, steps[n], n == len(steps)-1)) {
			return false
		}
		e.markReachable(ctx, a, steps[n])
		a.Attempts, a.Resent = 1, false // of the next part
		if n < len(steps)-1 && failpoint.Point("send.part") != nil {
			e.recordResult(ctx, a, retryAt(a, time.Now()))
			return false
		}
	}
	e.acks.answered(a, time.Now())
	if err := failpoint.Point("receipt.committed"); err != nil {
		e.logger.Error("after receipt", "action", string(a.ID), "err", err)
	}
	return true
}

// markReachable notes that the platform took a step: where words arrive, a chat that had
// refused us is in reach.
func (e *Egress) markReachable(ctx context.Context, a spaces.Action, of sendStep) {
	if a.Kind != spaces.ActSend || of.file {
		return
	}
	if err := e.mapping.MarkReachable(ctx, a.Account, a.Chat, time.Now()); err != nil {
		e.logger.Error("chat not marked as in reach", "chat", a.Chat, "err", err)
	}
}

// waitTurn waits until the action may go to the wire, and shows meanwhile what is to
// come. If it may not soon, or not at all any more, it says what the action goes back
// as.
func (e *Egress) waitTurn(ctx context.Context, stopping <-chan struct{}, a spaces.Action, step sendStep) (s SendResult, back bool) {
	now := time.Now()
	if until := e.outage.pausedUntil(); until.After(now) {
		return retryAt(a, until), true
	}
	if wait := e.waitResend(ctx, a, step); wait > 0 {
		return retryAt(a, time.Now().Add(wait)), true
	}
	now = time.Now()
	if e.outage.long(now) { // the next send is the first of a recovery
		e.backlog.begin(now)
	}
	if wait := e.backlog.take(a, now); wait > 0 {
		return retryAt(a, now.Add(wait)), true
	}
	wait, taken := e.limits.takeCall(ctx, a.Chat, now)
	if taken || !e.limits.mayBeLimited(a.Chat, now) {
		e.preview(ctx, step.shown, wait)
	}
	if !taken {
		e.backlog.giveBack(a)
		return retryAt(a, now.Add(wait)), true
	}
	if retry.WaitFor(ctx, stopping, time.Until(now.Add(wait))); ctx.Err() != nil || closed(stopping) {
		return retryAt(a, time.Now()), true
	}
	now = time.Now()
	if held := e.limits.perChat.held(a.Chat, now); held > 0 { // since it took its turn
		e.backlog.giveBack(a)
		return retryAt(a, now.Add(held)), true
	}
	if !e.o.OwnsAccount() {
		e.backlog.giveBack(a)
		return retryAt(a, now.Add(poll)), true
	}
	if expired(a, now) {
		return expiredResult(a), true
	}
	if e.wasStopped(ctx, a) { // the outbox cancels what comes back
		e.backlog.giveBack(a)
		return retryAt(a, now), true
	}
	return SendResult{}, false
}

// wasStopped reports whether a person has stopped the run of an action. One that cannot be
// looked up counts as stopped for now: it goes back to the outbox, which is out of reach.
func (e *Egress) wasStopped(ctx context.Context, a spaces.Action) bool {
	if a.Cycle == "" {
		return false
	}
	stopped, err := e.o.Stopped(ctx, a.Cycle)
	if err != nil {
		e.logger.Warn("run not looked up before a send", "action", string(a.ID), "err", err)
	}
	return stopped || err != nil
}

// closed reports whether a channel that is only ever closed is.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// attempt makes one step, but first looks whether an earlier attempt with an unknown
// outcome has arrived, where the platform can tell. A look that fails leaves the
// action as it was; one that the platform does not allow leaves it to the policy.
func (e *Egress) attempt(ctx context.Context, a spaces.Action, s *sendStep) (adapters.Receipt, error) {
	if !a.Resent || s.find == nil {
		return e.call(ctx, *s)
	}
	limited, cancel := context.WithTimeout(ctx, e.o.SendLimit)
	defer cancel()
	var receipt adapters.Receipt
	var found bool
	err := e.catchPanic("find", func() (err error) {
		receipt, found, err = s.find(limited)
		return err
	})
	switch {
	case found:
		e.logger.Info("an earlier attempt arrived", "action", string(a.ID), "chat", a.Chat, "part", a.Part)
		return receipt, nil
	case err == nil:
		return e.call(ctx, *s)
	case !adapters.KindOf(err).Permanent():
		return receipt, err
	case mayResend(a):
		return e.call(ctx, *s)
	}
	s.find = nil // and so its fate stays unknown
	return receipt, &adapters.Error{Kind: adapters.Unknown, Op: "find", Err: errors.New("the platform does not let us look")}
}

// resendTime returns when what was being sent can be looked for; zero when it cannot.
func (e *Egress) resendTime() time.Time {
	if e.finder == nil {
		return time.Time{}
	}
	return time.Now().Add(resendAfter)
}

// previewAfter is how long a part must have to wait before it is worth showing.
const previewAfter = 300 * time.Millisecond

// preview shows a part that has to wait, where the platform can show what is no
// message (a draft fades by itself, so that the message is never there
// twice). Its failure is ignored.
func (e *Egress) preview(ctx context.Context, p adapters.OutgoingMessage, wait time.Duration) {
	if e.draftShower == nil || p.Text == "" || wait < previewAfter {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, min(wait, e.o.SendLimit))
	defer cancel()
	err := e.catchPanic("preview", func() error { return e.draftShower.Preview(ctx, p) })
	e.limits.noteLimit(ctx, p.Chat, err)
	if err == nil {
		_ = failpoint.Point("preview.shown") // only a kill concerns anybody
	}
}

// call makes one step under the send limit. The receipt's fault point represents
// a process that dies with the platform's yes in its hand.
func (e *Egress) call(ctx context.Context, s sendStep) (adapters.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, e.o.SendLimit)
	defer cancel()
	var receipt adapters.Receipt
	err := e.catchPanic("send", func() (err error) {
		receipt, err = s.do(ctx)
		return err
	})
	if err != nil {
		if !e.noteAnswer(err) {
			k := adapters.KindOf(err)
			e.outage.noteFailure(time.Now(), failureText(k, err), k == adapters.Unknown)
		}
		return receipt, err
	}
	if e.outage.active() { // the platform accepted a call: the credentials are good
		e.Resume()
	}
	return receipt, failpoint.Point("send.accepted")
}

// acceptedResult is the settlement of a step the platform took, which a.Part counts.
func acceptedResult(a spaces.Action, r adapters.Receipt, done sendStep, last bool) SendResult {
	s := SendResult{State: spaces.ActionSending, Part: a.Part, File: done.file}
	if last {
		s.State, s.Gone = spaces.ActionSent, done.gone
	}
	if r.Message != "" {
		s.Ref = spaces.MessageRef{Account: a.Account, Chat: a.Chat, Message: r.Message}
	}
	return s
}

// retryAt sends an action back without an attempt.
func retryAt(a spaces.Action, at time.Time) SendResult {
	return SendResult{State: spaces.ActionReady, NotBefore: beforeExpiry(a, at), Resent: a.Resent}
}

// beforeExpiry returns at, or the action's expiry if that comes first, so that the
// outbox looks at it again in time to say that it expired.
func beforeExpiry(a spaces.Action, at time.Time) time.Time {
	if !a.Expires.IsZero() && a.Expires.Before(at) {
		return a.Expires
	}
	return at
}

// expiredResult is the settlement of an action whose time is over. One that may have
// arrived is unknown.
func expiredResult(a spaces.Action) SendResult {
	if a.Resent {
		return SendResult{State: spaces.ActionUnknown, Code: adapters.Unknown.String(), Reason: spaces.ReasonLateUnknown}
	}
	return SendResult{State: spaces.ActionExpired, Code: "expired", Reason: spaces.ReasonLate}
}

func expired(a spaces.Action, now time.Time) bool {
	return !a.Expires.IsZero() && !now.Before(a.Expires)
}
