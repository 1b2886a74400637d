package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	alreadyKnown engine.QueryText = `select exists (select 1 from events where space = $1 and source = $2),
  exists (select 1 from messages where account = $3 and chat = $4 and message = $5 and (space = $1 or own = 1 or cast($6 as bigint) = 1))`

	messageRoom   engine.QueryText = `select space from messages where account = $1 and chat = $2 and message = $3 and space <> '' order by event desc limit 1`
	insertMessage engine.QueryText = `insert into messages (account, chat, message, space, event, part, own) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (account, chat, message, space) do nothing`
	eventOfSource engine.QueryText = `select id from events where space = $1 and source = $2`
)

// Record implements [activity.Log].
func (b IngestStore) Record(ctx context.Context, in spaces.IngestBatch) (spaces.IngestResult, error) {
	var rec spaces.IngestResult
	var claims []spaces.WakeClaim
	wanted := func(ws []spaces.PendingWork) []spaces.WakeClaim { // called once, because it reserves slots
		if claims == nil {
			claims = in.Claims(ws)
		}
		return claims
	}
	err := b.s.writeFrequent(ctx, func(ctx context.Context, t *storeTx) error {
		i := ingestTx{storeTx: t, batch: in}
		if err := i.storeBatch(ctx); err != nil {
			return err
		}
		rec = i.result
		if in.Claims != nil && len(rec.Wakes) > 0 {
			var left []spaces.PendingWork
			var woken []spaces.Wake
			t.follow(func(ctx context.Context, t *storeTx) (err error) {
				left, woken, err = t.claim.claimAll(ctx, i.result.Wakes, wanted)
				return err
			}, func() { rec.Wakes, rec.Woken = left, woken })
		}
		return t.Reached("ingest.before_commit")
	})
	if err != nil {
		return spaces.IngestResult{}, fmt.Errorf("record updates of %s: %w", in.Account, err)
	}
	return rec, nil
}

// An ingestTx stores one batch of received events.
type ingestTx struct {
	*storeTx
	batch     spaces.IngestBatch
	result    spaces.IngestResult
	sharedIDs bool // accounts share the message ids of the current item

	lastRef               spaces.MessageRef // message of the previous or the current item
	fromChat, threadTitle string            // of the current item

	refiled fileChange // of the current item, an edit

	ignoreReason string // why the current item wakes no agent; empty if the gate decides
}

func (i *ingestTx) storeBatch(ctx context.Context) error {
	for _, it := range i.batch.Items {
		if it.Event.Branch == "" {
			it.Event.Branch = spaces.Primary
		}
		it.Event.RecvAt, i.ignoreReason = i.batch.At, it.Hushed
		if err := i.storeItem(ctx, it); err != nil {
			return err
		}
	}
	if err := i.countRefusals(ctx); err != nil || i.batch.Cursor == nil {
		return err
	}
	return i.Run(ctx, upsertCursor, i.batch.Account, i.batch.Cursor, engine.ToMillis(i.batch.At))
}

// claimAll claims the pending work that wanted returns, and returns the wakes and the
// work that is left.
func (t *claimTx) claimAll(ctx context.Context, ws []spaces.PendingWork, wanted func([]spaces.PendingWork) []spaces.WakeClaim) (left []spaces.PendingWork, woken []spaces.Wake, err error) {
	left = slices.Clone(ws)
	for _, c := range wanted(ws) {
		wake, err := t.claim(ctx, c)
		if err != nil {
			return nil, nil, fmt.Errorf("claim %s in %s: %w", c.Mind, c.Space, err)
		}
		if wake != nil {
			woken = append(woken, *wake)
		}
		left = slices.DeleteFunc(left, func(w spaces.PendingWork) bool { return w.Mind == c.Mind && w.Space == c.Space })
	}
	return left, woken, nil
}

func (i *ingestTx) storeItem(ctx context.Context, it spaces.IngestItem) error {
	i.sharedIDs, i.fromChat, i.threadTitle, i.refiled = it.Common, it.Chat, it.ThreadTitle, fileChange{}
	if err := i.redirectToRoom(ctx, &it); err != nil {
		return err
	}
	r, err := i.space.load(ctx, it.Event.Space)
	if err != nil {
		return err
	}
	if r == nil {
		return i.storeStray(ctx, it.Event)
	}
	if it.Alike != "" {
		if err := i.assignSharedSource(ctx, &it); err != nil {
			return err
		}
	}
	known, err := i.isDuplicate(ctx, it)
	if err != nil {
		return err
	}
	if known || (it.Common || it.Alike != "") && r.isOwnMessage(it) {
		i.result.Duplicates++
		return i.storeAlias(ctx, it)
	}
	if it.Event.Actor == "" {
		if it.Event.Actor, err = i.resolveAuthor(ctx, it); err != nil {
			return err
		}
	}
	return i.translate(ctx, it)
}

