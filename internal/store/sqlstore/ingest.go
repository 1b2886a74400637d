package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	alreadyKnown engine.Query = `select exists (select 1 from events where space = $1 and source = $2),
  exists (select 1 from messages where account = $3 and chat = $4 and message = $5 and (space = $1 or own = 1 or cast($6 as bigint) = 1))`
	messageEvent  engine.Query = `select event from messages where account = $1 and chat = $2 and message = $3 and space = $4`
	messageRoom   engine.Query = `select space from messages where account = $1 and chat = $2 and message = $3 and space <> '' order by event desc limit 1`
	insertMessage engine.Query = `insert into messages (account, chat, message, space, event, part, own) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (account, chat, message, space) do nothing`
	eventOfSource engine.Query = `select id from events where space = $1 and source = $2`
)

// Record implements [activity.Log].
func (b BridgeStore) Record(ctx context.Context, in spaces.IngestBatch) (spaces.IngestResult, error) {
	var rec spaces.IngestResult
	var claims []spaces.Claim
	wanted := func(ws []spaces.PendingWork) []spaces.Claim { // they take up turns: asked for once
		if claims == nil {
			claims = in.Claims(ws)
		}
		return claims
	}
	err := b.s.writeFrequent(ctx, func(ctx context.Context, t *writeTx) error {
		i := ingestTx{writeTx: t, batch: in}
		if err := i.record(ctx); err != nil {
			return err
		}
		rec = i.done
		if in.Claims != nil && len(rec.Wakes) > 0 {
			var left []spaces.PendingWork
			var woken []spaces.Wake
			t.follow(func(ctx context.Context, t *writeTx) (err error) {
				left, woken, err = t.claims(ctx, i.done.Wakes, wanted)
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

// An ingestTx is a batch on its way into the log.
type ingestTx struct {
	*writeTx
	batch  spaces.IngestBatch
	done   spaces.IngestResult
	common bool // of the item under way

	heard       spaces.Ref // the message of the item before, or of the one under way
	chat, title string     // of the item under way: where it happened, and how its thread is called

	hushed string // why the item under way wakes nobody; empty when the gate judges it
}

func (i *ingestTx) record(ctx context.Context) error {
	for _, it := range i.batch.Items {
		if it.Event.Branch == "" {
			it.Event.Branch = spaces.Primary
		}
		it.Event.RecvAt, i.hushed = i.batch.At, it.Hushed
		if err := i.item(ctx, it); err != nil {
			return err
		}
	}
	if err := i.countRefusals(ctx); err != nil || i.batch.Cursor == nil {
		return err
	}
	return i.Run(ctx, upsertCursor, i.batch.Account, i.batch.Cursor, engine.ToMillis(i.batch.At))
}

// claims gives out the wakes that are wanted at once, and returns who is left.
func (t *writeTx) claims(ctx context.Context, ws []spaces.PendingWork, wanted func([]spaces.PendingWork) []spaces.Claim) (left []spaces.PendingWork, woken []spaces.Wake, err error) {
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

func (i *ingestTx) item(ctx context.Context, it spaces.IngestItem) error {
	i.common, i.chat, i.title = it.Common, it.Chat, it.ThreadTitle
	if err := i.standing(ctx, &it); err != nil {
		return err
	}
	r, err := i.room(ctx, it.Event.Space)
	if err != nil {
		return err
	}
	if r == nil {
		return i.stray(ctx, it.Event)
	}
	if it.Alike != "" {
		if err := i.sight(ctx, &it); err != nil {
			return err
		}
	}
	known, err := i.duplicate(ctx, it)
	if err != nil {
		return err
	}
	if known || (it.Common || it.Alike != "") && r.speaks(it) {
		i.done.Duplicates++
		return i.alias(ctx, it)
	}
	if it.Event.Actor == "" {
		if it.Event.Actor, err = i.author(ctx, it); err != nil {
			return err
		}
	}
	return i.translate(ctx, it)
}

// movedAway is why what happens to a message wakes nobody in the room where it stands.
const movedAway = "its chat is in another room now"

// standing sends what happens to a message that was said while its chat was in another
// room to that room: there it is shown, and there it is taken back.
func (i *ingestTx) standing(ctx context.Context, it *spaces.IngestItem) error {
	id, ref := spaces.Target(it.Event.Body)
	if id != "" || ref.IsZero() {
		return nil
	}
	if id, err := i.messageAt(ctx, it.Event.Space, ref); err != nil || id != "" {
		return err
	}
	found, err := engine.ScanRow(ctx, i.writeTx, messageRoom, []any{ref.Account, ref.Chat, ref.Message}, &it.Event.Space)
	if found {
		i.hushed = movedAway
	}
	return err
}

// author returns who did it. What somebody was called long ago does not change
// what they are called now.
func (i *ingestTx) author(ctx context.Context, it spaces.IngestItem) (spaces.EntityID, error) {
	if b, said := it.Event.Body.(spaces.Said); said && b.Past && it.From.User != "" {
		if e, found, err := i.known(ctx, it.From); err != nil || found {
			return e.ID, err
		}
	}
	return i.person(ctx, it.From)
}

// speaks reports whether an item is what another account of the room said: the
// record has it from the action.
func (r *spaceState) speaks(it spaces.IngestItem) bool {
	return it.From.User != "" && knocks(it.Event.Body.Kind()) &&
		slices.ContainsFunc(r.chats, func(c chatState) bool { return c.account == it.From.Platform+":"+it.From.User })
}

// alias notes by which name a further account knows a message of the record.
func (i *ingestTx) alias(ctx context.Context, it spaces.IngestItem) error {
	if !it.Common && it.Alike == "" || it.Ref.IsZero() || it.Event.Body.Kind() != spaces.KindSaid {
		return nil
	}
	var id spaces.EventID
	found, err := engine.ScanRow(ctx, i.writeTx, eventOfSource, []any{string(it.Event.Space), it.Event.Source}, &id)
	if err != nil || !found {
		return err
	}
	return i.Run(ctx, insertMessage, it.Ref.Account, it.Ref.Chat, it.Ref.Message, string(it.Event.Space), string(id), 0, 0)
}

// messageAt returns the event of the message at ref, also when another account of
// the room was the one that told of it and the name is common to all.
func (i *ingestTx) messageAt(ctx context.Context, space spaces.SpaceID, ref spaces.Ref) (spaces.EventID, error) {
	id, err := messageAt(ctx, i.writeTx, space, ref)
	if err != nil || id != "" || !i.common || ref.IsZero() {
		return id, err
	}
	r, err := i.room(ctx, space)
	if err != nil || r == nil {
		return "", err
	}
	for _, c := range r.chats {
		if c.id != ref.Chat || c.account == ref.Account || platformOf(c.account) != platformOf(ref.Account) {
			continue
		}
		if id, err = messageAt(ctx, i.writeTx, space, spaces.Ref{Account: c.account, Chat: c.id, Message: ref.Message}); err != nil || id != "" {
			return id, err
		}
	}
	return "", nil
}

func platformOf(account string) string {
	platform, _, _ := strings.Cut(account, ":")
	return platform
}

// duplicate reports whether the item is in the record already: by its source, because
// it is the echo of a message of ours, or because it was heard while its chat was in
// another room. Several rooms of a chat hear a message together; the past is read into
// whichever room asks for it.
func (i *ingestTx) duplicate(ctx context.Context, it spaces.IngestItem) (bool, error) {
	ref, elsewhere := it.Ref, 0
	b, said := it.Event.Body.(spaces.Said)
	if !said {
		ref = spaces.Ref{} // an edit names the message it is about
	}
	if said && !b.Past && ref != i.heard {
		elsewhere = 1
	}
	i.heard = ref
	var bySource, byRef bool
	_, err := engine.ScanRow(ctx, i.writeTx, alreadyKnown,
		[]any{string(it.Event.Space), it.Event.Source, ref.Account, ref.Chat, ref.Message, elsewhere}, &bySource, &byRef)
	return bySource || byRef, err
}

// messageAt returns the event of the message that stands at ref, or nothing.
func messageAt(ctx context.Context, src engine.Reader, space spaces.SpaceID, ref spaces.Ref) (id spaces.EventID, err error) {
	if ref.IsZero() {
		return "", nil
	}
	_, err = engine.ScanRow(ctx, src, messageEvent, []any{ref.Account, ref.Chat, ref.Message, string(space)}, &id)
	return id, err
}
