package slack

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters"
)

const (
	maxBatch  = 256              // deliveries recorded together
	proofOf   = 30 * time.Second // between questions whether Slack is there, without a socket
	maxHellos = 4                // App Homes filled at once
)

// Receive listens until ctx is done, or until neither a socket is open nor
// another can be had.
//
// What comes is recorded in batches and acknowledged after that; while the sink
// refuses, the same batch is handed in again, and nothing behind it is taken.
// First, and every ten minutes, it reads from history what the sockets may have
// missed; a chat's live updates wait until its gap is filled.
func (c *Client) Receive(ctx context.Context, cursor []byte, sink adapters.UpdateSink) error {
	pos, err := parsePosition(cursor)
	if err != nil {
		return &adapters.Error{Kind: adapters.Invalid, Op: "receive", Err: err}
	}
	me, err := c.me(ctx)
	if err != nil {
		return adapters.OrDone(ctx, err)
	}
	if cursor == nil {
		pos.Since, pos.Heard = tsAt(time.Now().Add(-clockSkew)), time.Now().Unix()
	}
	r := &receiver{
		c: c, read: reader{c: c, self: me}, sink: sink, inbox: newInbox(), pos: pos,
		pages: make(chan historyPage), refill: make(chan struct{}, 1), listens: make(chan struct{}), first: cursor == nil,
		parked: map[string][]*acceptedEvents{}, filling: map[string]bool{}, waiting: map[string]bool{},
	}
	for _, said := range pos.Newest {
		r.recent.note(messagePrefix+said, false)
	}
	c.hook.Store(r)
	defer c.hook.Store(nil)
	g, ctx2 := errgroup.WithContext(ctx)
	g.Go(func() error { return r.connect(ctx2) })
	g.Go(func() error { return r.fills(ctx2) })
	g.Go(func() error { return r.dispatch(ctx2) })
	g.Go(func() error { adapters.WatchStops(ctx2, r.requestBackfill); return nil }) // sockets may have died one after the other
	return adapters.OrDone(ctx, g.Wait())
}

// A receiver is one Receive. Its dispatch goroutine alone hands in; the others
// bring it what there is.
type receiver struct {
	c       *Client
	read    reader
	sink    adapters.UpdateSink
	inbox   *inbox
	pages   chan historyPage // from history
	refill  chan struct{}    // a doorbell: there may be a hole
	listens chan struct{}    // closed once something can reach us
	first   bool             // there was no cursor

	// Of dispatch alone.
	planned bool
	filling map[string]bool              // chats whose gap is being filled
	parked  map[string][]*acceptedEvents // their live updates
	recent  recent
	event   time.Time // when the last event was delivered

	mu      sync.Mutex // guards what follows
	pos     *position
	waiting map[string]bool // chats with parked updates: their gaps are filled first
}

// An acceptedEvents delivery is one whose updates are read.
type acceptedEvents struct {
	*delivery
	updates []adapters.Update
}

// connect keeps what brings us deliveries.
func (r *receiver) connect(ctx context.Context) error {
	heard := func() { r.sink.Alive(time.Now()) }
	if r.c.o.AppToken != "" {
		l := &socketPool{c: r.c, inbox: r.inbox, heard: heard, holed: r.requestBackfill, listens: sync.OnceFunc(func() { close(r.listens) })}
		return l.run(ctx)
	}
	close(r.listens)
	for ctx.Err() == nil { // requests come when people speak; whether Slack is there must be asked
		if _, err := r.c.authTest(ctx); err != nil && adapters.KindOf(err) != adapters.Limited {
			return err
		}
		heard()
		adapters.SleepContext(ctx, proofOf)
	}
	return nil
}

// requestBackfill asks for another look at history. It never blocks.
func (r *receiver) requestBackfill() {
	select {
	case r.refill <- struct{}{}:
	default:
	}
}

// dispatch hands in what is delivered and what history brings, until ctx is done.
func (r *receiver) dispatch(ctx context.Context) error {
	var hellos errgroup.Group
	hellos.SetLimit(maxHellos)
	defer func() { _ = hellos.Wait() }() // they log what goes wrong
	if r.first {
		if err := r.accept(ctx, nil); err != nil { // from here on every gap is recorded
			return err
		}
	}
	for ctx.Err() == nil {
		ds := r.inbox.take(maxBatch)
		if err := r.deliver(ctx, ds, &hellos); err != nil {
			return err
		}
		if len(ds) == maxBatch {
			continue
		}
		select {
		case <-ctx.Done():
		case <-r.inbox.bell:
		case p := <-r.pages:
			if err := r.fill(ctx, p, &hellos); err != nil {
				return err
			}
		}
	}
	return nil
}

// deliver records deliveries, but for those whose chat has a gap to be filled.
func (r *receiver) deliver(ctx context.Context, ds []*delivery, hellos *errgroup.Group) error {
	var now []*acceptedEvents
	if len(ds) > 0 {
		r.event = time.Now()
	}
	for _, d := range ds {
		t := &acceptedEvents{delivery: d, updates: slices.DeleteFunc(r.placed(ctx, r.read.read(ctx, d)), func(u adapters.Update) bool { return r.recent.told(u.Key) })}
		chat := ""
		if len(t.updates) > 0 && d.kind != "interactive" && d.kind != "slash_commands" { // these wait for no history: Slack gives them up after 3 s
			chat = t.updates[0].Chat.ID
		}
		if _, gap := gapIn(t.updates); gap {
			r.requestBackfill()
		}
		if chat != "" && (r.filling[chat] || !r.planned) {
			r.park(chat, t)
			continue
		}
		now = append(now, t)
	}
	return r.record(ctx, now, hellos)
}

