//go:build darwin || freebsd

package sqlite

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate takes size bytes of the disk for a file.
func allocate(f *os.File, size int64) error { return fill(f, size) }

// networkDisk reports whether dir is on a file system that other machines
// share: the kernel marks the others as local.
func networkDisk(dir string) (bool, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return false, err
	}
	return uint64(s.Flags)&unix.MNT_LOCAL == 0, nil
}
