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
	insertAttachment engine.Query = `insert into attachments (account, file, space, event, kind, name, size, state, due)
values ($1, $2, $3, $4, $5, $6, $7, 'wanted', $8) on conflict (account, file) do nothing`
	wantedAttachments engine.Query = `select account, file, space, event, kind, name, size, tries from attachments
where account = $1 and state = 'wanted' and due <= $2 order by due, file limit $3 + 0`
	settleAttachment engine.Query = `update attachments set state = $3, tries = tries + $4, due = $5, hash = $6, bytes = $7, media = $8, reason = $9
where account = $1 and file = $2 and state = 'wanted'`
	attachmentOf   engine.Query = `select state, hash, bytes, media, reason from attachments where account = $1 and file = $2`
	sameContent    engine.Query = `select count(*) from attachments where hash = $1 and hash <> ''`
	attachmentPart engine.Query = `select object, thread from events where id = $1`
)

// want notes the files of a message that a platform can be asked for.
func (t *fileTx) addWanted(ctx context.Context, e spaces.Event, b spaces.Said) error {
	for _, a := range b.Attachments {
		if a.ID == "" || b.Ref.Account == "" {
			continue
		}
		err := t.Run(ctx, insertAttachment, b.Ref.Account, a.ID, string(e.Space), string(e.ID), a.Kind, a.Name, a.Size, t.SharedMillis(e.RecvAt))
		if err != nil {
			return fmt.Errorf("note attachment of %s: %w", e.ID, err)
		}
		if err := t.Run(ctx, insertShowing, b.Ref.Account, a.ID, string(e.ID)); err != nil {
			return fmt.Errorf("note who shows a file: %w", err)
		}
	}
	return nil
}

// Wanted implements [activity.Shelf].
func (b BridgeStore) Wanted(ctx context.Context, account string, at time.Time, limit int) ([]activity.PendingFile, error) {
	out, err := engine.AllRows(ctx, b.s.engine, wantedAttachments, []any{account, engine.ToMillis(b.s.clock().ToShared(at)), limit}, func(r engine.Row) (f activity.PendingFile, err error) {
		return f, r.Scan(&f.Account, &f.ID, &f.Space, &f.Event, &f.Kind, &f.Name, &f.Size, &f.Tries)
	})
	if err != nil {
		return nil, fmt.Errorf("list wanted attachments of %s: %w", account, err)
	}
	return out, nil
}

// Shelve implements [activity.Shelf].
func (b BridgeStore) Shelve(ctx context.Context, o activity.FetchResult) (waiting []string, err error) {
	err = b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		n, err := t.Exec(ctx, settleAttachment, o.File.Account, o.File.ID, string(o.State), o.Counted, engine.CeilMillis(t.Clock().ToShared(o.Due)), o.Hash, o.Bytes, o.Media, o.Reason)
		switch {
		case err != nil || o.State == activity.FileWanted:
			return err
		case n == 0:
			return t.fetch.releaseLate(ctx, o)
		case o.State == activity.FileMissing:
			err = t.fetch.reportMissing(ctx, o)
		case o.State == activity.FileStored:
			if err = t.fetch.countStored(ctx, o); err == nil {
				err = t.fetch.queueTranscription(ctx, o)
			}
		}
		if err == nil {
			waiting, err = t.relay.fileFetched(ctx, o)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("settle attachment of %s: %w", o.File.Event, err)
	}
	return waiting, nil
}

// A fetchTx stores the results of fetching and transcribing files.
type fetchTx struct {
	*writeTx
	event *eventTx
	file  *fileTx
}

// late has bytes swept whose messages were deleted while they came.
func (t *fetchTx) releaseLate(ctx context.Context, o activity.FetchResult) error {
	if o.State != activity.FileStored {
		return nil
	}
	return t.file.releaseContent(ctx, o.Hash, 0)
}

// shelved adds to what is kept, unless the same content was there before.
func (t *fetchTx) countStored(ctx context.Context, o activity.FetchResult) error {
	var same int
	if _, err := engine.ScanRow(ctx, t, sameContent, []any{o.Hash}, &same); err != nil || same > 1 {
		return err
	}
	return t.addToMeta(ctx, metaShelved, o.Bytes)
}

// missing tells a room that a file of it will not come.
func (t *fetchTx) reportMissing(ctx context.Context, o activity.FetchResult) error {
	e := spaces.Event{
		Space: o.File.Space, Branch: spaces.Primary, ReplyTo: o.File.Event, At: o.At, RecvAt: o.At,
		Source: "attachment|" + o.File.Account + "|" + o.File.ID,
		Body:   spaces.Unreadable{What: spaces.AttachmentMissing, Reason: o.File.Kind + " " + o.File.Name + ": " + o.Reason},
	}
	if _, err := engine.ScanRow(ctx, t, attachmentPart, []any{string(o.File.Event)}, &e.Object, &e.Thread); err != nil {
		return err
	}
	return t.event.append(ctx, &e)
}

// File implements [activity.Shelf].
func (b BridgeStore) File(ctx context.Context, account, file string) (f activity.FileRecord, found bool, err error) {
	if f, found, err = fileOf(ctx, b.s.engine, account, file); err != nil {
		return f, false, fmt.Errorf("look up attachment: %w", err)
	}
	return f, found, nil
}

func fileOf(ctx context.Context, src engine.Reader, account, file string) (f activity.FileRecord, found bool, err error) {
	found, err = engine.ScanRow(ctx, src, attachmentOf, []any{account, file}, &f.State, &f.Hash, &f.Bytes, &f.Media, &f.Reason)
	return f, found, err
}

// Shelved implements [activity.Shelf].
func (b BridgeStore) Shelved(ctx context.Context) (int64, error) {
	n, err := numberOf(ctx, b.s.engine, metaShelved)
	if err != nil {
		return 0, fmt.Errorf("count attachments: %w", err)
	}
	return n, nil
}
