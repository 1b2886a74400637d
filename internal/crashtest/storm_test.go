//go:build faultinject

package crashtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testservers"
)

// I1–I7, I9, I11, I16, DELIVERY 3.1: three processes share a Postgres server and a
// Redis, and a seed decides what happens to them all while people write: kills, stops,
// processes that stand still and go on, servers that crash, ways that are held up or
// break, a platform that refuses, forgets and hangs up, a model that dawdles, several at
// a time. Nothing is lost and everything is decided once. On Telegram what came twice
// was on the wire when a process lost the right to send; where the platform can be asked
// nothing comes twice. STORMS=17 in the environment plays that one in full, STORMS=0-19
// twenty; else a short one is played.
func TestStormsLoseNothing(t *testing.T) {
	first, last, harms := 0, 0, 5
	if storms := os.Getenv("STORMS"); storms != "" {
		harms = 14
		if n, _ := fmt.Sscanf(storms, "%d-%d", &first, &last); n == 0 {
			t.Fatalf("STORMS=%s: want a number, or two with - between", storms)
		} else if n == 1 {
			last = first
		}
	}
	for seed := first; seed <= last; seed++ {
		for platform, begin := range map[string]func(*testing.T, uint64) *storm{"telegram": telegramStorm, "slack": stormOn(patientSlackStage), "discord": stormOn(discordStage)} {
			t.Run(fmt.Sprintf("%d/%s", seed, platform), func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), 6*caseLimit)
				defer cancel()
				s := begin(t, uint64(seed)) //nolint:gosec // small
				s.model.Delay = func(llm.ModelRequest) time.Duration { return time.Duration(s.dawdle.Load()) }
				s.breaks(ctx, t)
				s.rages(ctx, t, harms)
				s.subsides(ctx, t)
			})
		}
	}
}

// A storm is a siege in which a seed chooses what is harmed, and for how long.
type storm struct {
	*siege
	rng     *rand.Rand
	speaks  func()
	unheard func() []string
	ready   func() bool
	strains []func()                          // what a platform does at times
	audits  func(t *testing.T, losses []loss) // of what all left

	down   map[*program]bool // who cannot act until it is mended
	harmed map[string]bool   // what is harmed
	owed   []mending         // by when they are due
	losses []loss
	dawdle atomic.Int64 // how long the model takes, in nanoseconds
}

// A mending is the end of a harm.
type mending struct {
	what string
	at   time.Time
	do   func()
}

// A loss is a time in which a process may have lost the right to send, or could not
// store what it had sent.
type loss struct{ from, until time.Time }

func newStorm(s *siege, seed uint64) *storm {
	return &storm{siege: s, rng: rand.New(rand.NewPCG(seed, 11)), down: map[*program]bool{}, harmed: map[string]bool{}}
}

// telegramStorm is a storm in a world.
func telegramStorm(t *testing.T, seed uint64) *storm {
	t.Helper()
	w := newWorld(t, seed, 4)
	s := newStorm(newSiege(t, w, nil), seed)
	s.speaks, s.unheard, s.ready = w.says, w.unanswered, func() bool { return true }
	s.strains = []func(){
		func() {
			w.telegram.Fault(fake.CallFault{Do: fake.Refuse, Method: "sendMessage", RetryAfter: 1 + s.rng.IntN(3), Times: 1 + s.rng.IntN(3)})
		},
		func() {
			w.telegram.Fault(fake.CallFault{Do: fake.HTML, Method: "getUpdates", Times: 1 + s.rng.IntN(3)})
		},
		func() { w.telegram.Fault(fake.CallFault{Do: fake.Truncate, Method: "getUpdates"}) },
	}
	s.audits = func(t *testing.T, losses []loss) {
		t.Helper()
		v := s.judge(t, s.members[0], &evidence{losses: losses})
		t.Logf("%d came twice", v.copies)
	}
	return s
}