// movedAway is the reason of rows about a message whose chat is mapped to another space
// now.
const movedAway = "its chat is in another room now"

// redirectToRoom moves an event about a message to the space in which the message is, if
// its chat was mapped to another space then.
func (i *ingestTx) redirectToRoom(ctx context.Context, it *spaces.IngestItem) error {
	id, ref := spaces.Target(it.Event.Body)
	if id != "" || ref.IsZero() {
		return nil
	}
	if id, err := i.findMessage(ctx, it.Event.Space, ref); err != nil || id != "" {
		return err
	}
	found, err := engine.ScanRow(ctx, i, messageRoom, []any{ref.Account, ref.Chat, ref.Message}, &it.Event.Space)
	if found {
		i.ignoreReason = movedAway
	}
	return err
}

// resolveAuthor returns the author of an item. A name in history does not replace a
// newer one.
func (i *ingestTx) resolveAuthor(ctx context.Context, it spaces.IngestItem) (spaces.EntityID, error) {
	if b, said := it.Event.Body.(spaces.MessagePosted); said && b.Past && it.From.User != "" {
		if e, found, err := i.entity.find(ctx, it.From); err != nil || found {
			return e.ID, err
		}
	}
	return i.entity.resolve(ctx, it.From)
}

// isOwnMessage reports whether an item is a message of another account of the space: it
// was stored when it was queued.
func (r *spaceState) isOwnMessage(it spaces.IngestItem) bool {
	scoped := it.From.Platform + ":" + it.From.Scope + "-" + it.From.User // as Slack's accounts are called, whose users have ids of their team
	return it.From.User != "" && needsGate(it.Event.Body.Kind()) &&
		slices.ContainsFunc(r.chats, func(c chatState) bool { return c.account == it.From.Platform+":"+it.From.User || c.account == scoped })
}

// storeAlias stores the id of a message on a further account.
func (i *ingestTx) storeAlias(ctx context.Context, it spaces.IngestItem) error {
	if !it.Common && it.Alike == "" || it.Ref.IsZero() || it.Event.Body.Kind() != spaces.KindSaid {
		return nil
	}
	var id spaces.EventID
	found, err := engine.ScanRow(ctx, i, eventOfSource, []any{string(it.Event.Space), it.Event.Source}, &id)
	if err != nil || !found {
		return err
	}
	return i.Run(ctx, insertMessage, it.Ref.Account, it.Ref.Chat, it.Ref.Message, string(it.Event.Space), string(id), 0, 0)
}

// findMessage returns the event of the message at ref, also if another account of the
// space stored it under an id that accounts share.
func (i *ingestTx) findMessage(ctx context.Context, space spaces.SpaceID, ref spaces.MessageRef) (spaces.EventID, error) {
	id, err := tables.MessageEventAt(ctx, i, space, ref)
	if err != nil || id != "" || !i.sharedIDs || ref.IsZero() {
		return id, err
	}
	r, err := i.space.load(ctx, space)
	if err != nil || r == nil {
		return "", err
	}
	for _, c := range r.chats {
		if c.id != ref.Chat || c.account == ref.Account || platformOf(c.account) != platformOf(ref.Account) {
			continue
		}
		if id, err = tables.MessageEventAt(ctx, i, space, spaces.MessageRef{Account: c.account, Chat: c.id, Message: ref.Message}); err != nil || id != "" {
			return id, err
		}
	}
	return "", nil
}

func platformOf(account string) string {
	platform, _, _ := strings.Cut(account, ":")
	return platform
}

// isDuplicate reports whether an item is stored already: by its source, because it is
// our own message, or because it was received while its chat was mapped to another
// space. A message of a chat with several spaces is stored in each; history is stored in
// the space that requests it.
func (i *ingestTx) isDuplicate(ctx context.Context, it spaces.IngestItem) (bool, error) {
	ref, elsewhere := it.Ref, 0
	b, said := it.Event.Body.(spaces.MessagePosted)
	if !said {
		ref = spaces.MessageRef{} // an edit names the message it is about
	}
	if said && !b.Past && ref != i.lastRef {
		elsewhere = 1
	}
	i.lastRef = ref
	var bySource, byRef bool
	src := engine.QueryReader(i)
	if l := i.cache.branches[branchKey{it.Event.Space, spaces.Primary}]; l != nil && !l.dirty &&
		!slices.ContainsFunc(i.Added(messageRows), func(r []any) bool { return r[0] == ref.Account && r[1] == ref.Chat && r[2] == ref.Message }) {
		src = i.Stored()
	}
	_, err := engine.ScanRow(ctx, src, alreadyKnown,
		[]any{string(it.Event.Space), it.Event.Source, ref.Account, ref.Chat, ref.Message, elsewhere}, &bySource, &byRef)
	return bySource || byRef, err
}

