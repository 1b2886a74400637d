package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertAttachment engine.QueryText = `insert into attachments (account, file, space, event, kind, name, size, state, due)
values ($1, $2, $3, $4, $5, $6, $7, 'wanted', $8) on conflict (account, file) do nothing`
	wantedAttachments engine.QueryText = `select account, file, space, event, kind, name, size, tries from attachments
where account = $1 and state = 'wanted' and due <= $2 order by due, file limit $3 + 0`
	settleAttachment engine.QueryText = `update attachments set state = $3, tries = tries + $4, due = $5, hash = $6, bytes = $7, media = $8, reason = $9
where account = $1 and file = $2 and state = 'wanted'`
	attachmentOf   engine.QueryText = `select state, hash, bytes, media, reason from attachments where account = $1 and file = $2`
	sameContent    engine.QueryText = `select count(*) from attachments where hash = $1 and hash <> ''`
	filesSent      engine.QueryText = `select files from outbox where event = $1 and files <> '[]' order by n limit 1`
	attachmentPart engine.QueryText = `select object, thread from events where id = $1`
)

// addWanted stores the files of a message that can be fetched from the platform.
func (t *fileTx) addWanted(ctx context.Context, e spaces.Event, b spaces.MessagePosted) error {
	for _, a := range b.Attachments {
		if a.ID == "" || b.Ref.Account == "" {
			continue
		}
		err := t.Run(ctx, insertAttachment, b.Ref.Account, a.ID, string(e.Space), string(e.ID), a.Kind, a.Name, a.Size, t.SharedMillis(e.RecvAt))
		if err != nil {
			return fmt.Errorf("store attachment of %s: %w", e.ID, err)
		}
		if err := t.Run(ctx, insertShowing, b.Ref.Account, a.ID, string(e.ID)); err != nil {
			return fmt.Errorf("store message of a file: %w", err)
		}
	}
	return nil
}

// Wanted implements [activity.Shelf].
func (b FileStore) Wanted(ctx context.Context, account string, at time.Time, limit int) ([]media.PendingFile, error) {
	out, err := engine.AllRows(ctx, b.s.engine, wantedAttachments, []any{account, engine.ToMillis(b.s.clock().ToShared(at)), limit}, func(r engine.ResultRow) (f media.PendingFile, err error) {
		return f, r.Scan(&f.Account, &f.ID, &f.Space, &f.Event, &f.Kind, &f.Name, &f.Size, &f.Tries)
	})
	if err != nil {
		return nil, fmt.Errorf("list wanted attachments of %s: %w", account, err)
	}
	return out, nil
}

