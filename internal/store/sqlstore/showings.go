package sqlstore

import (
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// What is known of a file lasts as long as a message shows it (ADR 19).

const (
	insertShowing engine.Query = `insert into showings (account, file, event) values ($1, $2, $3) on conflict do nothing`
	orphans       engine.Query = `select a.account, a.file, a.hash, a.bytes from showings s join attachments a on a.account = s.account and a.file = s.file
where s.event = $1 and not exists (select 1 from showings o where o.account = s.account and o.file = s.file and o.event <> s.event)`
	dropShowings   engine.Query = `delete from showings where event = $1`
	dropAttachment engine.Query = `delete from attachments where account = $1 and file = $2`
	dropVoice      engine.Query = `delete from voices where account = $1 and file = $2`
	dropFileWaits  engine.Query = `delete from file_relays where account = $1 and file = $2`
	contentStored  engine.Query = `select exists (select 1 from attachments where hash = $1 and hash <> '')`
)

// unreferencedFile is a file that no other message shows.
type unreferencedFile struct {
	account, file, hash string
	bytes               int64
}

// A fileTx stores which message shows which file, and drops the files that no message shows.
type fileTx struct {
	*writeTx
}

// unshow forgets the files that only a deleted message showed. Their bytes are
// taken off the disk after the commit, see [activity.Sweeper].
func (t *fileTx) dropMessage(ctx context.Context, message spaces.EventID) error {
	if message == "" {
		return nil
	}
	alone, err := engine.AllRows(ctx, t, orphans, []any{string(message)}, func(r engine.Row) (o unreferencedFile, err error) {
		return o, r.Scan(&o.account, &o.file, &o.hash, &o.bytes)
	})
	if err != nil {
		return fmt.Errorf("find files of %s: %w", message, err)
	}
	for _, o := range alone {
		if err := t.drop(ctx, o); err != nil {
			return fmt.Errorf("forget file of %s: %w", message, err)
		}
	}
	return t.Run(ctx, dropShowings, string(message))
}

func (t *fileTx) drop(ctx context.Context, o unreferencedFile) error {
	for _, q := range []engine.Query{dropAttachment, dropVoice, dropFileWaits} {
		if err := t.Run(ctx, q, o.account, o.file); err != nil {
			return err
		}
	}
	if o.hash == "" {
		return nil
	}
	return t.releaseContent(ctx, o.hash, o.bytes)
}

// abandon has a content swept, of which so many bytes are counted, unless another
// file has it, too.
func (t *fileTx) releaseContent(ctx context.Context, hash string, counted int64) error {
	if still, err := engine.QueryBool(ctx, t, contentStored, hash); err != nil || still {
		return err
	}
	if counted > 0 {
		if err := t.addToMeta(ctx, metaShelved, -counted); err != nil {
			return err
		}
	}
	return t.addToMeta(ctx, metaUnshelved, 1)
}

// Holds implements [activity.Stock].
func (b BridgeStore) Holds(ctx context.Context, hash string) (held bool, err error) {
	if held, err = engine.QueryBool(ctx, b.s.engine, contentStored, hash); err != nil {
		return false, fmt.Errorf("look for a file's content: %w", err)
	}
	return held, nil
}

// Removals implements [activity.Stock].
func (b BridgeStore) Removals(ctx context.Context) (int64, error) {
	n, err := numberOf(ctx, b.s.engine, metaUnshelved)
	if err != nil {
		return 0, fmt.Errorf("count files that were forgotten: %w", err)
	}
	return n, nil
}

var _ activity.BlobRefs = BridgeStore{}