// stormOn returns how a storm on a stage begins.
func stormOn(open func(*testing.T, uint64) *stage) func(*testing.T, uint64) *storm {
	return func(t *testing.T, seed uint64) *storm {
		t.Helper()
		st := open(t, seed)
		s := newStorm(newSiege(t, st.world, func(t *testing.T, more string) *program { t.Helper(); return st.program(t, false, more) }), seed)
		s.speaks, s.unheard, s.ready, s.strains = func() { st.speaks(1, false) }, st.unheard, st.ready, st.strains
		s.audits = func(t *testing.T, _ []loss) {
			t.Helper()
			end := s.members[0].audited(t)
			st.audits(t, &end)
		}
		return s
	}
}

// breaks begins: all take part, and a person was answered.
func (s *storm) breaks(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, p := range s.members {
		p.start(t, nil)
	}
	s.complete(ctx, t)
	s.crew.awaits(ctx, t, "a connection", s.ready)
	s.speaks()
	s.crew.awaits(ctx, t, "answers", func() bool { return len(s.unheard()) == 0 })
}

// rages has so many harms happen, and ends them all.
func (s *storm) rages(ctx context.Context, t *testing.T, harms int) {
	t.Helper()
	for n := 0; (n < harms || len(s.owed) > 0) && ctx.Err() == nil; {
		next := time.Now().Add(time.Duration(200+s.rng.IntN(2500)) * time.Millisecond)
		for len(s.owed) > 0 && (n >= harms || s.owed[0].at.Before(next)) {
			m := s.owed[0]
			s.owed = s.owed[1:]
			s.passes(ctx, t, time.Until(m.at))
			t.Logf("%s is over", m.what)
			m.do()
		}
		if n >= harms {
			continue
		}
		s.passes(ctx, t, time.Until(next))
		if s.harms(ctx, t) {
			n++
		}
	}
}

// subsides has everybody answered, comes to rest and audits what is left.
func (s *storm) subsides(ctx context.Context, t *testing.T) {
	t.Helper()
	defer func() {
		if t.Failed() {
			s.whereabouts(t, s.unheard())
			s.roster(t)
		}
	}()
	s.recovers(ctx, t)
	for range 10 {
		s.speaks()
	}
	s.awaits(ctx, t, "answers to all", func() bool { return len(s.unheard()) == 0 })
	s.awaits(ctx, t, "rest", func() bool { return !s.members[0].busy(ctx) })
	s.stops(ctx, t)
	s.audits(t, s.losses)
	t.Logf("%d ends of processes", s.ended)
}

// passes lets time pass, in which people write, and restarts processes that ended by
// themselves.
func (s *storm) passes(ctx context.Context, t *testing.T, d time.Duration) {
	t.Helper()
	for until := time.Now().Add(d); time.Now().Before(until) && ctx.Err() == nil; {
		passes(ctx, min(time.Duration(20+s.rng.IntN(120))*time.Millisecond, time.Until(until)))
		if len(s.unheard()) < backlog {
			s.speaks()
		}
		for _, p := range s.members {
			if !s.down[p] {
				s.keep(t, p)
			}
		}
	}
}

