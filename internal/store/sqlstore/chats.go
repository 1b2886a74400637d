package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	placements engine.QueryText = `select m.space, m.object, s.circle, 1 - m.live from mappings m join spaces s on s.id = m.space
where m.account = $1 and m.chat = $2 order by m.n`
	mappedSpaces engine.QueryText = `select space, live from mappings where account = $1 and chat = $2`
	heardSpaces  engine.QueryText = `select distinct space from mappings where account = $1 and live = 1`
	// unheardSpaces !Spaces of an account that are connected through no other account.
	unheardSpaces engine.QueryText = `select distinct space from mappings m where account = $1 and live = 1 and not exists (
  select 1 from mappings o where o.space = m.space and o.live = 1 and o.account <> $1
  and not exists (select 1 from meta d where d.name = '` + tables.MetaDisconnected + `' || o.account))`
	moveChat engine.QueryText = `insert into mappings (account, chat, space, object, title, relay, live, n)
select account, $3, space, object, title, relay, live, n from mappings where account = $1 and chat = $2
on conflict (account, chat, space) do nothing`
	// moveMessages !Messages are found under the new id of their chat as well.
	moveMessages engine.QueryText = `insert into messages (account, chat, message, space, event, part, own)
select account, $3, message, space, event, part, own from messages where account = $1 and chat = $2
on conflict (account, chat, message, space) do nothing`
	dropMessages engine.QueryText = `delete from messages where account = $1 and chat = $2`
	moveDrafts   engine.QueryText = `update drafts set chat = $3 where account = $1 and chat = $2`
	moveTies     engine.QueryText = `insert into threads (space, thread, platform, chat, there, root, title, began)
select space, thread, platform, $4, there, root, title, began from threads where space = $1 and platform = $2 and chat = $3
on conflict (space, platform, chat, there) do nothing`
	dropTies engine.QueryText = `delete from threads where space = $1 and platform = $2 and chat = $3`

	dropChat    engine.QueryText = `delete from mappings where account = $1 and chat = $2`
	moveActions engine.QueryText = `update outbox set chat = $3 where account = $1 and chat = $2 and state in ('ready', 'sending')`

	setLive engine.QueryText = `update mappings set live = $4 where account = $1 and chat = $2 and space = $3`
)

// Place implements [activity.Directory].
func (b ChatStore) Place(ctx context.Context, account, chat string) ([]spaces.ChatPlacement, error) {
	out, err := engine.AllRows(ctx, b.s.engine, placements, []any{account, chat}, func(r engine.ResultRow) (p spaces.ChatPlacement, err error) {
		return p, r.Scan(&p.Space, &p.Object, &p.Circle, &p.Lost)
	})
	if err != nil {
		return nil, fmt.Errorf("place chat %s of %s: %w", chat, account, err)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("chat %s of %s: %w", chat, account, activity.ErrUnmapped)
	}
	return out, nil
}

// Chats implements [activity.Chats].
func (b ChatStore) Chats(ctx context.Context, account string, space spaces.SpaceID) ([]spaces.ChatMapping, error) {
	out, err := engine.AllRows(ctx, b.s.engine, tables.SelectMappings, []any{account, string(space)}, tables.ScanMapping)
	if err != nil {
		return nil, fmt.Errorf("list chats: %w", err)
	}
	return out, nil
}

// A chatSpace is a space that a chat is mapped to.
type chatSpace struct {
	space spaces.SpaceID
	live  bool
}

// A chatTx maps chats to spaces and stores whether they are reachable.
type chatTx struct {
	*writeTx
	event *eventTx
	space *spaceTx
	span  *spanTx
}

func (t *chatTx) spacesOf(ctx context.Context, account, chat string) ([]chatSpace, error) {
	return engine.AllRows(ctx, t, mappedSpaces, []any{account, chat}, func(r engine.ResultRow) (m chatSpace, err error) {
		return m, r.Scan(&m.space, &m.live)
	})
}

// Migrate implements [activity.Directory].
func (b ChatStore) Migrate(ctx context.Context, account string, to spaces.ChatMove, at time.Time) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		moved, err := t.chat.spacesOf(ctx, account, to.From)
		if err != nil {
			return err
		}
		for _, q := range []engine.QueryText{moveChat, moveActions} {
			if err := t.Run(ctx, q, account, to.From, to.To); err != nil {
				return err
			}
		}
		if err := t.Run(ctx, dropChat, account, to.From); err != nil {
			return err
		}
		if err := t.chat.leaveOpenedSpaces(ctx, account, to.To, moved, at); err != nil {
			return err
		}
		if to.Same {
			if err := t.chat.moveMessages(ctx, account, to, moved); err != nil {
				return err
			}
		}
		for _, m := range moved {
			if err := t.chat.appendFact(ctx, m.space, spaces.ChatMigrated{Account: account, From: to.From, To: to.To}, at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("migrate chat %s of %s: %w", to.From, account, err)
	}
	return nil
}

