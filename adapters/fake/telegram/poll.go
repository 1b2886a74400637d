package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

const (
	conflictText = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
	webhookText  = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)

// poll is a getUpdates that waits.
type poll struct{ ended chan struct{} }

// pollMark is what the platform remembers of the last poll to slow down a client in a loop.
type pollMark struct {
	offset int64
	at     time.Time
}

// getUpdates confirms what lies below offset and hands over what lies above,
// waiting for the first. A second poll ends the first one with a conflict.
func (t botAPI) getUpdates(ctx context.Context, c *call) *reply {
	if c.bot.hook() != "" {
		return refuse(http.StatusConflict, webhookText)
	}
	names, named, bad := t.updateNames(c)
	if bad != nil {
		return bad
	}
	offset, _ := c.number("offset")
	wait, limit := c.patience(offset)
	q := &c.bot.queue
	me, from := q.begin(names, named, offset)
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		q.mu.Lock()
		var got []json.RawMessage
		if q.poll == me {
			got = q.take(from, limit)
		}
		arrived := q.arrived
		q.mu.Unlock()
		if len(got) > 0 {
			return handed(got)
		}
		select {
		case <-arrived:
		case <-deadline.C:
			return handed(nil)
		case <-me.ended:
			return refuse(http.StatusConflict, conflictText)
		case <-ctx.Done():
			return handed(nil)
		}
	}
}

// knownUpdates are the names of updates that can be asked for, with those that came after
// Bot API 10.0 at the end.
var knownUpdates = []string{
	"message", "edited_message", "channel_post", "edited_channel_post", "business_connection", "business_message",
	"edited_business_message", "deleted_business_messages", "guest_message", "message_reaction", "message_reaction_count",
	"inline_query", "chosen_inline_result", "callback_query", "shipping_query", "pre_checkout_query", "purchased_paid_media",
	"poll", "poll_answer", "my_chat_member", "chat_member", "chat_join_request", "chat_boost", "removed_chat_boost", "managed_bot",
	"subscription", "stopped_message_generation",
}

// updateNames reads allowed_updates: those that the server knows.
func (t botAPI) updateNames(c *call) (names []string, named bool, bad *reply) {
	if named, bad = c.object("allowed_updates", &names); bad != nil {
		return nil, false, bad
	}
	known := knownUpdates
	if t.opts.Old {
		known = known[:len(known)-2]
	}
	asked := len(names)
	names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(known, n) })
	if t.opts.Strict && len(names) < asked {
		return nil, false, badRequest("unknown update type in allowed_updates")
	}
	return names, named, nil
}

// begin makes this the bot's only poll, confirms, and says from which id to hand over.
func (q *queue) begin(names []string, named bool, offset int64) (*poll, int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.poll != nil {
		close(q.poll.ended)
	}
	q.poll = &poll{ended: make(chan struct{})}
	if named {
		q.allow(names)
	}
	now := time.Now()
	switch {
	case offset < 0: // counted from the end; everything before is forgotten
		offset = max(offset+q.next, 0)
	case offset > q.next+10: // in the future, so it says nothing about these updates
		offset = 0
	}
	q.confirm(offset, now)
	return q.poll, offset
}

// allow stores which kinds the bot wants. It holds until the next call that names some.
func (q *queue) allow(names []string) {
	q.names = names
	q.allowed = nil
	if len(names) == 0 {
		return
	}
	q.allowed = make(map[string]bool, len(names))
	for _, n := range names {
		q.allowed[n] = true
	}
}

// patience reads timeout and limit, and corrects them for a client that asks
// for the same offset again too soon, as the platform's server does.
func (c *call) patience(offset int64) (wait time.Duration, limit int) {
	seconds, _ := c.number("timeout")
	seconds = min(max(seconds, 0), 50)
	n, ok := c.number("limit")
	if !ok || n < 1 || n > 100 {
		n = 100
	}
	q := &c.bot.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last.offset == offset && !q.last.at.IsZero() {
		since := c.entry.At.Sub(q.last.at)
		if since < 3*time.Second {
			seconds = max(seconds, 3)
		}
		if since < 500*time.Millisecond {
			n = 1
		}
	}
	q.last = pollMark{offset, c.entry.At}
	return time.Duration(seconds) * time.Second, int(n)
}

func handed(updates []json.RawMessage) *reply {
	list := make([]byte, 0, 256*len(updates)+2)
	list = append(list, '[')
	list = append(list, bytes.Join(asBytes(updates), []byte{','})...)
	return &reply{result: append(list, ']'), handed: len(updates)}
}

func asBytes(raws []json.RawMessage) [][]byte {
	bs := make([][]byte, len(raws))
	for i, r := range raws {
		bs[i] = r
	}
	return bs
}
