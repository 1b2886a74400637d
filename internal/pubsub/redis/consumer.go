package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// attendants is the name of the group that shares the calls of a key.
const attendants = "attendants"

// mostTries is how often a call is handed out before it is given up.
const mostTries = 5

// mostOpen bounds the calls that one process answers at once.
const mostOpen = 1024

// A groupConsumer is this process's share of the calls of one key.
type groupConsumer struct {
	*Client
	rdb     *redis.Client
	stream  string
	answer  func(ctx context.Context, note string) error
	claimed time.Time // when it last looked for calls of the dead
	grouped bool      // the group was there
	busy    sync.WaitGroup

	mu   sync.Mutex      // guards open
	open map[string]bool // calls that are being answered
}

// Attend answers calls of key until ctx is done, and returns once the answers under way
// have. A call is removed from the server after its answer. One whose answer fails, or
// whose process has died, is delivered again after a while, and dropped after five
// deliveries.
func (c *Client) Attend(ctx context.Context, key string, answer func(ctx context.Context, note string) error) error {
	rdb, stop := c.waiting(ctx)
	defer stop()
	a := &groupConsumer{Client: c, rdb: rdb, stream: c.key("calls:" + key), answer: answer, open: map[string]bool{}}
	a.tidy(ctx, "")
	c.keepOn(ctx, a.stream, func() error { return a.found(ctx, a.round(ctx)) })
	a.busy.Wait()
	a.tidy(ctx, a.o.Process)
	return nil
}

// found makes the group when there is none: at the first start, after a flush (which
// a read that waits is told of as UNBLOCKED). The new one begins with the oldest call
// there is.
func (a *groupConsumer) found(ctx context.Context, err error) error {
	if err == nil {
		a.grouped = true
		return nil
	}
	if !redis.HasErrorPrefix(err, "NOGROUP") && !redis.HasErrorPrefix(err, "UNBLOCKED") {
		return err
	}
	if a.grouped {
		a.wasEmptied()
	}
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err = a.quick.XGroupCreateMkStream(limit, a.stream, attendants, "0").Err()
	if err != nil && redis.HasErrorPrefix(err, "BUSYGROUP") {
		return nil // another process was faster
	}
	return err
}

// round takes what others left lying, if it is time to, and waits for calls.
func (a *groupConsumer) round(ctx context.Context) error {
	if time.Since(a.claimed) >= a.o.Reclaim/3 {
		if err := errors.Join(a.prolong(ctx), a.reclaim(ctx)); err != nil {
			return err
		}
		a.claimed = time.Now()
	}
	pause := min(block, a.o.Reclaim/3)
	if len(a.opened()) >= mostOpen {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		return nil
	}
	limit, cancel := context.WithTimeout(ctx, block+patience)
	defer cancel()
	found, err := a.rdb.XReadGroup(limit, &redis.XReadGroupArgs{
		Group: attendants, Consumer: a.o.Process, Streams: []string{a.stream, ">"}, Count: 16, Block: pause,
	}).Result()
	if errors.Is(err, redis.Nil) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range found {
		for _, m := range s.Messages {
			a.take(ctx, m)
		}
	}
	return nil
}

// prolong keeps the calls that are being answered from being handed to others,
// however long the answers take.
func (a *groupConsumer) prolong(ctx context.Context) error {
	open := a.opened()
	if len(open) == 0 {
		return nil
	}
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return a.quick.XClaimJustID(limit, &redis.XClaimArgs{Stream: a.stream, Group: attendants, Consumer: a.o.Process, Messages: open}).Err()
}

// opened returns the calls that are being answered.
func (a *groupConsumer) opened() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Keys(a.open))
}

// reclaim takes over the calls that were handed out and not answered in time.
func (a *groupConsumer) reclaim(ctx context.Context) error {
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	calls, _, gone, err := a.quick.XAutoClaimWithDeleted(limit, &redis.XAutoClaimArgs{
		Stream: a.stream, Group: attendants, Consumer: a.o.Process, MinIdle: a.o.Reclaim, Start: "0-0", Count: 64,
	}).Result()
	if err != nil {
		return err
	}
	if len(gone) > 0 { // trimmed by another process: the receiver finds the work by polling
		a.o.Logger.Warn("calls are gone from the server", "stream", a.stream, "count", len(gone))
	}
	for _, m := range calls {
		poison, err := a.poison(ctx, m)
		if err != nil {
			return err
		}
		if !poison {
			a.take(ctx, m)
		}
	}
	return nil
}

// poison gives up a call that has been handed out too often.
func (a *groupConsumer) poison(ctx context.Context, m redis.XMessage) (bool, error) {
	limit, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	open, err := a.quick.XPendingExt(limit, &redis.XPendingExtArgs{Stream: a.stream, Group: attendants, Start: m.ID, End: m.ID, Count: 1}).Result()
	if err != nil || len(open) == 0 || open[0].RetryCount <= mostTries {
		return false, err
	}
	a.o.Logger.Error("call given up", "stream", a.stream, "call", m.ID, "tries", mostTries)
	return true, a.over(ctx, m.ID)
}

// take answers one call, beside others. One whose answer fails stays open.
func (a *groupConsumer) take(ctx context.Context, m redis.XMessage) {
	a.mu.Lock()
	under := a.open[m.ID]
	a.open[m.ID] = true
	a.mu.Unlock()
	if under {
		return
	}
	a.busy.Go(func() {
		defer func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			delete(a.open, m.ID)
		}()
		if err := a.answer(ctx, word(m, "note")); err != nil {
			a.o.Logger.Debug("call not answered", "stream", a.stream, "call", m.ID, "error", err)
			return
		}
		if err := a.over(ctx, m.ID); ctx.Err() == nil {
			a.saw(acknowledging, err)
		}
	})
}

// over acknowledges a call and removes it, both or neither: there is one group, so no
// other consumer needs it. It runs although the process is stopping, because the call
// was answered.
func (a *groupConsumer) over(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_, err := a.quick.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.XAck(ctx, a.stream, attendants, id)
		p.XDel(ctx, a.stream, id)
		return nil
	})
	if err != nil {
		return fmt.Errorf("acknowledge %s: %w", id, err)
	}
	return nil
}

// tidyGroup removes attendants that have no open calls: the one that leaves, and those
// of processes that were killed. One that has open calls would take them along.
const tidyGroup = `for _, one in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
	local is = {}
	for i = 1, #one, 2 do is[one[i]] = one[i + 1] end
	if is.pending == 0 and (is.name == ARGV[2] or is.idle >= tonumber(ARGV[3])) then
		redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], is.name)
	end
end
return 0`

// tidy has the attendant of that name leave the group, and the dead with it.
func (a *groupConsumer) tidy(ctx context.Context, leaves string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := a.quick.Eval(ctx, tidyGroup, []string{a.stream}, attendants, leaves, a.o.Dead.Milliseconds()).Err()
	if err != nil && !strings.Contains(err.Error(), "no such key") && !redis.HasErrorPrefix(err, "NOGROUP") {
		a.o.Logger.Debug("group not tidied", "stream", a.stream, "error", err)
	}
}
