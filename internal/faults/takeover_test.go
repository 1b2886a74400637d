//go:build faultinject

package faults

import (
	"context"
	"testing"
)

// Issue 7, DELIVERY 2.2: a process that serves an account is killed in the middle
// of a conversation. Another one takes the account over, with the minds that the
// dead one ran; nothing is lost, and what was on the wire comes twice at most.
func TestAccountPassesOnWhenItsOwnerIsKilled(t *testing.T) {
	crews(t, "takeover", func(ctx context.Context, t *testing.T, c *crew, seed uint64) {
		t.Helper()
		c.starts(ctx, t)
		hush := c.talks(seed)
		defer hush()
		c.converses(ctx)
		owner := c.owner(ctx, t)
		owner.kill()
		e := &evidence{}
		c.loses(t, e)
		c.awaits(ctx, t, "a new owner", func() bool { next := c.owner(ctx, t); return next != nil && next != owner })
		owner.start(t, nil)
		c.converses(ctx)
		hush()
		c.rest(ctx, t, owner)
		c.stops(ctx, t)
		c.judge(t, owner, e)
	})
}

// Issue 7: a process that is stopped gives its accounts away by itself, before it
// ends: nobody has to give it up, and nothing comes twice.
func TestAccountPassesOnWhenItsOwnerStops(t *testing.T) {
	crews(t, "handover", func(ctx context.Context, t *testing.T, c *crew, seed uint64) {
		t.Helper()
		c.starts(ctx, t)
		hush := c.talks(seed)
		defer hush()
		for range 2 {
			c.converses(ctx)
			owner := c.owner(ctx, t)
			if err := owner.stop(ctx); err != nil {
				t.Error(err)
			}
			c.awaits(ctx, t, "a new owner", func() bool { next := c.owner(ctx, t); return next != nil && next != owner })
		}
		c.converses(ctx)
		hush()
		last := c.owner(ctx, t)
		c.rest(ctx, t, last)
		c.stops(ctx, t)
		v := c.judge(t, last, &evidence{})
		for _, p := range c.members {
			if n := p.logged(t, "process given up"); n > 0 || v.copies > 0 {
				t.Errorf("%d processes were given up, %d messages came twice; want none", n, v.copies)
			}
		}
	})
}
