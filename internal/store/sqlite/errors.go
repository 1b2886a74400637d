package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ncruces/go-sqlite3"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// Errors that callers act on, beside those of package engine.
var (
	// ErrDamaged is returned by [Open] when the file fails SQLite's own check.
	ErrDamaged = errors.New("database is damaged")
	// ErrNetworkDisk is returned by [Open] when the directory is on a network file
	// system, where SQLite's locks do not hold.
	ErrNetworkDisk = errors.New("directory is on a network file system")
	// ErrReadOnly is returned by [Open], [Look] and an [DataDirCheck] when this user
	// may read the file, and not write it or beside it.
	ErrReadOnly = errors.New("this user may read the record, and not write it, which the engine has to")
)

// errGone is the error of writes to a file that was removed or replaced: messages
// acknowledged to a platform would be lost with the process.
var errGone = errors.New("the record's file was removed or replaced under the program: put it back, or start again with the one that is there")

// kind gives an engine error the type its callers look for.
func kind(err error) error {
	if errors.Is(err, sqlite3.FULL) {
		return errors.Join(engine.ErrFull, err)
	}
	for _, code := range []sqlite3.ErrorCode{sqlite3.READONLY, sqlite3.IOERR, sqlite3.CANTOPEN, sqlite3.PERM} {
		if errors.Is(err, code) {
			return errors.Join(engine.ErrUnwritable, err)
		}
	}
	if errors.Is(err, errGone) {
		return errors.Join(engine.ErrUnwritable, err)
	}
	return err
}

// readable tells a file that is only not to be written from one that cannot be read.
func readable(err error) error {
	refused, ok := errors.AsType[*fs.PathError](err)
	if errors.Is(err, sqlite3.READONLY) || ok && errors.Is(refused, fs.ErrPermission) && mayRead(refused.Path) {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return err
}

func mayRead(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	return f.Close() == nil
}
