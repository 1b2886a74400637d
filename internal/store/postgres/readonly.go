package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/migrations"
)

// Look opens a record for reading, beside the processes that write it. It fails
// with [engine.ErrNewer] when a newer program wrote it, and with
// [engine.ErrOlder] when this program would first have to migrate it. The caller
// closes it.
func Look(ctx context.Context, url string) (readmodel.ReadModel, error) {
	e := &postgresEngine{opts: Options{URL: url}.withDefaults()}
	err := e.connect(ctx)
	if err == nil {
		err = e.checkSchema(ctx)
	}
	if err != nil {
		return readmodel.ReadModel{}, errors.Join(fmt.Errorf("look into record in %s: %w", place(url), plainError(err)), e.Close())
	}
	return readmodel.OpenReadOnly(e), nil
}

// checkSchema compares the schema of the record with the one this program knows.
func (e *postgresEngine) checkSchema(ctx context.Context) error {
	want := Schema()
	have, err := schemaOf(ctx, e.pool)
	switch {
	case err != nil:
		return err
	case have == 0:
		return fmt.Errorf("%w: the database is empty", engine.ErrOlder)
	case have > want:
		return engine.NewerError(have, want, programOf(ctx, e.pool))
	case have < want:
		return fmt.Errorf("%w: its schema is %d, this program reads %d", engine.ErrOlder, have, want)
	}
	return nil
}

// Schema returns the version of the schema that this program writes.
func Schema() int64 { return migrations.Latest(migrations.Postgres) }