// translate resolves the ids in an item and appends one event, or one for each person of
// the item.
func (i *ingestTx) translate(ctx context.Context, it spaces.IngestItem) (err error) {
	e := it.Event
	switch b := e.Body.(type) {
	case spaces.MessagePosted:
		return i.translateMessage(ctx, it, b)
	case spaces.MemberJoined, spaces.MemberLeft:
		return i.translateMembership(ctx, it)
	case spaces.MessageEdited:
		if b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref); err == nil {
			b, err = i.translateFiles(ctx, e, b)
		}
		e.Body = b
	case spaces.MessageDeleted:
		b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.ReactionAdded:
		b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.ReactionRemoved:
		b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.MessagePinned:
		b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.MessageUnpinned:
		b.Target, b.Ref, err = i.findTarget(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.SpaceRenamed, spaces.ChatMigrated, spaces.ChatLinked, spaces.ChatUnlinked, spaces.ActionDelivered, spaces.SendFailed,
		spaces.HistoryGap, spaces.UnreadableUpdate, spaces.VoiceTranscribed, spaces.NoteAdded, spaces.BookmarkSet, spaces.CycleStarted, spaces.ThoughtRecorded, spaces.ToolCalled,
		spaces.ToolReturned, spaces.CycleSummarised, spaces.GoalSet, spaces.MemoryAdded, spaces.MemoryRemoved, spaces.CallDenied,
		spaces.StatesChanged, spaces.ContextCompacted, spaces.CycleStopped, spaces.SpanChanged:
		// nothing to look up
	}
	if err != nil {
		return err
	}
	_, err = i.appendEvent(ctx, e)
	return err
}

func (i *ingestTx) translateMessage(ctx context.Context, it spaces.IngestItem, b spaces.MessagePosted) error {
	e := it.Event
	for _, m := range it.Mentions {
		id, err := i.entity.resolve(ctx, m)
		if err != nil {
			return err
		}
		if id != "" && !slices.Contains(b.Mentions, id) {
			b.Mentions = append(slices.Clip(b.Mentions), id)
		}
	}
	if b.Ref.IsZero() {
		b.Ref = it.Ref
	}
	if b.ReplyRef.IsZero() {
		b.ReplyRef = it.ReplyRef
	}
	var err error
	if e.ReplyTo == "" {
		if e.ReplyTo, err = i.findMessage(ctx, e.Space, b.ReplyRef); err != nil {
			return err
		}
	}
	if e.ReplyTo == "" && it.ReplyFrom.User != "" {
		if e.ReplyTo, err = i.findRepliedTo(ctx, it); err != nil {
			return err
		}
	}
	if it.ByReply && e.ReplyTo != "" {
		var asked spaces.EntityID
		if _, err := engine.ScanRow(ctx, i, tables.EventActor, []any{string(e.ReplyTo)}, &asked); err != nil {
			return err
		}
		_, b.ToUs = asked.IsAgent()
	}
	e.Body = b
	id, err := i.appendEvent(ctx, e)
	if err != nil || b.Ref.IsZero() || id == "" {
		return err
	}
	e.ID = id
	if b, err = i.currentAttachments(ctx, e, b); err != nil {
		return err
	}
	if err := i.file.addWanted(ctx, e, b); err != nil {
		return err
	}
	return i.Add(ctx, messageRows, b.Ref.Account, b.Ref.Chat, b.Ref.Message, string(e.Space), string(id), 0, 0)
}

// translateMembership appends one joined or left event for each person of the item.
func (i *ingestTx) translateMembership(ctx context.Context, it spaces.IngestItem) error {
	if len(it.Who) == 0 {
		_, err := i.appendEvent(ctx, it.Event)
		return err
	}
	if it.Present {
		var err error
		if it.Who, err = i.space.filterPresent(ctx, it.Event.Space, it.Who); err != nil || len(it.Who) == 0 {
			return err
		}
	}
	for n, who := range it.Who {
		id, err := i.entity.resolve(ctx, who)
		if err != nil {
			return err
		}
		e := it.Event
		by := e.Actor
		if e.Actor == "" {
			e.Actor = id
		}
		if _, left := e.Body.(spaces.MemberLeft); left {
			if by == id {
				by = ""
			}
			e.Body = spaces.MemberLeft{Who: id, By: by}
		} else {
			e.Body = spaces.MemberJoined{Who: id}
		}
		if n > 0 {
			e.ID = ""
			if e.Source != "" {
				e.Source += "/" + strconv.Itoa(n)
			}
		}
		if _, err := i.appendEvent(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// findTarget returns the message that a body is about, by its id or its platform's id.
func (i *ingestTx) findTarget(ctx context.Context, space spaces.SpaceID, id spaces.EventID, own, item spaces.MessageRef) (spaces.EventID, spaces.MessageRef, error) {
	if own.IsZero() {
		own = item
	}
	if id != "" {
		return id, own, nil
	}
	id, err := i.findMessage(ctx, space, own)
	return id, own, err
}
