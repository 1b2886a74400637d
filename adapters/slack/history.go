package slack

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.HistoryReader = (*Client)(nil)

// historyReader reads what was said in channels and threads, and knows their names.
type historyReader struct {
	*apiClient

	names *names
}

// historyEntry is what must be known of a message to put it into its place.
type historyEntry struct {
	TS          string `json:"ts"`
	ThreadTS    string `json:"thread_ts"`
	ReplyCount  int    `json:"reply_count"`
	LatestReply string `json:"latest_reply"`
}

// between returns the messages of a channel after oldest and before latest, an
// empty latest being now, in no order. Those that Slack has beyond most, which are
// the oldest, are left out, and whole is false; 0 is no limit.
func (c *historyReader) between(ctx context.Context, channel, oldest, latest string, most int) (all []json.RawMessage, whole bool, err error) {
	for page, err := range pages(func(cursor string) (list, error) { return c.pageOf(ctx, channel, oldest, latest, cursor) }) {
		if err != nil {
			return nil, false, err
		}
		if most > 0 && len(all) >= most {
			return all, false, nil
		}
		all = append(all, page.Messages...)
	}
	return all, true, nil
}

// pageOf makes one call of a channel's history: the newest messages come first.
func (c *historyReader) pageOf(ctx context.Context, channel, oldest, latest, cursor string) (list, error) {
	return reading[list](ctx, c.apiClient, "conversations.history", func(ctx context.Context, api *slackgo.Client) error {
		_, err := api.GetConversationHistoryContext(ctx, &slackgo.GetConversationHistoryParameters{
			ChannelID: channel, Cursor: cursor, Oldest: oldest, Latest: latest, Limit: pageSize,
		})
		return err
	})
}

// replies returns the messages of a thread after oldest, without its parent.
func (c *historyReader) replies(ctx context.Context, channel, parent, oldest, latest string) ([]json.RawMessage, error) {
	var all []json.RawMessage
	for page, err := range pages(func(cursor string) (list, error) {
		return reading[list](ctx, c.apiClient, "conversations.replies", func(ctx context.Context, api *slackgo.Client) error {
			_, _, _, err := api.GetConversationRepliesContext(ctx, &slackgo.GetConversationRepliesParameters{
				ChannelID: channel, Timestamp: parent, Cursor: cursor, Oldest: oldest, Latest: latest, Limit: pageSize,
			})
			return err
		})
	}) {
		if refusedFor(err, "thread_not_found") {
			return nil, nil // gone meanwhile
		}
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Messages {
			if m := markOf(raw); m.TS != parent {
				all = append(all, raw)
			}
		}
	}
	return all, nil
}

func markOf(raw json.RawMessage) historyEntry {
	var m historyEntry
	_ = json.Unmarshal(raw, &m) // what cannot be read comes first and is recorded as such
	return m
}

// since returns what was said in a channel after oldest, oldest first: its own
// messages, the threads on them, and those of the threads that are named.
func (c *historyReader) since(ctx context.Context, channel, oldest string, threads []string) ([]json.RawMessage, error) {
	all, _, err := c.between(ctx, channel, oldest, "", 0)
	if err != nil {
		return nil, err
	}
	parents := map[string]bool{}
	for _, parent := range threads {
		parents[parent] = true
	}
	for _, raw := range all {
		if m := markOf(raw); m.ReplyCount > 0 {
			parents[m.TS] = true
		}
	}
	var said []json.RawMessage
	for _, parent := range slices.Sorted(maps.Keys(parents)) {
		replies, err := c.replies(ctx, channel, parent, oldest, "")
		if err != nil {
			return nil, err
		}
		said = append(said, replies...)
	}
	return inTime(append(all, said...)), nil
}

const (
	oldThread = 30 * 24 * time.Hour // how old a message may be whose thread is looked for
	oldPages  = 3                   // calls spent on that in one channel
)

// revived returns the threads that began no later than oldest and spoke after heard. A
// channel's history shows with each message when its thread last spoke, so that
// one call finds those of two hundred messages.
func (c *historyReader) revived(ctx context.Context, channel, oldest, heard string) ([]string, error) {
	var found []string
	from, to := tsAt(timeOf(oldest).Add(-oldThread)), tsAt(timeOf(oldest).Add(time.Microsecond)) // oldest itself may be one
	left := oldPages
	for page, err := range pages(func(cursor string) (list, error) { return c.pageOf(ctx, channel, from, to, cursor) }) {
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Messages {
			if m := markOf(raw); later(m.LatestReply, heard) {
				found = append(found, m.TS)
			}
		}
		if left--; left == 0 {
			break
		}
	}
	return found, nil
}

// inTime returns messages oldest first, each once: one that was also sent to the
// channel is in its thread as well.
func inTime(all []json.RawMessage) []json.RawMessage {
	slices.SortStableFunc(all, func(a, b json.RawMessage) int { return compareTS(markOf(a).TS, markOf(b).TS) })
	return slices.CompactFunc(all, func(a, b json.RawMessage) bool {
		ts := markOf(a).TS
		return ts != "" && ts == markOf(b).TS
	})
}

