package postgres_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/migrations"
	"github.com/trestle-bridge/trestle/spaces"
)

const colours = "-- +goose Up\nalter table spaces add column colour text;\n"

// later adds a migration to those of the program until the test ends.
func later(t *testing.T, text string) {
	t.Helper()
	testutil.Replace(t, &migrations.Postgres, testutil.WithFiles(t, migrations.Postgres, map[string]string{"9000_later.sql": text}))
}

// created returns a database that this program made, with one room, and then a later
// version of the program with one more migration.
func created(t *testing.T) (database string, room spaces.SpaceID) {
	t.Helper()
	database = server.Database(t)
	s := open(t, options(t, database))
	room = openRoom(t, s)
	testutil.OK(t, s.Close(t.Context()))
	later(t, colours)
	return database, room
}

// K25, BLU-05: a database that an earlier version wrote opens after a later migration, and
// runs; until then it is not read.
func TestDatabaseOfAnEarlierVersionIsMigrated(t *testing.T) {
	database, room := created(t)
	if _, err := postgres.Look(t.Context(), server.URL(database)); !errors.Is(err, engine.ErrOlder) {
		t.Errorf("a look gave %v, want ErrOlder", err)
	}
	var found doctor.DataDir
	postgres.Examine(t.Context(), server.URL(database), &found)
	if found.Refused != "" || found.Pending != 1 || found.Schema != 1 {
		t.Errorf("the examination found %+v", found)
	}
	var told []engine.MigrationProgress
	o := options(t, database)
	o.Migrating = func(m engine.MigrationProgress) { told = append(told, m) }
	s := open(t, o)
	if len(told) != 2 || told[1].Done != 1 || told[1].Total != 1 {
		t.Errorf("told %+v, want one migration", told)
	}
	if _, err := s.Border().Record(t.Context(), message(room, "zoe", 1)); err != nil {
		t.Error(err)
	}
	server.Do(t, database, `select colour from spaces`)
	sound(t, s)
}

// Issue 7: a schema is not changed under a process that does not know the new one.
func TestSchemaIsNotChangedUnderOthers(t *testing.T) {
	database, _ := created(t)
	server.Do(t, database, `insert into processes (id, host, pid, program, backend, began, ttl, expires)
values ('old', 'far', 7, '1.2', 0, '', 15000, cast(extract(epoch from clock_timestamp()) * 1000 as bigint) + 3600000)`)
	_, err := postgres.Open(t.Context(), options(t, database))
	if other, ok := errors.AsType[*postgres.InUseError](err); !ok || other.PID != 7 || other.Program != "1.2" {
		t.Fatalf("opened beside an older process: %v", err)
	}
	server.Do(t, database, `update processes set expires = 1`)
	open(t, options(t, database))
}

// Processes that start at once on an empty database make one schema.
func TestProcessesThatStartAtOnceMakeOneSchema(t *testing.T) {
	database := server.Database(t)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), options(t, database))
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// F33: the refusal names the version that can read the record.
func TestNewerDatabaseIsRefusedAndLeftAlone(t *testing.T) {
	database := server.Database(t)
	o := options(t, database)
	o.Program = "0.9.1"
	testutil.OK(t, open(t, o).Close(t.Context()))
	server.Do(t, database, `insert into goose_db_version (version_id, is_applied) values (9999, true)`)
	_, opened := postgres.Open(t.Context(), o)
	_, looked := postgres.Look(t.Context(), o.URL)
	for name, err := range map[string]error{"open": opened, "look": looked} {
		if !errors.Is(err, engine.ErrNewer) || !strings.Contains(err.Error(), "9999") || !strings.Contains(err.Error(), "trestle 0.9.1") {
			t.Errorf("%s: got %v, want ErrNewer with the schema and the version that wrote it", name, err)
		}
	}
}

// DELIVERY 2.7: a server that would lose what was confirmed is refused.
func TestServerThatLosesCommitsIsRefused(t *testing.T) {
	database := server.Database(t)
	server.Do(t, "postgres", `alter database `+database+` set synchronous_commit = off`)
	if _, err := postgres.Open(t.Context(), options(t, database)); !errors.Is(err, postgres.ErrSetting) {
		t.Errorf("got %v, want ErrSetting", err)
	}
}

// DELIVERY 2.7, F37: a server that takes no writes now is refused, in other words: it may
// take them again without anybody changing what is configured.
func TestServerThatTakesNoWritesIsRefusedForNow(t *testing.T) {
	database := server.Database(t)
	server.Do(t, "postgres", `alter database `+database+` set default_transaction_read_only = on`)
	_, err := postgres.Open(t.Context(), options(t, database))
	if !errors.Is(err, postgres.ErrReadOnly) || errors.Is(err, postgres.ErrSetting) || !strings.Contains(err.Error(), "default_transaction_read_only is on") {
		t.Errorf("got %v, want ErrReadOnly that names the setting", err)
	}
	server.Do(t, "postgres", `alter database `+database+` reset default_transaction_read_only`)
	open(t, options(t, database))
}

// DELIVERY 2.7 "Disk full": a disk of the server that becomes full within a step is told
// as that, and the next start goes on.
func TestDiskThatBecomesFullWithinAStepIsToldAsThat(t *testing.T) {
	database := server.Database(t)
	testutil.OK(t, open(t, options(t, database)).Close(t.Context()))
	later(t, colours+"create table sizes (x bigint);\n")
	server.Do(t, database, `create function no_room() returns event_trigger language plpgsql as
$$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`)
	server.Do(t, database, `create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE') execute function no_room()`)
	if _, err := postgres.Open(t.Context(), options(t, database)); !errors.Is(err, engine.ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
	server.Do(t, database, `drop event trigger full_disk`)
	sound(t, open(t, options(t, database)))
	server.Do(t, database, `select colour from spaces; select x from sizes`)
}
