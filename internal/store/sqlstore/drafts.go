package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/activity/access"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// draftColumns !A draft is left over when no message can take it over any more: its
	// step is decided or its cycle has ended, and no action with it is still to be sent.
	draftColumns engine.QueryText = `d.id, d.cycle, d.step, d.agent, d.space, d.account, d.chat, d.thread, d.target, d.text, d.message, d.at,
  case when exists (select 1 from outbox o where o.cycle = d.cycle and o.cycle <> '' and o.draft = d.id and o.state in ('ready', 'sending')) then 0
  when exists (select 1 from cycles y where y.id = d.cycle and y.state = 'open' and y.halted = 0)
    and not exists (select 1 from steps s where s.cycle = d.cycle and s.n = d.step and s.state = 'done') then 0
  else 1 end`
	// draftsOf !A lost draft has no text.
	draftsOf engine.QueryText = `select ` + draftColumns + ` from drafts d where d.account = $1 and length(d.text) > 0 order by d.at, d.id`
	oneDraft engine.QueryText = `select ` + draftColumns + ` from drafts d where d.id = $1`
	mayDraft engine.QueryText = `select exists (select 1 from cycles y where y.id = $1 and y.state = 'open' and y.halted = 0
  and not exists (select 1 from steps s where s.cycle = y.id and s.n = $2 and s.state = 'done'))`
	insertDraft engine.QueryText = `insert into drafts (id, cycle, step, agent, space, account, chat, thread, target, text, at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
	placeDraft  engine.QueryText = `update drafts set message = $2 where id = $1`
	deleteDraft engine.QueryText = `delete from drafts where id = $1 and length(text) > 0`
	loseDraft   engine.QueryText = `update drafts set text = $2 where id = $1 and message = ''`
	draftStands engine.QueryText = `select exists (select 1 from drafts where id = $1 and message <> '')`
	takesDraft  engine.QueryText = `select exists (select 1 from drafts where id = $1 and account = $2 and chat = $3 and thread = $4 and target = $5
  and length(text) > 0)`
)

var _ activity.DraftStore = OutboxStore{}

// Draft implements [activity.Drafts].
func (b OutboxStore) Draft(ctx context.Context, d spaces.MessageDraft, at time.Time) (was activity.StoredDraft, state activity.DraftState, err error) {
	err = b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		state = activity.DraftRefused
		found, err := engine.FirstRow(ctx, t, oneDraft, []any{string(d.ID)}, scanDraft)
		if err != nil {
			return err
		}
		if found != nil {
			if was = *found; !was.Left {
				state = activity.DraftKnown
			}
			return nil
		}
		if open, err := engine.QueryBool(ctx, t, mayDraft, string(d.Cycle), d.Step); err != nil || !open {
			return err
		}
		state = activity.DraftNew
		return t.Run(ctx, insertDraft, string(d.ID), string(d.Cycle), d.Step, string(d.Agent), string(d.Space), d.Account, d.Chat,
			string(d.Thread), string(d.Target), []byte(d.Text), engine.ToMillis(at))
	})
	if err != nil {
		return was, state, fmt.Errorf("store draft %s: %w", d.ID, err)
	}
	return was, state, nil
}

// MarkPosted implements [activity.Drafts].
func (b OutboxStore) MarkPosted(ctx context.Context, id spaces.DraftID, message string) error {
	return b.changeDraft(ctx, placeDraft, string(id), message)
}

// Forget implements [activity.Drafts].
func (b OutboxStore) Forget(ctx context.Context, id spaces.DraftID) error {
	return b.changeDraft(ctx, deleteDraft, string(id))
}

func (b OutboxStore) changeDraft(ctx context.Context, q engine.QueryText, args ...any) error {
	if err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.Run(ctx, q, args...) }); err != nil {
		return fmt.Errorf("change draft %v: %w", args[0], err)
	}
	return nil
}

// MarkLost implements [activity.Drafts].
func (b OutboxStore) MarkLost(ctx context.Context, id spaces.DraftID) error {
	return b.changeDraft(ctx, loseDraft, string(id), []byte{})
}

// Drafts implements [activity.Drafts].
func (b OutboxStore) Drafts(ctx context.Context, account string) ([]activity.StoredDraft, error) {
	found, err := engine.AllRows(ctx, b.s.engine, draftsOf, []any{account}, scanDraft)
	if err != nil {
		return nil, fmt.Errorf("read drafts of %s: %w", account, err)
	}
	return found, nil
}

func scanDraft(r engine.ResultRow) (d activity.StoredDraft, err error) {
	var text []byte
	var left int
	err = r.Scan(&d.ID, &d.Cycle, &d.Step, &d.Agent, &d.Space, &d.Account, &d.Chat, &d.Thread, &d.Target, &text, &d.Message, engine.ScanTime(&d.At), &left)
	d.Text, d.Left = string(text), left == 1
	return d, err
}

// takeOverDraft lets an action take over the draft of its step if the draft was posted
// where the action goes. A message that mentions people or is broadcast is posted anew,
// because an edit notifies no one.
func (k *stepTx) takeOverDraft(ctx context.Context, f spaces.RoomEffect, a *spaces.Action) error {
	if k.opened { // a draft of it would have been a write of another kind
		return nil
	}
	if k.commit.Draft == "" || a.Kind != spaces.ActSend || a.Text == "" || a.RoomThread != "" || len(f.Mention) > 0 || f.Broadcast {
		return nil
	}
	there, err := engine.QueryBool(ctx, k, takesDraft, string(k.commit.Draft), a.Account, a.Chat, string(a.Thread), string(a.Target))
	if err != nil {
		return fmt.Errorf("look for draft: %w", err)
	}
	if there {
		a.Draft, k.commit.Draft = k.commit.Draft, "" // one message takes it
	}
	return nil
}

const (
	insertNotice engine.QueryText = `insert into outbox (id, cycle, ordinal, kind, space, thread, event, root, depth, account, chat, agent, text,
  target, policy, state, expires, created, choices, recipient)
