package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertNotice query = `insert into outbox (id, cycle, ordinal, kind, space, thread, event, root, depth, account, chat, agent, text,
  target, policy, state, expires, created)
values ($1, '', 0, 'send', '', $2, '', '', 0, $3, $4, '', $5, '', $6, 'ready', $7, $8) on conflict (id) do nothing`
	selectDesk query = `select value from meta where name = 'desk'`
	storeDesk  query = `insert into meta (name, value) values ('desk', $1) on conflict (name) do update set value = excluded.value`
)

// Post implements [activity.Notices].
func (b Border) Post(ctx context.Context, n activity.Notice) error {
	err := b.s.write(ctx, func(ctx context.Context, t *tx) error {
		return t.run(ctx, insertNotice, "notice|"+n.Key, string(n.Thread), n.Account, n.Chat, []byte(n.Text),
			string(spaces.ResendOnce), ms(n.Expires), ms(n.At))
	})
	if err != nil {
		return fmt.Errorf("post notice: %w", err)
	}
	return nil
}

// Load implements [activity.Pairings].
func (b Border) Load(ctx context.Context) (activity.Desk, error) { return loadDesk(ctx, b.s.readers) }

// Amend implements [activity.Pairings].
func (b Border) Amend(ctx context.Context, change func(*activity.Desk)) error {
	return b.s.write(ctx, func(ctx context.Context, t *tx) error {
		d, err := loadDesk(ctx, t)
		if err != nil {
			return err
		}
		change(&d)
		text, err := json.Marshal(d)
		if err != nil {
			return fmt.Errorf("encode pairings: %w", err)
		}
		if err := t.run(ctx, storeDesk, string(text)); err != nil {
			return fmt.Errorf("store pairings: %w", err)
		}
		return nil
	})
}

func loadDesk(ctx context.Context, src reader) (d activity.Desk, err error) {
	var text string
	found, err := one(ctx, src, selectDesk, nil, &text)
	if err == nil && found {
		err = json.Unmarshal([]byte(text), &d)
	}
	if err != nil {
		return activity.Desk{}, fmt.Errorf("read pairings: %w", err)
	}
	return d, nil
}
