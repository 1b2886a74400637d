//go:build faultinject

package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testservers"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// database is the server that crews share; it runs from the first of them on.
var database testservers.PostgresServer

// perCrew is how often each story of several processes is played.
const perCrew = 3

// A crew is processes of the program that share a database, each with a folder of
// its own.
type crew struct {
	*world
	database string // its name
	members  []*program
	program  func(t *testing.T, more string) *program // makes one; nil: newProgram
}

// newCrew prepares three processes.
func newCrew(t *testing.T, w *world) *crew {
	t.Helper()
	c := &crew{world: w, database: database.Database(t)}
	for range 3 {
		c.joins(t, database.URL(c.database), database.URL(c.database), "")
	}
	return c
}

// joins prepares one more process. It reaches the database, whose address is direct,
// by way of another one.
func (c *crew) joins(t *testing.T, direct, way, more string) {
	t.Helper()
	more = fmt.Sprintf("database: %q\n", way) + more
	var p *program
	if c.program != nil {
		p = c.program(t, more)
	} else {
		p = newProgram(t, c.world, more)
	}
	p.database = direct
	c.members = append(c.members, p)
}

// starts runs every process and returns once all take part and a person was answered.
func (c *crew) starts(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, p := range c.members {
		p.start(t, nil)
	}
	c.complete(ctx, t)
	c.says()
	c.awaits(ctx, t, "answers", func() bool { return len(c.unanswered()) == 0 })
}

// allTakePart counts the processes that have started and told the others of themselves.
const allTakePart = `select count(*) from processes where bulletin <> ''`

// complete waits until every process has started and told the others of itself.
func (c *crew) complete(ctx context.Context, t *testing.T) {
	t.Helper()
	c.awaits(ctx, t, "three processes", func() bool {
		return c.count(ctx, t, allTakePart) == len(c.members)
	})
}

// stops ends the processes that still run, one after the other.
func (c *crew) stops(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, p := range c.members {
		if p.over() {
			continue
		}
		if err := p.stop(ctx); err != nil {
			t.Error(err)
		}
	}
}

// awaits fails unless cond holds before ctx ends.
func (c *crew) awaits(ctx context.Context, t *testing.T, what string, cond func() bool) {
	t.Helper()
	if !await(ctx, cond) {
		t.Fatalf("there are not: %s", what)
	}
}

// count asks the database for a number; 0 when there is no answer yet.
func (c *crew) count(ctx context.Context, t *testing.T, question string) (n int) {
	t.Helper()
	db, err := c.members[0].look()
	testutil.OK(t, err)
	defer func() { _ = db.Close() }()
	err = db.QueryRowContext(ctx, question).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) && !strings.Contains(err.Error(), "does not exist") { // no process has made the table yet
		t.Errorf("%s: %v", question, err)
	}
	return n
}

// owner returns the process that serves the account; nil while none does.
func (c *crew) owner(ctx context.Context, t *testing.T) *program {
	t.Helper()
	pid := c.count(ctx, t, `select p.pid from owners o join processes p on p.id = o.process where o.thing like 'adapter %' and o.thing <> 'adapter local'`)
	for _, p := range c.members {
		if p.cmd.Process.Pid == pid {
			return p
		}
	}
	return nil
}

// backlog is how many messages wait for an answer before people wait for one.
const backlog = 12

