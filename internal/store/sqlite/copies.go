package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

const (
	migratingFrom = `select coalesce((select value from meta where name = 'migrating_from'), '')`
	markMigrating = `insert into meta (name, value) values ('migrating_from', $1)
on conflict (name) do update set value = excluded.value`
	unmarkMigrating = `delete from meta where name = 'migrating_from'`
)

func asideName(file string, version int64) string { return fmt.Sprintf("%s.schema%d", file, version) }

// dropHalves removes what a process that was killed left of its copies.
func dropHalves(file string) error {
	halves, err := filepath.Glob(file + ".schema*.partial")
	for _, half := range halves {
		err = errors.Join(err, os.Remove(half))
	}
	return err
}

// origin returns the schema that the record had before a migration that was not
// finished, if it is still there as it was then: a copy of what has come out of it
// since would lead nowhere. Otherwise it is the schema that the record has.
func origin(ctx context.Context, db *sql.DB, file string, have int64) (int64, error) {
	var mark string
	if err := db.QueryRowContext(ctx, migratingFrom).Scan(&mark); err != nil {
		return 0, kind(err)
	}
	from, err := strconv.ParseInt(mark, 10, 64)
	if err != nil || from >= have {
		return have, nil // no step was taken
	}
	_, err = os.Stat(asideName(file, from))
	if errors.Is(err, fs.ErrNotExist) {
		return have, nil
	}
	return from, err
}

// setAside copies the database before a migration, unless it is there as it was
// before an earlier one began that was not finished. The copy has its name once it is
// whole.
func setAside(ctx context.Context, db *sql.DB, m engine.MigrationProgress, origin int64, o Options) error {
	need, what := uint64(m.Bytes)*5/2, "the copy before a migration, and the migration, need"
	if origin != m.From {
		need, what = uint64(m.Bytes)*3/2, "the migration needs"
	}
	free, err := o.Free(o.Dir)
	if err != nil {
		return err
	}
	if free < need {
		return fmt.Errorf("%w: %s %d MB, and %d MB are free", engine.ErrFull, what, need>>20+1, free>>20)
	}
	if origin != m.From {
		return nil
	}
	half := m.Copy + ".partial"
	if err := vacuumInto(ctx, db, half); err != nil {
		return errors.Join(err, unlessGone(os.Remove(half)))
	}
	if err := os.Rename(half, m.Copy); err != nil {
		return err
	}
	if err := SyncDir(filepath.Dir(m.Copy)); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, markMigrating, strconv.FormatInt(origin, 10)); err != nil {
		return kind(err)
	}
	return nil
}

func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// SyncDir makes sure that the names in a folder are on disk: a file that was given its
// name there has it after a power cut, too.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// vacuumInto writes a compact copy of the database for its owner alone and makes sure that
// it is on disk. Where a file with content is already, it fails; an empty one keeps its mode.
func vacuumInto(ctx context.Context, db *sql.DB, file string) error {
	if err := touchPrivate(file); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if _, err := db.ExecContext(ctx, "vacuum into $1", file); err != nil {
		return kind(err)
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
