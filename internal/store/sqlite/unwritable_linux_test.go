package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// Who may read the folder and not write in it, or has a disk that is mounted so, is
// told that, and not that the record is damaged.
func TestWhatMayOnlyBeReadIsNotDamaged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(t.Context(), options(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, log := range []string{"-wal", "-shm"} { // a copy has none
		if err := os.Remove(filepath.Join(dir, FileName+log)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	asReader(t, dir)
	if _, err := Look(t.Context(), dir); !errors.Is(err, ErrReadOnly) {
		t.Errorf("looking at it ends with %v", err)
	}
	r, err := DataDirCheck{Dir: dir}.Run(t.Context())
	if !errors.Is(err, ErrReadOnly) || r.Damage != "" {
		t.Errorf("examining it ends with %v and finds %q", err, r.Damage)
	}
}

// asReader makes this test touch files as a user who may only read the folder. Root may
// write everything, so its thread has another user's rights meanwhile.
func asReader(t *testing.T, dir string) {
	t.Helper()
	for path, mode := range map[string]os.FileMode{filepath.Join(dir, FileName): 0o444, filepath.Join(dir, "trestle.lock"): 0o444, dir: 0o555} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	for _, above := range []string{filepath.Dir(dir), filepath.Dir(filepath.Dir(dir))} { // the test's own
		if err := os.Chmod(above, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Setfsuid(0)
		runtime.UnlockOSThread()
	})
}
