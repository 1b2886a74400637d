package discord

import (
	"cmp"
	"context"
	"encoding/json"
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
	if err := c.readWithRetry(ctx, channelRoute("get messages", http.MethodGet, channel, path), &list); err != nil {
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
		if adapters.DecodeFields(raw, &m, essential...) != nil || c.isOurs(self, &m) {
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
