package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// DELIVERY 2.2 promise 1: no message is acknowledged when its row is in a file that was
// removed or replaced. Put back, it goes on.
func TestNothingIsWrittenToAFileThatIsNotInItsPlace(t *testing.T) {
	dir := t.TempDir()
	s := openIn(t, dir)
	room := openRoom(t, s)
	write := func(n int) error {
		_, err := s.Border().Record(t.Context(), message(room, n))
		return err
	}
	testutil.OK(t, write(1))
	file := filepath.Join(dir, FileName)
	testutil.OK(t, os.Rename(file, file+".away"))
	if err := write(2); !errors.Is(err, errGone) {
		t.Errorf("once it is removed: %v", err)
	}
	since := s.Failing()
	if !errors.Is(since.Err, errGone) || since.Since.IsZero() {
		t.Errorf("commits fail: %+v", since)
	}
	testutil.OK(t, os.WriteFile(file, nil, 0o600))
	if err := write(2); !errors.Is(err, errGone) {
		t.Errorf("once it is replaced: %v", err)
	}
	testutil.OK(t, os.Rename(file+".away", file))
	if f := s.Failing(); !f.Since.Equal(since.Since) {
		t.Errorf("commits fail since %v, before since %v", f.Since, since.Since)
	}
	testutil.OK(t, write(2))
	if f := s.Failing(); f.Err != nil || !f.Since.IsZero() {
		t.Errorf("after a commit: %+v", f)
	}
}
