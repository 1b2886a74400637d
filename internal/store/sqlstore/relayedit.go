package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

// relayEdit queues an edit of the copies of a message, and copies of the files that are
// new. Where files were dropped, the copies of all files are deleted, because nothing
// tells which copy is of which, and those that stay are sent again.
func (i *ingestTx) relayEdit(ctx context.Context, r *spaceState, e spaces.Event, b spaces.MessageEdited, c relayedBody) error {
	message, err := tables.EventByID(ctx, i, c.target)
	if err != nil || message == nil {
		return err
	}
	said, _ := message.Body.(spaces.MessagePosted)
	silent := said.Text == "" && b.Text == ""
	said.Text = b.Text
	if b.Attachments != nil {
		said.Attachments = b.Attachments
	}
	c.text = textWithFiles(said, i.batch.Files)
	var sent, dropped []spaces.MessageFile
	if i.batch.Files {
		sent, dropped = filesOf(b.Ref.Account, i.refiled.added), i.refiled.dropped
		if len(dropped) > 0 {
			sent = filesOf(b.Ref.Account, b.Attachments)
		}
	}
	c.files = dropped
	if err := i.editQueuedCopies(ctx, r, &c, said, e.RecvAt); err != nil {
		return fmt.Errorf("edit copies of %s: %w", c.target, err)
	}
	if !silent || c.text != "" && b.Attachments != nil || len(dropped) > 0 {
		waiting, err := i.relay.copyToChats(ctx, r, e, c, "relay|"+string(e.ID), e.RecvAt)
		if err != nil {
			return err
		}
		i.result.Waiting = engine.AppendNew(i.result.Waiting, waiting...)
	}
	message.RecvAt = e.RecvAt
	return i.relayFiles(ctx, r, *message, relayedBody{from: c.from, target: message.ReplyTo, files: sent, firstFile: int(e.Seq) << 8})
}

// editQueuedCopies replaces the text of the copies of an edited message that were not
// sent, cancels those of files that it no longer carries, and skips the chats for the
// edit where nothing is left to do.
func (i *ingestTx) editQueuedCopies(ctx context.Context, r *spaceState, c *relayedBody, said spaces.MessagePosted, at time.Time) error {
	for _, to := range r.chats {
		place := []any{to.account, to.id, string(c.target)}
		waiting, err := engine.AllRows(ctx, i, copiesWaiting, place, tables.ScanAction)
		if err != nil {
			return err
		}
		newest, cancelled := false, false
		for _, o := range waiting {
			if len(o.Files) > 0 && o.Kind == spaces.ActSend && c.drops(o.Files[0]) {
				cancelled = true
				o.State, o.Code, o.Reason = spaces.ActionCancelled, "cancelled", "The file was taken back before this was sent."
				if err := i.outbox.finish(ctx, o, at); err != nil {
					return err
				}
				continue
			}
			done, err := i.rewordQueuedCopy(ctx, o, c, said, at)
			if err != nil {
				return err
			}
			newest = newest && done == otherCopy || done == rewordedCopy
		}
		if cancelled && !newest && c.text == "" {
			stands, err := engine.QueryBool(ctx, i, copyStands, place...)
			if err != nil {
				return err
			}
			newest = !stands
		}
		if newest {
			c.skip = append(c.skip, to)
		}
	}
	return nil
}

// What rewordQueuedCopy made of a queued copy.
const (
	otherCopy    = iota // has no words of the message
	sentCopy            // may have been sent in part
	rewordedCopy        // has the newest words
)

// rewordQueuedCopy gives a queued copy of an edited message its newest words, or cancels
// one that has none left.
func (i *ingestTx) rewordQueuedCopy(ctx context.Context, o tables.StoredAction, c *relayedBody, said spaces.MessagePosted, at time.Time) (done int, err error) {
	text, expires := textWithFiles(said, i.batch.Files), o.Expires
	if o.Kind == spaces.ActEdit {
		if text, expires = c.text, at.Add(relayTTL); len(c.files) > 0 {
			return sentCopy, nil // the edit that deletes files follows it
		}
	} else if o.Kind != spaces.ActSend || len(o.Files) > 0 || strings.Contains(string(o.ID), "|file ") {
		return otherCopy, nil
	}
	if o.Part != 0 || o.Resent {
		return sentCopy, nil
	}
	if text == "" && o.Kind == spaces.ActSend {
		o.State, o.Code, o.Reason = spaces.ActionCancelled, "cancelled", "Its words were taken back before this was sent."
		return rewordedCopy, i.outbox.finish(ctx, o, at)
	}
	return rewordedCopy, i.Run(ctx, rewordCopy, string(o.ID), []byte(text), engine.ToMillis(expires))
}

// drops reports whether an edit takes a file from its message.
func (c *relayedBody) drops(f spaces.MessageFile) bool {
	return slices.ContainsFunc(c.files, func(d spaces.MessageFile) bool { return d.Account == f.Account && d.ID == f.ID })
}