// leaveOpenedSpaces removes a chat from the spaces that were opened for its new id
// before the move was known.
func (t *chatTx) leaveOpenedSpaces(ctx context.Context, account, chat string, to []chatSpace, at time.Time) error {
	if len(to) == 0 {
		return nil
	}
	all, err := t.spacesOf(ctx, account, chat)
	if err != nil {
		return err
	}
	for _, m := range all {
		if slices.ContainsFunc(to, func(x chatSpace) bool { return x.space == m.space }) {
			continue
		}
		r, err := t.space.load(ctx, m.space)
		if err != nil {
			return err
		}
		if r == nil || r.Configured {
			continue
		}
		c := spaces.ChatMapping{Account: account, Chat: chat}
		if err := t.removeFromSpace(ctx, r, c, spaces.AgentRemoval{Reason: "it is the chat of an older room", At: at}); err != nil {
			return err
		}
	}
	return nil
}

// moveMessages moves the messages, drafts and threads of a chat to its new id.
func (t *chatTx) moveMessages(ctx context.Context, account string, to spaces.ChatMove, of []chatSpace) error {
	for _, q := range []engine.QueryText{moveMessages, moveDrafts} {
		if err := t.Run(ctx, q, account, to.From, to.To); err != nil {
			return err
		}
	}
	if err := t.Run(ctx, dropMessages, account, to.From); err != nil {
		return err
	}
	platform := platformOf(account)
	for _, m := range of {
		if err := t.Run(ctx, moveTies, string(m.space), platform, to.From, to.To); err != nil {
			return err
		}
		if err := t.Run(ctx, dropTies, string(m.space), platform, to.From); err != nil {
			return err
		}
	}
	return nil
}

// Live implements [activity.Directory].
func (b ChatStore) Live(ctx context.Context, account, chat string, live bool, reason string, at time.Time) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		known, err := t.chat.spacesOf(ctx, account, chat)
		if err != nil {
			return err
		}
		for _, m := range known {
			if m.live == live {
				continue
			}
			if err := t.Run(ctx, setLive, account, chat, string(m.space), live); err != nil {
				return err
			}
			if err := t.chat.setLive(ctx, m.space, account, chat, live, reason, at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store chat %s of %s as live %t: %w", chat, account, live, err)
	}
	return nil
}

// setLive appends that a chat was lost or found, and closes or opens the spans of the
// space. A space is connected as long as one of its chats is.
func (t *chatTx) setLive(ctx context.Context, space spaces.SpaceID, account, chat string, live bool, reason string, at time.Time) error {
	var fact spaces.EventBody = spaces.ChatUnlinked{Account: account, Chat: chat, Reason: reason}
	if live {
		fact = spaces.ChatLinked{Account: account, Chat: chat}
	}
	if err := t.appendFact(ctx, space, fact, at); err != nil {
		return err
	}
	r, err := t.space.load(ctx, space)
	if err != nil {
		return err
	}
	if live {
		return t.span.openAll(ctx, r, spaces.SpanLinked, at)
	}
	if r.reachable() {
		return nil
	}
	return t.span.closeAll(ctx, r, spaces.SpanUnlinked, at)
}

// appendFact appends a fact without an author to a space and reloads its chats.
func (t *chatTx) appendFact(ctx context.Context, space spaces.SpaceID, fact spaces.EventBody, at time.Time) error {
	e := spaces.Event{Space: space, Branch: spaces.Primary, Object: spaces.InfoObject, At: at, RecvAt: at, Body: fact}
	if err := t.event.append(ctx, &e); err != nil {
		return err
	}
	r, err := t.space.load(ctx, space)
	if err != nil {
		return err
	}
	return t.space.reloadChats(ctx, r)
}

// SetConnected implements [activity.Log].
func (b ChatStore) SetConnected(ctx context.Context, account string, hears bool, at time.Time) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if hears {
			return t.chat.markConnected(ctx, account, at)
		}
		return t.chat.markDisconnected(ctx, account, at)
	})
	if err != nil {
		return fmt.Errorf("store connection of %s as %t: %w", account, hears, err)
	}
	return nil
}

// markDisconnected stores that an account is disconnected and closes the spans of the
// spaces that no other account is connected to.
func (t *chatTx) markDisconnected(ctx context.Context, account string, at time.Time) error {
	if err := t.Run(ctx, beginMeta, tables.MetaDisconnected+account, strconv.FormatInt(engine.ToMillis(at), 10)); err != nil {
		return err
	}
	return t.eachSpace(ctx, unheardSpaces, account, func(r *spaceState) error { return t.span.closeAll(ctx, r, spaces.SpanDeaf, at) })
}

