package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/trestle-bridge/trestle/internal/pubsub"
)

// Listen returns the notifications of key from this process and all others, from now
// on, and a function that ends the subscription. After a lost server is back, every key
// notifies once, because notifications may have been missed.
func (c *Client) Listen(key string) (rings <-chan struct{}, stop func()) { return c.bells.Listen(key) }

// A streamReader is how far one process has heard what all are told.
type streamReader struct {
	*Client
	rdb      *redis.Client
	streams  []string
	heard    []string // the newest entry of each that was heard; empty when not known
	listened bool     // has been well since it last rang everything
}

// listen hears rings and events until ctx is done.
func (c *Client) listen(ctx context.Context) {
	rdb, stop := c.waiting(ctx)
	defer stop()
	e := &streamReader{Client: c, rdb: rdb, streams: []string{c.key("bells")}}
	if c.o.Heard != nil {
		e.streams = append(e.streams, c.key("live"))
	}
	c.keepOn(ctx, "listen", func() error {
		err := e.round(ctx)
		if err != nil {
			e.listened = false
		}
		return err
	})
}

// round waits once for news and tells of them.
func (e *streamReader) round(ctx context.Context) error {
	if !e.listened {
		if err := e.begin(ctx); err != nil {
			return err
		}
	}
	e.retry(ctx)
	limit, cancel := context.WithTimeout(ctx, block+patience)
	defer cancel()
	found, err := e.rdb.XRead(limit, &redis.XReadArgs{Streams: slices.Concat(e.streams, e.heard), Count: 256, Block: block}).Result()
	if errors.Is(err, redis.Nil) {
		return e.compare(ctx)
	}
	if err != nil {
		return err
	}
	for _, s := range found {
		for i, name := range e.streams {
			if name == s.Stream && len(s.Messages) > 0 {
				e.heard[i] = s.Messages[len(s.Messages)-1].ID
			}
		}
		for _, m := range s.Messages {
			e.tell(m)
		}
	}
	return nil
}

// begin takes its place behind what was said before, and rings everything: it
// may have been away.
func (e *streamReader) begin(ctx context.Context) error {
	newest, err := e.newest(ctx)
	if err != nil {
		return err
	}
	e.heard, e.listened = newest, true
	e.bells.RingAll()
	return nil
}

// compare finds out, when nothing was heard for a while, whether the streams are
// still those that were read: after a flush, or with a clock that went back,
// their entries come before what was heard.
func (e *streamReader) compare(ctx context.Context) error {
	newest, err := e.newest(ctx)
	if err != nil {
		return err
	}
	for i := range newest {
		if before(newest[i], e.heard[i]) {
			e.listened = false
			e.wasEmptied()
		}
	}
	return nil
}

// newest returns the newest entry of each stream.
func (e *streamReader) newest(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var ids []string
	for _, name := range e.streams {
		last, err := e.quick.XRevRangeN(ctx, name, "+", "-", 1).Result()
		if err != nil {
			return nil, fmt.Errorf("newest of %s: %w", name, err)
		}
		id := "0-0"
		if len(last) > 0 {
			id = last[0].ID
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// tell passes on what another process said.
func (e *streamReader) tell(m redis.XMessage) {
	from := word(m, "from")
	if from == e.o.Process {
		return // heard when it was said
	}
	if key := word(m, "key"); key != "" {
		e.bells.Ring(key)
		return
	}
	var live pubsub.LiveEvent
	if err := json.Unmarshal([]byte(word(m, "event")), &live); err != nil {
		e.o.Logger.Warn("live event of another process not readable", "process", from, "error", err)
		return
	}
	live.From = from
	e.o.Heard(live)
}

// word returns a field of an entry; empty when it has none of the name.
func word(m redis.XMessage, name string) string {
	text, _ := m.Values[name].(string)
	return text
}

// before reports whether an entry comes before another.
func before(a, b string) bool {
	at, an := halves(a)
	bt, bn := halves(b)
	return at < bt || at == bt && an < bn
}

// halves returns the two numbers of an entry's id; what is none counts as 0.
func halves(id string) (at, n uint64) {
	left, right, _ := strings.Cut(id, "-")
	at, _ = strconv.ParseUint(left, 10, 64)
	n, _ = strconv.ParseUint(right, 10, 64)
	return at, n
}
