package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	passOver   engine.QueryText = `update uplinks set cursor = $2, cursor_id = $3 where space = $1 and cursor + 1 = $2`
	insertPast engine.QueryText = `insert into inbox (agent, circle, space, seq, event, root, depth, state, reason, at)
values ($1, $2, $3, $4, $5, $6, $7, 'ignored', 'past', $8)`
	insertStray engine.QueryText = `insert into strays (account, space, source, reason, at, body) values ($1, $2, $3, $4, $5, $6)`
)

// appendEvent appends an event and delivers it to the uplinked minds. If the event does
// not cohere it appends the refusal and returns no id.
func (i *ingestTx) appendEvent(ctx context.Context, e spaces.Event) (spaces.EventID, error) {
	tie, err := i.assignThread(ctx, &e)
	if err != nil {
		return "", err
	}
	if b, said := e.Body.(spaces.MessagePosted); said && b.Past {
		return i.appendHistory(ctx, e, tie)
	}
	if err := i.span.refresh(ctx, e); err != nil {
		return "", err
	}
	err = i.event.append(ctx, &e)
	if errors.Is(err, spaces.ErrTimelineDecoherence) {
		return "", i.appendRefusal(ctx, e, err)
	}
	if err == nil {
		err = i.storeThread(ctx, tie, e)
	}
	if err != nil {
		return "", err
	}
	i.countNew(e.Space)
	if err := errors.Join(i.rate(ctx, e), i.relayEvent(ctx, e)); err != nil {
		return "", err
	}
	return e.ID, i.wakeMinds(ctx, e)
}

// wakeMinds stores the inbox rows of an event and settles the waits that it answers.
func (i *ingestTx) wakeMinds(ctx context.Context, e spaces.Event) error {
	woken, err := i.inbox.deliver(ctx, e)
	if err == nil && i.ignoreReason != "" {
		return i.inbox.ignoreForAll(ctx, e, i.ignoreReason)
	}
	if err != nil {
		return err
	}
	over, err := i.wait.settleByEvent(ctx, e, nil)
	for _, m := range woken {
		over = append(over, spaces.PendingWork{Mind: m, Space: e.Space, Since: e.RecvAt})
	}
	for _, w := range over {
		if !slices.ContainsFunc(i.result.Wakes, func(o spaces.PendingWork) bool { return o.Mind == w.Mind && o.Space == e.Space }) {
			i.result.Wakes = append(i.result.Wakes, w)
		}
	}
	return err
}

// appendHistory appends a message of the past. It wakes no agent, and a cursor that was
// at the head stays there.
func (i *ingestTx) appendHistory(ctx context.Context, e spaces.Event, made *threadMapping) (spaces.EventID, error) {
	if err := i.event.append(ctx, &e); err != nil {
		return "", err
	}
	if err := i.storeThread(ctx, made, e); err != nil {
		return "", err
	}
	i.countNew(e.Space)
	i.result.Past++
	clear(i.cache.recent.uplinks)
	if err := i.Run(ctx, passOver, string(e.Space), e.Seq, string(e.ID)); err != nil {
		return "", fmt.Errorf("move cursors past %s: %w", e.ID, err)
	}
	r, err := i.space.load(ctx, e.Space)
	if err != nil {
		return "", err
	}
	for _, m := range r.minds {
		if m.Agent.Entity() == e.Actor {
			continue
		}
		err := i.Run(ctx, insertPast, string(m.Agent), string(m.Circle), string(e.Space), e.Seq, string(e.ID), string(e.Root), e.Depth, engine.ToMillis(e.RecvAt))
		if err != nil {
			return "", fmt.Errorf("store %s as history for %s: %w", e.ID, m, err)
		}
	}
	return e.ID, nil
}

func (i *ingestTx) countNew(space spaces.SpaceID) {
	i.result.New++
	i.result.Spaces = engine.AppendNew(i.result.Spaces, space)
}

