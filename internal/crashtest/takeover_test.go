//go:build faultinject

package crashtest

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
		c.complete(ctx, t)
		c.converses(ctx)
		hush()
		c.rest(ctx, t, owner)
		c.stops(ctx, t)
		c.judge(t, owner, e)
	})
}

// Issue 7: a process that is stopped releases its accounts before it ends: no other
// process has to declare it dead, and nothing comes twice.
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

// Issue 7: one process serves the accounts and two run the minds. Each does what
// it is there for and nothing else; when one that thinks is killed, the other goes
// on with its cycles.
func TestRolesDivideTheWork(t *testing.T) {
	crews(t, "roles", func(ctx context.Context, t *testing.T, c *crew, seed uint64) {
		t.Helper()
		hands, head, other := c.members[0], c.members[1], c.members[2]
		hands.roles, head.roles, other.roles = "adapters,console", "minds", "minds"
		c.starts(ctx, t)
		c.awaits(ctx, t, "two processes that say that they have minds", func() bool {
			return c.count(ctx, t, `select count(*) from processes where bulletin like '%"roles":["minds"]%'`) == 2
		})
		hush := c.talks(seed)
		defer hush()
		c.converses(ctx)
		if owner := c.owner(ctx, t); owner != hands {
			t.Errorf("the account is served by a process that is not to: %v", owner)
		}
		head.kill()
		c.converses(ctx)
		hush()
		c.rest(ctx, t, hands)
		c.stops(ctx, t)
		c.judge(t, hands, &evidence{})
		for i, p := range c.members {
			sent, thought := p.logged(t, "action settled"), p.logged(t, "cycle closed")
			if (sent > 0) != (p == hands) || p == hands && thought > 0 || p == other && thought == 0 { // head may have been killed before it was done with any
				t.Errorf("process %d (%s) sent %d times and closed %d cycles", i, p.roles, sent, thought)
			}
		}
	})
}
