package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/httpx"
)

const (
	maxPoll   = 50 * time.Second // what the server takes at most
	pollSlack = 15 * time.Second // the way there and back
	// hurried is the least time between two polls that brought nothing. A server
	// that does not hold polls open would otherwise be asked without end.
	hurried = 250 * time.Millisecond
)

// Receive takes updates until ctx is done or the platform fails: as Telegram
// calls when there is a WebhookURL, else by polling.
//
// Each answer is handed in whole, as one batch, before the next poll confirms
// it. When the sink refuses, the offset stays and the same updates are asked
// for again after a pause. A 429 is waited out here; any other failure is
// returned: Conflict when another poller or a webhook has the bot, Unauthorized
// for a dead token, else what [adapters.JudgeOutcome] makes of it.
func (c *Client) Receive(ctx context.Context, cursor []byte, sink adapters.UpdateSink) (err error) {
	c.receiving.Store(true)
	defer func() {
		c.resumes.Store(err != nil && adapters.KindOf(err) != adapters.Conflict)
		c.receiving.Store(false)
	}()
	at, err := parsePosition(cursor)
	if err != nil {
		return &adapters.Error{Kind: adapters.Invalid, Op: "getUpdates", Err: err}
	}
	self, err := c.me(ctx)
	if err != nil {
		return adapters.OrDone(ctx, err)
	}
	read := reader{self: self, markdown: c.markdown}
	if c.hook.url != "" {
		return adapters.OrDone(ctx, c.beCalled(ctx, read, at, sink))
	}
	if at.called != 0 {
		if err := c.endCalls(ctx); err != nil {
			return adapters.OrDone(ctx, err)
		}
	}
	return c.pollUntilDone(ctx, read, at, sink)
}

// pollUntilDone polls and hands each answer to sink until ctx is done (then it returns
// nil) or a poll fails. While the sink refuses, it asks for the same updates again, with
// backoff; a 429 it waits out.
func (c *Client) pollUntilDone(ctx context.Context, read reader, at position, sink adapters.UpdateSink) error {
	pause := backoff.NewExponentialBackOff()
	pause.MaxInterval = 5 * time.Second // the store is local and may be asked often
	hold := time.Duration(0)            // the first poll proves at once that we are heard
	for ctx.Err() == nil {
		asked := time.Now()
		raw, err := c.pollOnce(ctx, at, hold)
		if e, ok := errors.AsType[*adapters.Error](err); ok && e.Kind == adapters.Limited {
			c.log.Warn("polling is limited", "retry_after", e.RetryAfter)
			adapters.SleepContext(ctx, max(e.RetryAfter, time.Second))
			continue
		}
		if err != nil {
			return adapters.OrDone(ctx, err)
		}
		now := time.Now()
		sink.Alive(now)
		batch, next := c.batch(read, raw, at, now)
		switch err := handIn(ctx, sink, batch); {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			rest := pause.NextBackOff()
			c.log.Error("updates not recorded, asking again", "updates", len(batch.Updates), "pause", rest, "error", err)
			adapters.SleepContext(ctx, rest)
			continue
		case batch.Cursor != nil:
			at = next
			pause.Reset()
		}
		c.learn(ctx, c)
		if len(raw) == 0 && hold > 0 {
			adapters.SleepContext(ctx, hurried-now.Sub(asked))
		}
		hold = c.poll
	}
	return nil
}

// pollOnce makes one poll. It waits for something to happen, no longer than hold,
// unless there is a gap to tell of first.
func (c *Client) pollOnce(ctx context.Context, at position, hold time.Duration) ([]json.RawMessage, error) {
	now := time.Now()
	if _, _, lost := at.lost(now); lost {
		hold = 0
	}
	raw, spoiled, err := c.ask(ctx, at.ask(now), 100, hold)
	if spoiled != nil {
		raw, err = c.aroundSpoiled(ctx, at.ask(now))
	}
	if e, ok := errors.AsType[*adapters.Error](err); ok && e.Kind == adapters.Conflict {
		e.Err = conflict(e.Err)
	}
	return raw, err
}

