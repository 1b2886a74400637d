package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertNotice engine.Query = `insert into outbox (id, cycle, ordinal, kind, space, thread, event, root, depth, account, chat, agent, text,
  target, policy, state, expires, created)
values ($1, '', 0, 'send', '', $2, '', '', 0, $3, $4, '', $5, '', $6, 'ready', $7, $8) on conflict (id) do nothing`
	noticePosted engine.Query = `select exists (select 1 from outbox where id = $1)`
)

// Post implements [activity.Notices].
func (b BridgeStore) Post(ctx context.Context, n activity.Notice) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		return t.Run(ctx, insertNotice, "notice|"+n.Key, string(n.Thread), n.Account, n.Chat, []byte(n.Text),
			string(spaces.ResendOnce), t.SharedMillis(n.Expires), engine.ToMillis(n.At))
	})
	if err != nil {
		return fmt.Errorf("post notice: %w", err)
	}
	return nil
}

// Posted implements [activity.Notices].
func (b BridgeStore) Posted(ctx context.Context, key string) (bool, error) {
	posted, err := engine.QueryBool(ctx, b.s.engine, noticePosted, "notice|"+key)
	if err != nil {
		return false, fmt.Errorf("look for notice: %w", err)
	}
	return posted, nil
}

// noticeTTL is how long what the process itself says in a room may wait to be sent.
const noticeTTL = 10 * time.Minute

// A systemNotice is what the process itself has to say in a room.
type systemNotice struct {
	key    string // what it is about; said once for ever
	thread spaces.ThreadID
	text   string
	at     time.Time
}

// announce puts an announcement into every chat of a room that can be reached.
func (t *outboxTx) announce(ctx context.Context, room spaces.SpaceID, a systemNotice) error {
	r, err := t.space.load(ctx, room)
	if err != nil || r == nil {
		return err
	}
	for _, c := range r.chats {
		if !c.live {
			continue
		}
		thread, _, err := t.thread.inChat(ctx, r, a.thread, c)
		if err != nil {
			return err
		}
		id := strings.Join([]string{"notice", a.key, c.account, c.id}, "|")
		err = t.Run(ctx, insertNotice, id, string(thread), c.account, c.id, []byte(a.text), string(spaces.ResendOnce), engine.ToMillis(a.at.Add(noticeTTL)), engine.ToMillis(a.at))
		if err != nil {
			return fmt.Errorf("announce in %s: %w", room, err)
		}
	}
	return nil
}

// Load implements [activity.Pairings].
func (b BridgeStore) Load(ctx context.Context) (activity.PairingState, error) {
	return loadDesk(ctx, b.s.engine)
}

// Amend implements [activity.Pairings].
func (b BridgeStore) Amend(ctx context.Context, change func(*activity.PairingState)) error {
	return b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		d, err := loadDesk(ctx, t)
		if err != nil {
			return err
		}
		change(&d)
		text, err := json.Marshal(d)
		if err != nil {
			return fmt.Errorf("encode pairings: %w", err)
		}
		if err := t.Run(ctx, storeMeta, metaDesk, string(text)); err != nil {
			return fmt.Errorf("store pairings: %w", err)
		}
		if err := t.entity.replacePairedRoles(ctx, d); err != nil {
			return fmt.Errorf("store roles: %w", err)
		}
		return nil
	})
}

func loadDesk(ctx context.Context, src engine.Reader) (d activity.PairingState, err error) {
	text, err := metaOf(ctx, src, metaDesk)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &d)
	}
	if err != nil {
		return activity.PairingState{}, fmt.Errorf("read pairings: %w", err)
	}
	return d, nil
}
