//go:build faultinject

package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/internal/llm"
)

const (
	// term is how long the right to write lasts without being prolonged.
	term = 15 * time.Second
	// tryAgain is what a process ends with that others have given up.
	tryAgain = 75
)

// F42, F44, I8: the process that serves the account does not move for two terms,
// with sends on the wire, and then goes on as if nothing had been. Others have
// taken over: what it still writes is refused, and it ends. A message that was on
// the wire comes twice at most, and nothing else does.
func TestStandingStillIsNoWayToWriteLater(t *testing.T) {
	crews(t, "stale", func(ctx context.Context, t *testing.T, c *crew, seed uint64) {
		t.Helper()
		c.model.Delay = func(llm.ModelRequest) time.Duration { return 100 * time.Millisecond }
		c.starts(ctx, t)
		hush := c.talks(seed)
		defer hush()
		c.converses(ctx)
		wire := c.telegram.Fault(fake.CallFault{Do: fake.Delay, Method: "sendMessage", Wait: 2 * term, Times: 2})
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
		c.replaces(ctx, t, stale)
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

// replaces waits until a process has ended that others have given up, and starts it
// again.
func (c *crew) replaces(ctx context.Context, t *testing.T, stale *program) {
	t.Helper()
	c.awaits(ctx, t, "an end of the stale process", stale.over)
	if exit, ok := errors.AsType[*exec.ExitError](stale.err); !ok || exit.ExitCode() != tryAgain {
		t.Errorf("the stale process ended with %v, want exit code %d", stale.err, tryAgain)
	}
	stale.start(t, nil)
	c.complete(ctx, t)
}

// F44, F42, I6: the process that serves the account does not move with a message on
// the wire that the platform has taken. Who takes over asks the platform for it:
// nothing is said twice, here or by the stale process when it goes on.
func TestMessageOnTheWireIsNotRepeatedByTheNextOwner(t *testing.T) {
	for platform, open := range map[string]func(*testing.T, uint64) *stage{"slack": slackStage, "discord": discordStage} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			abreast(t, "F44 "+platform, perCrew, func(ctx context.Context, t *testing.T, seed uint64) {
				t.Helper()
				s := open(t, seed)
				c := &crew{world: s.world, database: database.Database(t)}
				for range 2 {
					p := s.program(t, false, fmt.Sprintf("database: %q\n", database.URL(c.database)))
					p.database = database.URL(c.database)
					c.members = append(c.members, p)
				}
				c.members[0].start(t, nil)
				s.connects(ctx, t, c.members[0])
				c.members[1].start(t, nil)
				c.complete(ctx, t)
				hung := s.hangs(1)
				s.speaks(8, false)
				c.awaits(ctx, t, "sends on the wire", hung)
				stale := c.owner(ctx, t)
				stale.signal(t, syscall.SIGSTOP)
				c.awaits(ctx, t, "a new owner", func() bool { next := c.owner(ctx, t); return next != nil && next != stale })
				stale.signal(t, syscall.SIGCONT)
				c.replaces(ctx, t, stale)
				s.speaks(4, false)
				if !await(ctx, func() bool { return len(s.unheard()) == 0 && s.unacked() == 0 && !stale.busy(ctx) }) {
					t.Errorf("%v have no answer, %d events are not acknowledged", s.unheard(), s.unacked())
				}
				c.stops(ctx, t)
				end := stale.audited(t)
				s.audits(t, &end)
			})
		})
	}
}

// inTurn has what follows in the same query wait for its turn among the writes of processes, with
// which it would deadlock.
const inTurn = `select pg_advisory_xact_lock(cast(cast(cast('turn' as regclass) as oid) as bigint)); `

// F41, I8: the leases of minds run out while their holders are at work, so that
// processes compete for one agent. A process that lost a lease writes nothing more of
// the cycle; the refusals are counted.
func TestLosersOfALeaseWriteNothing(t *testing.T) {
	crews(t, "leases", func(ctx context.Context, t *testing.T, c *crew, seed uint64) {
		t.Helper()
		c.model.Delay = func(llm.ModelRequest) time.Duration { return 400 * time.Millisecond }
		c.starts(ctx, t)
		hush := c.talks(seed)
		defer hush()
		refused := func() int { return c.count(ctx, t, `select coalesce(sum(refused), 0) from leases`) }
		for had := range 2 { // a cycle that is lost again and again is given up
			c.converses(ctx)
			var taken time.Time
			c.awaits(ctx, t, "refused writes", func() bool {
				if time.Since(taken) > 20*time.Second { // again, where no cycle was under way
					database.Do(t, c.database, inTurn+`update leases set expires = 0 where expires > 0`)
					taken = time.Now()
				}
				return refused() > had
			})
		}
		hush()
		c.rest(ctx, t, c.members[0])
		t.Logf("refused writes: %d", refused())
		c.stops(ctx, t)
		c.judge(t, c.members[0], &evidence{})
	})
}
