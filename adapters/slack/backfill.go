package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/adapters"
)

const (
	fillEvery  = 10 * time.Minute
	fillMargin = time.Minute // each look reaches back so far beyond the one before it
	fillChunk  = 200         // updates handed in together
)

// A historyPage is what history brings to dispatch: the plan first, which says whose
// live updates must wait, then a channel at a time.
type historyPage struct {
	plan     []string // channels to be filled; a non-nil empty plan means that all are done
	channel  string
	messages []json.RawMessage // oldest first
	listened bool              // we listened all the time in which they were said
	owed     *pendingHistory   // what Slack did not answer; nil: nothing
	looked   time.Time         // from when on all channels were read; last, alone
}

// fills reads what live events may have missed: once something listens, after a
// hole, and every ten minutes.
func (r *receiver) fills(ctx context.Context) error {
	select {
	case <-r.listens:
	case <-ctx.Done():
		return nil
	}
	pos := r.where()
	joined, err := r.c.joined(ctx)
	if err != nil && !skippable(err) {
		return err
	}
	if err != nil {
		r.c.log.Warn("gaps are not filled: the app's channels cannot be listed", "error", err)
	}
	f := &backfiller{receiver: r, joined: joined, checked: map[string]string{}, owed: pos.Owed, asked: map[string]time.Time{}}
	plan := make([]string, 0, len(joined))
	for _, ch := range joined {
		plan = append(plan, ch.ID)
		f.checked[ch.ID] = pos.lookBack(ch.ID)
	}
	if err := r.sendPage(ctx, historyPage{plan: plan}); err != nil {
		return err
	}
	deaf := "" // since when messages may be missing: Slack keeps events for an absent client only shortly
	if !r.first {
		deaf = tsAt(time.Unix(pos.Heard, 0).Add(-retryWindow))
	}
	return f.run(ctx, deaf)
}

// run looks at all channels, now and again.
func (f *backfiller) run(ctx context.Context, deaf string) error {
	dunning := firstDunning
	for everything, listened := true, false; ; {
		began, at := time.Now(), f.joined
		looked := tsAt(began.Add(-fillMargin))
		if !everything {
			at = f.debtors()
		}
		if err := f.look(ctx, at, deaf, listened && everything); err != nil {
			return err
		}
		deaf, listened = "", true
		if everything {
			f.full = began.Add(fillEvery)
			if err := f.sendPage(ctx, historyPage{looked: began}); err != nil {
				return err
			}
		}
		dunning = min(dunning*2, lastDunning)
		if len(f.owed) == 0 {
			dunning = firstDunning
		}
		var wait time.Duration
		wait, everything = f.rest(dunning)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-f.refill:
			timer.Stop()
			deaf, listened, everything = looked, false, true
		}
		f.again(ctx)
	}
}

// again learns which channels the app is in by now.
func (f *backfiller) again(ctx context.Context) {
	if joined, err := f.c.joined(ctx); err == nil {
		f.joined = joined
	}
	for _, ch := range f.joined {
		if f.checked[ch.ID] == "" { // what was said before we came is no gap
			f.checked[ch.ID] = cmp.Or(f.where().Last[ch.ID], tsAt(time.Now()))
		}
	}
}

