package postgres_test

import (
	"database/sql"
	"errors"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// enlistOld adds a process of an older version.
// Its connection is gone; its right to write lasts for a while yet.
const enlistOld = `insert into processes (id, host, pid, program, backend, began, ttl, expires)
values ('old', 'far', 7, '1.2', 1, '9', 15000, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) + 15000)`

func connected(t *testing.T, database string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", server.URL(database))
	testutil.OK(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// F33, F40, F50: a process that only lost its connection lives and goes on writing, so
// no other process changes the schema meanwhile.
func TestSchemaIsNotChangedUnderWhoLostItsConnection(t *testing.T) {
	database, _ := created(t)
	server.Do(t, database, enlistOld)
	_, err := postgres.Open(t.Context(), options(t, database))
	if other, ok := errors.AsType[*postgres.InUseError](err); !ok || other.PID != 7 {
		t.Fatalf("opened beside an older process that lives: %v", err)
	}
}

// K27, F42, F50: a process that seems dead is declared dead before the schema changes,
// so that its writes are refused when it wakes; and no process starts to write
// meanwhile.
func TestNobodyWritesWhileTheSchemaChanges(t *testing.T) {
	database, room := created(t)
	db := connected(t, database)
	server.Do(t, database, enlistOld)
	server.Do(t, database, `update processes set expires = 1`)
	o := options(t, database)
	told := 0
	o.Migrating = func(m engine.MigrationProgress) {
		told++
		var listed int
		var free bool
		if err := db.QueryRowContext(t.Context(), `select count(*) from processes where id = 'old'`).Scan(&listed); err != nil || listed > 0 {
			t.Errorf("step %d of %d: the dead process may still write (%v)", m.Done, m.Total, err)
		}
		err := db.QueryRowContext(t.Context(), `select pg_try_advisory_xact_lock(cast(cast(cast('turn' as regclass) as oid) as bigint))`).Scan(&free)
		if err != nil || free {
			t.Errorf("step %d of %d: another process may have a turn (%v)", m.Done, m.Total, err)
		}
	}
	s := open(t, o)
	if told < 2 {
		t.Fatalf("told of %d steps, want every one", told)
	}
	if _, err := s.Border().Record(t.Context(), message(room, "zoe", 1)); err != nil {
		t.Error(err)
	}
}

// F33, F50: a process that looked at the schema right before a newer version walked it
// up is not one of those that write it.
func TestSchemaThatGrewMeanwhileIsRefused(t *testing.T) {
	database := server.Database(t)
	testutil.OK(t, open(t, options(t, database)).Close(t.Context()))
	db := connected(t, database)
	o := options(t, database)
	o.Stage = func(name string, do func() error) error {
		if name == "recovery" {
			server.Do(t, database, `insert into goose_db_version (version_id, is_applied) values (9999, true)`)
		}
		return do()
	}
	if _, err := postgres.Open(t.Context(), o); !errors.Is(err, engine.ErrNewer) {
		t.Errorf("got %v, want ErrNewer", err)
	}
	var listed int
	if err := db.QueryRowContext(t.Context(), `select count(*) from processes`).Scan(&listed); err != nil || listed > 0 {
		t.Errorf("%d processes may write (%v), want none", listed, err)
	}
}
