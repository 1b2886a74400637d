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
	// mayAck !Nothing is set for a run that is over, or where an agent has reacted or the
	// process has, which does so instead of sending a notice.
	mayAck engine.QueryText = `select exists (select 1 from cycles y where y.id = $1 and y.state = 'open' and y.halted = 0)
  and not exists (select 1 from outbox o where o.kind = 'react' and o.target = $2 and o.account = $3 and o.chat = $4
    and o.state in ('ready', 'sending', 'sent', 'unknown'))`
	ackStands engine.QueryText = `select exists (select 1 from acknowledgements where account = $1 and chat = $2 and message = $3)`
	insertAck engine.QueryText = `insert into acknowledgements (account, chat, message, cycle, event, thread, emoji, at)
values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (account, chat, message, cycle) do nothing`
	// acksOf !A reaction is left over when its run is over, has nothing more to send there, and
	// no run of the mind is still to work on the message, as after a failure of the model.
	acksOf engine.QueryText = `select k.account, k.chat, k.message, k.cycle, k.event, k.thread, k.emoji, k.at,
  case when exists (select 1 from cycles y where y.id = k.cycle and y.state = 'open' and y.halted = 0) then 0
  when exists (select 1 from outbox o where o.cycle = k.cycle and o.cycle <> '' and o.account = k.account and o.chat = k.chat
    and o.state in ('ready', 'sending')) then 0
  when exists (select 1 from cycles y join events e on e.id = k.event
    join inbox i on i.agent = y.agent and i.circle = y.circle and i.space = e.space and i.seq = e.seq
    where y.id = k.cycle and i.state in ('ready', 'claimed')) then 0
  else 1 end
from acknowledgements k where k.account = $1 order by k.at, k.chat, k.message, k.cycle`
	deleteAck  engine.QueryText = `delete from acknowledgements where account = $1 and chat = $2 and message = $3 and cycle = $4`
	deleteAcks engine.QueryText = `delete from acknowledgements where account = $1 and chat = $2 and message = $3`
)

var _ activity.AckStore = OutboxStore{}

// Acknowledge implements [activity.AckStore].
func (b OutboxStore) Acknowledge(ctx context.Context, k spaces.AckReaction, at time.Time) (stored bool, err error) {
	m := k.Message
	err = b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		stored, err = engine.QueryBool(ctx, t, mayAck, string(k.Run), string(k.Event), m.Account, m.Chat)
		if err != nil || !stored {
			return err
		}
		stands, err := engine.QueryBool(ctx, t, ackStands, m.Account, m.Chat, m.Message)
		if err != nil {
			return err
		}
		stored = !stands
		return t.Run(ctx, insertAck, m.Account, m.Chat, m.Message, string(k.Run), string(k.Event), string(k.Thread), k.Emoji, engine.ToMillis(at))
	})
	if err != nil {
		return false, fmt.Errorf("store acknowledgement of %s: %w", k.Event, err)
	}
	return stored, nil
}

// Acks implements [activity.AckStore].
func (b OutboxStore) Acks(ctx context.Context, account string) ([]activity.StoredAck, error) {
	found, err := engine.AllRows(ctx, b.s.engine, acksOf, []any{account}, func(r engine.ResultRow) (k activity.StoredAck, err error) {
		var left int
		err = r.Scan(&k.Message.Account, &k.Message.Chat, &k.Message.Message, &k.Run, &k.Event, &k.Thread, &k.Emoji, engine.ScanTime(&k.At), &left)
		k.Left = left == 1
		return k, err
	})
	if err != nil {
		return nil, fmt.Errorf("read acknowledgements of %s: %w", account, err)
	}
	return found, nil
}

// ForgetAcks implements [activity.AckStore].
func (b OutboxStore) ForgetAcks(ctx context.Context, m spaces.MessageRef, run spaces.CycleID) error {
	q, args := deleteAcks, []any{m.Account, m.Chat, m.Message}
	if run != "" {
		q, args = deleteAck, append(args, string(run))
	}
	if err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.Run(ctx, q, args...) }); err != nil {
		return fmt.Errorf("forget acknowledgement: %w", err)
	}
	return nil
}