// look reads channels from where they were last read: those that are waited for
// first, then those that spoke last. Threads are looked for that were taken up
// again after deaf, unless that is empty. Where Slack does not answer, the
// channel's live updates pass, and what was missed stays owed.
func (f *backfiller) look(ctx context.Context, at []channel, deaf string, listened bool) error {
	pos := f.where()
	left := slices.Clone(at)
	slices.SortStableFunc(left, f.before(pos))
	for unanswered := 0; len(left) > 0; {
		i := f.urgent(left)
		id := left[i].ID
		left = slices.Delete(left, i, i+1)
		_, owes := f.owed[id]
		s, ok, err := f.answered(ctx, id, deaf, unanswered < maxUnanswered)
		if err != nil {
			return err
		}
		if unanswered++; ok {
			unanswered = 0
		}
		s.listened = listened && !owes
		if err := f.sendPage(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// missed returns what was said in a channel after from. The threads that spoke
// lately are known; others may have been taken up again while we were deaf.
func (r *receiver) missed(ctx context.Context, channel, from, deaf string) ([]json.RawMessage, error) {
	threads := r.where().threadsOf(channel, time.Now())
	if deaf != "" {
		old, err := r.c.revived(ctx, channel, from, deaf)
		if err != nil {
			return nil, err
		}
		threads = append(threads, old...)
	}
	return r.c.since(ctx, channel, from, threads)
}

// urgent returns which of the channels is to be read next.
func (r *receiver) urgent(left []channel) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(slices.IndexFunc(left, func(ch channel) bool { return r.waiting[ch.ID] }), 0)
}

// skippable reports whether a failure concerns one channel, or a right we lack:
// live updates go on without history.
func skippable(err error) bool {
	switch adapters.KindOf(err) {
	case adapters.NoTarget, adapters.Forbidden, adapters.Invalid:
		return true
	case adapters.Unknown, adapters.NotSent, adapters.Limited, adapters.Moved, adapters.Unauthorized, adapters.Conflict:
	}
	return false
}

// sendPage gives dispatch what was read.
func (r *receiver) sendPage(ctx context.Context, s historyPage) error {
	select {
	case r.pages <- s:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fill records what history brings of a channel, then what waited for it.
func (r *receiver) fill(ctx context.Context, s historyPage, hellos *errgroup.Group) error {
	if s.plan != nil {
		return r.plan(ctx, s.plan, hellos)
	}
	if !s.looked.IsZero() {
		return r.whole(ctx, s.looked)
	}
	if s.owed != nil {
		if err := r.storePending(ctx, s.channel, *s.owed); err != nil {
			return err
		}
		return r.release(ctx, s.channel, hellos)
	}
	var updates []adapters.Update
	for _, raw := range s.messages {
		for _, u := range r.placed(ctx, r.read.past(ctx, s.channel, raw)) {
			if u.Kept = true; !r.recent.has(u.Key) {
				updates = append(updates, u)
			}
		}
	}
	if len(updates) > 0 {
		r.c.log.Info("gap filled", "chat", s.channel, "updates", len(updates))
	}
	if s.listened {
		r.c.noteMissingSubscription(updates)
	}
	for chunk := range slices.Chunk(updates, fillChunk) {
		if err := r.accept(ctx, chunk); err != nil {
			return err
		}
		r.recent.add(chunk, true)
	}
	r.clearPending(s.channel)
	if s.listened && r.isDeaf(updates) {
		return &adapters.Error{Kind: adapters.NotSent, Op: "receive", Err: adapters.ErrDeaf}
	}
	return r.release(ctx, s.channel, hellos)
}

// isDeaf reports whether no event at all has been delivered since one of the messages
// was written that history has and no event told, and that the sockets are to be opened
// anew for that. Where other events came later, a subscription is missing.
func (r *receiver) isDeaf(told []adapters.Update) bool {
	deaf := slices.ContainsFunc(told, func(u adapters.Update) bool { return r.c.untoldByEvents(u) && u.At.After(r.event) })
	if !deaf {
		return false
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	if !r.c.deafAt.IsZero() && time.Since(r.c.deafAt) < adapters.DeafAgain {
		return false
	}
	r.c.deafAt = time.Now()
	return true
}

// whole notes durably that all was read that was said until then.
func (r *receiver) whole(ctx context.Context, then time.Time) error {
	r.mu.Lock()
	r.pos.Heard = then.Unix()
	r.mu.Unlock()
	return r.accept(ctx, nil)
}

// plan notes which chats are to be filled and lets the others pass.
func (r *receiver) plan(ctx context.Context, channels []string, hellos *errgroup.Group) error {
	r.planned = true
	for _, ch := range channels {
		r.filling[ch] = true
	}
	for chat := range r.parked {
		if !r.filling[chat] {
			if err := r.release(ctx, chat, hellos); err != nil {
				return err
			}
		}
	}
	return nil
}

// park keeps a live update until its chat's gap is filled.
func (r *receiver) park(chat string, t *acceptedEvents) {
	r.parked[chat] = append(r.parked[chat], t)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[chat] = true
}

// release lets the live updates of a chat pass. What history told already is only
// acknowledged.
func (r *receiver) release(ctx context.Context, chat string, hellos *errgroup.Group) error {
	delete(r.filling, chat)
	waited := r.parked[chat]
	delete(r.parked, chat)
	r.mu.Lock()
	delete(r.waiting, chat)
	r.mu.Unlock()
	for _, t := range waited {
		t.updates = slices.DeleteFunc(t.updates, func(u adapters.Update) bool { return r.recent.told(u.Key) || r.recent.has(u.Key) })
	}
	return r.record(ctx, waited, hellos)
}
