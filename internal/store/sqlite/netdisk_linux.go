package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate takes size bytes of the disk for a file, which takes no time where the file
// system can do that.
func allocate(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return fill(f, size)
	}
	return err
}

// networkDisk reports whether dir is on a file system that other machines
// share; magic numbers from statfs(2).
func networkDisk(dir string) (bool, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return false, err
	}
	return networkMagic(uint32(s.Type)), nil
}

func networkMagic(magic uint32) bool {
	switch magic {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC,
		unix.AFS_SUPER_MAGIC, unix.CODA_SUPER_MAGIC, unix.NCP_SUPER_MAGIC, unix.CEPH_SUPER_MAGIC:
		return true
	}
	return false
}
