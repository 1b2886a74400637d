package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

const (
	alreadyKnown query = `select exists (select 1 from events where space = $1 and source = $2),
  exists (select 1 from messages where account = $3 and chat = $4 and message = $5 and (space = $1 or own = 1 or cast($6 as bigint) = 1))`
	messageEvent  query = `select event from messages where account = $1 and chat = $2 and message = $3 and space = $4`
	messageRoom   query = `select space from messages where account = $1 and chat = $2 and message = $3 and space <> '' order by event desc limit 1`
	insertMessage query = `insert into messages (account, chat, message, space, event, part, own) values ($1, $2, $3, $4, $5, $6, $7)
on conflict (account, chat, message, space) do nothing`
	passOver   query = `update uplinks set cursor = $2, cursor_id = $3 where space = $1 and cursor + 1 = $2`
	insertPast query = `insert into inbox (agent, circle, space, seq, event, root, depth, state, reason, at)
values ($1, $2, $3, $4, $5, $6, $7, 'ignored', 'past', $8)`
	eventOfSource query = `select id from events where space = $1 and source = $2`
	insertStray   query = `insert into strays (account, space, source, reason, at, body) values ($1, $2, $3, $4, $5, $6)`
)

// Record implements [activity.Log].
func (b Border) Record(ctx context.Context, in spaces.Intake) (spaces.Recorded, error) {
	var rec spaces.Recorded
	var claims []spaces.Claim
	wanted := func(ws []spaces.Waiting) []spaces.Claim { // they take up turns: asked for once
		if claims == nil {
			claims = in.Claims(ws)
		}
		return claims
	}
	err := b.s.writeOften(ctx, func(ctx context.Context, t *tx) error {
		i := intake{tx: t, batch: in}
		if err := i.record(ctx); err != nil {
			return err
		}
		rec = i.done
		if in.Claims != nil && len(rec.Wakes) > 0 {
			var left []spaces.Waiting
			var woken []spaces.Wake
			t.follow(func(ctx context.Context, t *tx) (err error) {
				left, woken, err = t.claims(ctx, i.done.Wakes, wanted)
				return err
			}, func() { rec.Wakes, rec.Woken = left, woken })
		}
		return t.reached("ingest.before_commit")
	})
	if err != nil {
		return spaces.Recorded{}, fmt.Errorf("record updates of %s: %w", in.Account, err)
	}
	return rec, nil
}

// An intake is a batch on its way into the log.
type intake struct {
	*tx
	batch  spaces.Intake
	done   spaces.Recorded
	common bool // of the item under way

	heard       spaces.Ref // the message of the item before, or of the one under way
	chat, title string     // of the item under way: where it happened, and how its thread is called

	hushed string // why the item under way wakes nobody; empty when the gate judges it
}

func (i *intake) record(ctx context.Context) error {
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
	return i.run(ctx, upsertCursor, i.batch.Account, i.batch.Cursor, ms(i.batch.At))
}

// claims gives out the wakes that are wanted at once, and returns who is left.
func (t *tx) claims(ctx context.Context, ws []spaces.Waiting, wanted func([]spaces.Waiting) []spaces.Claim) (left []spaces.Waiting, woken []spaces.Wake, err error) {
	left = slices.Clone(ws)
	for _, c := range wanted(ws) {
		wake, err := t.claim(ctx, c)
		if err != nil {
			return nil, nil, fmt.Errorf("claim %s in %s: %w", c.Mind, c.Space, err)
		}
		if wake != nil {
			woken = append(woken, *wake)
		}
		left = slices.DeleteFunc(left, func(w spaces.Waiting) bool { return w.Mind == c.Mind && w.Space == c.Space })
	}
	return left, woken, nil
}

