//go:build faultinject

package crashtest

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testservers"
)

// F35: the server crashes and comes back twenty times in the middle of everything.
// What three processes had told the platform is there; nothing comes twice that was
// not on the wire, and no process is given up. Crews play one after the other: where
// nine processes connect anew at once, a server of two processors is away before
// they have.
func TestCrewOutlivesCrashesOfPostgres(t *testing.T) {
	besiege(t, "F35", 1, func(ctx context.Context, t *testing.T, s *siege, seed uint64) {
		t.Helper()
		rng := rand.New(rand.NewPCG(seed, 35))
		hush := s.talks(seed)
		defer hush()
		for range 20 {
			passes(ctx, time.Duration(200+rng.IntN(800))*time.Millisecond)
			for range 5 { // on a slow machine it takes longer until a process could reach the server
				s.postgres.Do(t, s.database, `select 1`)
			}
			s.postgres.Crash(t)
			passes(ctx, time.Duration(rng.IntN(300))*time.Millisecond)
			s.postgres.Return(t)
			s.keeps(t)
		}
		s.ends(ctx, t, hush, &evidence{})
		if s.ended > 0 {
			t.Errorf("%d processes ended, want none for a server that they could reach again and again", s.ended)
		}
	})
}

// F36: connections break while the server answers, again and again: what it has
// committed counts, whether it could say so or not.
func TestCrewLearnsWhatBecameOfItsCommits(t *testing.T) {
	besiege(t, "F36", perCrew, func(ctx context.Context, t *testing.T, s *siege, seed uint64) {
		t.Helper()
		rng := rand.New(rand.NewPCG(seed, 36))
		hush := s.talks(seed)
		defer hush()
		for range 30 {
			passes(ctx, time.Duration(20+rng.IntN(100))*time.Millisecond)
			link := s.toPostgres[rng.IntN(len(s.toPostgres))]
			if rng.IntN(4) == 0 {
				link.Reset()
			} else {
				link.LoseAnswer()
			}
			s.keeps(t)
		}
		s.ends(ctx, t, hush, &evidence{})
	})
}

// F38, F39: the Redis server is emptied, cut short, out of memory, without its
// groups, restarted. That costs time and nothing else: nothing is lost, and nothing
// comes twice.
func TestWhateverHappensToRedisCostsTimeOnly(t *testing.T) {
	besiege(t, "F38", perCrew, func(ctx context.Context, t *testing.T, s *siege, seed uint64) {
		t.Helper()
		hush := s.talks(seed)
		defer hush()
		for _, harm := range []func(){
			func() { s.do(ctx, t, "flushall") },
			func() { s.eachStream(ctx, t, "xtrim", "maxlen", 0) },
			func() { s.eachStream(ctx, t, "del") },
			func() { s.do(ctx, t, "config", "set", "maxmemory", 1) },
			func() { s.do(ctx, t, "config", "set", "maxmemory", 0) },
			func() { s.redis.Crash(t) },
			func() { s.redis.Return(t) },
		} {
			s.converses(ctx, t)
			harm()
		}
		if v := s.ends(ctx, t, hush, &evidence{}); v.copies > 0 || s.ended > 0 {
			t.Errorf("%d messages came twice, %d processes ended; want none", v.copies, s.ended)
		}
	})
}

// eachStream does something to every stream that there is, which takes groups along.
func (s *siege) eachStream(ctx context.Context, t *testing.T, do string, how ...any) {
	t.Helper()
	streams, ok := s.do(ctx, t, "keys", "trestle:*").([]any)
	if !ok || len(streams) == 0 {
		t.Error("the server holds nothing of ours")
	}
	for _, name := range streams {
		if s.do(ctx, t, "type", name) == "stream" {
			s.do(ctx, t, slices.Concat([]any{do, name}, how)...)
		}
	}
}

// F40: the process that serves the account loses its way to Postgres while Redis works;
// it ends before others may act in its place, and they do. Then all lose their way to
// Redis while Postgres works. No decision is made twice.
func TestHalfAPartitionSplitsNoDecision(t *testing.T) {
	besiege(t, "F40", perCrew, func(ctx context.Context, t *testing.T, s *siege, seed uint64) {
		t.Helper()
		hush := s.talks(seed)
		defer hush()
		s.converses(ctx, t)
		alone := s.owner(ctx, t)
		way := s.link(s.toPostgres, alone)
		way.Suffer(testservers.ProxyFault{Hold: testservers.Both})
		passes(ctx, 200*time.Millisecond) // what had arrived is carried out
		e := &evidence{}
		s.loses(t, e)
		s.crew.awaits(ctx, t, "an end of the process that is alone", alone.over)
		s.crew.awaits(ctx, t, "a new owner", func() bool { next := s.owner(ctx, t); return next != nil && next != alone })
		way.Mend()
		s.recovers(ctx, t)
		for _, link := range s.toRedis {
			link.Suffer(testservers.ProxyFault{Hold: testservers.Both})
		}
		s.converses(ctx, t)
		for _, link := range s.toRedis {
			link.Mend()
		}
		s.ends(ctx, t, hush, e)
		if s.ended != 1 {
			t.Errorf("%d processes ended, want the one that was cut off from the record", s.ended)
		}
	})
}
