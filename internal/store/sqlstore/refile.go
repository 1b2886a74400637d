package sqlstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	shownFiles  engine.QueryText = `select account, file from showings where event = $1`
	lastShowing engine.QueryText = `select a.account, a.file, a.hash, a.bytes from attachments a
where a.account = $1 and a.file = $2 and not exists (select 1 from showings o where o.account = a.account and o.file = a.file)`
	dropShowing engine.QueryText = `delete from showings where account = $1 and file = $2 and event = $3`
)

// A fileChange is what an edit changed in the files of a message.
type fileChange struct {
	added   []spaces.FileAttachment
	dropped []spaces.MessageFile // by their ids alone
}

// translateFiles stores what an edit changes in the files of its message. Files that
// another account only names differently are left out of the edit.
func (i *ingestTx) translateFiles(ctx context.Context, e spaces.Event, b spaces.MessageEdited) (spaces.MessageEdited, error) {
	if b.Attachments == nil || b.Target == "" {
		return b, nil
	}
	message, err := tables.EventByID(ctx, i, b.Target)
	if err != nil || message == nil {
		return b, err
	}
	said, _ := message.Body.(spaces.MessagePosted)
	if said.Ref.Account != b.Ref.Account && slices.EqualFunc(said.Attachments, b.Attachments, alikeButNamed) {
		b.Attachments = nil
		return b, nil
	}
	message.RecvAt = e.RecvAt
	if i.refiled, err = i.file.replace(ctx, *message, b); err != nil {
		return b, fmt.Errorf("store files of edited %s: %w", b.Target, err)
	}
	return b, nil
}

// alikeButNamed reports whether two attachments differ at most in their ids, which every
// account may have of its own.
func alikeButNamed(a, b spaces.FileAttachment) bool {
	a.ID, b.ID = "", ""
	return a == b
}

// replace stores the files that a message carries since an edit, and drops those that no
// message carries any more. A deleted message gets no new ones.
func (t *fileTx) replace(ctx context.Context, message spaces.Event, b spaces.MessageEdited) (c fileChange, err error) {
	type key struct{ account, file string }
	shown, err := engine.AllRows(ctx, t, shownFiles, []any{string(message.ID)}, func(r engine.ResultRow) (k key, err error) {
		return k, r.Scan(&k.account, &k.file)
	})
	if err != nil {
		return c, err
	}
	kept := map[key]bool{}
	for _, a := range b.Attachments {
		k := key{b.Ref.Account, a.ID}
		if kept[k] = true; a.ID != "" && !slices.Contains(shown, k) {
			c.added = append(c.added, a)
		}
	}
	for _, k := range shown {
		if kept[k] {
			continue
		}
		c.dropped = append(c.dropped, spaces.MessageFile{Account: k.account, FileAttachment: spaces.FileAttachment{ID: k.file}})
		if err := t.dropShown(ctx, message.ID, k.account, k.file); err != nil {
			return c, err
		}
	}
	if len(c.added) == 0 {
		return c, nil
	}
	said, _ := message.Body.(spaces.MessagePosted)
	gone, err := tables.DeletedSince(ctx, t, message.Space, message.Seq)
	if err != nil || gone[message.ID] || gone[said.Ref] {
		return fileChange{}, err
	}
	return c, t.addWanted(ctx, message, spaces.MessagePosted{Ref: b.Ref, Attachments: c.added})
}

// dropShown drops a file from a message, and the file with the last message it was on.
func (t *fileTx) dropShown(ctx context.Context, message spaces.EventID, account, file string) error {
	if err := t.Run(ctx, dropShowing, account, file, string(message)); err != nil {
		return err
	}
	alone, err := engine.AllRows(ctx, t, lastShowing, []any{account, file}, func(r engine.ResultRow) (o unreferencedFile, err error) {
		return o, r.Scan(&o.account, &o.file, &o.hash, &o.bytes)
	})
	if err != nil {
		return err
	}
	for _, o := range alone {
		if err := t.drop(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// currentAttachments returns b, a message that was just stored, with what it carries
// since edits that were stored before it.
func (i *ingestTx) currentAttachments(ctx context.Context, e spaces.Event, b spaces.MessagePosted) (spaces.MessagePosted, error) {
	if len(b.Attachments) == 0 || i.batch.At.Sub(e.At) < overtakenAfter {
		return b, nil
	}
	stored, err := tables.EventByID(ctx, i, e.ID)
	if err != nil || stored == nil {
		return b, err
	}
	now, stands, err := i.changedBefore(ctx, *stored, b)
	if !stands {
		now.Attachments = nil
	}
	return now, err
}

// changedBefore returns a message that is being stored as the edits make it that were
// stored before it, because platforms deliver again what failed at first. It reports
// false if the message was deleted.
func (i *ingestTx) changedBefore(ctx context.Context, e spaces.Event, said spaces.MessagePosted) (_ spaces.MessagePosted, stands bool, err error) {
	if i.batch.At.Sub(e.At) < overtakenAfter {
		return said, true, nil
	}
	changes, err := engine.AllRows(ctx, i, lateChanges, []any{string(e.Space), string(e.Branch), e.Seq - maxOvertaking, e.Seq}, tables.ScanEvent)
	if err != nil {
		return said, false, fmt.Errorf("read what was done before %s came: %w", e.ID, err)
	}
	ref := said.Ref
	for _, x := range changes {
		if b, deleted := x.Body.(spaces.MessageDeleted); deleted && b.Target == "" && b.Ref == ref {
			return said, false, nil
		}
		if b, edited := x.Body.(spaces.MessageEdited); edited && b.Target == "" && b.Ref == ref {
			said.Text = b.Text
			if b.Attachments != nil {
				said.Attachments = b.Attachments
			}
		}
	}
	return said, true, nil
}