// appendRefusal appends that an event did not cohere.
func (i *ingestTx) appendRefusal(ctx context.Context, e spaces.Event, why error) error {
	i.log.Warn("event refused", "space", e.Space, "source", e.Source, "error", why)
	raw, err := spaces.Encode(e.Body)
	if err != nil {
		return err
	}
	r := spaces.Event{
		Space: e.Space, Branch: spaces.Primary, Object: e.Object, Thread: e.Thread, Actor: e.Actor,
		At: e.At, RecvAt: e.RecvAt, Source: e.Source,
		Body: spaces.UnreadableUpdate{What: string(e.Body.Kind()), Reason: why.Error(), Raw: raw},
	}
	if err := i.event.append(ctx, &r); err != nil {
		return err
	}
	i.countNew(e.Space)
	return nil
}

// storeStray stores an update for a space that does not exist.
func (i *ingestTx) storeStray(ctx context.Context, e spaces.Event) error {
	i.log.Error("update without a space", "account", i.batch.Account, "space", e.Space, "source", e.Source)
	raw, err := spaces.Encode(e.Body)
	if err != nil {
		return err
	}
	return i.Run(ctx, insertStray, i.batch.Account, string(e.Space), e.Source, "there is no such space", engine.ToMillis(i.batch.At), raw)
}

const (
	sourceKnown   engine.QueryText = `select exists (select 1 from events where space = $1 and source = $2)`
	sightingOf    engine.QueryText = `select alike, n from sightings where space = $1 and account = $2 and source = $3`
	countSighting engine.QueryText = `select count(*) from sightings where space = $1 and account = $2 and alike = $3`
	addSighting   engine.QueryText = `insert into sightings (space, account, source, alike, n, at) values ($1, $2, $3, $4, $5, $6)`
	// sentAround !From the newest event of the space to the first match.
	sentAround engine.QueryText = `select e.id from events e cross join messages m
where e.space = $3 and e.branch = 'main' and e.at < $4 and m.event = e.id and m.account = $1 and m.chat = $2 and m.own = 1
order by e.seq desc, m.part limit 1`
	dropSightings engine.QueryText = `delete from sightings where at < $1`
)

// sightingsKept is how long the sources of accounts are stored: longer than any platform
// repeats an update.
const sightingsKept = 8 * 24 * time.Hour

// assignSharedSource gives an event that accounts name differently the source that all
// of them share: its content and how often the account has reported the same before.
// Accounts that missed some of several equal events differ in which is which, but not in
// their number.
func (i *ingestTx) assignSharedSource(ctx context.Context, it *spaces.IngestItem) error {
	space, own := string(it.Event.Space), it.Event.Source
	if before, err := engine.QueryBool(ctx, i, sourceKnown, space, own); err != nil || before {
		return err // the account was the only one of the space then
	}
	var n int
	found, err := engine.ScanRow(ctx, i, sightingOf, []any{space, i.batch.Account, own}, &it.Alike, &n)
	if err == nil && !found {
		n, err = i.countSource(ctx, *it)
	}
	if err != nil {
		return fmt.Errorf("store source %s of %s: %w", i.batch.Account, own, err)
	}
	it.Event.Source = fmt.Sprintf("%s#%d", it.Alike, n)
	return nil
}

// countSource stores that an account reports an event for the first time, and returns
// how often it has reported an equal one before.
func (i *ingestTx) countSource(ctx context.Context, it spaces.IngestItem) (n int, err error) {
	space, at := string(it.Event.Space), i.batch.At
	if err := i.Run(ctx, dropSightings, engine.ToMillis(at.Add(-sightingsKept))); err != nil {
		return 0, err
	}
	if _, err := engine.ScanRow(ctx, i, countSighting, []any{space, i.batch.Account, it.Alike}, &n); err != nil {
		return 0, err
	}
	return n, i.Run(ctx, addSighting, space, i.batch.Account, it.Event.Source, it.Alike, n, engine.ToMillis(at))
}

