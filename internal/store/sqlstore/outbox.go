package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

// Partial indexes are used where a statement repeats their condition word by word.
const (
	dueActions engine.QueryText = `select ` + tables.ActionColumns + ` from outbox o
where o.account = $1 and o.state in ('ready', 'sending') and o.state = 'ready' and o.not_before <= $2 and ` + tables.IsLaneHead + ` order by o.n limit $3 + 0`
	lateActions engine.QueryText = `select ` + tables.ActionColumns + ` from outbox o
where o.account = $1 and o.state in ('ready', 'sending') and o.state = 'ready' and o.expires > 0 and o.expires <= $2 order by o.n`
	nextAction engine.QueryText = `select
  (select min(case when o.expires > 0 and o.expires < o.not_before then o.expires else o.not_before end)
   from outbox o where o.account = $1 and o.state in ('ready', 'sending') and o.state = 'ready' and ` + tables.IsLaneHead + `),
  (select min(expires) from outbox where account = $1 and state in ('ready', 'sending') and state = 'ready' and expires > 0),
  exists (select 1 from outbox where account = $1 and state in ('ready', 'sending') and state = 'ready')`
	leftActions engine.QueryText = `select ` + tables.ActionColumns + ` from outbox o where o.account = $1 and o.state in ('ready', 'sending') and o.state = 'sending' order by o.n`
	// hurryActions !What was created in the future waits by a clock that was set back
	// since.
	hurryActions engine.QueryText = `update outbox set not_before = $2
where account = $1 and state in ('ready', 'sending') and state = 'ready' and not_before > $2 and created > $3`
	soonerActions engine.QueryText = `update outbox set not_before = case when not_before - $3 > $2 then not_before - $3 else $2 end
where account = $1 and state in ('ready', 'sending') and state = 'ready' and not_before > $2`
	oneAction  engine.QueryText = `select ` + tables.ActionColumns + ` from outbox o where o.id = $1`
	sendAction engine.QueryText = `update outbox set state = 'sending', attempts = attempts + 1 where id = $1`
	// whereStarts !The search for the first message of a reply chain ends after a
	// thousand replies.
	whereStarts engine.QueryText = `with recursive chain (event, n) as (
  select e.id, 0 from events e where e.id = $3
  union all
  select e.reply_to, c.n + 1 from chain c join events e on e.id = c.event
  where e.reply_to <> '' and c.n < 1000 and exists (select 1 from messages m where m.event = e.reply_to and m.account = $1 and m.chat = $2))
select m.message from chain c cross join messages m where m.event = c.event and m.account = $1 and m.chat = $2 order by c.n desc, m.part limit 1`
	whereIs    engine.QueryText = `select account, chat, message, part from messages where account = $1 and chat = $2 and event = $3 order by part`
	noticeRefs engine.QueryText = `select refs from outbox where id = $1`
)

// maxAhead is how far in the future an action may have been created, by clocks that
// differ a little.
const maxAhead = time.Minute

// maxRecoveries bounds the duplicates of one part after crashes.
const maxRecoveries = 5

// Claim implements [activity.Outbox].
func (b OutboxStore) Claim(ctx context.Context, account string, at time.Time, limit int) ([]spaces.Action, error) {
	head, late, _, err := b.nextDue(ctx, account)
	if now := b.s.clock().ToShared(at); err != nil || !isDue(head, now) && !isDue(late, now) {
		return nil, err
	}
	var claimed []spaces.Action
	err = b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if isDue(late, t.Clock().ToShared(at)) {
			if err := t.outbox.expireDue(ctx, account, at); err != nil {
				return err
			}
		}
		due, err := engine.AllRows(ctx, t, dueActions, []any{account, t.SharedMillis(at), limit}, tables.ScanAction)
		if err != nil {
			return err
		}
		for _, o := range due {
			if err := t.Run(ctx, sendAction, string(o.ID)); err != nil {
				return err
			}
			o.State = spaces.ActionSending
			o.Attempts++
			o.NotBefore, o.Expires = t.Clock().ToLocal(o.NotBefore), t.Clock().ToLocal(o.Expires)
			claimed = append(claimed, o.Action)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("claim actions of %s: %w", account, err)
	}
	if len(claimed) == 0 {
		return nil, nil
	}
	return claimed, failpoint.Point("outbox.sending")
}

// expireDue ends the actions that have expired.
func (t *outboxTx) expireDue(ctx context.Context, account string, at time.Time) error {
	late, err := engine.AllRows(ctx, t, lateActions, []any{account, t.SharedMillis(at)}, tables.ScanAction)
	if err != nil {
		return err
	}
	for _, o := range late {
		o.State, o.Code, o.Reason = spaces.ActionExpired, "expired", spaces.ReasonLate
		if o.Resent { // it may have arrived
			o.State, o.Code, o.Reason = spaces.ActionUnknown, "unknown", spaces.ReasonLateUnknown
		}
		if err := t.finish(ctx, o, at); err != nil {
			return err
		}
	}
	return nil
}

