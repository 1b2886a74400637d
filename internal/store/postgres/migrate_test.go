package postgres_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/storetest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/migrations"
)

// K25, BLU-05: what the oldest version wrote opens, and runs.
func TestYesterdaysDatabaseIsWalkedUp(t *testing.T) {
	database := server.Database(t)
	db := walked(t, database, "0001")
	if _, err := postgres.Look(t.Context(), server.URL(database)); !errors.Is(err, engine.ErrOlder) {
		t.Errorf("a look gave %v, want ErrOlder", err)
	}
	server.Do(t, database, `insert into meta (name, value) values ('kept', 'yes')`)
	s := open(t, options(t, database))
	if _, err := s.Border().Record(t.Context(), message(openRoom(t, s), "zoe", 1)); err != nil {
		t.Error(err)
	}
	var kept string
	if err := db.QueryRowContext(t.Context(), `select value from meta where name = 'kept'`).Scan(&kept); err != nil || kept != "yes" {
		t.Errorf("the row of yesterday is %q (%v)", kept, err)
	}
	sound(t, s)
}

// walked returns a database with the schema up to that number.
func walked(t *testing.T, database, last string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", server.URL(database))
	testutil.OK(t, err)
	t.Cleanup(func() { _ = db.Close() })
	steps := fstest.MapFS{}
	names, err := fs.Glob(migrations.Postgres, "postgres/*.sql")
	testutil.OK(t, err)
	for _, name := range names {
		text, err := fs.ReadFile(migrations.Postgres, name)
		testutil.OK(t, err)
		if base := path.Base(name); base[:len(last)] <= last {
			steps[base] = &fstest.MapFile{Data: text}
		}
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, steps, goose.WithDisableGlobalRegistry(true))
	testutil.OK(t, err)
	if _, err := p.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// ADR 19: a record of before the table knows afterwards which message shows which file.
func TestFilesOfYesterdayAreShownByTheirMessages(t *testing.T) {
	database := server.Database(t)
	db := walked(t, database, "0010")
	storetest.SeedFiles(t, db)
	open(t, options(t, database))
	storetest.WantFiles(t, db)
}

// PRD-7.2-1: a record of before knows afterwards which versions of the acts its runs were
// offered, and says that it knows their names alone.
func TestActsOfYesterdayAreKnownByTheirNames(t *testing.T) {
	database := server.Database(t)
	db := walked(t, database, "0041")
	storetest.SeedRuns(t, db)
	storetest.WantVersions(t, open(t, options(t, database)).Console())
}

// Issue 7: a schema is not changed under a process that does not know the new one.
func TestSchemaIsNotChangedUnderOthers(t *testing.T) {
	database := server.Database(t)
	walked(t, database, "0013")
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
	walked(t, database, "0040")
	server.Do(t, database, `create function no_room() returns event_trigger language plpgsql as
$$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`)
	server.Do(t, database, `create event trigger full_disk on ddl_command_start when tag in ('CREATE TABLE') execute function no_room()`)
	if _, err := postgres.Open(t.Context(), options(t, database)); !errors.Is(err, engine.ErrFull) {
		t.Errorf("got %v, want ErrFull", err)
	}
	server.Do(t, database, `drop event trigger full_disk`)
	sound(t, open(t, options(t, database)))
	server.Do(t, database, `select payers from timers; select hash from manifests`)
}

// A step whose number is lower than what the record has, because it was made beside
// it, is taken at the next start, also when the newest is there; until then the record
// is not read.
func TestStepThatWasMadeBesideIsTaken(t *testing.T) {
	database := server.Database(t)
	walked(t, database, "9999")
	server.Do(t, database, `drop table digests; delete from goose_db_version where version_id = 27`)
	if _, err := postgres.Look(t.Context(), server.URL(database)); !errors.Is(err, engine.ErrOlder) || !strings.Contains(err.Error(), "27") {
		t.Errorf("a look gave %v, want ErrOlder with the step", err)
	}
	var found doctor.DataDir
	postgres.Examine(t.Context(), server.URL(database), &found)
	if found.Refused != "" || len(found.Untaken) != 1 || found.Untaken[0] != 27 {
		t.Errorf("the examination found %+v", found)
	}
	var told []engine.Migration
	o := options(t, database)
	o.Migrating = func(m engine.Migration) { told = append(told, m) }
	open(t, o)
	if len(told) != 2 || told[1].Done != 1 || told[1].Total != 1 {
		t.Errorf("told %+v, want one step", told)
	}
	server.Do(t, database, `select * from digests`)
}