// placed puts what people said and did into their channel as it is called by now: what
// is brought again comes under the id that it had. All but messages, which the record
// knows by their ts, keep the first id in their key, or history would tell them anew.
func (r *receiver) placed(ctx context.Context, updates []adapters.Update) []adapters.Update {
	r.mu.Lock()
	pos := r.pos
	r.mu.Unlock()
	for i := range updates {
		u := &updates[i]
		was := u.Chat.ID
		now, key := pos.ids(was)
		switch u.Body.(type) {
		case adapters.IncomingMessage:
			key = now
		case adapters.MessageEdit, adapters.MessageDeletion, adapters.ReactionChange, adapters.ReactionsCleared, adapters.ChoicePicked:
		case adapters.PeopleJoined, adapters.PeopleLeft, adapters.ChatRenamed, adapters.MessagePinned, adapters.MessageUnpinned, adapters.ChatMigrated,
			adapters.ChatGained, adapters.ChatLost, adapters.UpdateGap, adapters.UnreadableUpdate:
			continue
		}
		if now != was {
			u.Chat = r.c.names.chat(ctx, now, "", r.read.self.Team)
		}
		u.Key = strings.Replace(u.Key, ":"+was+":", ":"+key+":", 1)
	}
	return updates
}

// gapIn returns the gap that updates tell of.
func gapIn(updates []adapters.Update) (adapters.UpdateGap, bool) {
	if len(updates) != 1 {
		return adapters.UpdateGap{}, false
	}
	gap, ok := updates[0].Body.(adapters.UpdateGap)
	return gap, ok
}

// record hands in deliveries and acknowledges them.
func (r *receiver) record(ctx context.Context, ts []*acceptedEvents, hellos *errgroup.Group) error {
	if len(ts) == 0 {
		return nil
	}
	inOrder(ts)
	var updates []adapters.Update
	ds := make([]*delivery, len(ts))
	for i, t := range ts {
		updates = append(updates, t.updates...)
		ds[i] = t.delivery
	}
	if len(updates) > 0 {
		if err := r.accept(ctx, updates); err != nil {
			return err
		}
		r.recent.add(updates, false)
	}
	if ctx.Err() != nil { // Slack will bring them again, and the record will know them
		return context.Cause(ctx)
	}
	r.inbox.done(ds)
	for _, d := range ds {
		if d.opened != (opening{}) {
			hellos.TryGo(func() error { d.opened.welcome(ctx, r.c.messageSender); return nil })
		}
	}
	return nil
}

// inOrder puts the deliveries of each chat into the order in which things
// happened: two sockets keep none. Chats keep their places among each other.
func inOrder(ts []*acceptedEvents) {
	places := map[string][]int{}
	for i, t := range ts {
		if len(t.updates) > 0 && t.updates[0].Chat.ID != "" && !t.updates[0].At.IsZero() {
			chat := t.updates[0].Chat.ID
			places[chat] = append(places[chat], i)
		}
	}
	for _, at := range places {
		of := make([]*acceptedEvents, len(at))
		for i, p := range at {
			of[i] = ts[p]
		}
		slices.SortStableFunc(of, func(a, b *acceptedEvents) int { return a.updates[0].At.Compare(b.updates[0].At) })
		for i, p := range at {
			ts[p] = of[i]
		}
	}
}

// accept hands a batch in until it is taken. It fails when ctx is done.
func (r *receiver) accept(ctx context.Context, updates []adapters.Update) error {
	next := r.where()
	for _, u := range updates {
		if m, ok := u.Body.(adapters.IncomingMessage); ok {
			next.advance(u.Chat.ID, u.Thread.ID, m.ID)
		}
		if m, ok := u.Body.(adapters.ChatMigrated); ok {
			next.move(u.Chat.ID, m.To)
		}
	}
	if err := adapters.DeliverBatch(ctx, r.sink, adapters.UpdateBatch{Updates: updates, Cursor: next.cursor()}, r.c.log); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pos = next
	return nil
}

// where returns a copy of the position.
func (r *receiver) where() *position {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pos.clone()
}

// maxRecent bounds the keys that a receiver remembers.
const maxRecent = 8192

// recent are the keys handed in lately, with whether history told them: live
// events and history tell the same, and the second telling need not be handed in.
// The record would know it anyway.
type recent struct {
	keys map[string]bool
	ring []string
	at   int
}

func (s *recent) add(updates []adapters.Update, history bool) {
	for _, u := range updates {
		s.note(u.Key, history)
	}
}

func (s *recent) note(key string, history bool) {
	if s.keys == nil {
		s.keys = map[string]bool{}
	}
	if !s.has(key) {
		if len(s.ring) < maxRecent {
			s.ring = append(s.ring, key)
		} else {
			delete(s.keys, s.ring[s.at])
			s.ring[s.at] = key
			s.at = (s.at + 1) % maxRecent
		}
	}
	s.keys[key] = history
}

// has reports whether the key was handed in.
func (s *recent) has(key string) bool { _, had := s.keys[key]; return had }

// told reports whether history told it, once: what Slack delivers a second time
// after that is a redelivery, which is the record's to know.
func (s *recent) told(key string) bool {
	if !s.keys[key] {
		return false
	}
	s.keys[key] = false
	return true
}

// errNotReceiving is why a request cannot be taken.
var errNotReceiving = errors.New("nothing receives for this app now")
