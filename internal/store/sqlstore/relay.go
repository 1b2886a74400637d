package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity/media"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	insertRelay engine.QueryText = `insert into outbox (id, cycle, ordinal, kind, space, thread, event, root, depth, account, chat, agent, text,
  target, policy, state, expires, created, voice, via, portrait, files, room_thread)
values ($1, '', 0, $2, $3, $4, $5, $6, $7, $8, $9, '', $10, $11, $12, 'ready', $13, $14, $15, $16, $17, $18, $19) on conflict (id) do nothing`
	isCopy engine.QueryText = `select own from messages where account = $1 and chat = $2 and message = $3 and space = $4`
	// copiesWaiting !Copies of a message and of changes to it, not replies.
	copiesWaiting engine.QueryText = `select ` + tables.ActionColumns + ` from outbox o where o.account = $1 and o.chat = $2 and o.state in ('ready', 'sending')
  and o.state = 'ready' and o.cycle = '' and o.agent = '' and (o.event = $3 or o.target = $3 and o.kind <> 'send') order by o.n`
	rewordCopy engine.QueryText = `update outbox set text = $2, expires = $3 where id = $1`
	copyStands engine.QueryText = `select exists (select 1 from messages where event = $3 and account = $1 and chat = $2)
  or exists (select 1 from outbox where account = $1 and chat = $2 and state in ('ready', 'sending') and state = 'sending' and event = $3)`
)

// relayTTL is how long a copy may wait to be sent.
const relayTTL = time.Hour

// relayEvent queues copies of what a person did in one chat for the other chats of the
// space, in the transaction that stores the event. The copies have message rows, so that
// their echo is no event.
func (i *ingestTx) relayEvent(ctx context.Context, e spaces.Event) error {
	r, err := i.space.load(ctx, e.Space)
	if err != nil || len(r.chats) < 2 {
		return err
	}
	c, ok := relayedBodyOf(e, i.batch.Files)
	if !ok || !r.relaysFrom(c.from.Account, c.from.Chat) {
		return nil
	}
	if _, ours := e.Actor.IsAgent(); ours {
		return nil
	}
	if c.onlyOriginal {
		if copied, err := engine.QueryBool(ctx, i, isCopy, c.from.Account, c.from.Chat, c.from.Message, string(e.Space)); err != nil || copied {
			return err // a copy was changed, not the original
		}
	}
	if c.kind != spaces.ActSend {
		if past, err := i.relay.isHistory(ctx, c.target); err != nil || past {
			return err
		}
	}
	if stands, err := i.applyEarlierChanges(ctx, e, &c); err != nil || !stands {
		return err
	}
	if c.kind == spaces.ActDelete {
		if err := i.relay.withdrawCopies(ctx, r, &c, e.RecvAt); err != nil {
			return fmt.Errorf("withdraw copies of %s: %w", c.target, err)
		}
	}
	if b, edited := e.Body.(spaces.MessageEdited); edited {
		return i.relayEdit(ctx, r, e, b, c)
	}
	if _, removed := e.Body.(spaces.ReactionRemoved); removed {
		return i.relayReactions(ctx, r, e, c)
	}
	if c.kind != spaces.ActSend || c.text != "" {
		words := c
		words.files = nil
		waiting, err := i.relay.copyToChats(ctx, r, e, words, "relay|"+string(e.ID), e.RecvAt)
		if err != nil {
			return err
		}
		i.result.Waiting = engine.AppendNew(i.result.Waiting, waiting...)
	}
	return i.relayFiles(ctx, r, e, c)
}

// A relayTx queues copies of messages for the other chats of a space.
type relayTx struct {
	*writeTx
	outbox *outboxTx
	space  *spaceTx
	thread *threadTx
}

// isHistory reports whether a message is history: it has no copies.
func (t *relayTx) isHistory(ctx context.Context, id spaces.EventID) (bool, error) {
	e, err := tables.EventByID(ctx, t, id)
	if err != nil || e == nil {
		return false, err
	}
	said, _ := e.Body.(spaces.MessagePosted)
	return said.Past, nil
}

// withdrawCopies cancels the copies of a deleted message that were not sent, and skips
// the chats in which no copy is or is being sent.
func (t *relayTx) withdrawCopies(ctx context.Context, r *spaceState, c *relayedBody, at time.Time) error {
	if err := t.Run(ctx, dropFileRelays, string(c.target)); err != nil {
		return err
	}
	for _, to := range r.chats {
		place := []any{to.account, to.id, string(c.target)}
		waiting, err := engine.AllRows(ctx, t, copiesWaiting, place, tables.ScanAction)
		if err != nil {
			return err
		}
		for _, o := range waiting {
			o.State, o.Code, o.Reason = spaces.ActionCancelled, "cancelled", "The message was deleted before this was sent."
			if err := t.outbox.finish(ctx, o, at); err != nil {
				return err
			}
		}
		if len(waiting) == 0 {
			continue
		}
		stands, err := engine.QueryBool(ctx, t, copyStands, place...)
		if err != nil {
			return err
		}
		if !stands {
			c.skip = append(c.skip, to)
		}
	}
	return nil
}

// relaysFrom reports whether messages of a chat are copied to the other chats.
func (r *spaceState) relaysFrom(account, id string) bool {
	return slices.ContainsFunc(r.chats, func(at chatState) bool { return at.relay && at.account == account && at.id == id })
}

// copyToChats queues a copy for every other chat of the space, once for each name, and
// returns their accounts.
func (t *relayTx) copyToChats(ctx context.Context, r *spaceState, e spaces.Event, c relayedBody, name string, at time.Time) (waiting []string, err error) {
	who, _, err := tables.EntityByID(ctx, t, e.Actor)
	if err != nil {
		return nil, err
	}
	thread := e.Thread
	if c.kind != spaces.ActSend { // a change goes to the thread of its message
		if _, err := engine.ScanRow(ctx, t, threadOf, []any{string(c.target)}, &thread); err != nil {
			return nil, err
		}
	}
	for n, to := range r.chats {
		if !to.relay || !to.live || r.sameChat(to, chatState{account: c.from.Account, id: c.from.Chat}) || r.reachedBefore(n) || slices.Contains(c.skip, to) {
			continue
		}
		there, rooms, err := t.thread.inChat(ctx, r, thread, to)
		if err != nil {
			return nil, err
		}
		id := strings.Join([]string{name, to.account, to.id}, "|")
		err = t.Run(ctx, insertRelay, id, string(c.kind), string(e.Space), string(there), string(e.ID), string(e.Root), e.Depth, to.account, to.id,
			[]byte(c.text), string(c.target), string(spaces.ResendOnce), engine.ToMillis(at.Add(relayTTL)), engine.ToMillis(at), who.Name, platformOf(c.from.Account), who.Portrait, engine.EncodeList(c.files), string(rooms))
		if err != nil {
			return nil, fmt.Errorf("relay to %s: %w", to.account, err)
		}
		waiting = append(waiting, to.account)
	}
	return waiting, nil
}

// A relayedBody is the part of an event that is copied.
type relayedBody struct {
	from         spaces.MessageRef // the message in its chat
	kind         spaces.ActionKind
	text         string
	target       spaces.EventID
	onlyOriginal bool                 // a change to a copy is not copied
	files        []spaces.MessageFile // sent after the words
	firstFile    int                  // number of the first of them among all that the message ever had
	skip         []chatState
}

// relayedBodyOf returns what is copied of an event; false for nothing. With files the
// files of a message are copied by actions of their own, and its text does not name
// them.
func relayedBodyOf(e spaces.Event, files bool) (relayedBody, bool) {
	switch b := e.Body.(type) {
	case spaces.MessagePosted:
		c := relayedBody{from: b.Ref, kind: spaces.ActSend, text: textWithFiles(b, files), target: e.ReplyTo}
		if files {
			c.files = filesOf(b.Ref.Account, b.Attachments)
		}
		return c, c.text != "" || len(c.files) > 0
	case spaces.MessageEdited:
		return relayedBody{from: b.Ref, kind: spaces.ActEdit, text: b.Text, target: b.Target, onlyOriginal: true}, b.Target != ""
	case spaces.MessageDeleted:
		return relayedBody{from: b.Ref, kind: spaces.ActDelete, target: b.Target, onlyOriginal: true}, b.Target != ""
	case spaces.ReactionAdded:
		return relayedBody{from: b.Ref, kind: spaces.ActReact, text: b.Emoji, target: b.Target}, b.Target != ""
	case spaces.ReactionRemoved:
		return relayedBody{from: b.Ref, kind: spaces.ActReact, target: b.Target}, b.Target != ""
	case spaces.MemberJoined, spaces.MemberLeft, spaces.SpaceRenamed, spaces.MessagePinned, spaces.MessageUnpinned, spaces.ChatMigrated, spaces.ChatLinked,
		spaces.ChatUnlinked, spaces.ActionDelivered, spaces.SendFailed, spaces.HistoryGap, spaces.UnreadableUpdate, spaces.VoiceTranscribed, spaces.NoteAdded, spaces.BookmarkSet,
		spaces.CycleStarted, spaces.ThoughtRecorded, spaces.ToolCalled, spaces.ToolReturned, spaces.CycleSummarised, spaces.GoalSet, spaces.MemoryAdded,
		spaces.MemoryRemoved, spaces.CallDenied, spaces.StatesChanged, spaces.ContextCompacted, spaces.CycleStopped, spaces.SpanChanged:
	}
	return relayedBody{}, false
}

// filesOf returns the attachments that are files of an account.
func filesOf(account string, carried []spaces.FileAttachment) (files []spaces.MessageFile) {
	for _, a := range carried {
		if a.ID != "" {
			files = append(files, spaces.MessageFile{Account: account, FileAttachment: a})
		}
	}
	return files
}

// textWithFiles returns the words of a message followed by the names of its files,
// except those that are copied by themselves.
func textWithFiles(b spaces.MessagePosted, files bool) string {
	parts := make([]string, 0, 1+len(b.Attachments))
	if b.Text != "" {
		parts = append(parts, b.Text)
	}
	for _, a := range b.Attachments {
		if files && a.ID != "" {
			continue
		}
		parts = append(parts, "📎 "+a.Title())
	}
	return strings.Join(parts, "\n\n")
}

// lateChanges !The latest changes to messages of a space, which may be older than the
// message itself.
const lateChanges engine.QueryText = `select ` + tables.EventColumns + ` from events e
where e.space = $1 and e.branch = $2 and e.seq >= $3 and e.seq < $4 and e.kind in ('edited', 'deleted') order by e.seq`

const (
	// overtakenAfter is the age from which a message may arrive after changes to it.
	overtakenAfter = time.Second
	// maxOvertaking bounds the events that are searched for such changes.
	maxOvertaking = 256
)

// applyEarlierChanges applies to what is copied of a message the edits that were stored
// before it. It reports false if the message was deleted.
func (i *ingestTx) applyEarlierChanges(ctx context.Context, e spaces.Event, c *relayedBody) (stands bool, err error) {
	said, ok := e.Body.(spaces.MessagePosted)
	if !ok {
		return true, nil
	}
	said, stands, err = i.changedBefore(ctx, e, said)
	c.text = textWithFiles(said, i.batch.Files)
	if i.batch.Files {
		c.files = filesOf(c.from.Account, said.Attachments)
	}
	return stands, err
}

const (
	insertFileRelay engine.QueryText = `insert into file_relays (account, file, event, n) values ($1, $2, $3, $4) on conflict do nothing`
	fileRelays      engine.QueryText = `select event, n from file_relays where account = $1 and file = $2 order by event, n`
	dropFileRelay   engine.QueryText = `delete from file_relays where account = $1 and file = $2`
	dropFileRelays  engine.QueryText = `delete from file_relays where event = $1`
)

// relayFiles queues the files of a message for the other chats: at once if they are
// fetched, else when they are, so that text never waits for files.
func (i *ingestTx) relayFiles(ctx context.Context, r *spaceState, e spaces.Event, c relayedBody) error {
	for k, f := range c.files {
		n := c.firstFile + k
		known, found, err := fileOf(ctx, i, f.Account, f.ID)
		if err != nil {
			return fmt.Errorf("look up file of %s: %w", e.ID, err)
		}
		if !found || known.State == media.FileWanted {
			if err := i.Run(ctx, insertFileRelay, f.Account, f.ID, string(e.ID), n); err != nil {
				return fmt.Errorf("store file of %s to copy: %w", e.ID, err)
			}
			continue
		}
		waiting, err := i.relay.copyFile(ctx, r, e, c, f, n, known, e.RecvAt)
		if err != nil {
			return err
		}
		i.result.Waiting = engine.AppendNew(i.result.Waiting, waiting...)
	}
	return nil
}

// copyFile queues the n-th file of a message, or a line with the reason why it is
// missing.
func (t *relayTx) copyFile(ctx context.Context, r *spaceState, e spaces.Event, c relayedBody, f spaces.MessageFile, n int, known media.FileRecord, at time.Time) ([]string, error) {
	alone := relayedBody{from: c.from, kind: spaces.ActSend, target: c.target}
	if known.State == media.FileStored {
		f.Size, f.MIME = known.Bytes, cmp.Or(f.MIME, known.Media)
		alone.files = []spaces.MessageFile{f}
	} else {
		alone.text = "📎 " + f.Title() + " did not come along: " + known.Reason + "."
	}
	return t.copyToChats(ctx, r, e, alone, "relay|"+string(e.ID)+"|file "+strconv.Itoa(n), at)
}

// fileFetched queues a file for the chats that waited for it, and returns the accounts
// that have something to send.
func (t *relayTx) fileFetched(ctx context.Context, o media.FetchResult) (waiting []string, err error) {
	type place struct {
		event spaces.EventID
		n     int
	}
	due, err := engine.AllRows(ctx, t, fileRelays, []any{o.File.Account, o.File.ID}, func(r engine.ResultRow) (p place, err error) {
		return p, r.Scan(&p.event, &p.n)
	})
	if err != nil || len(due) == 0 {
		return nil, err
	}
	known := media.FileRecord{State: o.State, Hash: o.Hash, Bytes: o.Bytes, Media: o.Media, Reason: o.Reason}
	for _, p := range due {
		e, err := tables.EventByID(ctx, t, p.event)
		if err != nil {
			return nil, err
		}
		if e == nil {
			continue // deleted meanwhile
		}
		r, err := t.space.load(ctx, e.Space)
		if err != nil {
			return nil, err
		}
		c, ok := relayedBodyOf(*e, true)
		if r == nil || !ok && e.Body.Kind() != spaces.KindSaid || !r.relaysFrom(c.from.Account, c.from.Chat) {
			continue
		}
		f := spaces.MessageFile{Account: o.File.Account, FileAttachment: spaces.FileAttachment{Kind: o.File.Kind, ID: o.File.ID, Name: o.File.Name, Size: o.File.Size}}
		if p.n < len(c.files) { // else an edit added it
			f = c.files[p.n]
		}
		more, err := t.copyFile(ctx, r, *e, c, f, p.n, known, o.At)
		if err != nil {
			return nil, err
		}
		waiting = engine.AppendNew(waiting, more...)
	}
	return waiting, t.Run(ctx, dropFileRelay, o.File.Account, o.File.ID)
}
