//go:build darwin || freebsd

package sqlite

import "golang.org/x/sys/unix"

// networkDisk reports whether dir is on a file system that other machines
// share: the kernel marks the others as local.
func networkDisk(dir string) (bool, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return false, err
	}
	return uint64(s.Flags)&unix.MNT_LOCAL == 0, nil
}
