package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	storeAction engine.QueryText = `update outbox set state = r.state, chat = r.chat, part = r.part, attempts = r.attempts, not_before = r.not_before, refs = r.refs,
  resent = r.resent, code = r.code, reason = r.reason, settled = r.settled
from (select cast($1 as text) as id, cast($2 as text) as state, cast($3 as text) as chat, cast($4 as bigint) as part, cast($5 as bigint) as attempts,
  cast($6 as bigint) as not_before, cast($7 as text) as refs, cast($8 as bigint) as resent, cast($9 as text) as code, cast($10 as text) as reason,
  cast($11 as bigint) as settled) r where outbox.id = r.id`
	resendAction engine.QueryText = `update outbox set state = 'ready', attempts = 0, not_before = $2, expires = $3, code = '', reason = '', settled = 0,
  resent = case when state = 'unknown' then 1 else resent end
where id = $1 and kind = 'send' and agent <> '' and (state = 'unknown' or state = 'failed' or state = 'expired')
  and not exists (select 1 from cycles y where y.id = outbox.cycle and y.halted >= 2)`
	dropMessage engine.QueryText = `delete from messages where account = $1 and chat = $2 and message = $3`
)

// Settle implements [activity.Outbox]. An action that is final already does not change:
// the caller repeats a settlement whose result it did not get.
func (b OutboxStore) Settle(ctx context.Context, at time.Time, settlements []activity.SendResult) error {
	err := b.s.writeFrequent(ctx, func(ctx context.Context, t *storeTx) error {
		for _, s := range settlements {
			if err := t.outbox.settle(ctx, at, s); err != nil {
				return fmt.Errorf("action %s: %w", s.Action, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	return nil
}

// ResendAction has an agent's message that was not delivered, or of which that is unknown, be sent from the part that
// it had reached, until it expires; zero is never. It returns the account, or nothing of any other action.
func (b OutboxStore) ResendAction(ctx context.Context, id spaces.ActionID, at, expires time.Time) (account string, err error) {
	err = b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		n, err := t.Exec(ctx, resendAction, string(id), t.SharedMillis(at), t.SharedMillis(expires))
		if err != nil || n == 0 {
			return err
		}
		o, err := engine.FirstRow(ctx, t, oneAction, []any{string(id)}, tables.ScanAction)
		if err == nil && o != nil {
			account = o.Account
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("send action %s again: %w", id, err)
	}
	return account, nil
}

// DropAction cancels an agent's message that waits to be sent, or of which it is unknown whether it was
// delivered. It reports whether there is one.
func (b OutboxStore) DropAction(ctx context.Context, id spaces.ActionID, at time.Time) (dropped bool, err error) {
	err = b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		o, err := engine.FirstRow(ctx, t, oneAction, []any{string(id)}, tables.ScanAction)
		if err != nil || o == nil || o.Agent == "" || o.State != spaces.ActionReady && o.State != spaces.ActionUnknown {
			return err
		}
		dropped = true
		return t.outbox.cancel(ctx, *o, at)
	})
	if err != nil {
		return false, fmt.Errorf("drop action %s: %w", id, err)
	}
	return dropped, nil
}

// An outboxTx changes the state of actions.
type outboxTx struct {
	*writeTx
	space  *spaceTx
	thread *threadTx
	event  *eventTx
	wait   *waitTx
}

func (t *outboxTx) settle(ctx context.Context, at time.Time, s activity.SendResult) error {
	o, known := t.cache.recent.sending[s.Action]
	if !known {
		found, err := engine.FirstRow(ctx, t, oneAction, []any{string(s.Action)}, tables.ScanAction)
		if err != nil {
			return err
		}
		if found == nil {
			return engine.ErrUnknown
		}
		o = *found
	}
	delete(t.cache.recent.sending, s.Action)
	if isFinal(o.State) {
		t.log.Warn("action is final already", "action", o.ID, "state", o.State, "settlement", s.State)
		return nil
	}
	switch s.State {
	case spaces.ActionSent, spaces.ActionSending:
		return t.acceptPart(ctx, o, s, at)
	case spaces.ActionReady:
		return t.retryLater(ctx, o, s, at)
	case spaces.ActionUnknown, spaces.ActionFailed, spaces.ActionExpired, spaces.ActionCancelled:
		o.State, o.Code, o.Reason = s.State, s.Code, s.Reason
		return t.finish(ctx, o, at)
	}
	return fmt.Errorf("no settlement is called %q", s.State)
}

// isFinal reports whether an action has its final state. An unknown one may still be
// settled.
func isFinal(s spaces.ActionState) bool {
	switch s {
	case spaces.ActionSent, spaces.ActionFailed, spaces.ActionExpired, spaces.ActionCancelled:
		return true
	case spaces.ActionReady, spaces.ActionSending, spaces.ActionUnknown:
		return false
	}
	return false
}

// acceptPart counts one part as delivered, and with the last one the action.
func (t *outboxTx) acceptPart(ctx context.Context, o tables.StoredAction, s activity.SendResult, at time.Time) error {
	if s.Part > 0 && s.Part <= o.Part {
		return nil // stored before; the caller did not get the result
	}
	if !s.Ref.IsZero() {
		event := o.Event
		if o.Kind == spaces.ActEdit && !isNotice(o.Target) {
			event = o.Target // a further part of the edited message
		}
		part := o.Part
		if s.File {
			part += firstFilePart
		}
		err := t.Add(ctx, messageRows, s.Ref.Account, s.Ref.Chat, s.Ref.Message, string(o.Space), string(event), part, 1)
		if err != nil {
			return fmt.Errorf("store receipt: %w", err)
		}
		o.Refs = append(o.Refs, s.Ref)
	}
	for _, r := range s.Gone {
		if err := t.Run(ctx, dropMessage, r.Account, r.Chat, r.Message); err != nil {
			return fmt.Errorf("delete a part: %w", err)
		}
	}
	if o.Draft != "" && o.Part == 0 {
		if err := t.Run(ctx, deleteDraft, string(o.Draft)); err != nil {
			return fmt.Errorf("delete draft: %w", err)
		}
	}
	o.State, o.Part, o.Attempts, o.Resent, o.Code, o.Reason = s.State, o.Part+1, 0, false, "", ""
	if s.State == spaces.ActionSending {
		o.Attempts = 1 // of the next part, which is being sent
		return t.save(ctx, o, time.Time{})
	}
	if err := t.save(ctx, o, at); err != nil {
		return err
	}
	if o.Kind != spaces.ActSend || o.Agent == "" {
		return nil
	}
	return t.appendOutcome(ctx, o, spaces.ActionDelivered{Message: o.Event, Action: o.ID, Refs: o.Refs}, at)
}

// retryLater makes an action ready again, unless a person has stopped its run. Without a
// code there was no attempt.
func (t *outboxTx) retryLater(ctx context.Context, o tables.StoredAction, s activity.SendResult, at time.Time) error {
	var halted int
	if _, err := engine.ScanRow(ctx, t, isHalted, []any{string(o.Cycle)}, &halted); err != nil {
		return err
	}
	if halted >= haltedUnsent {
		return t.cancel(ctx, o, at)
	}
	o.State, o.NotBefore, o.Code, o.Reason = spaces.ActionReady, t.Clock().ToShared(s.NotBefore), s.Code, s.Reason
	o.Resent = o.Resent || s.Resent
	if s.Code == "" {
		o.Attempts = max(o.Attempts-1, 0)
	}
	o.Chat = cmp.Or(s.MovedTo, o.Chat)
	return t.save(ctx, o, time.Time{})
}

// finish ends an action that was not delivered, or whose delivery is unknown, and
// appends the outcome.
func (t *outboxTx) finish(ctx context.Context, o tables.StoredAction, at time.Time) error {
	if err := t.save(ctx, o, at); err != nil {
		return err
	}
	if o.Agent == "" && o.State == spaces.ActionFailed && o.Kind == spaces.ActSend && isNotice(spaces.EventID(o.ID)) {
		return t.refuseNotice(ctx, o.ID, at)
	}
	if o.Agent == "" {
		return nil
	}
	if err := t.wait.settleUndelivered(ctx, o, at); err != nil {
		return err
	}
	return t.appendOutcome(ctx, o, spaces.SendFailed{Message: o.Event, Action: o.ID, State: o.State, Code: o.Code, Reason: o.Reason, Problem: string(alerts.OfDelivery(o.Code))}, at)
}

// appendOutcome appends the outcome of an action to its space, caused by its message.
func (t *outboxTx) appendOutcome(ctx context.Context, o tables.StoredAction, fact spaces.EventBody, at time.Time) error {
	return t.event.append(ctx, &spaces.Event{
		Space: o.Space, Branch: spaces.Primary, Object: spaces.ChatObject, Thread: cmp.Or(o.RoomThread, o.Thread), At: at, RecvAt: at,
		Cause: o.Event, Root: o.Root, Depth: o.Depth, Body: fact,
	})
}

// save stores an action. settled is when it became final; zero if it is not.
func (t *outboxTx) save(ctx context.Context, o tables.StoredAction, settled time.Time) error {
	err := t.Add(ctx, settledRows, string(o.ID), string(o.State), o.Chat, o.Part, o.Attempts, engine.CeilMillis(o.NotBefore), engine.EncodeList(o.Refs), o.Resent,
		o.Code, o.Reason, t.SharedMillis(settled))
	if err != nil {
		return fmt.Errorf("store action: %w", err)
	}
	return nil
}
