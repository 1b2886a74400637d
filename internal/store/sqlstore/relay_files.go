package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertFileRelay engine.Query = `insert into file_relays (account, file, event, n) values ($1, $2, $3, $4) on conflict do nothing`
	fileRelays      engine.Query = `select event, n from file_relays where account = $1 and file = $2 order by event, n`
	dropFileRelay   engine.Query = `delete from file_relays where account = $1 and file = $2`
	dropFileRelays  engine.Query = `delete from file_relays where event = $1`
)

// relayFiles orders the files of a message for the room's other chats: at once if
// an earlier message showed them, else when it is known what became of them, so
// that no lane of words ever waits for bytes.
func (i *ingestTx) relayFiles(ctx context.Context, r *spaceState, e spaces.Event, c relayedBody) error {
	for n, f := range c.files {
		known, found, err := fileOf(ctx, i, f.Account, f.ID)
		if err != nil {
			return fmt.Errorf("look up file of %s: %w", e.ID, err)
		}
		if !found || known.State == activity.FileWanted {
			if err := i.Run(ctx, insertFileRelay, f.Account, f.ID, string(e.ID), n); err != nil {
				return fmt.Errorf("note file of %s to relay: %w", e.ID, err)
			}
			continue
		}
		waiting, err := i.relay.copyFile(ctx, r, e, c, n, known, e.RecvAt)
		if err != nil {
			return err
		}
		i.result.Waiting = engine.AppendNew(i.result.Waiting, waiting...)
	}
	return nil
}

// relayFile orders the n-th file of a cargo, or a line that says why it does not come.
func (t *relayTx) copyFile(ctx context.Context, r *spaceState, e spaces.Event, c relayedBody, n int, known activity.FileRecord, at time.Time) ([]string, error) {
	f := c.files[n]
	alone := relayedBody{from: c.from, kind: spaces.ActSend, target: c.target}
	if known.State == activity.FileStored {
		f.Size, f.MIME = known.Bytes, cmp.Or(f.MIME, known.Media)
		alone.files = []spaces.File{f}
	} else {
		alone.text = "📎 " + f.Title() + " did not come along: " + known.Reason + "."
	}
	return t.copyToChats(ctx, r, e, alone, "relay|"+string(e.ID)+"|file "+strconv.Itoa(n), at)
}

// fileSettled orders a file for all chats that waited for it, and returns the
// accounts that have something to carry now.
func (t *relayTx) fileFetched(ctx context.Context, o activity.FetchResult) (waiting []string, err error) {
	type place struct {
		event spaces.EventID
		n     int
	}
	due, err := engine.AllRows(ctx, t, fileRelays, []any{o.File.Account, o.File.ID}, func(r engine.Row) (p place, err error) {
		return p, r.Scan(&p.event, &p.n)
	})
	if err != nil || len(due) == 0 {
		return nil, err
	}
	known := activity.FileRecord{State: o.State, Hash: o.Hash, Bytes: o.Bytes, Media: o.Media, Reason: o.Reason}
	for _, p := range due {
		e, err := eventOf(ctx, t, p.event)
		if err != nil {
			return nil, err
		}
		if e == nil {
			continue // forgotten meanwhile
		}
		r, err := t.space.load(ctx, e.Space)
		if err != nil {
			return nil, err
		}
		c, ok := relayedBodyOf(*e, true)
		if r == nil || !ok || p.n >= len(c.files) || !r.relaysFrom(c.from.Account, c.from.Chat) {
			continue
		}
		more, err := t.copyFile(ctx, r, *e, c, p.n, known, o.At)
		if err != nil {
			return nil, err
		}
		waiting = engine.AppendNew(waiting, more...)
	}
	return waiting, t.Run(ctx, dropFileRelay, o.File.Account, o.File.ID)
}