// The windows in which history is read: Slack gives the newest first, and what is
// handed on must be in order. One that holds too much is made smaller.
const (
	firstWindow = 24 * time.Hour
	maxWindow   = 30 * 24 * time.Hour
	minWindow   = time.Hour
	manyInOne   = 1000
)

// slackBegan is before the first message of any workspace.
var slackBegan = time.Date(2013, 8, 1, 0, 0, 0, 0, time.UTC)

// History reads a chat, or a thread of it, window by window from the oldest on.
// Threads come whole with the message they hang on.
func (c *Client) History(ctx context.Context, s adapters.HistoryRange, take func(context.Context, adapters.HistoryPage) error) error {
	me, err := c.me(ctx)
	if err != nil {
		return err
	}
	read := reader{c: c, self: me}
	to := s.To
	if to.IsZero() {
		to = time.Now()
	}
	if s.Thread != "" {
		return c.threadHistory(ctx, read, s, to, take)
	}
	at, err := c.begin(ctx, s)
	if err != nil {
		return err
	}
	for window := firstWindow; ; {
		end, most := at.Add(window), manyInOne
		last := !end.Before(to)
		if last {
			end = to
		}
		if window <= minWindow {
			most = 0
		}
		// Slack leaves both ends out.
		found, whole, err := c.between(ctx, s.Chat, tsAt(at.Add(-time.Microsecond)), tsAt(end), most)
		if err != nil {
			return err
		}
		if !whole {
			window = max(window/4, minWindow)
			continue
		}
		then := []byte(tsAt(end))
		if last {
			then = nil
		}
		if err := c.handOn(ctx, read, s.Chat, inTime(found), then, take); err != nil || last {
			return err
		}
		at = end
		if len(found) < manyInOne/4 {
			window = min(window*2, maxWindow)
		}
	}
}

// handOn gives take what was said, oldest first, with the threads that begin there, in
// portions after each of which reading can go on. then is the cursor behind the last.
func (c *Client) handOn(ctx context.Context, read reader, channel string, said []json.RawMessage, then []byte, take func(context.Context, adapters.HistoryPage) error) error {
	for more := true; more; {
		n := portion(said)
		now, err := c.threaded(ctx, channel, said[:n])
		if err != nil {
			return err
		}
		said = said[n:]
		page := adapters.HistoryPage{Updates: read.all(ctx, channel, now), Cursor: then}
		if more = len(said) > 0; more {
			page.Cursor = []byte(markOf(said[0]).TS)
		}
		if len(page.Updates) == 0 && page.Cursor != nil {
			continue
		}
		if err := take(ctx, page); err != nil {
			return err
		}
	}
	return nil
}

// The most that a portion holds: each thread takes a call of its own.
const (
	portionMessages = 200
	portionThreads  = 10
)

// portion returns how many of the messages are handed on together; the next one has
// a ts to go on by.
func portion(said []json.RawMessage) int {
	threads := 0
	for i, raw := range said {
		m := markOf(raw)
		if i > 0 && m.TS != "" && (i >= portionMessages || threads >= portionThreads) {
			return i
		}
		if m.ReplyCount > 0 {
			threads++
		}
	}
	return len(said)
}

// begin returns where a stretch begins.
func (c *historyReader) begin(ctx context.Context, s adapters.HistoryRange) (time.Time, error) {
	switch {
	case s.Cursor != nil:
		at := timeOf(string(s.Cursor))
		if at.IsZero() {
			return at, &adapters.Error{Kind: adapters.Invalid, Op: "conversations.history", Err: errCursor}
		}
		return at, nil
	case !s.From.IsZero():
		return s.From, nil
	}
	answer, err := reading[channelInfo](ctx, c.apiClient, infoMethod, infoOf(s.Chat))
	if err != nil || answer.Channel.Created == 0 {
		return slackBegan, err
	}
	return time.Unix(answer.Channel.Created, 0).Add(-time.Second), nil
}

// threaded returns messages of a channel with the threads that hang on them.
func (c *historyReader) threaded(ctx context.Context, channel string, messages []json.RawMessage) ([]json.RawMessage, error) {
	all := slices.Clone(messages)
	for _, raw := range messages {
		if m := markOf(raw); m.ReplyCount > 0 {
			replies, err := c.replies(ctx, channel, m.TS, "", "")
			if err != nil {
				return nil, err
			}
			all = append(all, replies...)
		}
	}
	return inTime(all), nil
}

// threadHistory reads one thread with its parent.
func (c *Client) threadHistory(ctx context.Context, read reader, s adapters.HistoryRange, to time.Time, take func(context.Context, adapters.HistoryPage) error) error {
	oldest := ""
	if !s.From.IsZero() {
		oldest = tsAt(s.From)
	}
	if s.Cursor != nil {
		oldest = string(s.Cursor)
	}
	said, err := c.replies(ctx, s.Chat, s.Thread, oldest, tsAt(to))
	if err != nil {
		return err
	}
	return take(ctx, adapters.HistoryPage{Updates: read.all(ctx, s.Chat, inTime(said))})
}

// all returns the updates of messages of history.
func (r reader) all(ctx context.Context, channel string, messages []json.RawMessage) []adapters.Update {
	var updates []adapters.Update
	for _, raw := range messages {
		updates = append(updates, r.past(ctx, channel, raw)...)
	}
	return updates
}
