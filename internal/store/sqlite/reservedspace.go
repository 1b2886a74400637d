package sqlite

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

const (
	ballastName = "trestle.ballast"
	// ballastShare is which part of what the disk has free a ballast may take at most.
	ballastShare = 8
)

// layBallast sets bytes aside next to the database. Without much room for them it
// does without, also where only taking them tells so: a quota is none of the disk's.
func (o Options) layBallast() error {
	if o.Ballast == 0 {
		return nil
	}
	file := filepath.Join(o.Dir, ballastName)
	if have, err := os.Stat(file); err == nil && have.Size() == o.Ballast {
		return nil
	}
	free, err := freeBytes(o.Dir)
	if err != nil || free/ballastShare < uint64(o.Ballast) {
		return err
	}
	if err := reserve(file, o.Ballast, allocate); err != nil {
		o.Logger.Warn("no ballast set aside", "error", errors.Join(err, unlessGone(os.Remove(file))))
	}
	return nil
}

// dropBallast frees what layBallast set aside and reports whether there was any.
func dropBallast(dir string) bool { return os.Remove(filepath.Join(dir, ballastName)) == nil }

// reserve makes a file that has size bytes of the disk, which take gives it.
func reserve(name string, size int64, take func(*os.File, int64) error) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return take(f, size)
}

// fill takes size bytes by writing them.
func fill(f *os.File, size int64) error {
	_, err := io.CopyN(f, zeroReader{}, size)
	return err
}

// zeroReader reads as zeros without an end.
type zeroReader struct{}

// Read implements [io.Reader].
func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
