//go:build faultinject

package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A siege is a crew whose Postgres and Redis are its own, each process at the end
// of links that can be harmed.
type siege struct {
	*crew
	postgres   *testservers.PostgresServer
	redis      *testservers.RedisServer
	toPostgres []*testservers.FaultProxy // by member
	toRedis    []*testservers.FaultProxy
	ended      int // how often a process ended because it could not know whether it may act
}

// besiege plays a story several times, so many together, each with servers of its own.
func besiege(t *testing.T, id string, together int, play func(ctx context.Context, t *testing.T, s *siege, seed uint64)) {
	t.Helper()
	abreast(t, id, together, func(ctx context.Context, t *testing.T, seed uint64) {
		t.Helper()
		s := newSiege(t, newWorld(t, seed, 4), nil)
		s.starts(ctx, t)
		play(ctx, t, s, seed)
	})
}

// newSiege prepares three processes, by program unless that is nil.
func newSiege(t *testing.T, w *world, program func(t *testing.T, more string) *program) *siege {
	t.Helper()
	s := &siege{crew: &crew{world: w, program: program}, postgres: &testservers.PostgresServer{}, redis: &testservers.RedisServer{}}
	t.Cleanup(func() { testutil.OK(t, errors.Join(s.postgres.Stop(), s.redis.Stop())) })
	s.database = s.postgres.Database(t)
	s.redis.URL(t)
	for range 3 {
		pg := testservers.NewLink(t, fmt.Sprintf("127.0.0.1:%d", s.postgres.Port))
		rd := testservers.NewLink(t, fmt.Sprintf("127.0.0.1:%d", s.redis.Port))
		s.toPostgres, s.toRedis = append(s.toPostgres, pg), append(s.toRedis, rd)
		way := testservers.PostgresServer{Port: pg.Port()}
		s.joins(t, s.postgres.URL(s.database), way.URL(s.database), fmt.Sprintf("redis: \"redis://127.0.0.1:%d\"\n", rd.Port()))
	}
	return s
}

// link returns the link of a process.
func (s *siege) link(links []*testservers.FaultProxy, p *program) *testservers.FaultProxy {
	for i, m := range s.members {
		if m == p {
			return links[i]
		}
	}
	panic("faults: a process of another crew")
}

// keeps starts again, as a service manager does, whatever ended because it could
// not know whether it may still act.
func (s *siege) keeps(t *testing.T) {
	t.Helper()
	for _, p := range s.members {
		s.keep(t, p)
	}
}

// keep starts a process again if it ended.
func (s *siege) keep(t *testing.T, p *program) {
	t.Helper()
	if !p.over() {
		return
	}
	// Where the server goes away while a process starts, it fails.
	if exit, ok := errors.AsType[*exec.ExitError](p.err); !ok || exit.ExitCode() != tryAgain && exit.ExitCode() != 1 {
		t.Errorf("a process ended with %v, want exit code %d", p.err, tryAgain)
	}
	s.ended++
	t.Logf("a process ended with %v", p.err)
	p.start(t, nil)
}

// awaits is [crew.awaits] of processes that are kept.
func (s *siege) awaits(ctx context.Context, t *testing.T, what string, cond func() bool) {
	t.Helper()
	s.crew.awaits(ctx, t, what, func() bool { s.keeps(t); return cond() })
}

// recovers waits until every process takes part.
func (s *siege) recovers(ctx context.Context, t *testing.T) {
	t.Helper()
	s.awaits(ctx, t, "three processes", func() bool { return s.count(ctx, t, allTakePart) == len(s.members) })
}

// converses waits until fifteen more messages were written.
func (s *siege) converses(ctx context.Context, t *testing.T) {
	t.Helper()
	till := len(s.sayings()) + 15
	s.awaits(ctx, t, "fifteen more messages", func() bool { return len(s.sayings()) >= till })
}

// ends has everybody answered, comes to rest and audits what is left.
func (s *siege) ends(ctx context.Context, t *testing.T, hush func(), e *evidence) verdict {
	t.Helper()
	s.recovers(ctx, t)
	s.converses(ctx, t)
	hush()
	s.awaits(ctx, t, "answers", func() bool { return len(s.unanswered()) == 0 })
	s.rest(ctx, t, s.members[0])
	s.stops(ctx, t)
	s.crew.awaits(ctx, t, "an end of what those had that the server left while they started", func() bool {
		return s.count(ctx, t, `select count(*) from processes where expires > extract(epoch from clock_timestamp()) * 1000`) == 0
	})
	v := s.judge(t, s.members[0], e)
	t.Logf("%d messages, %d came twice, %d ends of processes", len(e.said), v.copies, s.ended)
	return v
}

// do sends the Redis server a command on a connection of its own.
func (s *siege) do(ctx context.Context, t *testing.T, words ...any) any {
	t.Helper()
	o, err := redis.ParseURL(s.redis.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	c := redis.NewClient(o)
	defer func() { _ = c.Close() }() // it was only asked
	said, err := c.Do(ctx, words...).Result()
	if err != nil {
		t.Errorf("%v: %v", words, err)
	}
	return said
}

// passes lets some time pass.
func passes(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// roster logs which processes the record knows.
func (s *siege) roster(t *testing.T) {
	t.Helper()
	db, err := s.members[0].look()
	testutil.OK(t, err)
	defer func() { _ = db.Close() }()
	var known string
	err = db.QueryRowContext(context.WithoutCancel(t.Context()), `select coalesce(string_agg(pid || ' until ' || to_timestamp(expires / 1000) || ': ' || bulletin, E'\n'), 'none') from processes`).Scan(&known)
	t.Logf("at %v the record knows these processes (%v):\n%s", time.Now().Format(time.TimeOnly), err, known)
	for i, p := range s.members {
		t.Logf("process %d is %d; it has ended: %v", i+1, p.cmd.Process.Pid, p.over())
	}
}
