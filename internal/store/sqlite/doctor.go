package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/doctor"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/migrations"
)

// A DataDirCheck looks at a data folder from outside, beside a process that has
// it open or without one, and changes nothing.
type DataDirCheck struct {
	Dir string
	// CheckFor bounds the engine's own check. Default: 10 seconds.
	CheckFor time.Duration
	// Disk tells how many bytes of a folder's disk are free, and how many there
	// are. Default: the system is asked.
	Disk func(dir string) (free, total uint64, err error)
	// Networked reports whether a folder is on a disk that other machines share.
	// Default: the system is asked.
	Networked func(dir string) (bool, error)
}

// Run returns what there is to say of the folder. What cannot be looked at is
// left at its zero value, except that a file which cannot be read as a record
// counts as damaged. One that this user may not write ends it with [ErrReadOnly].
func (x DataDirCheck) Run(ctx context.Context) (doctor.DataDir, error) {
	x.CheckFor = cmp.Or(x.CheckFor, 10*time.Second)
	if x.Disk == nil {
		x.Disk = Disk
	}
	if x.Networked == nil {
		x.Networked = networkDisk
	}
	r := doctor.DataDir{Folder: x.Dir}
	info, err := os.Stat(x.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the first start makes it
		return r, x.lookAtDisk(existingAbove(x.Dir), &r)
	case err != nil:
		return r, fmt.Errorf("examine %s: %w", x.Dir, err)
	}
	r.Mode = info.Mode().Perm()
	if err := x.lookAtDisk(x.Dir, &r); err != nil {
		return r, err
	}
	if r.Held, r.Holder, err = heldDir(x.Dir); err != nil {
		return r, fmt.Errorf("examine the lock of %s: %w", x.Dir, err)
	}
	file := filepath.Join(x.Dir, FileName)
	kept, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		if err := refuseOrphan(file); err != nil {
			r.Exists, r.Damage = true, err.Error()
		}
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("examine %s: %w", file, err)
	}
	r.Exists, r.Bytes = true, uint64(kept.Size())
	switch err := readable(x.readFile(ctx, file, &r)); {
	case errors.Is(err, ErrReadOnly):
		return r, err
	case err != nil:
		r.Damage = err.Error()
	}
	return r, nil
}

// lookAtDisk reads what there is to say of the disk that a folder is on.
func (x DataDirCheck) lookAtDisk(dir string, r *doctor.DataDir) (err error) {
	if r.Network, err = x.Networked(dir); err != nil {
		return fmt.Errorf("examine the disk of %s: %w", dir, err)
	}
	if r.Free, r.Total, err = x.Disk(dir); err != nil {
		return fmt.Errorf("examine the disk of %s: %w", dir, err)
	}
	return nil
}

// existingAbove returns the nearest folder above a path that is there.
func existingAbove(path string) string {
	for above := filepath.Dir(path); ; above = filepath.Dir(above) {
		if _, err := os.Stat(above); err == nil || above == filepath.Dir(above) {
			return above
		}
	}
}

// readFile looks into the database.
func (x DataDirCheck) readFile(ctx context.Context, file string, r *doctor.DataDir) (err error) {
	db, err := sql.Open("sqlite3", source(file, "rw", looking))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	verdict, err := quickCheck(ctx, db, x.CheckFor)
	switch {
	case err != nil:
		return err
	case verdict == "": // the file is larger than the time allows
		verdict = "not finished"
	case verdict != "ok":
		return errors.New(verdict)
	}
	var journal string
	if err := db.QueryRowContext(ctx, "pragma journal_mode").Scan(&journal); err != nil {
		return err
	}
	r.Engine = "SQLite, " + strings.ToUpper(journal) + ", synchronous=FULL, quick_check " + verdict
	r.Knows = Schema()
	if err := db.QueryRowContext(ctx, schemaVersion).Scan(&r.Schema); err != nil {
		return err
	}
	r.Program = programOf(ctx, db)
	r.Pending = migrations.CountPending(migrations.SQLite, r.Schema)
	c, err := connect(source(file, "rw", looking))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	r.Began, err = engine.CreatedAt(ctx, c)
	return err
}