// Shelve implements [activity.Shelf].
func (b FileStore) Shelve(ctx context.Context, o media.FetchResult) (waiting []string, err error) {
	err = b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		n, err := t.Exec(ctx, settleAttachment, o.File.Account, o.File.ID, string(o.State), o.Counted, engine.CeilMillis(t.Clock().ToShared(o.Due)), o.Hash, o.Bytes, o.Media, o.Reason)
		switch {
		case err != nil || o.State == media.FileWanted:
			return err
		case n == 0:
			return t.fetch.releaseLate(ctx, o)
		case o.State == media.FileMissing:
			err = t.fetch.reportMissing(ctx, o)
		case o.State == media.FileStored:
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

// releaseLate releases the content of a file whose messages were deleted while it was
// fetched.
func (t *fetchTx) releaseLate(ctx context.Context, o media.FetchResult) error {
	if o.State != media.FileStored {
		return nil
	}
	return t.file.releaseContent(ctx, o.Hash, 0)
}

// countStored adds the size of a file to the stored bytes, unless the same content is
// stored already.
func (t *fetchTx) countStored(ctx context.Context, o media.FetchResult) error {
	var same int
	if _, err := engine.ScanRow(ctx, t, sameContent, []any{o.Hash}, &same); err != nil || same > 1 {
		return err
	}
	return t.addToMeta(ctx, tables.MetaStoredBytes, o.Bytes)
}

// reportMissing appends to the space that a file cannot be fetched.
func (t *fetchTx) reportMissing(ctx context.Context, o media.FetchResult) error {
	e := spaces.Event{
		Space: o.File.Space, Branch: spaces.Primary, ReplyTo: o.File.Event, At: o.At, RecvAt: o.At,
		Source: "attachment|" + o.File.Account + "|" + o.File.ID,
		Body:   spaces.UnreadableUpdate{What: spaces.AttachmentMissing, Reason: o.File.Kind + " " + o.File.Name + ": " + o.Reason},
	}
	if _, err := engine.ScanRow(ctx, t, attachmentPart, []any{string(o.File.Event)}, &e.Object, &e.Thread); err != nil {
		return err
	}
	return t.event.append(ctx, &e)
}

// File implements [activity.Shelf].
func (b FileStore) File(ctx context.Context, account, file string) (f media.FileRecord, found bool, err error) {
	if f, found, err = fileOf(ctx, b.s.engine, account, file); err != nil {
		return f, false, fmt.Errorf("look up attachment: %w", err)
	}
	return f, found, nil
}

func fileOf(ctx context.Context, src engine.QueryReader, account, file string) (f media.FileRecord, found bool, err error) {
	found, err = engine.ScanRow(ctx, src, attachmentOf, []any{account, file}, &f.State, &f.Hash, &f.Bytes, &f.Media, &f.Reason)
	return f, found, err
}

// MessageFile returns the nth file of a message, from 0, as it was posted: one of an agent with
// its bytes, unless those are of a file that was seen on a platform. Of a message that was deleted
// nothing is found.
func (b FileStore) MessageFile(ctx context.Context, message spaces.EventID, n int) (f spaces.MessageFile, found bool, err error) {
	err = b.s.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		e, err := tables.EventByID(ctx, src, message)
		if err != nil || e == nil {
			return err
		}
		said, posted := e.Body.(spaces.MessagePosted)
		if !posted || n < 0 || n >= len(said.Attachments) {
			return nil
		}
		deleted, err := tables.DeletedSince(ctx, src, e.Space, e.Seq)
		if err != nil || deleted[e.ID] || deleted[said.Ref] {
			return err
		}
		if said.Ref.Account != "" {
			f, found = spaces.MessageFile{Account: said.Ref.Account, FileAttachment: said.Attachments[n]}, true
			return nil
		}
		var list string
		if _, err := engine.ScanRow(ctx, src, filesSent, []any{string(message)}, &list); err != nil || list == "" {
			return err
		}
		var files []spaces.MessageFile
		if err := json.Unmarshal([]byte(list), &files); err != nil {
			return fmt.Errorf("files of %s: %w", message, err)
		}
		if found = n < len(files); found {
			f = files[n]
		}
		return nil
	})
	if err != nil {
		return f, false, fmt.Errorf("look up file of %s: %w", message, err)
	}
	return f, found, nil
}

// Shelved implements [activity.Shelf].
func (b FileStore) Shelved(ctx context.Context) (int64, error) {
	n, err := tables.MetaNumber(ctx, b.s.engine, tables.MetaStoredBytes)
	if err != nil {
		return 0, fmt.Errorf("count attachments: %w", err)
	}
	return n, nil
}

// A file is stored as long as a message shows it.

const (
	insertShowing engine.QueryText = `insert into showings (account, file, event) values ($1, $2, $3) on conflict do nothing`
	orphans       engine.QueryText = `select a.account, a.file, a.hash, a.bytes from showings s join attachments a on a.account = s.account and a.file = s.file
where s.event = $1 and not exists (select 1 from showings o where o.account = s.account and o.file = s.file and o.event <> s.event)`
	dropShowings   engine.QueryText = `delete from showings where event = $1`
	dropAttachment engine.QueryText = `delete from attachments where account = $1 and file = $2`
	dropVoice      engine.QueryText = `delete from voices where account = $1 and file = $2`
	dropFileWaits  engine.QueryText = `delete from file_relays where account = $1 and file = $2`
	contentHeld    engine.QueryText = `select exists (select 1 from attachments where hash = $1 and hash <> '') or exists (select 1 from attachments where state = 'wanted' and file = $1)`
	contentStored  engine.QueryText = `select exists (select 1 from attachments where hash = $1 and hash <> '')`
)