values ($1, '', 0, 'send', '', $2, '', $10, 0, $3, $4, '', $5, '', $6, 'ready', $7, $8, $9, $11) on conflict (id) do nothing`
	// reactInstead !A notice that was taken back meanwhile needs no reaction.
	reactInstead engine.QueryText = `insert into outbox (id, cycle, ordinal, kind, space, thread, event, root, depth, account, chat, agent, text,
  target, policy, state, expires, created)
select 'instead|' || o.id, '', 0, 'react', '', o.thread, '', o.root, 0, o.account, o.chat, '', $2, o.root, o.policy, 'ready', $3, $4 from outbox o
where o.id = $1 and o.root <> '' and not exists (select 1 from outbox w where w.id = 'withdrawn|' || o.id) on conflict (id) do nothing`
	cancelNotice engine.QueryText = `update outbox set state = 'cancelled', settled = $2 where id = $1 and state = 'ready' and attempts = 0`
	deleteNotice engine.QueryText = `insert into outbox (id, cycle, ordinal, kind, space, thread, event, root, depth, account, chat, agent, text,
  target, policy, state, expires, created)
select 'withdrawn|' || id, '', 0, 'delete', '', thread, '', '', 0, account, chat, '', text, id, policy, 'ready', $2, $3 from outbox
where id = $1 and state in ('sending', 'sent', 'unknown', 'ready') on conflict (id) do nothing`
	// takeReactionBack !The reaction of the cycle's agent to the same message has replaced it.
	takeReactionBack engine.QueryText = `insert into outbox (id, cycle, ordinal, kind, space, thread, event, root, depth, account, chat, agent, text,
  target, policy, state, expires, created)
