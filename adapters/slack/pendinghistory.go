package slack

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// A pendingHistory is what must still be read of one channel's history: Slack did not answer
// when it was asked, and the other channels do not wait for that.
type pendingHistory struct {
	// From is the ts behind which the channel has to be read.
	From string `json:"f"`
	// Deaf is since when old threads may have been taken up again unheard; empty: never.
	Deaf string `json:"d,omitempty"`
}

const (
	// firstDunning and lastDunning are how long what is owed is left alone after it
	// was asked for in vain.
	firstDunning = 30 * time.Second
	lastDunning  = 5 * time.Minute
	// maxUnanswered is how many channels in a row may remain unanswered before the
	// others of a look are left for later unasked.
	maxUnanswered = 2
)

// errUnasked is why a channel's history is owed that was not asked for.
var errUnasked = errors.New("slack does not answer about other channels")

// A backfiller reads history for one Receive. It is one goroutine, which owns its fields.
type backfiller struct {
	*receiver
	joined  []channel
	checked map[string]string // by channel, from where the next look begins
	owed    map[string]pendingHistory
	asked   map[string]time.Time // by channel
	full    time.Time            // when all channels are looked at again
}

// rest returns when the next look is due and whether it is for everything: every
// ten minutes, and before that, ever more slowly, for what is owed.
func (f *backfiller) rest(dunning time.Duration) (wait time.Duration, all bool) {
	wait = time.Until(f.full)
	if len(f.owed) > 0 && dunning < wait {
		return dunning, false
	}
	return wait, true
}

// debtors returns the channels of which something is owed.
func (f *backfiller) debtors() []channel {
	return slices.DeleteFunc(slices.Clone(f.joined), func(ch channel) bool { _, owes := f.owed[ch.ID]; return !owes })
}

// answered reads what was missed in one channel, from where something is owed if it
// is. What Slack does not answer stays owed; ask tells to try at all. ok tells that
// it answered, be it with a no.
func (f *backfiller) answered(ctx context.Context, id, deaf string, ask bool) (s historyPage, ok bool, err error) {
	d := pendingHistory{From: f.checked[id], Deaf: deaf}
	if had, owes := f.owed[id]; owes {
		d.From, d.Deaf = had.From, cmp.Or(had.Deaf, deaf)
	}
	s.channel = id
	next, failed := tsAt(time.Now().Add(-fillMargin)), errUnasked
	if ask {
		f.asked[id] = time.Now()
		s.messages, failed = f.missed(ctx, id, d.From, d.Deaf)
	}
	switch {
	case ctx.Err() != nil:
		return s, false, context.Cause(ctx)
	case failed == nil:
		if later(next, f.checked[id]) {
			f.checked[id] = next
		}
		delete(f.owed, id)
		return s, true, nil
	case adapters.KindOf(failed) == adapters.Unauthorized:
		return s, false, failed
	}
	f.c.log.Warn("gap not filled", "chat", id, "error", failed)
	if skippable(failed) {
		delete(f.owed, id)
		return s, true, nil
	}
	f.owed[id] = d
	s.messages, s.owed = nil, &d
	return s, false, nil
}

// before orders the channels of a look: those of which nothing is owed by when they
// last spoke, then the others by when they were last asked for.
func (f *backfiller) before(pos *position) func(a, b channel) int {
	return func(a, b channel) int {
		_, owesA := f.owed[a.ID]
		_, owesB := f.owed[b.ID]
		switch {
		case owesA && owesB:
			return f.asked[a.ID].Compare(f.asked[b.ID])
		case owesA:
			return 1
		case owesB:
			return -1
		}
		return -compareTS(pos.from(a.ID), pos.from(b.ID))
	}
}

// storePending notes what stays owed of a channel, durably before its live updates move
// its place.
func (r *receiver) storePending(ctx context.Context, channel string, d pendingHistory) error {
	r.mu.Lock()
	had, owes := r.pos.Owed[channel]
	r.pos.Owed[channel] = d
	r.mu.Unlock()
	if owes && had == d {
		return nil
	}
	return r.accept(ctx, nil)
}

// clearPending notes that nothing is owed of a channel any more.
func (r *receiver) clearPending(channel string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pos.Owed, channel)
}