// An unreferencedFile is a file that no other message shows.
type unreferencedFile struct {
	account, file, hash string
	bytes               int64
}

// A fileTx stores which message shows which file, and drops the files that no message shows.
type fileTx struct {
	*writeTx
}

// dropMessage deletes the files that only a deleted message showed. Their bytes are
// deleted after the commit,
func (t *fileTx) dropMessage(ctx context.Context, message spaces.EventID) error {
	if message == "" {
		return nil
	}
	alone, err := engine.AllRows(ctx, t, orphans, []any{string(message)}, func(r engine.ResultRow) (o unreferencedFile, err error) {
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
	for _, q := range []engine.QueryText{dropAttachment, dropVoice, dropFileWaits} {
		if err := t.Run(ctx, q, o.account, o.file); err != nil {
			return err
		}
	}
	if o.hash == "" {
		return nil
	}
	return t.releaseContent(ctx, o.hash, o.bytes)
}

// releaseContent marks a content of that size for deletion, unless another file has the
// same content.
func (t *fileTx) releaseContent(ctx context.Context, hash string, counted int64) error {
	if still, err := engine.QueryBool(ctx, t, contentStored, hash); err != nil || still {
		return err
	}
	if counted > 0 {
		if err := t.addToMeta(ctx, tables.MetaStoredBytes, -counted); err != nil {
			return err
		}
	}
	return t.addToMeta(ctx, tables.MetaRemovals, 1)
}

// Holds implements [activity.Stock].
func (b FileStore) Holds(ctx context.Context, hash string) (held bool, err error) {
	if held, err = engine.QueryBool(ctx, b.s.engine, contentHeld, hash); err != nil {
		return false, fmt.Errorf("look for a file's content: %w", err)
	}
	return held, nil
}

// Removals implements [activity.Stock].
func (b FileStore) Removals(ctx context.Context) (int64, error) {
	n, err := tables.MetaNumber(ctx, b.s.engine, tables.MetaRemovals)
	if err != nil {
		return 0, fmt.Errorf("count removed files: %w", err)
	}
	return n, nil
}

var _ media.BlobRefs = FileStore{}

const (
	insertVoice engine.QueryText = `insert into voices (account, file, at, due, state) values ($1, $2, $3, $4, 'wanted') on conflict do nothing`
	dueVoices   engine.QueryText = `select a.account, a.file, a.space, a.event, a.kind, a.name, a.hash, a.bytes, a.media, v.tries from voices v
join attachments a on a.account = v.account and a.file = v.file
where v.state = 'wanted' and v.due <= $1 and v.at >= $2 order by v.due, v.file limit $3 + 0`
	settleVoice engine.QueryText = `update voices set state = $3, tries = tries + 1, due = $4 where account = $1 and file = $2 and state = 'wanted'`
	wokenBy     engine.QueryText = `select event from inbox where cycle = $1 and cycle <> '' and space = $2 order by seq limit 32`
	voiceWaits  engine.QueryText = `select exists (select 1 from voices where account = $1 and file = $2 and state = 'wanted' and at >= $3)
  or exists (select 1 from attachments where account = $1 and file = $2 and state = 'wanted')`
)

// queueTranscription queues a voice message for transcription.
func (t *fetchTx) queueTranscription(ctx context.Context, o media.FetchResult) error {
	if !media.IsVoice(o.File.Kind) {
		return nil
	}
	return t.Run(ctx, insertVoice, o.File.Account, o.File.ID, engine.ToMillis(o.At), t.SharedMillis(o.At))
}

// Pending implements [activity.Voices].
func (b FileStore) Pending(ctx context.Context, at time.Time, limit int) ([]media.VoiceMessage, error) {
	out, err := engine.AllRows(ctx, b.s.engine, dueVoices, []any{engine.ToMillis(b.s.clock().ToShared(at)), engine.ToMillis(at.Add(-media.VoiceTTL)), limit}, func(r engine.ResultRow) (v media.VoiceMessage, err error) {
		return v, r.Scan(&v.Account, &v.ID, &v.Space, &v.Event, &v.Kind, &v.Name, &v.Hash, &v.Bytes, &v.Media, &v.Tries)
	})
	if err != nil {
		return nil, fmt.Errorf("list transcriptions: %w", err)
	}
	return out, nil
}

// Waits implements [activity.Voices].
func (b FileStore) Waits(ctx context.Context, account, file string, at time.Time) (waits bool, err error) {
	if waits, err = engine.QueryBool(ctx, b.s.engine, voiceWaits, account, file, engine.ToMillis(at.Add(-media.VoiceTTL))); err != nil {
		return false, fmt.Errorf("look up transcription: %w", err)
	}
	return waits, nil
}

// Complete implements [activity.Voices].
func (b FileStore) Complete(ctx context.Context, h media.TranscriptionResult) error {
	err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		n, err := t.Exec(ctx, settleVoice, h.Voice.Account, h.Voice.ID, string(h.State), engine.CeilMillis(t.Clock().ToShared(h.Due)))
		if err != nil {
			return err
		}
		if err := t.usage.addDaily(ctx, h.At, "", h.Voice.Space, h.Usage); err != nil { // also when the transcription failed
			return err
		}
		if n == 0 || h.State != media.VoiceHeard || h.Text == "" {
			return nil
		}
		return t.fetch.appendTranscription(ctx, h)
	})
	if err != nil {
		return fmt.Errorf("settle transcription of %s: %w", h.Voice.Event, err)
	}
	return nil
}