// markConnected opens the spans of the spaces of an account that was disconnected.
func (t *chatTx) markConnected(ctx context.Context, account string, at time.Time) error {
	n, err := t.Exec(ctx, dropMeta, tables.MetaDisconnected+account)
	if err != nil || n == 0 {
		return err
	}
	return t.eachSpace(ctx, heardSpaces, account, func(r *spaceState) error { return t.span.openAll(ctx, r, spaces.SpanHeard, at) })
}

// eachSpace calls do for every space of an account that q selects.
func (t *chatTx) eachSpace(ctx context.Context, q engine.QueryText, account string, do func(*spaceState) error) error {
	ids, err := engine.AllRows(ctx, t, q, []any{account}, engine.ScanValue[spaces.SpaceID])
	if err != nil {
		return err
	}
	for _, id := range ids {
		r, err := t.space.load(ctx, id)
		if err != nil {
			return err
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// keepLines is how long connection states are stored.
const keepLines = 90 * 24 * time.Hour

const (
	insertLine engine.QueryText = `insert into line_spans (line, began, seen, account, state, reason) values ($1, $2, $2, $3, $4, $5)
on conflict (line, began) do update set account = excluded.account, state = excluded.state, reason = excluded.reason`
	seenLine engine.QueryText = `update line_spans set seen = $2 where line = $1 and seen < $2
and began = (select max(n.began) from line_spans n where n.line = $1 and n.began < $2)`
	dropLines engine.QueryText = `delete from line_spans where seen < $1`
)

var _ activity.ConnHistory = ChatStore{}

// StateChanged implements [activity.ConnHistory]. It deletes states older than ninety
// days.
func (b ChatStore) StateChanged(ctx context.Context, s activity.ConnPeriod) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if !s.First {
			if err := t.Run(ctx, seenLine, s.Line, engine.ToMillis(s.From)); err != nil {
				return err
			}
		}
		if err := t.Run(ctx, dropLines, engine.ToMillis(s.From.Add(-keepLines))); err != nil {
			return err
		}
		return t.Run(ctx, insertLine, s.Line, engine.ToMillis(s.From), s.Account, string(s.State), s.Reason)
	})
	if err != nil {
		return fmt.Errorf("store that %s is %s: %w", s.Line, s.State, err)
	}
	return nil
}

// StillInState implements [activity.ConnHistory].
func (b ChatStore) StillInState(ctx context.Context, line string, at time.Time) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.Run(ctx, seenLine, line, engine.ToMillis(at)) })
	if err != nil {
		return fmt.Errorf("store that %s is connected: %w", line, err)
	}
	return nil
}

// Serve stores the configuration entry of the server that a space is on.
func (b ChatStore) Serve(ctx context.Context, space spaces.SpaceID, entry string) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		return t.Run(ctx, storeMeta, tables.MetaGuild+string(space), entry)
	})
	if err != nil {
		return fmt.Errorf("store the server of %s: %w", space, err)
	}
	return nil
}

// ServedBy returns the configuration entry of the server that a space is on; empty if
// none is stored.
func (b ChatStore) ServedBy(ctx context.Context, space spaces.SpaceID) (entry string, err error) {
	return tables.GuildEntryOf(ctx, b.s.engine, space)
}

// Served returns the configuration entries of all spaces on servers.
func (b ChatStore) Served(ctx context.Context) (map[spaces.SpaceID]string, error) {
	of := map[spaces.SpaceID]string{}
	err := engine.EachRow(ctx, b.s.engine, servedRooms, nil, func(r engine.ResultRow) error {
		var name, entry string
		if err := r.Scan(&name, &entry); err != nil {
			return err
		}
		of[spaces.SpaceID(strings.TrimPrefix(name, tables.MetaGuild))] = entry
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list rooms of servers: %w", err)
	}
	return of, nil
}

// DealUntil stores that a restored database has handled all updates up to a time.
func (b ChatStore) DealUntil(ctx context.Context, until time.Time) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		return t.Run(ctx, storeMeta, engine.MetaAnsweredUntil, engine.AnsweredUntilValue(until))
	})
	if err != nil {
		return fmt.Errorf("store up to when updates are handled: %w", err)
	}
	return nil
}

// DealtUntil returns up to when the updates that platforms kept count as handled,
// because the database was restored from a backup; zero for none.
func (b ChatStore) DealtUntil(ctx context.Context) (time.Time, error) {
	at, err := tables.MetaNumber(ctx, b.s.engine, engine.MetaAnsweredUntil)
	if err != nil {
		return time.Time{}, fmt.Errorf("read up to when updates are handled: %w", err)
	}
	return engine.FromMillis(at), nil
}