select 'withdrawn|' || o.id, '', 0, 'react', '', o.thread, '', '', 0, o.account, o.chat, '', $4, o.target, o.policy, 'ready', $2, $3 from outbox o
where o.id = $1 and o.state in ('sending', 'sent', 'unknown', 'ready')
  and not exists (select 1 from outbox a where a.cycle = $5 and a.cycle <> '' and a.kind = 'react' and a.target = o.target) on conflict (id) do nothing`
	noticePosted engine.QueryText = `select exists (select 1 from outbox where id = $1)`
)

// Post implements [activity.NoticeStore].
func (b OutboxStore) Post(ctx context.Context, n spaces.ProcessNotice) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		return t.Run(ctx, insertNotice, "notice|"+n.Key, string(n.Thread), n.Account, n.Chat, []byte(n.Text),
			string(spaces.ResendOnce), t.SharedMillis(n.Expires), engine.ToMillis(n.At), engine.EncodeList(n.Choices), "", n.To)
	})
	if err != nil {
		return fmt.Errorf("post notice: %w", err)
	}
	return nil
}

// CloseChoices implements [access.NoticePoster].
func (b OutboxStore) CloseChoices(ctx context.Context, key, outcome string, at time.Time) error {
	return b.s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.outbox.closeChoices(ctx, key, outcome, at) })
}

// Posted implements [activity.NoticeStore].
func (b OutboxStore) Posted(ctx context.Context, key string) (bool, error) {
	posted, err := engine.QueryBool(ctx, b.s.engine, noticePosted, "notice|"+key)
	if err != nil {
		return false, fmt.Errorf("look for notice: %w", err)
	}
	return posted, nil
}

// withdrawTTL is how long the deletion of a notice that was taken back may wait.
const withdrawTTL = 24 * time.Hour

// noticeTTL is how long a notice of the process may wait to be sent.
const noticeTTL = 10 * time.Minute

// choiceTTL is the same of a notice that asks people to choose: they may as long as a
// request for approval stands.
const choiceTTL = 24 * time.Hour

// announce queues a notice for every reachable chat of a space.
func (t *outboxTx) announce(ctx context.Context, n spaces.RoomNotice) error {
	r, err := t.space.load(ctx, n.Room)
	if err != nil || r == nil {
		return err
	}
	ttl := noticeTTL
	if len(n.Choices) > 0 {
		ttl = choiceTTL
	} else if n.Stop.Value != "" {
		n.Choices = []spaces.ChoiceButton{n.Stop}
	}
	for _, c := range r.chats {
		if !c.live {
			continue
		}
		thread, _, err := t.thread.inChat(ctx, r, n.Thread, c)
		if err != nil {
			return err
		}
		id := strings.Join([]string{"notice", n.Key, c.account, c.id}, "|")
		err = t.Run(ctx, insertNotice, id, string(thread), c.account, c.id, []byte(n.Text), string(spaces.ResendOnce), engine.ToMillis(n.At.Add(ttl)), engine.ToMillis(n.At),
			engine.EncodeList(n.Choices), string(n.About), "")
		if err != nil {
			return fmt.Errorf("announce in %s: %w", n.Room, err)
		}
	}
	return nil
}

// reactionInstead is the reaction to a message in a chat where no notice can be posted. All
// platforms have it.
const reactionInstead = "👀"

// refuseNotice queues a reaction in place of a notice that the platform has refused.
func (t *outboxTx) refuseNotice(ctx context.Context, id spaces.ActionID, at time.Time) error {
	if err := t.Run(ctx, reactInstead, string(id), []byte(reactionInstead), engine.ToMillis(at.Add(noticeTTL)), engine.ToMillis(at)); err != nil {
		return fmt.Errorf("react in place of notice: %w", err)
	}
	return nil
}

// withdraw takes a notice, or the reaction in its place, back from the chats of a space,
// with the end of a cycle: what is not on its way yet is cancelled, what may have been sent
// is deleted behind it.
func (t *outboxTx) withdraw(ctx context.Context, room spaces.SpaceID, key string, cycle spaces.CycleID, at time.Time) error {
	r, err := t.space.load(ctx, room)
	if err != nil || r == nil {
		return err
	}
	for _, c := range r.chats {
		id := strings.Join([]string{"notice", key, c.account, c.id}, "|")
		until, now := engine.ToMillis(at.Add(withdrawTTL)), engine.ToMillis(at)
		err := errors.Join(
			t.Run(ctx, cancelNotice, id, now), t.Run(ctx, deleteNotice, id, until, now),
			t.Run(ctx, cancelNotice, "instead|"+id, now), t.Run(ctx, takeReactionBack, "instead|"+id, until, now, []byte{}, string(cycle)),
		)
		if err != nil {
			return fmt.Errorf("withdraw notice: %w", err)
		}
	}
	return nil
}

const (
	// noticesOfKey !A notice has one row for each chat: its id begins with the key.
	noticesOfKey engine.QueryText = `select ` + tables.ActionColumns + ` from outbox o where o.id >= $1 and o.id < $2 and o.kind = 'send'
  and o.state in ('ready', 'sending', 'sent', 'unknown') order by o.n`
	editNotice engine.QueryText = `insert into outbox (id, cycle, ordinal, kind, space, thread, event, root, depth, account, chat, agent, text,
  target, policy, state, expires, created, choices)
