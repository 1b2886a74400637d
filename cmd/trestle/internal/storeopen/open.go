// Package storeopen opens the database that a configuration names, and says what
// people can do where that fails.
package storeopen

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

	"github.com/google/uuid"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/readmodel"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// An OpenOptions says how a record is opened, whichever engine keeps it.
type OpenOptions struct {
	Logger     *slog.Logger
	IdleSpan   time.Duration
	Exclusive  bool                                     // no other process may write the record meanwhile
	RunsAgents bool                                     // agents live while it is open; otherwise it is only looked after
	RunStage   func(name string, do func() error) error // nil: the parts of it are just run
	// OnLost is called when the process may write no more, see [postgres.Options].
	// Default: no call; each write is refused then all the same.
	OnLost func(error)
	// OnRewound is called when the database has lost what it had confirmed, see
	// [postgres.Options]. Default: the log alone tells.
	OnRewound func(known, had int64)
	// OnMigration is told how an older record comes up to date. Default: no call.
	OnMigration func(engine.MigrationProgress)
}

// turnFile is the file of the data folder that remembers how far a record in a
// database had come.
const turnFile = "database.turn"

// ReservedSpace is the size of the file that a process keeps beside the database, to be freed
// on a full disk.
const ReservedSpace = 64 << 20

// OpenStore opens the record that a configuration names. A file has one process;
// those that share a database have each account and each mind by turns.
func OpenStore(ctx context.Context, c *config.Config, o OpenOptions) (*sqlstore.Store, error) {
	if c.Database == "" {
		so := sqlite.Options{
			Dir: c.Data, NewID: NewID, Logger: o.Logger, Idle: o.IdleSpan, Stage: o.RunStage, Program: buildinfo.Current().Version,
			Lives: o.RunsAgents, Migrating: o.OnMigration,
		}
		if o.RunsAgents {
			so.Ballast = ReservedSpace
		}
		return sqlite.Open(ctx, so)
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil { // files and sockets stay there
		return nil, err
	}
	return postgres.Open(ctx, postgres.Options{
		URL: string(c.Database), NewID: NewID, Logger: o.Logger, Idle: o.IdleSpan, Stage: o.RunStage, Program: buildinfo.Current().Version,
		Alone: o.Exclusive, Lives: o.RunsAgents, Lost: o.OnLost, Witness: filepath.Join(c.Data, turnFile), Rewound: o.OnRewound,
		Migrating: o.OnMigration,
	})
}

// OpenReadOnly opens the record that a configuration names for reading, beside
// the process that writes it.
func OpenReadOnly(ctx context.Context, c *config.Config) (readmodel.ReadModel, error) {
	if c.Database == "" {
		return sqlite.Look(ctx, c.Data)
	}
	return postgres.Look(ctx, string(c.Database))
}

// IsMissing reports whether there is no record yet. A database is asked when it is
// opened.
func IsMissing(c *config.Config) bool {
	if c.Database != "" {
		return false
	}
	_, err := os.Stat(filepath.Join(c.Data, sqlite.FileName))
	return errors.Is(err, fs.ErrNotExist)
}

// MissingError says that no database was made yet.
func MissingError(c *config.Config) *apperr.Error {
	return &apperr.Error{What: "there is no record here yet", Where: c.Data, Remedy: "start with trestle run, or name another folder with --data", Code: apperr.Failed}
}

// CheckAccess is the failure of a user who may not read the data folder: there is no
// saying what is in it, nor whether a process serves it. Nil for everybody else.
func CheckAccess(c *config.Config) error {
	for _, path := range []string{c.Data, filepath.Join(c.Data, sqlite.FileName)} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrPermission) {
			return permissionError(path, apperr.Failed)
		}
		if err == nil {
			_ = f.Close() // it only had to be opened
		}
	}
	return nil
}

func permissionError(path string, code apperr.ExitCode) *apperr.Error {
	return &apperr.Error{What: "this user may not use the data folder", Where: path, Remedy: "run it as the user who owns the folder, or name another one with --data (TRS-R10)", Code: code}
}

// FixReadOnly is what to do about a record that this user may read alone.
const FixReadOnly = "run it as the user who owns the folder, mount its disk for writing, or copy the folder and name the copy with --data (TRS-R10)"

// ReadError is the failure of a record that cannot be looked at.
func ReadError(err error, c *config.Config) *apperr.Error {
	remedy := "see that it can be read: trestle doctor data"
	if errors.Is(err, sqlite.ErrReadOnly) {
		remedy = FixReadOnly
	}
	return &apperr.Error{What: err.Error(), Where: LocationName(c), Remedy: remedy, Code: apperr.Failed}
}

// LocationName says where people look for the record of a configuration.
func LocationName(c *config.Config) string {
	if c.Database == "" {
		return c.Data
	}
	return "database"
}

// FixNewer is what to do about a record that a newer version wrote.
const FixNewer = "use the version named above, or restore a backup made before it (TRS-R04)"

// OpenError says what people can do about a record that does not open.
func OpenError(err error, place string) error {
	f := &apperr.Error{What: err.Error(), Where: place, Remedy: "see that the folder can be written: trestle doctor data", Code: apperr.BadConfig}
	_, locked := errors.AsType[*sqlite.LockedError](err)
	other, inUse := errors.AsType[*postgres.InUseError](err)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return permissionError(place, apperr.TryAgain)
	case errors.Is(err, sqlite.ErrReadOnly), errors.Is(err, syscall.EROFS), errors.Is(err, engine.ErrUnwritable):
		f.Remedy, f.Code = FixReadOnly, apperr.TryAgain
	case locked:
		f.Remedy, f.Code = "stop the other process, or use --data for another folder", apperr.TryAgain
	case inUse:
		f.Remedy, f.Code = fmt.Sprintf("stop the other process; if it has died, its right to write ends in %d s", int(other.Expires.Seconds())+1), apperr.TryAgain
	case errors.Is(err, engine.ErrNewer):
		f.Remedy = FixNewer
	case errors.Is(err, engine.ErrFull) && place == "database":
		f.Remedy, f.Code = "make room on the disk of the server; the record is whole, and a migration goes on where it was (TRS-R01)", apperr.TryAgain
	case errors.Is(err, engine.ErrFull), errors.Is(err, syscall.ENOSPC):
		f.Remedy, f.Code = "make room on this disk, or move the data folder; the record is whole, and a migration goes on where it was (TRS-R01)", apperr.TryAgain
	case errors.Is(err, sqlite.ErrDamaged):
		f.Remedy = "keep the folder as it is and restore a backup: see docs/operate.md (TRS-R07)"
	case errors.Is(err, sqlite.ErrNetworkDisk):
		f.Remedy = "move the data folder to a disk of this machine (TRS-R06)"
	case errors.Is(err, postgres.ErrUnfinished):
		f.Remedy = "call trestle move again: it goes on where it stood"
	case errors.Is(err, postgres.ErrSetting):
		f.Remedy = "set up the server as docs/operate.md says (TRS-R11)"
	case errors.Is(err, postgres.ErrReadOnly):
		f.Remedy, f.Code = "start again when it takes writes, or name the server that does (TRS-R11)", apperr.TryAgain
	case place == "database":
		f.Remedy, f.Code = "see that the server runs and that the address is right: trestle doctor data (TRS-R11)", apperr.TryAgain
	}
	return f
}

// NewID returns an id that is unique and sorts behind all earlier ones.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }
