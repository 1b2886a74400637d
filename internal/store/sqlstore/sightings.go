package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	sourceKnown   engine.Query = `select exists (select 1 from events where space = $1 and source = $2)`
	sightingOf    engine.Query = `select alike, n from sightings where space = $1 and account = $2 and source = $3`
	countSighting engine.Query = `select count(*) from sightings where space = $1 and account = $2 and alike = $3`
	addSighting   engine.Query = `insert into sightings (space, account, source, alike, n, at) values ($1, $2, $3, $4, $5, $6)`
	// From the newest event of the room on, until one is it.
	sentAround engine.Query = `select e.id from events e cross join messages m
where e.space = $3 and e.branch = 'main' and e.at < $4 and m.event = e.id and m.account = $1 and m.chat = $2 and m.own = 1
order by e.seq desc, m.part limit 1`
	dropSightings engine.Query = `delete from sightings where at < $1`
)

// sightingsKept is how long it is known which account has told of what: longer than
// any platform tells of it again.
const sightingsKept = 8 * 24 * time.Hour

// assignSharedSource gives a fact that accounts name each in their own way the source that it
// has for all of them: what it says, and how often the account has told of its
// like. Accounts that were told of different numbers of equal facts differ in
// which is which, and never in how many there are.
func (i *ingestTx) assignSharedSource(ctx context.Context, it *spaces.IngestItem) error {
	space, own := string(it.Event.Space), it.Event.Source
	if before, err := engine.QueryBool(ctx, i, sourceKnown, space, own); err != nil || before {
		return err // the account was alone when it told of it
	}
	var n int
	found, err := engine.ScanRow(ctx, i, sightingOf, []any{space, i.batch.Account, own}, &it.Alike, &n)
	if err == nil && !found {
		n, err = i.countSource(ctx, *it)
	}
	if err != nil {
		return fmt.Errorf("note that %s told of %s: %w", i.batch.Account, own, err)
	}
	it.Event.Source = fmt.Sprintf("%s#%d", it.Alike, n)
	return nil
}

// countSource notes that the account tells of a fact for the first time, and returns
// how many of its like it has told of before.
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

// findRepliedTo returns the message of another account of the room that an item answers,
// which it names in its own way: the last that the account had sent by then. For anybody
// else the whole log would be gone through.
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
