package sqlstore

import (
	"cmp"
	"context"
	"fmt"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	tieColumns engine.QueryText = `thread, platform, chat, there, root, title, began`
	tieHere    engine.QueryText = `select ` + tieColumns + ` from threads where space = $1 and platform = $2 and chat = $3 and there = $4`
	// tieFound !A space may have as many threads as messages: the narrow index selects
	// the rows.
	tieFound = `select t.thread, t.platform, t.chat, t.there, t.root, t.title, t.began from threads k
join threads t on t.space = k.space and t.platform = k.platform and t.chat = k.chat and t.there = k.there `
	tieOnRoot engine.QueryText = tieFound + `where k.space = $1 and k.root = $2 order by t.began desc limit 1`
	tiesOf    engine.QueryText = tieFound + `where k.space = $1 and k.thread = $2 order by t.began desc, t.platform, t.chat`
	insertTie engine.QueryText = `insert into threads (space, thread, platform, chat, there, root, title, began) values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict do nothing`
	nameThread engine.QueryText = `update threads set title = $3 where space = $1 and thread = $2`
	threadOf   engine.QueryText = `select thread from events where id = $1`
	// threadHere !A message that is in the chat itself, and not in a thread there, has
	// no row in threads.
	threadHere engine.QueryText = `select exists (select 1 from events e cross join messages k cross join messages m
where e.space = $1 and e.branch = 'main' and e.thread = $2 and e.thread <> '' and k.event = e.id and k.account = $3 and k.chat = $4
  and m.account = k.account and m.chat = k.chat and m.message = k.message and m.space = k.space and m.own = 0)`
	// firstHere !The expression in place of the branch keeps the engine from reading the
	// whole space.
	firstHere engine.QueryText = `select m.account, m.chat, m.message from events e cross join messages m
where e.space = $1 and e.branch || '' = 'main' and e.thread = $2 and e.thread <> '' and m.event = e.id and m.account = $3 and m.chat = $4 order by e.seq, m.part limit 1`
)

// A threadMapping maps a thread of a space to a thread of one of its chats.
type threadMapping struct {
	thread     spaces.ThreadID // of the space
	chat       chatKey
	chatThread spaces.ThreadID
	rootEvent  spaces.EventID // message that it replies to
	title      string
	began      bool // the thread began in this chat
}

// A chatKey is a chat, independent of the account.
type chatKey struct{ platform, chat string }

func chatKeyOf(account, chat string) chatKey { return chatKey{platformOf(account), chat} }

func scanThreadMapping(r engine.ResultRow) (t threadMapping, err error) {
	return t, r.Scan(&t.thread, &t.chat.platform, &t.chat.chat, &t.chatThread, &t.rootEvent, &t.title, &t.began)
}

// assignThread replaces the thread of an event in its chat by the thread of the space.
// The id of a thread in the space is the one in the chat where it began. It returns the
// mapping that the event creates, if it is the first of its thread.
func (i *ingestTx) assignThread(ctx context.Context, e *spaces.Event) (made *threadMapping, err error) {
	r, err := i.space.load(ctx, e.Space)
	if err != nil || r == nil || len(r.chats) < 2 || e.Branch != spaces.Primary || i.fromChat == "" {
		return nil, err
	}
	if e.Thread == "" {
		return nil, i.threadOfReply(ctx, e)
	}
	here := chatKeyOf(i.batch.Account, i.fromChat)
	known, err := engine.FirstRow(ctx, i, tieHere, []any{string(e.Space), here.platform, here.chat, string(e.Thread)}, scanThreadMapping)
	if err != nil {
		return nil, fmt.Errorf("find thread %s: %w", e.Thread, err)
	}
	if known != nil {
		return nil, i.joinThread(ctx, e, *known)
	}
	if e.Body.Kind() != spaces.KindSaid {
		return nil, nil
	}
	made = &threadMapping{thread: e.Thread, chat: here, chatThread: e.Thread, title: i.threadTitle, began: true}
	return made, i.startThread(ctx, e, made)
}

// joinThread puts an event into a known thread and updates its title.
func (i *ingestTx) joinThread(ctx context.Context, e *spaces.Event, known threadMapping) error {
	e.Thread = known.thread
	if !known.began {
		dropThreadTitle(e)
	}
	stale := known.title != "" && e.Body.Kind() != spaces.KindRenamed // a message may tell the title that the thread began with
	if i.threadTitle == "" || i.threadTitle == known.title || stale {
		return nil
	}
	return i.Run(ctx, nameThread, string(e.Space), string(known.thread), i.threadTitle)
}

// startThread completes a new mapping: the root is the message with the id of the
// thread. If a thread of another chat has the same root, it is the same thread of the
// space.
func (i *ingestTx) startThread(ctx context.Context, e *spaces.Event, made *threadMapping) (err error) {
	made.rootEvent, err = i.findMessage(ctx, e.Space, spaces.MessageRef{Account: i.batch.Account, Chat: i.fromChat, Message: string(made.chatThread)})
	if err != nil {
		return err
	}
	if made.rootEvent != "" {
		elsewhere, err := engine.FirstRow(ctx, i, tieOnRoot, []any{string(e.Space), string(made.rootEvent)}, scanThreadMapping)
		if err != nil {
			return fmt.Errorf("find thread on %s: %w", made.rootEvent, err)
		}
		if elsewhere != nil {
			made.thread, made.title, made.began = elsewhere.thread, elsewhere.title, false
		}
	}
	if made.began {
		namesakes, err := engine.AllRows(ctx, i, tiesOf, []any{string(e.Space), string(made.thread)}, scanThreadMapping)
		if err != nil {
			return err
		}
		if len(namesakes) > 0 {
			made.thread = spaces.ThreadID(string(made.chatThread) + "@" + i.fromChat)
		}
	}
	e.Thread = made.thread
	if !made.began {
		dropThreadTitle(e)
	}
	return nil
}

