package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A stranger is a session of another program.
type stranger struct{ conn *pgx.Conn }

// visits connects a stranger to a database, until the test ends.
func visits(t *testing.T, database string) stranger {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL(database))
	testutil.OK(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return stranger{conn}
}

func (s stranger) does(t *testing.T, statements string) {
	t.Helper()
	if _, err := s.conn.PgConn().Exec(t.Context(), statements).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// awaits returns once so many sessions wait for what the stranger has locked.
func (s stranger) awaits(t *testing.T, most int) {
	t.Helper()
	for n := 0; n < most; {
		err := s.conn.QueryRow(t.Context(), `select count(distinct pid) from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`).Scan(&n)
		testutil.OK(t, err)
	}
}

// F40: a process whose every query waits, because another session has locked a table,
// still reaches its server. It keeps the right to write, and goes on when the table is
// free.
func TestQuestionsThatWaitCostNobodyTheRightToWrite(t *testing.T) {
	database := server.Database(t)
	lost := make(chan error, 1)
	o := options(t, database)
	o.URL += "&pool_max_conns=1" // what is needed is taken all the same
	o.Term, o.Lost = time.Second, func(err error) { lost <- err }
	s := open(t, o)
	room := openRoom(t, s)
	other := visits(t, database)
	other.does(t, `begin; lock table events in access exclusive mode`)
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			if found, err := s.Shell().Events(t.Context(), room, spaces.Primary, 0, 10); err != nil || len(found) != 2 {
				t.Errorf("read %d events, %v; want linked and joined", len(found), err)
			}
		})
	}
	other.awaits(t, 2) // one connection is the writer's
	select {
	case err := <-lost:
		t.Errorf("the process gave itself up: %v", err)
	case <-time.After(2 * o.Term):
	}
	other.does(t, `commit`)
	asking.Wait()
	if _, err := s.Border().Record(t.Context(), message(room, "zoe", 1)); err != nil {
		t.Error(err)
	}
}

// F42: the right to write lasts from when it was given. Who waits for its turn for
// longer than that before it starts is not given up for it.
func TestStartThatWaitsForItsTurnLastsAsLongAsAnyOther(t *testing.T) {
	database := server.Database(t)
	room := openRoom(t, open(t, options(t, database)))
	lost := make(chan error, 1)
	o := options(t, database)
	o.Term, o.Lost = time.Second, func(err error) { lost <- err }
	other := visits(t, database)
	other.does(t, `begin; select pg_advisory_xact_lock(cast(cast(cast('turn' as regclass) as oid) as bigint))`)
	opened := make(chan *sqlstore.Store)
	go func() { opened <- open(t, o) }()
	other.awaits(t, 1)
	<-time.After(o.Term)
	other.does(t, `commit`)
	s := <-opened
	select {
	case err := <-lost:
		t.Errorf("the process gave itself up: %v", err)
	case <-time.After(o.Term):
	}
	if _, err := s.Border().Record(t.Context(), message(room, "zoe", 1)); err != nil {
		t.Error(err)
	}
}
