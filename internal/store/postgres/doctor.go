package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/migrations"
)

// examineFor bounds an examination of a server that does not answer.
const examineFor = 10 * time.Second

// Examine looks at a database from outside, beside the processes that write it,
// changes nothing, and adds what it finds to r.
func Examine(ctx context.Context, url string, r *doctor.DataDir) {
	ctx, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	e := &postgresEngine{opts: Options{URL: url}.withDefaults()}
	defer func() { _ = e.Close() }()
	if err := e.look(ctx, r); err != nil {
		r.Refused = plainError(err).Error()
	}
}

func (e *postgresEngine) look(ctx context.Context, r *doctor.DataDir) error {
	if err := e.connect(ctx); err != nil {
		return err
	}
	r.Knows = Schema()
	var version string
	if err := e.pool.QueryRow(ctx, `select split_part(current_setting('server_version'), ' ', 1)`).Scan(&version); err != nil {
		return err
	}
	r.Engine = "Postgres " + version + ", synchronous_commit=on"
	var err error
	if r.Schema, err = schemaOf(ctx, e.pool); err != nil {
		return err
	}
	pending := migrations.CountPending(migrations.Postgres, r.Schema)
	if err := e.mayBuild(ctx, pending); err != nil {
		return err
	}
	if r.Schema == 0 {
		return nil // the database is empty
	}
	r.Pending = pending
	r.Exists, r.Program = true, programOf(ctx, e.pool)
	r.Began, err = engine.CreatedAt(ctx, e)
	return errors.Join(err, e.unfinished(ctx))
}

// rightsToBuild says whose rights we have, and whether they suffice to make a table, and to
// change those that there are.
const rightsToBuild = `select current_user, coalesce(has_schema_privilege(current_schema(), 'create'), false),
  not exists (select 1 from pg_class c where c.oid = to_regclass('events') and not pg_has_role(c.relowner, 'usage'))`

// mayBuild returns an error if the user has no right to run the pending migrations.
func (e *postgresEngine) mayBuild(ctx context.Context, pending int) error {
	if pending == 0 {
		return nil
	}
	var user string
	var makes, changes bool
	err := e.pool.QueryRow(ctx, rightsToBuild).Scan(&user, &makes, &changes)
	switch {
	case err != nil:
		return fmt.Errorf("read rights: %w", err)
	case !makes:
		return fmt.Errorf("the user %s may not create tables in it", user)
	case !changes:
		return fmt.Errorf("the user %s may not change the tables in it: they are another's", user)
	}
	return nil
}
