package postgres_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/internal/store/storetest"
)

func TestStoreKeepsThePromisesOfEveryPort(t *testing.T) {
	database := server.Database(t)
	storetest.Run(t, func(t *testing.T) storetest.Store {
		t.Helper()
		empty(t, database)
		return suite(t, options(t, database))
	})
}

var minted atomic.Int64

// newID mints ids that rise over all tests: a database is used many times.
func newID() string { return fmt.Sprintf("id-%06d", minted.Add(1)) }

func options(t *testing.T, database string) postgres.Options {
	t.Helper()
	return postgres.Options{
		URL: server.URL(database), NewID: newID, Now: func() time.Time { return time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC) },
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})),
		Lives:  true,
	}
}

// empty deletes every row of a database that has a schema.
func empty(t *testing.T, database string) {
	t.Helper()
	server.Do(t, database, `do $$
declare named text;
begin
	set local session_replication_role = replica;
	for named in select table_name from information_schema.tables
		where table_schema = 'public' and table_name not in ('goose_db_version', 'turn') loop
		execute 'delete from ' || quote_ident(named);
	end loop;
	for named in select relname from pg_class where relkind = 'S' and relnamespace = cast('public' as regnamespace) loop
		perform setval(named, 1, false);
	end loop;
end $$`)
}

func open(t *testing.T, o postgres.Options) *sqlstore.Store {
	t.Helper()
	return storetest.OpenForTest(t, opener(o))
}

func opener(o postgres.Options) func(context.Context) (*sqlstore.Store, error) {
	return func(ctx context.Context) (*sqlstore.Store, error) { return postgres.Open(ctx, o) }
}

// suite opens the record as the suite sees it.
func suite(t *testing.T, o postgres.Options) storetest.Store {
	t.Helper()
	s := storetest.OpenStore(t, func(ctx context.Context, lives bool) (*sqlstore.Store, error) {
		o := o
		o.Lives = lives
		return postgres.Open(ctx, o)
	})
	s.Shared = true
	return s
}