// Next implements [activity.Outbox].
func (b OutboxStore) Next(ctx context.Context, account string) (due time.Time, waiting bool, err error) {
	head, late, waiting, err := b.nextDue(ctx, account)
	if head == nil || late != nil && *late < *head {
		head = late
	}
	switch {
	case err != nil || !waiting:
		return time.Time{}, false, err
	case head == nil:
		return distant, true, nil
	}
	return b.s.clock().ToLocal(engine.FromMillis(*head)), true, nil
}

// distant is the due time of an action that no time makes due.
var distant = time.Unix(1<<40, 0)

// nextDue returns when the first head of a lane is due and when the first action
// expires; nil for never. It also reports whether any action waits.
func (b OutboxStore) nextDue(ctx context.Context, account string) (head, late *int64, waiting bool, err error) {
	if _, err := engine.ScanRow(ctx, b.s.engine, nextAction, []any{account}, &head, &late, &waiting); err != nil {
		return nil, nil, false, fmt.Errorf("read next action of %s: %w", account, err)
	}
	return head, late, waiting, nil
}

// isDue reports whether a stored instant is not after at.
func isDue(ms *int64, at time.Time) bool { return ms != nil && !engine.FromMillis(*ms).After(at) }

// Recover implements [activity.Outbox]. Actions that may be repeated, by their kind or
// policy, are ready again; the others, and those that were repeated too often, become
// unknown.
func (b OutboxStore) Recover(ctx context.Context, account string, at time.Time, carried func() []spaces.ActionID, look time.Time) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		left, err := engine.AllRows(ctx, t, leftActions, []any{account}, tables.ScanAction)
		if err != nil {
			return err
		}
		var held []spaces.ActionID
		if carried != nil {
			held = carried()
		}
		for _, o := range left {
			if slices.Contains(held, o.ID) {
				continue
			}
			ready := at
			if o.Kind == spaces.ActSend && !look.IsZero() {
				ready = look
			}
			again := o.Kind != spaces.ActSend || o.Policy == spaces.ResendOnce || !look.IsZero()
			if !again && o.Draft != "" { // an edit of a posted message may be repeated
				if again, err = engine.QueryBool(ctx, t, draftStands, string(o.Draft)); err != nil {
					return err
				}
			}
			if again && o.Attempts <= maxRecoveries {
				o.State, o.Resent, o.NotBefore = spaces.ActionReady, true, t.Clock().ToShared(ready)
				err = t.outbox.save(ctx, o, time.Time{})
			} else {
				o.State, o.Code = spaces.ActionUnknown, "unknown"
				o.Reason = "The process ended while this was being sent. Nobody can tell whether it arrived, so it is not sent again."
				err = t.outbox.finish(ctx, o, at)
			}
			if err != nil {
				return err
			}
		}
		return t.Run(ctx, hurryActions, account, t.SharedMillis(at), t.SharedMillis(at.Add(maxAhead)))
	})
	if err != nil {
		return fmt.Errorf("recover outbox of %s: %w", account, err)
	}
	return nil
}

// ShiftDue implements [activity.Outbox].
func (b OutboxStore) ShiftDue(ctx context.Context, account string, by time.Duration, at time.Time) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if !t.Clock().Own.IsZero() { // due times are by the server's clock
			return nil
		}
		return t.Run(ctx, soonerActions, account, engine.ToMillis(at), by.Milliseconds())
	})
	if err != nil {
		return fmt.Errorf("hurry outbox of %s: %w", account, err)
	}
	return nil
}

// firstFilePart is the part number of the first file of a message; the parts of its text
// have lower ones.
const firstFilePart = 1 << 16

// isNotice reports whether the target of an action is a message of the process, which is no
// event: the target is then the id of the action that sent it.
func isNotice(target spaces.EventID) bool { return strings.HasPrefix(string(target), "notice|") }

// MessageRefs implements [activity.Outbox].
func (b OutboxStore) MessageRefs(ctx context.Context, account, chat string, message spaces.EventID) (words, files []spaces.MessageRef, err error) {
	if message == "" {
		return nil, nil, nil
	}
	if isNotice(message) {
		_, err = engine.ScanRow(ctx, b.s.engine, noticeRefs, []any{string(message)}, engine.ScanList(&words))
		return words, nil, err
	}
	err = engine.EachRow(ctx, b.s.engine, whereIs, []any{account, chat, string(message)}, func(r engine.ResultRow) error {
		var f spaces.MessageRef
		var part int
		err := r.Scan(&f.Account, &f.Chat, &f.Message, &part)
		if part >= firstFilePart {
			files = append(files, f)
		} else {
			words = append(words, f)
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("look up message %s: %w", message, err)
	}
	return words, files, nil
}

// ReplyRoot implements [activity.Outbox].
func (b OutboxStore) ReplyRoot(ctx context.Context, account, chat string, message spaces.EventID) (start string, err error) {
	if _, err := engine.ScanRow(ctx, b.s.engine, whereStarts, []any{account, chat, string(message)}, &start); err != nil {
		return "", fmt.Errorf("look up start of answers to %s: %w", message, err)
	}
	return start, nil
}
