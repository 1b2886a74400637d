package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// DELIVERY 2.7: a ballast takes room of the disk, also where the file system cannot
// give it without its being written.
func TestABallastTakesRoom(t *testing.T) {
	const size = 1<<20 + 1
	for name, by := range map[string]func(*os.File, int64) error{"allocated": allocate, "written": fill} {
		file := filepath.Join(t.TempDir(), ballastName)
		testutil.OK(t, reserve(file, size, by))
		var s unix.Stat_t
		testutil.OK(t, unix.Stat(file, &s))
		if s.Size != size || s.Blocks*512 < size {
			t.Errorf("%s: %d bytes in %d blocks", name, s.Size, s.Blocks)
		}
	}
}

// DELIVERY 2.7: the reserved file is for a full disk; a process starts without it, as where
// a quota leaves less than the disk has free.
func TestARecordOpensWithoutItsBallast(t *testing.T) {
	o := options(t, t.TempDir())
	o.Ballast = 1 << 20
	if err := os.MkdirAll(filepath.Join(o.Dir, ballastName, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
