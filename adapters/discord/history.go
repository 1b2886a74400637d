package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.HistoryReader = (*Client)(nil)

// pageSize is the most messages that Discord returns at once.
const pageSize = 100

// page returns the messages of a channel behind after, the oldest first, each as
// it was sent. more tells that there may be others behind them.
func (c *guildDirectory) page(ctx context.Context, channel string, after snowflake) (list []json.RawMessage, more bool, err error) {
	path := fmt.Sprintf("/messages?limit=%d&after=%s", pageSize, after)
	if err := c.patiently(ctx, channelRoute("get messages", http.MethodGet, channel, path), &list); err != nil {
		return nil, false, err
	}
	type named struct {
		id  snowflake
		raw json.RawMessage
	}
	var all []named
	for _, raw := range list {
		var m struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(raw, &m) == nil && flake(m.ID) > after {
			all = append(all, named{flake(m.ID), raw})
		}
	}
	more = len(list) >= pageSize && len(all) > 0
	slices.SortFunc(all, func(a, b named) int { return cmp.Compare(a.id, b.id) })
	list = list[:0]
	for _, m := range all {
		list = append(list, m.raw)
	}
	return list, more, nil
}

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
		r.owe(ch.ID, pendingHistory{Aside: max(since, 1), Guild: ch.GuildID}, err)
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
			r.owe(channel, pendingHistory{After: max(after, 1), Guild: guild}, err)
			return nil
		}
		if next > after {
			after = next
			r.paid(channel, after)
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

// missed records that what was said in a channel since after is lost to us, where
// Discord would show it and its answer cannot be read, where we hear what is said and
// may not read it back, or where we left it to history. What we may not read otherwise
// is no gap.
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
		r.owe(channel, pendingHistory{After: max(after, 1), Guild: guild}, err)
		return nil
	}
	now, from := time.Now().UTC(), after.time()
	if from.After(now) {
		from = now // by our clock
	}
	return r.record(ctx, []adapters.Update{{
		ID: channel, Key: "gap:" + channel + ":" + after.String(), Chat: chat, Thread: thread, At: now,
		Body: adapters.Gap{From: from, To: now, Reason: reason},
	}})
}

// readPast reads a message of history as if it had just been said.
func (r *receiver) readPast(ctx context.Context, raw json.RawMessage, guild string) ([]adapters.Update, error) {
	var m message
	if err := decode(raw, &m, essential...); err != nil {
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

func idOf(raw json.RawMessage) snowflake {
	var m struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &m) // page let none without an id through
	return flake(m.ID)
}

// historyMark is the cursor of a history: where in which channel the next page begins.
type historyMark struct {
	Channel string    `json:"c"`
	After   snowflake `json:"a,string"`
}

// History hands the messages of a stretch to take, page after page: first those
// of the chat, then those of each thread that began in it, the oldest first.
func (c *messageReader) History(ctx context.Context, s adapters.HistoryRange, take func(context.Context, adapters.HistoryPage) error) error {
	self, err := c.me(ctx)
	if err != nil {
		return err
	}
	channels, err := c.stretch(ctx, s)
	if err != nil {
		return err
	}
	at := historyMark{After: flakeAt(s.From)}
	if s.From.IsZero() {
		at.After = 0
	} else if at.After > 0 {
		at.After-- // the first id of that moment belongs to it
	}
	from := at.After
	if s.Cursor != nil {
		if err := json.Unmarshal(s.Cursor, &at); err != nil {
			return &adapters.Error{Kind: adapters.Invalid, Op: "get messages", Err: errCursor}
		}
		if i := slices.Index(channels, at.Channel); i >= 0 {
			channels = channels[i:]
		}
	}
	for i, channel := range channels {
		if channel != at.Channel {
			at = historyMark{Channel: channel, After: from}
		}
		for more := true; more; {
			var p adapters.HistoryPage
			if p.Updates, more, err = c.pastPage(ctx, self, &at, s.To); err != nil {
				return err
			}
			switch {
			case more:
				p.Cursor = at.bytes()
			case i+1 < len(channels):
				p.Cursor = historyMark{Channel: channels[i+1], After: from}.bytes()
			}
			if len(p.Updates) == 0 && p.Cursor != nil {
				continue
			}
			if err := take(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// bytes returns the stored form of m.
func (m historyMark) bytes() []byte { return fmt.Appendf(nil, `{"c":%q,"a":"%s"}`, m.Channel, m.After) }

// pastPage reads a page behind at, which it moves, until the moment to.
func (c *messageReader) pastPage(ctx context.Context, self account, at *historyMark, to time.Time) (updates []adapters.Update, more bool, err error) {
	list, more, err := c.page(ctx, at.Channel, at.After)
	if err == nil && len(list) == 0 {
		err = c.unshown(ctx, at.Channel, "")
	}
	if err != nil {
		return nil, false, err
	}
	ch, err := c.channelOf(ctx, at.Channel, "")
	if err != nil {
		return nil, false, err
	}
	for _, raw := range list {
		id := idOf(raw)
		if !to.IsZero() && id.time().After(to) {
			return updates, false, nil
		}
		at.After = id
		var m message
		if decode(raw, &m, essential...) != nil || c.isOurs(self, &m) {
			continue
		}
		m.GuildID = ch.GuildID
		made, err := c.updatesOf(ctx, self, &m, raw)
		if err != nil {
			return nil, false, err
		}
		updates = append(updates, made...)
	}
	return updates, more, nil
}

// stretch returns the channels of a stretch: its thread, or its chat and all
// threads of the chat.
func (c *messageReader) stretch(ctx context.Context, s adapters.HistoryRange) ([]string, error) {
	if s.Thread != "" {
		return []string{s.Thread}, nil
	}
	ch, err := c.channelOf(ctx, s.Chat, "")
	if err != nil {
		return nil, err
	}
	channels := []string{s.Chat}
	if isForum(ch.Type) {
		channels = nil // all is said in its threads
	}
	if ch.GuildID == "" {
		return channels, nil
	}
	threads, err := c.threads(ctx, ch)
	if err != nil {
		return nil, err
	}
	return append(channels, threads...), nil
}