// findRepliedTo returns the message of another account of the space that an item replies
// to: the last one which that account had sent by then. For other authors it would have
// to read the whole log.
func (i *ingestTx) findRepliedTo(ctx context.Context, it spaces.IngestItem) (id spaces.EventID, err error) {
	account := it.ReplyFrom.Platform + ":" + it.ReplyFrom.User
	r, err := i.space.load(ctx, it.Event.Space)
	if err != nil || r == nil || !slices.ContainsFunc(r.chats, func(c chatState) bool { return c.account == account }) {
		return "", err
	}
	args := []any{account, it.ReplyRef.Chat, string(it.Event.Space), engine.ToMillis(it.ReplyAt.Add(time.Second))}
	if _, err = engine.ScanRow(ctx, i, sentAround, args, &id); err != nil {
		return "", fmt.Errorf("find what %s sent: %w", account, err)
	}
	return id, nil
}

// refusalsKept is how long rejected senders are stored.
const refusalsKept = 30 * 24 * time.Hour

const (
	countRefusal engine.QueryText = `insert into refusals (account, chat, scope, user_id, kind, n, first_at, last_at) values ($1, $2, $3, $4, $5, 1, $6, $6)
on conflict (account, chat, scope, user_id, kind) do update set n = refusals.n + 1, last_at = excluded.last_at`
	forgetRefusals engine.QueryText = `delete from refusals where last_at < $1`
	newestRefusals engine.QueryText = `select account, chat, scope, user_id, kind, n, first_at, last_at from refusals order by last_at desc limit $1 + 0`
)

// countRefusals counts the rejected senders of the batch.
func (i *ingestTx) countRefusals(ctx context.Context) error {
	for _, r := range i.batch.Refused {
		err := i.Run(ctx, countRefusal, i.batch.Account, r.Chat, r.Who.Scope, r.Who.User, r.Kind, engine.ToMillis(i.batch.At))
		if err != nil {
			return fmt.Errorf("count refusal: %w", err)
		}
	}
	if len(i.batch.Refused) == 0 {
		return nil
	}
	return i.Run(ctx, forgetRefusals, engine.ToMillis(i.batch.At.Add(-refusalsKept)))
}

// Refusals returns the rejected senders, newest first.
func (b IngestStore) Refusals(ctx context.Context, limit int) ([]activity.RejectedSender, error) {
	found, err := engine.AllRows(ctx, b.s.engine, newestRefusals, []any{limit}, func(r engine.ResultRow) (f activity.RejectedSender, err error) {
		return f, r.Scan(&f.Account, &f.Chat, &f.Scope, &f.User, &f.Kind, &f.Count, engine.ScanTime(&f.First), engine.ScanTime(&f.Last))
	})
	if err != nil {
		return nil, fmt.Errorf("list refusals: %w", err)
	}
	return found, nil
}

// ignoreForAll stores a message of a sender who exceeds the rate limit as ignored: minds
// see it, but it wakes none.
func (t *inboxTx) ignoreForAll(ctx context.Context, e spaces.Event, why string) error {
	r, err := t.space.load(ctx, e.Space)
	if err != nil || r == nil {
		return err
	}
	for _, m := range r.minds {
		delete(t.cache.recent.ready, inboxKey{m, e.Space})
		if err := t.Run(ctx, ignoreRow, string(m.Agent), string(m.Circle), string(e.Space), e.Seq, why); err != nil {
			return fmt.Errorf("ignore %s for %s: %w", e.ID, m, err)
		}
	}
	return nil
}

const (
	upsertCursor engine.QueryText = `insert into cursors (account, data, at) values ($1, $2, $3)
on conflict (account) do update set data = excluded.data, at = excluded.at`
	selectCursor engine.QueryText = `select data from cursors where account = $1`
)

// Cursor implements [activity.Log].
func (b IngestStore) Cursor(ctx context.Context, account string) ([]byte, error) {
	var data []byte
	if _, err := engine.ScanRow(ctx, b.s.engine, selectCursor, []any{account}, &data); err != nil {
		return nil, fmt.Errorf("read cursor of %s: %w", account, err)
	}
	return data, nil
}