func (i *intake) item(ctx context.Context, it spaces.Incoming) error {
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
func (i *intake) standing(ctx context.Context, it *spaces.Incoming) error {
	id, ref := spaces.Target(it.Event.Body)
	if id != "" || ref.IsZero() {
		return nil
	}
	if id, err := i.messageAt(ctx, it.Event.Space, ref); err != nil || id != "" {
		return err
	}
	found, err := one(ctx, i.tx, messageRoom, []any{ref.Account, ref.Chat, ref.Message}, &it.Event.Space)
	if found {
		i.hushed = movedAway
	}
	return err
}

// author returns who did it. What somebody was called long ago does not change
// what they are called now.
func (i *intake) author(ctx context.Context, it spaces.Incoming) (spaces.EntityID, error) {
	if b, said := it.Event.Body.(spaces.Said); said && b.Past && it.From.User != "" {
		if e, found, err := i.known(ctx, it.From); err != nil || found {
			return e.ID, err
		}
	}
	return i.person(ctx, it.From)
}

// speaks reports whether an item is what another account of the room said: the
// record has it from the action.
func (r *room) speaks(it spaces.Incoming) bool {
	return it.From.User != "" && knocks(it.Event.Body.Kind()) &&
		slices.ContainsFunc(r.chats, func(c chat) bool { return c.account == it.From.Platform+":"+it.From.User })
}

// alias notes by which name a further account knows a message of the record.
func (i *intake) alias(ctx context.Context, it spaces.Incoming) error {
	if !it.Common && it.Alike == "" || it.Ref.IsZero() || it.Event.Body.Kind() != spaces.KindSaid {
		return nil
	}
	var id spaces.EventID
	found, err := one(ctx, i.tx, eventOfSource, []any{string(it.Event.Space), it.Event.Source}, &id)
	if err != nil || !found {
		return err
	}
	return i.run(ctx, insertMessage, it.Ref.Account, it.Ref.Chat, it.Ref.Message, string(it.Event.Space), string(id), 0, 0)
}

// messageAt returns the event of the message at ref, also when another account of
// the room was the one that told of it and the name is common to all.
func (i *intake) messageAt(ctx context.Context, space spaces.SpaceID, ref spaces.Ref) (spaces.EventID, error) {
	id, err := messageAt(ctx, i.tx, space, ref)
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
		if id, err = messageAt(ctx, i.tx, space, spaces.Ref{Account: c.account, Chat: c.id, Message: ref.Message}); err != nil || id != "" {
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
func (i *intake) duplicate(ctx context.Context, it spaces.Incoming) (bool, error) {
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
	_, err := one(ctx, i.tx, alreadyKnown,
		[]any{string(it.Event.Space), it.Event.Source, ref.Account, ref.Chat, ref.Message, elsewhere}, &bySource, &byRef)
	return bySource || byRef, err
}

// translate fills in the ids the store knows and appends one event, or one for
// each person the item is about.
func (i *intake) translate(ctx context.Context, it spaces.Incoming) (err error) {
	e := it.Event
	switch b := e.Body.(type) {
	case spaces.Said:
		return i.said(ctx, it, b)
	case spaces.Joined, spaces.Left:
		return i.moved(ctx, it)
	case spaces.Edited:
		b.Target, b.Ref, err = i.target(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Deleted:
		b.Target, b.Ref, err = i.target(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Reacted:
		b.Target, b.Ref, err = i.target(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Unreacted:
		b.Target, b.Ref, err = i.target(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Pinned:
		b.Target, b.Ref, err = i.target(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Unpinned:
		b.Target, b.Ref, err = i.target(ctx, e.Space, b.Target, b.Ref, it.Ref)
		e.Body = b
	case spaces.Renamed, spaces.Migrated, spaces.Linked, spaces.Unlinked, spaces.Delivered, spaces.Failed,
		spaces.Gap, spaces.Unreadable, spaces.Transcribed, spaces.Noted, spaces.Bookmarked, spaces.Woke, spaces.Thought, spaces.Acted,
		spaces.Result, spaces.Summed, spaces.Goal, spaces.Remembered, spaces.Forgot, spaces.Denied,
		spaces.Transitioned, spaces.Compacted, spaces.Stopped, spaces.Spanned:
		// nothing to look up
	}
	if err != nil {
		return err
	}
	_, err = i.enter(ctx, e)
	return err
}

func (i *intake) said(ctx context.Context, it spaces.Incoming, b spaces.Said) error {
	e := it.Event
	for _, m := range it.Mentions {
		id, err := i.person(ctx, m)
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
		if e.ReplyTo, err = i.messageAt(ctx, e.Space, b.ReplyRef); err != nil {
			return err
		}
	}
	if e.ReplyTo == "" && it.ReplyFrom.User != "" {
		if e.ReplyTo, err = i.sentBy(ctx, it); err != nil {
			return err
		}
	}
	if it.ByReply && e.ReplyTo != "" {
		var asked spaces.EntityID
		if _, err := one(ctx, i.tx, eventActor, []any{string(e.ReplyTo)}, &asked); err != nil {
			return err
		}
		_, b.ToUs = asked.IsAgent()
	}
	e.Body = b
	id, err := i.enter(ctx, e)
	if err != nil || b.Ref.IsZero() || id == "" {
		return err
	}
	e.ID = id
	if err := i.want(ctx, e, b); err != nil {
		return err
	}
	return i.run(ctx, insertMessage, b.Ref.Account, b.Ref.Chat, b.Ref.Message, string(e.Space), string(id), 0, 0)
}

// moved appends one joined or left for each person the item names.
func (i *intake) moved(ctx context.Context, it spaces.Incoming) error {
	if len(it.Who) == 0 {
		_, err := i.enter(ctx, it.Event)
		return err
	}
	if it.Present {
		var err error
		if it.Who, err = i.among(ctx, it.Event.Space, it.Who); err != nil || len(it.Who) == 0 {
			return err
		}
	}
	for n, who := range it.Who {
		id, err := i.person(ctx, who)
		if err != nil {
			return err
		}
		e := it.Event
		by := e.Actor
		if e.Actor == "" {
			e.Actor = id
		}
		if _, left := e.Body.(spaces.Left); left {
			if by == id {
				by = ""
			}
			e.Body = spaces.Left{Who: id, By: by}
		} else {
			e.Body = spaces.Joined{Who: id}
		}
		if n > 0 {
			e.ID = ""
			if e.Source != "" {
				e.Source += "/" + strconv.Itoa(n)
			}
		}
		if _, err := i.enter(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// target finds the message a body is about, by id or by its platform's name.
func (i *intake) target(ctx context.Context, space spaces.SpaceID, id spaces.EventID, own, item spaces.Ref) (spaces.EventID, spaces.Ref, error) {
	if own.IsZero() {
		own = item
	}
	if id != "" {
		return id, own, nil
	}
	id, err := i.messageAt(ctx, space, own)
	return id, own, err
}

// enter appends an event and lets the minds uplinked there know. An event that
// does not cohere enters as the record of its refusal, and has no id then.
func (i *intake) enter(ctx context.Context, e spaces.Event) (spaces.EventID, error) {
	tie, err := i.thread(ctx, &e)
	if err != nil {
		return "", err
	}
	if b, said := e.Body.(spaces.Said); said && b.Past {
		return i.recall(ctx, e, tie)
	}
	if err := i.stir(ctx, e); err != nil {
		return "", err
	}
	err = i.append(ctx, &e)
	if errors.Is(err, spaces.ErrTimelineDecoherence) {
		return "", i.refuse(ctx, e, err)
	}
	if err == nil {
		err = i.keep(ctx, tie, e)
	}
	if err != nil {
		return "", err
	}
	i.count(e.Space)
	if err := i.relay(ctx, e); err != nil {
		return "", err
	}
	return e.ID, i.wake(ctx, e)
}

// wake puts an event before the minds of its room, and ends what they waited for.
func (i *intake) wake(ctx context.Context, e spaces.Event) error {
	woken, err := i.knock(ctx, e)
	if err == nil && i.hushed != "" {
		return i.hush(ctx, e, i.hushed)
	}
	if err != nil {
		return err
	}
	over, err := i.answered(ctx, e, nil)
	for _, m := range woken {
		over = append(over, spaces.Waiting{Mind: m, Space: e.Space, Since: e.RecvAt})
	}
	for _, w := range over {
		if !slices.ContainsFunc(i.done.Wakes, func(o spaces.Waiting) bool { return o.Mind == w.Mind && o.Space == e.Space }) {
			i.done.Wakes = append(i.done.Wakes, w)
		}
	}
	return err
}

// recall appends what was said before. Nobody is woken by it, and a mind that had
// seen everything has seen this, too.
func (i *intake) recall(ctx context.Context, e spaces.Event, made *tie) (spaces.EventID, error) {
	if err := i.append(ctx, &e); err != nil {
		return "", err
	}
	if err := i.keep(ctx, made, e); err != nil {
		return "", err
	}
	i.count(e.Space)
	i.done.Past++
	if err := i.run(ctx, passOver, string(e.Space), e.Seq, string(e.ID)); err != nil {
		return "", fmt.Errorf("pass over %s: %w", e.ID, err)
	}
	r, err := i.room(ctx, e.Space)
	if err != nil {
		return "", err
	}
	for _, m := range r.minds {
		if m.Agent.Entity() == e.Actor {
			continue
		}
		err := i.run(ctx, insertPast, string(m.Agent), string(m.Circle), string(e.Space), e.Seq, string(e.ID), string(e.Root), e.Depth, ms(e.RecvAt))
		if err != nil {
			return "", fmt.Errorf("note that %s is past for %s: %w", e.ID, m, err)
		}
	}
	return e.ID, nil
}

func (i *intake) count(space spaces.SpaceID) {
	i.done.New++
	i.done.Spaces = appendNew(i.done.Spaces, space)
}

// refuse records, in the same space, that an event did not fit (SEQ-10).
func (i *intake) refuse(ctx context.Context, e spaces.Event, why error) error {
	i.lg.Warn("event refused", "space", e.Space, "source", e.Source, "error", why)
	raw, err := spaces.Encode(e.Body)
	if err != nil {
		return err
	}
	r := spaces.Event{
		Space: e.Space, Branch: spaces.Primary, Object: e.Object, Thread: e.Thread, Actor: e.Actor,
		At: e.At, RecvAt: e.RecvAt, Source: e.Source,
		Body: spaces.Unreadable{What: string(e.Body.Kind()), Reason: why.Error(), Raw: raw},
	}
	if err := i.append(ctx, &r); err != nil {
		return err
	}
	i.count(e.Space)
	return nil
}

// stray keeps an update that has no log to be kept in.
func (i *intake) stray(ctx context.Context, e spaces.Event) error {
	i.lg.Error("update without a space", "account", i.batch.Account, "space", e.Space, "source", e.Source)
	raw, err := spaces.Encode(e.Body)
	if err != nil {
		return err
	}
	return i.run(ctx, insertStray, i.batch.Account, string(e.Space), e.Source, "there is no such space", ms(i.batch.At), raw)
}

// messageAt returns the event of the message that stands at ref, or nothing.
func messageAt(ctx context.Context, src Reader, space spaces.SpaceID, ref spaces.Ref) (id spaces.EventID, err error) {
	if ref.IsZero() {
		return "", nil
	}
	_, err = one(ctx, src, messageEvent, []any{ref.Account, ref.Chat, ref.Message, string(space)}, &id)
	return id, err
}
