package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// A pendingHistory is the history that must still be read of one channel, because Discord
// did not answer; the messages of other channels do not wait for it.
type pendingHistory struct {
	// After is the id behind which the channel has to be read; 0: nothing of its own.
	After snowflake `json:"a,omitempty,string"`
	// Aside is since when threads of the channel may have been put away unread; 0: none.
	Aside snowflake `json:"t,omitempty,string"`
	// Guild is the channel's server; empty for a direct chat.
	Guild string `json:"g,omitempty"`
	// Blind tells that the channel's server is not known: its live messages are then left
	// to history, too.
	Blind bool `json:"b,omitempty"`
}

const (
	// patience is how long one question about a channel may hold up the others.
	patience = 8 * time.Second
	// firstDunning and lastDunning are how long what is owed is left alone after it
	// was asked for in vain.
	firstDunning = 10 * time.Second
	lastDunning  = 5 * time.Minute
)

// errOwed is why what happens in a channel cannot be placed.
var errOwed = errors.New("discord does not tell where this belongs")

// pendingHistories are when what is owed is asked for again. The debts themselves are in the
// position.
type pendingHistories struct {
	refused time.Time            // when Discord last did not answer
	again   time.Time            // when to ask
	rest    time.Duration        // how long to leave it alone the next time
	asked   map[string]time.Time // when each channel, or what a late event takes, was last asked for
}

// addPending notes what could not be read of a channel, beside what was owed of it before.
func (r *receiver) addPending(channel string, d pendingHistory, why error) {
	r.client.log.Warn("discord does not answer, reading it later", "channel", channel, "error", why)
	if r.at.Owed == nil {
		r.at.Owed = map[string]pendingHistory{}
	}
	had, again := r.at.Owed[channel]
	r.at.Owed[channel] = pendingHistory{
		After: earlier(had.After, d.After), Aside: earlier(had.Aside, d.Aside),
		Guild: cmp.Or(d.Guild, had.Guild), Blind: had.Blind || d.Blind,
	}
	r.unanswered(!again)
}

// unanswered notes that Discord did not answer, and when to ask again; fresh tells
// that it was not asked about this before.
func (r *receiver) unanswered(fresh bool) {
	now := time.Now()
	r.owed.refused, r.stored = now, time.Time{}
	switch {
	case r.owed.again.Before(now):
		r.owed.rest = min(max(r.owed.rest*2, firstDunning), lastDunning)
		r.owed.again = now.Add(r.owed.rest)
	case fresh && r.owed.again.Sub(now) > firstDunning: // what holds up another is no reason to leave this one
		r.owed.again = now.Add(firstDunning)
	}
}

// earlier returns the smaller id of those that are set.
func earlier(a, b snowflake) snowflake {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// inTrouble reports whether Discord has just left a question unanswered: the next
// ones are not tried then, lest each of many channels takes its time.
func (r *receiver) inTrouble() bool { return time.Since(r.owed.refused) < firstDunning }

// retryTimer returns what rings when something owed may be asked for; nil: nothing is owed.
func (r *receiver) retryTimer() <-chan time.Time {
	if len(r.at.Owed) == 0 && len(r.at.Late) == 0 {
		return nil
	}
	return time.After(time.Until(r.owed.again))
}

// retryPending asks for what is owed of one channel, or for what one late event takes:
// what was not asked for the longest.
func (r *receiver) retryPending(ctx context.Context) error {
	if r.owed.asked == nil {
		r.owed.asked = map[string]time.Time{}
	}
	l, isLate := r.firstDeferred()
	id, d, owes := r.firstPending()
	switch {
	case isLate && (!owes || r.owed.asked[l.About].Before(r.owed.asked[id])):
		r.owed.asked[l.About], r.owed.refused = time.Now(), time.Time{}
		return r.retryDeferred(ctx, l)
	case owes:
		r.owed.asked[id], r.owed.refused = time.Now(), time.Time{}
		return r.retryChannel(ctx, id, d)
	}
	return nil
}

// firstPending returns the channel that was not asked for the longest, and what is owed
// of it.
func (r *receiver) firstPending() (id string, d pendingHistory, owes bool) {
	if len(r.at.Owed) == 0 {
		return "", pendingHistory{}, false
	}
	id = slices.MinFunc(slices.Sorted(maps.Keys(r.at.Owed)), func(a, b string) int { return r.owed.asked[a].Compare(r.owed.asked[b]) })
	return id, r.at.Owed[id], true
}

// retryChannel asks for what is owed of a channel.
func (r *receiver) retryChannel(ctx context.Context, id string, d pendingHistory) error {
	if d.Aside != 0 {
		if err := r.fillAside(ctx, channel{ID: id, GuildID: d.Guild}, d.Aside); err != nil || r.inTrouble() {
			return err
		}
		d.Aside = 0
		r.at.Owed[id] = d
	}
	if d.After != 0 {
		if err := r.fill(ctx, id, d.Guild, d.After); err != nil || r.inTrouble() {
			return err
		}
	}
	delete(r.at.Owed, id)
	r.settled(id)
	return r.record(ctx, nil)
}

// settled notes that nothing is owed any more of what was asked for.
func (r *receiver) settled(asked string) {
	delete(r.owed.asked, asked)
	if len(r.at.Owed) == 0 && len(r.at.Late) == 0 {
		r.owed = pendingHistories{}
	}
}

// advancePending notes how far a channel was read of which something is owed.
func (r *receiver) advancePending(channel string, after snowflake) {
	if d, ok := r.at.Owed[channel]; ok && d.After != 0 && d.After < after && after.minted(time.Now()) {
		d.After = after
		r.at.Owed[channel] = d
	}
}

// saying names the events about messages: only where they belong is asked for, so
// that they can be put off alone.
var saying = []string{
	"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK", "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE",
	"MESSAGE_REACTION_REMOVE_EMOJI", "MESSAGE_REACTION_REMOVE_ALL",
}

// readSaid reads an event about messages. When Discord does not tell where it
// belongs, a message is left to history, and anything else is recorded unread.
func (r *receiver) readSaid(ctx context.Context, e event) ([]adapters.Update, error) {
	var at struct {
		ID      string `json:"id"`
		Channel string `json:"channel_id"`
		Guild   string `json:"guild_id"`
	}
	_ = json.Unmarshal(e.RawData, &at) // the decoder of the event reports what is wrong with it
	if e.Type == "MESSAGE_CREATE" {
		r.at.told(e.shard, flake(at.ID))
	}
	why := errOwed
	if !r.at.Owed[at.Channel].Blind {
		asking, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		updates, err := r.read(asking, e)
		if err == nil || ctx.Err() != nil {
			return updates, err
		}
		why = err
	}
	if e.Type != "MESSAGE_CREATE" || flake(at.ID) <= 1 || !flake(at.ID).minted(time.Now()) {
		return r.unreadable(e.Type, e.RawData, why.Error()), nil
	}
	if at.Guild == "" {
		r.at.direct(at.Channel)
	}
	if !r.at.Owed[at.Channel].Blind {
		r.addPending(at.Channel, pendingHistory{After: flake(at.ID) - 1, Guild: at.Guild, Blind: true}, why)
	}
	return nil, nil
}
