//go:build faultinject

package faults

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/internal/model"
)

const (
	// term is how long the right to write lasts without being prolonged.
	term = 15 * time.Second
	// tryAgain is what a process ends with that others have given up.
	tryAgain = 75
)

// F42, F44, I8: the process that serves the account stands still for two terms,
// with sends on the wire, and then goes on as if nothing had been. Others have
// taken over: what it still writes is refused, and it ends. A message that was on
// the wire comes twice at most, and nothing else does.
func TestStandingStillIsNoWayToWriteLater(t *testing.T) {
	crews(t, "stale", func(ctx context.Context, t *testing.T, c *crew, seed uint64) {
		t.Helper()
		c.model.Delay = func(model.Request) time.Duration { return 100 * time.Millisecond }
		c.starts(ctx, t)
		hush := c.talks(seed)
		defer hush()
		c.converses(ctx)
		wire := c.telegram.Fault(fake.Fault{Do: fake.Delay, Method: "sendMessage", Wait: 2 * term, Times: 2})
		c.awaits(ctx, t, "sends on the wire", func() bool { return wire.Hits() == 2 })
		stale := c.owner(ctx, t)
		stale.signal(t, syscall.SIGSTOP)
		stopped := time.Now()
		e := &evidence{}
		c.loses(t, e)
		c.converses(ctx)
		hush()
		c.awaits(ctx, t, "a new owner", func() bool { next := c.owner(ctx, t); return next != nil && next != stale })
		await(ctx, func() bool { return time.Since(stopped) > 2*term })
		stale.signal(t, syscall.SIGCONT)
		c.awaits(ctx, t, "an end of the stale process", stale.over)
		if exit, ok := errors.AsType[*exec.ExitError](stale.err); !ok || exit.ExitCode() != tryAgain {
			t.Errorf("the stale process ended with %v, want exit code %d", stale.err, tryAgain)
		}
		stale.start(t, nil)
		c.complete(ctx, t)
		c.says()
		c.rest(ctx, t, stale)
		c.stops(ctx, t)
		c.judge(t, stale, e)
		refused := stale.logged(t, "outcome not recorded")
		t.Logf("refused writes: %d", refused)
		if refused == 0 {
			t.Error("the stale process was not refused anything")
		}
	})
}

// F41, I8: the leases of minds run out while their holders are at work, so that
// processes compete for one agent. Whoever lost writes nothing more of the cycle;
// the refusals are counted.
func TestLosersOfALeaseWriteNothing(t *testing.T) {
	crews(t, "leases", func(ctx context.Context, t *testing.T, c *crew, seed uint64) {
		t.Helper()
		c.model.Delay = func(model.Request) time.Duration { return 400 * time.Millisecond }
		c.starts(ctx, t)
		hush := c.talks(seed)
		defer hush()
		refused := func() int { return c.count(ctx, t, `select coalesce(sum(refused), 0) from leases`) }
		for had := range 2 { // a cycle that is lost again and again is given up
			c.converses(ctx)
			database.Do(t, c.database, `update leases set expires = 0 where expires > 0`)
			c.awaits(ctx, t, "refused writes", func() bool { return refused() > had })
		}
		hush()
		c.rest(ctx, t, c.members[0])
		t.Logf("refused writes: %d", refused())
		c.stops(ctx, t)
		c.judge(t, c.members[0], &evidence{})
	})
}