// dropThreadTitle removes the title of a thread that goes on in another chat than it began
// in: there it is made of the words of its first message, which may be deleted.
func dropThreadTitle(e *spaces.Event) {
	if b, said := e.Body.(spaces.MessagePosted); said {
		b.ThreadTitle = ""
		e.Body = b
	}
}

// threadOfReply puts a reply to a message of a thread into that thread, in a chat that
// shows the thread as a chain of replies.
func (i *ingestTx) threadOfReply(ctx context.Context, e *spaces.Event) error {
	if e.Body.Kind() != spaces.KindSaid || e.ReplyTo == "" {
		return nil
	}
	var answered spaces.ThreadID
	if _, err := engine.ScanRow(ctx, i, threadOf, []any{string(e.ReplyTo)}, &answered); err != nil || answered == "" {
		return err
	}
	ties, err := engine.AllRows(ctx, i, tiesOf, []any{string(e.Space), string(answered)}, scanThreadMapping)
	if err != nil || len(ties) == 0 {
		return err
	}
	for _, t := range ties {
		if t.chat == chatKeyOf(i.batch.Account, i.fromChat) {
			return nil
		}
	}
	e.Thread = answered
	return nil
}

// storeThread stores a mapping. Without a root, e is the root.
func (i *ingestTx) storeThread(ctx context.Context, made *threadMapping, e spaces.Event) error {
	if made == nil {
		return nil
	}
	root := cmp.Or(made.rootEvent, e.ID)
	err := i.Run(ctx, insertTie, string(e.Space), string(made.thread), made.chat.platform, made.chat.chat, string(made.chatThread), string(root), made.title, made.began)
	if err != nil {
		return fmt.Errorf("store thread %s: %w", made.chatThread, err)
	}
	return nil
}

// A threadTx maps threads of a space to threads of its chats.
type threadTx struct {
	*writeTx
}

// inChat returns the thread of a space as one of its chats knows it, if it began there;
// else the thread of the space, for the sender to resolve.
func (t *threadTx) inChat(ctx context.Context, r *spaceState, thread spaces.ThreadID, c chatState) (there, rooms spaces.ThreadID, err error) {
	if thread == "" || len(r.chats) < 2 {
		return thread, "", nil
	}
	ties, err := engine.AllRows(ctx, t, tiesOf, []any{string(r.ID), string(thread)}, scanThreadMapping)
	if err != nil {
		return "", "", fmt.Errorf("find thread %s: %w", thread, err)
	}
	for _, tie := range ties {
		if tie.began && tie.chat == chatKeyOf(c.account, c.id) {
			return tie.chatThread, "", nil
		}
	}
	if len(ties) > 0 {
		return "", thread, nil
	}
	here, err := engine.QueryBool(ctx, t, threadHere, string(r.ID), string(thread), c.account, c.id)
	if err != nil || !here {
		return "", "", err
	}
	return thread, "", nil // it began before the space had another chat
}

// ThreadAnchor implements [activity.Outbox].
func (b OutboxStore) ThreadAnchor(ctx context.Context, account, chat string, space spaces.SpaceID, thread spaces.ThreadID) (m activity.ThreadAnchor, err error) {
	ties, err := engine.AllRows(ctx, b.s.engine, tiesOf, []any{string(space), string(thread)}, scanThreadMapping)
	if err != nil {
		return m, fmt.Errorf("find thread %s: %w", thread, err)
	}
	if len(ties) == 0 {
		return m, nil
	}
	for _, t := range ties {
		if t.chat == chatKeyOf(account, chat) {
			m.There = t.chatThread
		}
	}
	words, files, err := b.MessageRefs(ctx, account, chat, ties[0].rootEvent)
	if err != nil {
		return m, err
	}
	if refs := append(words, files...); len(refs) > 0 {
		m.Anchor = refs[0]
	} else if _, err := engine.ScanRow(ctx, b.s.engine, firstHere, []any{string(space), string(thread), account, chat},
		&m.Anchor.Account, &m.Anchor.Chat, &m.Anchor.Message); err != nil {
		return m, fmt.Errorf("find where thread %s hangs in %s: %w", thread, chat, err)
	}
	return m, nil
}

// ThreadTitle implements [activity.Outbox].
func (b OutboxStore) ThreadTitle(ctx context.Context, space spaces.SpaceID, thread spaces.ThreadID) (title string, err error) {
	tie, err := engine.FirstRow(ctx, b.s.engine, tiesOf, []any{string(space), string(thread)}, scanThreadMapping)
	if err != nil {
		return "", fmt.Errorf("find thread %s: %w", thread, err)
	}
	if tie == nil {
		return "", nil
	}
	if tie.title != "" {
		return tie.title, nil
	}
	root, err := tables.EventByID(ctx, b.s.engine, tie.rootEvent)
	if err == nil && root != nil {
		title, err = tables.CurrentText(ctx, b.s.engine, *root)
	}
	if err != nil {
		return "", fmt.Errorf("read what thread %s hangs on: %w", thread, err)
	}
	return title, nil
}