// talks has people write, a few messages a moment, until the function it returns
// is called. They are patient: on a slow machine a talk takes longer, and does not
// grow.
func (c *crew) talks(seed uint64) (hush func()) {
	rng := rand.New(rand.NewPCG(seed, 5))
	quiet := make(chan struct{})
	var talk sync.WaitGroup
	talk.Go(func() {
		for {
			pause := time.NewTimer(time.Duration(20+rng.IntN(120)) * time.Millisecond)
			select {
			case <-pause.C:
				if len(c.unanswered()) < backlog {
					c.says()
				}
			case <-quiet:
				pause.Stop()
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(quiet); talk.Wait() })
}

// converses waits until fifteen more messages were written.
func (c *crew) converses(ctx context.Context) {
	till := len(c.sayings()) + 15
	await(ctx, func() bool { return len(c.sayings()) >= till })
}

// loses copies what there is to be seen right after a process lost its right to
// act: what it was sending may come twice, nothing else.
func (c *crew) loses(t *testing.T, e *evidence) {
	t.Helper()
	db, err := c.members[0].look()
	testutil.OK(t, err)
	defer func() { _ = db.Close() }()
	e.kills, e.atKill = e.kills+1, readTables(t, db)
	c.testify(e)
	e.killed, e.asked = len(e.calls), len(e.model)
}

// audited reads what a program left that has ended, and has the store look it over.
func (p *program) audited(t *testing.T) record {
	t.Helper()
	if p.database == "" {
		return audited(t, copyRecord(t, p.data))
	}
	db, err := p.look()
	testutil.OK(t, err)
	defer func() { _ = db.Close() }()
	r := readTables(t, db)
	s := openAlone(t, p.database)
	r.checks(t, s)
	return r
}

// openAlone opens a record that no process writes any more. One that ended without saying so holds
// it for a term.
func openAlone(t *testing.T, url string) (s *sqlstore.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*term)
	defer cancel()
	var err error
	await(ctx, func() bool {
		s, err = postgres.Open(context.WithoutCancel(t.Context()), postgres.Options{URL: url, NewID: auditor(), Alone: true})
		_, held := errors.AsType[*postgres.InUseError](err)
		return !held
	})
	testutil.OK(t, err)
	return s
}

// logged counts the lines of a program's log that have some words.
func (p *program) logged(t *testing.T, words string) int {
	t.Helper()
	text, err := os.ReadFile(p.log)
	testutil.OK(t, err)
	return strings.Count(string(text), words)
}

// crews plays a story several times at once, each with a crew of its own.
func crews(t *testing.T, id string, play func(ctx context.Context, t *testing.T, c *crew, seed uint64)) {
	t.Helper()
	abreast(t, id, perCrew, func(ctx context.Context, t *testing.T, seed uint64) {
		t.Helper()
		c := newCrew(t, newWorld(t, seed, 4))
		defer func() {
			if t.Failed() {
				c.whereabouts(t, c.unanswered())
			}
		}()
		play(ctx, t, c, seed)
	})
}

// abreast plays a story several times, as many at once as together says.
func abreast(t *testing.T, id string, together int, play func(ctx context.Context, t *testing.T, seed uint64)) {
	t.Helper()
	var playing errgroup.Group
	playing.SetLimit(together)
	for n := range min(perCrew, *repeats) {
		seed := seedOf(id, n)
		if *oneSeed != 0 && *oneSeed != seed {
			continue
		}
		playing.Go(func() error {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*caseLimit)
				defer cancel()
				play(ctx, t, seed)
			})
			return nil
		})
	}
	_ = playing.Wait() // each reports to its own test
}

// whereabouts logs the database's rows of unanswered messages, and the unsent actions.
func (c *crew) whereabouts(t *testing.T, tokens []string) {
	t.Helper()
	db, err := c.members[0].look()
	testutil.OK(t, err)
	defer func() { _ = db.Close() }()
	r := readTables(t, db)
	for _, tk := range tokens {
		for _, e := range r.events {
			if strings.Contains(e.body, tk) {
				t.Logf("%s is in %+v", tk, e)
			}
			for _, row := range r.rows {
				if row.event == e.id && strings.Contains(e.body, tk) {
					t.Logf("%s waits as %+v of %+v", tk, row, r.cycles[row.cycle])
					c.logCycle(t, db, row.cycle)
				}
			}
		}
		for _, o := range r.orders {
			if strings.Contains(o.text, tk) || o.state != "sent" {
				t.Logf("%s: %+v", tk, o)
			}
		}
	}
}

// logCycle logs what a cycle was shown and did.
func (c *crew) logCycle(t *testing.T, db *sql.DB, cycle string) {
	t.Helper()
	for _, q := range []string{
		`select cast(to_jsonb(y) - 'manifest' - 'plan' as text) from cycles y where id = $1`,
		`select cast(to_jsonb(s) - 'frame' - 'shown' as text) from steps s where cycle = $1 order by n`,
		`select n || ' ' || refs || ' ' || left(encode(body, 'escape'), 3000) from turns where cycle = $1 order by n`,
		`select seq || ' ' || event || ' ' || state || ' ' || at from inbox where cycle = $1 order by seq`,
	} {
		var rows string
		err := db.QueryRowContext(context.WithoutCancel(t.Context()), `select coalesce(string_agg(row, E'\n'), 'none') from (`+q+`) r (row)`, cycle).Scan(&rows)
		t.Logf("of cycle %s (%v):\n%s", cycle, err, rows)
	}
}
