package redis

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/trestle-bridge/trestle/internal/pubsub"
)

// What may wait for the server. More is dropped: a lost ring costs a poll, and a
// lost event a line on a page.
const (
	mostOut  = 4096
	mostKept = 4096   // rings and events on the server, read by everybody
	mostCall = 10_000 // unanswered calls of a key
)

// A workItem is what one attendant of a key is to look after. A ring has no note.
type workItem struct{ key, note string }

// sendQueue is what has yet to be told to the server.
type sendQueue struct {
	stirred chan struct{} // holds one token while there is something

	mu     sync.Mutex // guards what follows
	rings  []string
	calls  []workItem
	asked  map[workItem]bool // those above: what is asked for already is not asked twice
	events []pubsub.LiveEvent
}

func newOutgoing() sendQueue {
	return sendQueue{stirred: make(chan struct{}, 1), asked: map[workItem]bool{}}
}

// Ring wakes those who listen to key: in this process at once, in others as soon
// as the server has told them.
func (c *Client) Ring(key string) {
	c.bells.Ring(key)
	c.out.add(func(o *sendQueue) {
		if ring := (workItem{key: key}); !o.asked[ring] && len(o.rings) < mostOut {
			o.asked[ring] = true
			o.rings = append(o.rings, key)
		}
	})
}

// Call asks one of the processes that attend key to handle note. While the server is
// away the call is dropped.
func (c *Client) Call(key, note string) {
	c.out.add(func(o *sendQueue) {
		if one := (workItem{key, note}); note != "" && !o.asked[one] && len(o.calls) < mostOut {
			o.asked[one] = true
			o.calls = append(o.calls, one)
		}
	})
}

// Show tells the other processes of a live event of this one. It never blocks;
// the caller must not change the metadata afterwards.
func (c *Client) Show(e pubsub.LiveEvent) {
	c.out.add(func(o *sendQueue) {
		if len(o.events) < mostOut {
			o.events = append(o.events, e)
		}
	})
}

func (o *sendQueue) add(what func(*sendQueue)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	what(o)
	select {
	case o.stirred <- struct{}{}:
	default: // the sender has not read the last signal yet
	}
}

// take empties it.
func (o *sendQueue) take() (rings []string, calls []workItem, events []pubsub.LiveEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	rings, calls, events = o.rings, o.calls, o.events
	o.rings, o.calls, o.events = nil, nil, nil
	clear(o.asked)
	return rings, calls, events
}

// send tells the server what there is to tell, until ctx is done. What cannot be
// told is dropped.
func (c *Client) send(ctx context.Context) {
	c.keepOn(ctx, telling, func() error {
		select {
		case <-ctx.Done():
			return nil
		case <-c.out.stirred:
		}
		return c.flush(ctx)
	})
}

// addCall adds a call unless too many wait already: what waits is never trimmed.
const addCall = `if redis.call('XLEN', KEYS[1]) < tonumber(ARGV[1]) then return redis.call('XADD', KEYS[1], '*', 'note', ARGV[2]) end
return ''`

func (c *Client) flush(ctx context.Context) error {
	rings, calls, events := c.out.take()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := c.quick.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, key := range rings {
			p.XAdd(ctx, c.entry("bells", "key", key))
		}
		for _, one := range calls {
			p.Eval(ctx, addCall, []string{c.key("calls:" + one.key)}, mostCall, one.note)
		}
		for _, e := range events {
			text, err := json.Marshal(e)
			if err != nil {
				c.o.Logger.Warn("live event not shown elsewhere", "type", e.Type, "error", err)
				continue
			}
			p.XAdd(ctx, c.entry("live", "event", string(text)))
		}
		return nil
	})
	return err
}

// entry is what everybody reads, who is there.
func (c *Client) entry(stream, name, value string) *redis.XAddArgs {
	return &redis.XAddArgs{
		Stream: c.key(stream), MaxLen: mostKept, Approx: true,
		Values: []string{name, value, "from", c.o.Process, "at", time.Now().UTC().Format(time.RFC3339Nano)},
	}
}
