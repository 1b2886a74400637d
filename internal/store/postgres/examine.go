package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/store/record"
)

// examineFor bounds an examination of a server that does not answer.
const examineFor = 10 * time.Second

// Examine looks at a database from outside, beside the processes that write it,
// changes nothing, and adds what it finds to r.
func Examine(ctx context.Context, url string, r *doctor.Record) {
	ctx, cancel := context.WithTimeout(ctx, examineFor)
	defer cancel()
	e := &engine{opts: Options{URL: url}.withDefaults()}
	defer func() { _ = e.Close() }()
	if err := e.look(ctx, r); err != nil {
		r.Refused = err.Error()
	}
}

func (e *engine) look(ctx context.Context, r *doctor.Record) error {
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
	if r.Schema, r.Untaken, err = schemaOf(ctx, e.pool); err != nil {
		return err
	}
	if r.Schema == 0 {
		r.Untaken = nil
		return nil // nothing is here yet
	}
	r.Exists, r.Program = true, programOf(ctx, e.pool)
	r.Began, err = record.Began(ctx, e)
	return errors.Join(err, e.unfinished(ctx))
}
