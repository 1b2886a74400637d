package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// An openOptions says how a record is opened, whichever engine keeps it.
type openOptions struct {
	log   *slog.Logger
	idle  time.Duration
	alone bool                                     // no other process may write the record meanwhile
	lives bool                                     // agents live while it is open; otherwise it is only looked after
	stage func(name string, do func() error) error // nil: the parts of it are just run
	// lost is called when the process may write no more, see [postgres.Options].
	// Default: nobody is told; each write is refused then all the same.
	lost func(error)
	// rewound is called when the database has lost what it had confirmed, see
	// [postgres.Options]. Default: the log alone tells.
	rewound func(known, had int64)
	// migrating is told how an older record comes up to date. Default: nobody is.
	migrating func(engine.Migration)
}

// witnessName is the file of the data folder that remembers how far a record in a
// database had come.
const witnessName = "database.turn"

// ballast is what a process sets aside beside its record for a full disk (DELIVERY 2.7).
const ballast = 64 << 20

// openRecord opens the record that a configuration names. A file has one process;
// those that share a database have each account and each mind by turns.
func openRecord(ctx context.Context, c *config.Config, o openOptions) (*sqlstore.Store, error) {
	if c.Database == "" {
		so := sqlite.Options{
			Dir: c.Data, NewID: newID, Logger: o.log, Idle: o.idle, Stage: o.stage, Program: ownVersion().Version,
			Lives: o.lives, Migrating: o.migrating,
		}
		if o.lives {
			so.Ballast = ballast
		}
		return sqlite.Open(ctx, so)
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil { // files and sockets stay there
		return nil, err
	}
	return postgres.Open(ctx, postgres.Options{
		URL: string(c.Database), NewID: newID, Logger: o.log, Idle: o.idle, Stage: o.stage, Program: ownVersion().Version,
		Alone: o.alone, Lives: o.lives, Lost: o.lost, Witness: filepath.Join(c.Data, witnessName), Rewound: o.rewound,
		Migrating: o.migrating,
	})
}

// lookAtRecord opens the record that a configuration names for reading, beside
// whoever writes it.
func lookAtRecord(ctx context.Context, c *config.Config) (sqlstore.ReadModel, error) {
	if c.Database == "" {
		return sqlite.Look(ctx, c.Data)
	}
	return postgres.Look(ctx, string(c.Database))
}

// noRecord reports whether there is no record yet. A database is asked when it is
// opened.
func noRecord(c *config.Config) bool {
	if c.Database != "" {
		return false
	}
	_, err := os.Stat(filepath.Join(c.Data, sqlite.FileName))
	return errors.Is(err, fs.ErrNotExist)
}

func noRecordYet(c *config.Config) *cliError {
	return &cliError{what: "there is no record here yet", where: c.Data, remedy: "start with trestle run, or name another folder with --data", code: exitFailed}
}

// shutOut is the failure of a user who may not read the data folder: there is no
// saying what is in it, nor whether a process serves it. Nil for everybody else.
func shutOut(c *config.Config) error {
	for _, path := range []string{c.Data, filepath.Join(c.Data, sqlite.FileName)} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrPermission) {
			return notOurs(path, exitFailed)
		}
		if err == nil {
			_ = f.Close() // it only had to be opened
		}
	}
	return nil
}

func notOurs(path string, code exitCode) *cliError {
	return &cliError{what: "this user may not use the data folder", where: path, remedy: "run it as the user who owns the folder, or name another one with --data (TRS-R10)", code: code}
}

// makeWritable is what to do about a record that this user may read alone.
const makeWritable = "run it as the user who owns the folder, mount its disk for writing, or copy the folder and name the copy with --data (TRS-R10)"

// unseen is the failure of a record that cannot be looked at.
func unseen(err error, c *config.Config) *cliError {
	remedy := "see that it can be read: trestle doctor data"
	if errors.Is(err, sqlite.ErrReadOnly) {
		remedy = makeWritable
	}
	return &cliError{what: err.Error(), where: placeOf(c), remedy: remedy, code: exitFailed}
}

// placeOf says where people look for the record of a configuration.
func placeOf(c *config.Config) string {
	if c.Database == "" {
		return c.Data
	}
	return "database"
}

// useNewer is what to do about a record that a newer version wrote.
const useNewer = "use the version named above, or restore a backup made before it (TRS-R04)"

// storeFailure says what people can do about a record that does not open.
func storeFailure(err error, place string) error {
	f := &cliError{what: err.Error(), where: place, remedy: "see that the folder can be written: trestle doctor data", code: exitConfig}
	_, locked := errors.AsType[*sqlite.LockedError](err)
	other, inUse := errors.AsType[*postgres.InUseError](err)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return notOurs(place, exitConfig)
	case errors.Is(err, sqlite.ErrReadOnly):
		f.remedy = makeWritable
	case locked:
		f.remedy, f.code = "stop the other process, or use --data for another folder", exitTryAgain
	case inUse:
		f.remedy, f.code = fmt.Sprintf("stop the other process; if it has died, its right to write ends in %d s", int(other.Expires.Seconds())+1), exitTryAgain
	case errors.Is(err, engine.ErrNewer):
		f.remedy = useNewer
	case errors.Is(err, engine.ErrLacks):
		f.remedy = "nothing was changed; go on with the program that made it, or restore a backup that is whole: trestle backup --check FILE. A copy beside it, trestle.db.schemaN, is one of before a migration (TRS-R17)"
	case errors.Is(err, engine.ErrFull) && place == "database":
		f.remedy, f.code = "make room on the disk of the server; the record is whole, and a migration goes on where it was (TRS-R01)", exitTryAgain
	case errors.Is(err, engine.ErrFull), errors.Is(err, syscall.ENOSPC):
		f.remedy, f.code = "make room on this disk, or move the data folder; the record is whole, and a migration goes on where it was (TRS-R01)", exitTryAgain
	case errors.Is(err, sqlite.ErrDamaged):
		f.remedy = "keep the folder as it is and restore a backup: see docs/operate.md (TRS-R07)"
	case errors.Is(err, sqlite.ErrNetworkDisk):
		f.remedy = "move the data folder to a disk of this machine (TRS-R06)"
	case errors.Is(err, postgres.ErrUnfinished):
		f.remedy = "call trestle move again: it goes on where it stood"
	case errors.Is(err, postgres.ErrSetting):
		f.remedy = "set up the server as docs/operate.md says (TRS-R11)"
	case errors.Is(err, postgres.ErrReadOnly):
		f.remedy, f.code = "start again when it takes writes, or name the server that does (TRS-R11)", exitTryAgain
	case place == "database":
		f.remedy, f.code = "see that the server runs and that the address is right: trestle doctor data (TRS-R11)", exitTryAgain
	}
	return f
}