// ask makes one getUpdates call. An answer that came whole and is no JSON is
// returned as spoiled, beside the error.
func (c *Client) ask(ctx context.Context, offset int64, limit int, hold time.Duration) (raw []json.RawMessage, spoiled []byte, err error) {
	params := tgbotapi.Params{
		"timeout": strconv.Itoa(int(hold / time.Second)),
		"limit":   strconv.Itoa(limit),
	}
	if offset > 0 {
		params["offset"] = formatID(offset)
	}
	var seen httpx.CallOutcome
	err = c.naming(c.log, params, func() (err error) {
		raw, seen, err = callSeen[[]json.RawMessage](ctx, c, "getUpdates", params, hold+pollSlack)
		return err
	})
	if err != nil && seen.Status/100 == 2 && updateID.Match(seen.Whole) && !json.Valid(seen.Whole) {
		spoiled = seen.Whole
	}
	return raw, spoiled, err
}

// aroundSpoiled asks for one update alone after an answer that does not parse as
// a whole. If that one is what spoils the answer, the answer's bytes stand for
// it: it is then recorded as unreadable, and those behind it are reached.
func (c *Client) aroundSpoiled(ctx context.Context, offset int64) ([]json.RawMessage, error) {
	raw, spoiled, err := c.ask(ctx, offset, 1, 0)
	if spoiled != nil {
		return []json.RawMessage{spoiled}, nil
	}
	return raw, err
}

// conflict adds to Telegram's words what can be done about them.
func conflict(err error) error {
	advice := "another program polls with this token; stop it or use a token of its own"
	if saysAny(err.Error(), []string{"webhook"}) {
		advice = "a webhook that is not ours is set for this bot; remove it with deleteWebhook and leave drop_pending_updates out"
	}
	return errors.New(err.Error() + " (" + advice + ")")
}

// batch turns an answer into what is handed in, and says where that leads. A
// batch without cursor needs no handing in.
func (c *Client) batch(read reader, raw []json.RawMessage, at position, now time.Time) (adapters.UpdateBatch, position) {
	next := position{offset: at.offset, heard: now.Unix(), moved: at.moved}
	var b adapters.UpdateBatch
	if from, to, lost := at.lost(now); lost {
		b.Updates = append(b.Updates, gap(from, to))
	}
	for i, one := range raw {
		id, updates := read.decodeGuarded(c.log, one, at.offset+int64(i))
		if i == 0 {
			next.offset = 0 // ids may start anew: follow what the server returns
		}
		next.offset = max(next.offset, id+1)
		b.Updates = append(b.Updates, updates...)
		noteUnreadable(c.log, updates)
	}
	if len(raw) > 0 || next.moved == 0 {
		next.moved = now.Unix()
	}
	if len(b.Updates) > 0 || len(raw) > 0 || at.stale(now) {
		b.Cursor = next.cursor()
	}
	return b, next
}

// decodeGuarded is [reader.decode]. An update that reading panics of comes back as unreadable.
func (r reader) decodeGuarded(lg *slog.Logger, raw json.RawMessage, atLeast int64) (id int64, updates []adapters.Update) {
	id = idIn(raw, atLeast)
	updates, _ = adapters.ReadGuarded(lg, "update", raw, func() (all []adapters.Update, _ error) { // reading has no other errors
		id, all = r.decode(raw, atLeast)
		return all, nil
	})
	for i := range updates {
		updates[i].ID = formatID(id)
	}
	return id, updates
}

// noteUnreadable logs the updates that could not be read.
func noteUnreadable(log *slog.Logger, updates []adapters.Update) {
	for _, u := range updates {
		if bad, ok := u.Body.(adapters.UnreadableUpdate); ok {
			log.Warn("update not readable", "update", u.ID, "kind", bad.Kind, "reason", bad.Reason)
		}
	}
}

// gap says that what was written between from and to is gone.
func gap(from, to time.Time) adapters.Update {
	return adapters.Update{
		ID:   "gap",
		Key:  "gap:" + formatID(from.Unix()),
		At:   to,
		Body: adapters.UpdateGap{From: from, To: to, Reason: "telegram keeps updates for 24 hours only"},
	}
}

// handIn gives the batch to the sink if there is anything to record.
func handIn(ctx context.Context, sink adapters.UpdateSink, b adapters.UpdateBatch) error {
	if b.Cursor == nil {
		return nil
	}
	return sink.Accept(ctx, b)
}