values ($1, '', 0, 'edit', '', $2, '', '', 0, $3, $4, '', $5, $6, $7, 'ready', $8, $9, $10) on conflict (id) do nothing`
)

// changeNotice edits a notice that was not taken back, in every chat that has it.
func (t *outboxTx) changeNotice(ctx context.Context, key, text string, at time.Time) error {
	return t.editNotice(ctx, key, noticeEdit{tag: strconv.FormatInt(at.UnixMilli(), 10), text: text, ttl: noticeTTL, buttons: true}, at)
}

// A noticeEdit is another text for a notice.
type noticeEdit struct {
	tag     string // an edit is made once for each
	text    string
	ttl     time.Duration // it may wait to be sent
	buttons bool          // they stay
}

func (t *outboxTx) editNotice(ctx context.Context, key string, edit noticeEdit, at time.Time) error {
	first := "notice|" + key + "|"
	rows, err := engine.AllRows(ctx, t, noticesOfKey, []any{first, first[:len(first)-1] + "}"}, tables.ScanAction)
	if err != nil {
		return fmt.Errorf("find notice %s: %w", key, err)
	}
	for _, n := range rows {
		gone, err := engine.QueryBool(ctx, t, noticePosted, "withdrawn|"+string(n.ID))
		if err != nil {
			return fmt.Errorf("look for notice %s: %w", key, err)
		}
		if gone {
			continue
		}
		if !edit.buttons {
			n.Choices = nil
		}
		err = t.Run(ctx, editNotice, strings.Join([]string{"changed", edit.tag, string(n.ID)}, "|"), string(n.Thread), n.Account, n.Chat, []byte(edit.text), string(n.ID),
			string(spaces.ResendOnce), engine.ToMillis(at.Add(edit.ttl)), engine.ToMillis(at), engine.EncodeList(n.Choices))
		if err != nil {
			return fmt.Errorf("change notice %s: %w", n.ID, err)
		}
	}
	return nil
}

// closeChoices edits a notice with buttons in every chat that has it: the outcome replaces
// the line that says how to choose, and the buttons go away. A notice is closed once.
func (t *outboxTx) closeChoices(ctx context.Context, key, outcome string, at time.Time) error {
	first := "notice|" + key + "|"
	rows, err := engine.AllRows(ctx, t, noticesOfKey, []any{first, first[:len(first)-1] + "}"}, tables.ScanAction)
	if err != nil {
		return fmt.Errorf("find notice %s: %w", key, err)
	}
	for _, n := range rows {
		text := n.Text[:max(strings.LastIndexByte(n.Text, '\n'), 0)] + "\n" + outcome
		err := t.Run(ctx, editNotice, "closed|"+string(n.ID), string(n.Thread), n.Account, n.Chat, []byte(strings.TrimLeft(text, "\n")), string(n.ID),
			string(spaces.ResendOnce), engine.ToMillis(at.Add(withdrawTTL)), engine.ToMillis(at), engine.EncodeList([]spaces.ChoiceButton(nil)))
		if err != nil {
			return fmt.Errorf("close notice %s: %w", key, err)
		}
	}
	return nil
}

// Announce implements [shell.CycleStore].
func (s MemoryStore) Announce(ctx context.Context, n spaces.RoomNotice) error {
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		return t.outbox.announce(ctx, n)
	})
	if err != nil {
		return fmt.Errorf("post notice in %s: %w", n.Room, err)
	}
	return nil
}

// Load implements [access.PairingStore].
func (b OutboxStore) Load(ctx context.Context) (access.PairingState, error) {
	return tables.LoadPairings(ctx, b.s.engine)
}

// Amend implements [access.PairingStore].
func (b OutboxStore) Amend(ctx context.Context, change func(*access.PairingState)) error {
	return b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		d, err := tables.LoadPairings(ctx, t)
		if err != nil {
			return err
		}
		change(&d)
		text, err := json.Marshal(d)
		if err != nil {
			return fmt.Errorf("encode pairings: %w", err)
		}
		if err := t.Run(ctx, storeMeta, tables.MetaPairings, string(text)); err != nil {
			return fmt.Errorf("store pairings: %w", err)
		}
		if err := t.entity.replacePairedRoles(ctx, d); err != nil {
			return fmt.Errorf("store roles: %w", err)
		}
		return nil
	})
}
