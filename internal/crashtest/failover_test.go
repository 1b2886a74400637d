//go:build faultinject

package crashtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// F37: the server is lost, and a replica takes over that had not heard its last two
// seconds. What is lost by that is outside of what is promised. It is noticed: a
// process that had those commits confirmed ends rather than go on from them, and the
// operator is told. What is left is sound, and people are answered again.
func TestCrewNoticesLostCommits(t *testing.T) {
	besiege(t, "F37", perCrew, func(ctx context.Context, t *testing.T, s *siege, seed uint64) {
		t.Helper()
		behind := testservers.NewLink(t, local(s.postgres.Port))
		replica := s.postgres.Follow(t, behind.Port())
		t.Cleanup(func() { testutil.OK(t, replica.Stop()) })
		hush := s.talks(seed)
		defer hush()
		s.converses(ctx, t)
		behind.Suffer(testservers.ProxyFault{Hold: testservers.Both})
		passes(ctx, 2*time.Second)
		had := s.turns(ctx, t)
		s.fails(t, replica)
		if has := s.turns(ctx, t); has >= had {
			t.Fatalf("the replica has %d turns of %d: nothing was lost", has, had)
		}
		s.awaits(ctx, t, "an end of a process whose commits were lost", func() bool { return s.ended > 0 })
		s.recovers(ctx, t)
		s.awaits(ctx, t, "word of it", func() bool {
			return s.count(ctx, t, `select count(*) from problems where code = 'TRS-R14'`) > 0
		})
		hush()
		before := len(s.sayings())
		for range 15 {
			s.says()
		}
		s.awaits(ctx, t, "answers to what was said since", func() bool { return answered(s.world, s.sayings()[before:]) })
		s.awaits(ctx, t, "rest", func() bool { return !s.members[0].busy(ctx) })
		s.stops(ctx, t)
		for _, f := range s.members[0].audited(t).checked {
			t.Errorf("%s: %s: %s", f.Invariant, f.Subject, f.Detail)
		}
	})
}

// turns is how many turns the record has had.
func (s *siege) turns(ctx context.Context, t *testing.T) int {
	t.Helper()
	return s.count(ctx, t, `select n from turn`)
}

// fails has a replica take over from the server, which is gone for good.
func (s *siege) fails(t *testing.T, over *testservers.PostgresServer) {
	t.Helper()
	s.postgres.Crash(t)
	over.Promote(t)
	for i, link := range s.toPostgres {
		link.Lead(local(over.Port))
		s.members[i].database = over.URL(s.database)
	}
}

func local(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
