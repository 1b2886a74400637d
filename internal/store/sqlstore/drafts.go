package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	// A draft is left when no message can take it over any more: its step is decided,
	// or its cycle over, and no action that has it is still to be sent.
	draftColumns engine.Query = `d.id, d.cycle, d.step, d.agent, d.space, d.account, d.chat, d.thread, d.target, d.text, d.message, d.at,
  case when exists (select 1 from outbox o where o.cycle = d.cycle and o.cycle <> '' and o.draft = d.id and o.state in ('ready', 'sending')) then 0
  when exists (select 1 from cycles y where y.id = d.cycle and y.state = 'open' and y.halted = 0)
    and not exists (select 1 from steps s where s.cycle = d.cycle and s.n = d.step and s.state = 'done') then 0
  else 1 end`
	// One that is lost has no text.
	draftsOf engine.Query = `select ` + draftColumns + ` from drafts d where d.account = $1 and length(d.text) > 0 order by d.at, d.id`
	oneDraft engine.Query = `select ` + draftColumns + ` from drafts d where d.id = $1`
	mayDraft engine.Query = `select exists (select 1 from cycles y where y.id = $1 and y.state = 'open' and y.halted = 0
  and not exists (select 1 from steps s where s.cycle = y.id and s.n = $2 and s.state = 'done'))`
	insertDraft engine.Query = `insert into drafts (id, cycle, step, agent, space, account, chat, thread, target, text, at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
	placeDraft  engine.Query = `update drafts set message = $2 where id = $1`
	deleteDraft engine.Query = `delete from drafts where id = $1 and length(text) > 0`
	loseDraft   engine.Query = `update drafts set text = $2 where id = $1 and message = ''`
	draftStands engine.Query = `select exists (select 1 from drafts where id = $1 and message <> '')`
	takesDraft  engine.Query = `select exists (select 1 from drafts where id = $1 and account = $2 and chat = $3 and thread = $4 and target = $5
  and length(text) > 0)`
)

var _ activity.Drafts = BridgeStore{}

// Draft implements [activity.Drafts].
func (b BridgeStore) Draft(ctx context.Context, d spaces.Draft, at time.Time) (was activity.StoredDraft, state activity.DraftState, err error) {
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
		return was, state, fmt.Errorf("keep draft %s: %w", d.ID, err)
	}
	return was, state, nil
}

// MarkPosted implements [activity.Drafts].
func (b BridgeStore) MarkPosted(ctx context.Context, id spaces.DraftID, message string) error {
	return b.changeDraft(ctx, placeDraft, string(id), message)
}

// Forget implements [activity.Drafts].
func (b BridgeStore) Forget(ctx context.Context, id spaces.DraftID) error {
	return b.changeDraft(ctx, deleteDraft, string(id))
}

func (b BridgeStore) changeDraft(ctx context.Context, q engine.Query, args ...any) error {
	if err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.Run(ctx, q, args...) }); err != nil {
		return fmt.Errorf("change draft %v: %w", args[0], err)
	}
	return nil
}

// MarkLost implements [activity.Drafts].
func (b BridgeStore) MarkLost(ctx context.Context, id spaces.DraftID) error {
	return b.changeDraft(ctx, loseDraft, string(id), []byte{})
}

// Drafts implements [activity.Drafts].
func (b BridgeStore) Drafts(ctx context.Context, account string) ([]activity.StoredDraft, error) {
	found, err := engine.AllRows(ctx, b.s.engine, draftsOf, []any{account}, scanDraft)
	if err != nil {
		return nil, fmt.Errorf("read drafts of %s: %w", account, err)
	}
	return found, nil
}

func scanDraft(r engine.Row) (d activity.StoredDraft, err error) {
	var text []byte
	var left int
	err = r.Scan(&d.ID, &d.Cycle, &d.Step, &d.Agent, &d.Space, &d.Account, &d.Chat, &d.Thread, &d.Target, &text, &d.Message, engine.ScanTime(&d.At), &left)
	d.Text, d.Left = string(text), left == 1
	return d, err
}

// takeOverDraft has an action take over the draft of its step, if people see one where
// the action will be. Who is called by name hears of a new message only, and one
// that is shown beside its thread has to be posted.
func (k *stepTx) takeOverDraft(ctx context.Context, f spaces.Effect, a *spaces.Action) error {
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