// harms causes one fault in a process or server, unless that fault is in effect
// already.
func (s *storm) harms(ctx context.Context, t *testing.T) bool {
	t.Helper()
	i := s.rng.IntN(len(s.members))
	p, brief := s.members[i], time.Duration(100+s.rng.IntN(3000))*time.Millisecond
	long := brief
	if s.rng.IntN(3) == 0 {
		long = term/2 + time.Duration(s.rng.Int64N(int64(2*term)))
	}
	switch s.rng.IntN(14) {
	case 0, 1:
		return s.takesDown(t, p, "a kill", brief, func() { s.loses(0); p.kill() }, func() { p.start(t, nil) })
	case 2:
		return s.takesDown(t, p, "a stop", brief, func() { tells(t, p, syscall.SIGTERM) }, func() { s.startsAgain(ctx, t, p) })
	case 3, 4:
		return s.takesDown(t, p, "standing still", long, func() { s.loses(long); tells(t, p, syscall.SIGSTOP) }, func() { tells(t, p, syscall.SIGCONT) })
	case 5:
		return s.holds(t, s.toPostgres[i], fmt.Sprintf("no way to Postgres for process %d", i+1), long)
	case 6:
		return s.holds(t, s.toRedis[i], fmt.Sprintf("no way to Redis for process %d", i+1), long)
	case 7:
		s.toPostgres[i].Reset()
	case 8:
		s.toPostgres[i].LoseAnswer()
	case 9:
		return s.harm(t, "no Postgres", brief, func() { s.loses(brief); s.postgres.Crash(t) }, func() { s.postgres.Return(t) })
	case 10:
		return s.harm(t, "no Redis", brief, func() { s.redis.Crash(t) }, func() { s.redis.Return(t) })
	case 11:
		return s.harm(t, "a slow model", long, func() { s.dawdle.Store(int64(brief / 3)) }, func() { s.dawdle.Store(0) })
	default:
		k := s.rng.IntN(len(s.strains))
		t.Logf("strain %d", k)
		s.strains[k]()
	}
	return true
}

// startsAgain starts a process that was asked to end.
func (s *storm) startsAgain(ctx context.Context, t *testing.T, p *program) {
	t.Helper()
	s.crew.awaits(ctx, t, "an end of a process that was asked to", p.over)
	if p.err != nil {
		s.keep(t, p)
		return
	}
	p.start(t, nil)
}

// tells signals a process, which may have ended by itself.
func tells(t *testing.T, p *program, what os.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(what); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
}

// takesDown keeps a process from acting for a while.
func (s *storm) takesDown(t *testing.T, p *program, what string, d time.Duration, begin, end func()) bool {
	t.Helper()
	if s.down[p] {
		return false
	}
	s.down[p] = true
	return s.harm(t, fmt.Sprintf("%s of process %d", what, slices.Index(s.members, p)+1), d, begin, func() { end(); s.down[p] = false })
}

// holds keeps a way from letting anything pass for a while.
func (s *storm) holds(t *testing.T, way *testservers.FaultProxy, what string, d time.Duration) bool {
	t.Helper()
	s.loses(d)
	return s.harm(t, what, d, func() { way.Suffer(testservers.ProxyFault{Hold: testservers.Both}) }, way.Mend)
}

// harm begins something and notes when it is to end, unless it is under way.
func (s *storm) harm(t *testing.T, what string, d time.Duration, begin, end func()) bool {
	t.Helper()
	if s.harmed[what] {
		return false
	}
	t.Logf("%s for %v", what, d.Round(100*time.Millisecond))
	s.harmed[what] = true
	begin()
	s.owed = append(s.owed, mending{what, time.Now().Add(d), func() { end(); delete(s.harmed, what) }})
	slices.SortStableFunc(s.owed, func(a, b mending) int { return a.at.Compare(b.at) })
	return true
}

// loses records that for d from now on a process may lose the right to send, or fail to
// store what it sent.
func (s *storm) loses(d time.Duration) {
	now := time.Now()
	s.losses = append(s.losses, loss{now, now.Add(d)})
}

const (
	// longestWait is the most that the platform asks for.
	longestWait = 3 * time.Second
	// inFlight is how long a message may have been on the wire, with its outcome unsaid.
	inFlight = 2 * time.Second
)

// lost reports whether a process may have lost the right to send in that time.
func (e *evidence) lost(from, until time.Time) bool {
	return slices.ContainsFunc(e.losses, func(l loss) bool { return !l.until.Add(inFlight).Before(from) && !l.from.After(until) })
}

// explained checks that each copy of a part was on the wire when a process lost the
// right to send.
func (e *evidence) explained(v *verdict, p *part) {
	for i, at := range p.at[1:] {
		if before := p.at[i]; !e.lost(before.Add(-inFlight), before.Add(inFlight)) {
			v.fault("I6", "a part of %s was sent at %v and again %v later, and nothing happened", p.order.id, before.Format(time.TimeOnly), at.Sub(before))
		}
	}
}