// AskedByVoice reports whether a run was woken by a voice message of a space.
func (b FileStore) AskedByVoice(ctx context.Context, run spaces.CycleID, space spaces.SpaceID) (asked bool, err error) {
	err = b.s.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		woke, err := engine.AllRows(ctx, src, wokenBy, []any{string(run), string(space)}, func(r engine.ResultRow) (e spaces.EventID, err error) {
			return e, r.Scan(&e)
		})
		for _, id := range woke {
			if err != nil || asked {
				break
			}
			var e *spaces.Event
			if e, err = tables.EventByID(ctx, src, id); err == nil && e != nil {
				posted, _ := e.Body.(spaces.MessagePosted)
				asked = slices.ContainsFunc(posted.Attachments, func(a spaces.FileAttachment) bool { return media.IsVoice(a.Kind) })
			}
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for a voice message that woke run %s: %w", run, err)
	}
	return asked, nil
}

// CountSpeech counts what a recording of an agent's words used.
func (b FileStore) CountSpeech(ctx context.Context, at time.Time, space spaces.SpaceID, u spaces.TokenUsage) error {
	return b.s.write(ctx, func(ctx context.Context, t *storeTx) error { return t.usage.addDaily(ctx, at, "", space, u) })
}

// appendTranscription appends the transcript of a voice message to its space.
func (t *fetchTx) appendTranscription(ctx context.Context, h media.TranscriptionResult) error {
	m, err := tables.EventByID(ctx, t, h.Voice.Event)
	if err != nil || m == nil {
		return err
	}
	said, ok := m.Body.(spaces.MessagePosted)
	if !ok {
		return nil
	}
	return t.event.append(ctx, &spaces.Event{
		Space: m.Space, Branch: spaces.Primary, Object: m.Object, Thread: m.Thread, At: h.At, RecvAt: h.At,
		Cause: m.ID, Root: m.Root, Depth: m.Depth, Source: "voice|" + h.Voice.Account + "|" + h.Voice.ID,
		Body: spaces.VoiceTranscribed{Target: m.ID, Ref: said.Ref, File: h.Voice.ID, Text: h.Text, Model: h.Model},
	})
}
