package discord

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// fillDirect reads what was said in the known direct chats since the gap began.
func (r *receiver) fillDirect(ctx context.Context) error {
	for _, id := range slices.Clone(r.at.Direct) {
		if err := r.fill(ctx, id, "", r.at.after(id)); err != nil {
			return err
		}
	}
	return nil
}

// fillGuild reads what was said in a server's channels and threads since the gap
// began. Discord says of each what its newest message is, and tells of channels, too,
// that it does not show us: those are left alone, for it counts what it refuses.
func (r *receiver) fillGuild(ctx context.Context, g guild) error {
	g.Channels = slices.DeleteFunc(g.Channels, func(ch channel) bool { return !g.showsTo(r.self.ID, ch) })
	for _, list := range [][]channel{g.Channels, g.Threads} {
		for _, ch := range list {
			// In a forum the newest id is a thread's, which has messages of its own.
			if !holdsMessages(ch.Type) || isForum(ch.Type) || flake(ch.LastMessageID) <= r.at.after(ch.ID) {
				continue
			}
			if err := r.fill(ctx, ch.ID, g.ID, r.at.after(ch.ID)); err != nil {
				return err
			}
		}
	}
	return r.fillArchived(ctx, g)
}

// fillArchived reads what was said in threads that were put away meanwhile, of
// which a server does not tell by itself.
func (r *receiver) fillArchived(ctx context.Context, g guild) error {
	for _, ch := range g.Channels {
		if !hasThreads(ch.Type) {
			continue
		}
		ch.GuildID = g.ID
		if err := r.fillAside(ctx, ch, r.at.Gap.before(slack)); err != nil {
			return err
		}
	}
	whole := true
	for _, d := range r.at.Owed {
		whole = whole && (d.Aside == 0 || d.Guild != g.ID)
	}
	r.client.known.of(g.ID, func(known *knownGuild) { known.aside = whole })
	return nil
}

// fillAside reads what was said in the threads of one channel that were put away
// since.
func (r *receiver) fillAside(ctx context.Context, ch channel, since snowflake) error {
	list, err := r.archived(ctx, ch, since)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		r.addPending(ch.ID, pendingHistory{Aside: max(since, 1), Guild: ch.GuildID}, err)
		return nil
	}
	for _, th := range list {
		if flake(th.LastMessageID) <= r.at.after(th.ID) {
			continue
		}
		if err := r.fill(ctx, th.ID, ch.GuildID, r.at.after(th.ID)); err != nil {
			return err
		}
	}
	return nil
}

// archived lists the threads of a channel that were put away since.
func (r *receiver) archived(ctx context.Context, ch channel, since snowflake) ([]channel, error) {
	if r.inTrouble() {
		return nil, errOwed
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return r.client.archived(ctx, ch, since.time())
}

// fill reads one channel behind after to its end, and records it page by page.
// Where Discord does not answer, the rest stays owed.
func (r *receiver) fill(ctx context.Context, channel, guild string, after snowflake) error {
	for more := true; more; {
		updates, next, rest, err := r.pastBehind(ctx, channel, guild, after)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && adapters.KindOf(err).Permanent():
			r.client.log.Warn("history is not shown to us", "channel", channel, "error", err)
			return r.missed(ctx, channel, guild, after, err)
		case err != nil:
			r.addPending(channel, pendingHistory{After: max(after, 1), Guild: guild}, err)
			return nil
		}
		if next > after {
			after = next
			r.advancePending(channel, after)
			r.sink.Alive(time.Now())
			if err := r.record(ctx, updates); err != nil {
				return err
			}
		}
		more = rest
	}
	return nil
}

// pastBehind reads a page of a channel behind after, and where it ends.
func (r *receiver) pastBehind(ctx context.Context, channel, guild string, after snowflake) (updates []adapters.Update, next snowflake, more bool, err error) {
	if r.inTrouble() {
		return nil, after, false, errOwed
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list, more, err := r.client.page(ctx, channel, after)
	if err == nil && len(list) == 0 && guild != "" { // a direct chat is always shown
		err = r.client.unshown(ctx, channel, guild)
	}
	if err != nil {
		return nil, after, false, err
	}
	for _, raw := range list {
		made, err := r.readPast(ctx, raw, guild)
		if err != nil {
			return nil, after, false, err
		}
		updates = append(updates, made...)
		after = idOf(raw)
	}
	return updates, after, more, nil
}

// missed records that messages of a channel since after are lost: Discord's answer
// cannot be decoded, or the bot receives the channel's messages but may not read its
// history, or they were left to history. Channels that the bot may not read at all have
// no gap.
func (r *receiver) missed(ctx context.Context, channel, guild string, after snowflake, why error) error {
	reason := "discord's answer cannot be read"
	switch {
	case errors.Is(why, errUnshown):
		reason = errUnshown.Error()
	case adapters.KindOf(why) == adapters.Invalid:
	case r.at.Owed[channel].Blind:
		reason = "discord does not show it to us"
	default:
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	chat, thread, err := r.client.place(asking, channel, guild)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		r.addPending(channel, pendingHistory{After: max(after, 1), Guild: guild}, err)
		return nil
	}
	now, from := time.Now().UTC(), after.time()
	if from.After(now) {
		from = now // by our clock
	}
	return r.record(ctx, []adapters.Update{{
		ID: channel, Key: "gap:" + channel + ":" + after.String(), Chat: chat, Thread: thread, At: now,
		Body: adapters.UpdateGap{From: from, To: now, Reason: reason},
	}})
}

// readPast reads a message of history as if it had just been said.
func (r *receiver) readPast(ctx context.Context, raw json.RawMessage, guild string) ([]adapters.Update, error) {
	var m message
	if err := adapters.DecodeFields(raw, &m, essential...); err != nil {
		return r.unreadable("MESSAGE_CREATE", raw, err.Error()), nil
	}
	m.GuildID = guild // history does not name it
	if r.at.note(m.ChannelID, flake(m.ID)); r.isOurs(&m) {
		return nil, nil
	}
	updates, err := r.client.updatesOf(ctx, r.self, &m, raw)
	return kept(updates), err
}

// kept marks what Discord did not tell as it happened.
func kept(updates []adapters.Update) []adapters.Update {
	for i := range updates {
		updates[i].Kept = true
	}
	return updates
}
