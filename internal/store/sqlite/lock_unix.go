//go:build unix

package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes an exclusive lock that ends with the file or the process.
func lockFile(f *os.File) error { return flock(f, unix.LOCK_EX) }

// shareFile takes a lock that others may share, until the file is closed.
func shareFile(f *os.File) error { return flock(f, unix.LOCK_SH) }

func flock(f *os.File, how int) error {
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}

// Disk returns how many bytes of the disk of a folder an ordinary user may still
// write, and how many it has.
func Disk(dir string) (free, total uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), uint64(s.Blocks) * uint64(s.Bsize), nil //nolint:unconvert // signed on other systems
}

// freeBytes returns how much an ordinary user may still write to dir's disk.
func freeBytes(dir string) (uint64, error) {
	free, _, err := Disk(dir)
	return free, err
}
