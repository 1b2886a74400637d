package cli

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Another user is told so, not that nothing runs here or that a setting is wrong.
func TestOtherUsersAreToldThatTheFolderIsNotTheirs(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	testutil.OK(t, os.Mkdir(folder, 0o700))
	asStranger(t, folder)
	err := storeopen.CheckAccess(&config.Config{Data: folder})
	if f, ok := errors.AsType[*apperr.Error](err); !ok || f.Code != apperr.Failed || f.Where != folder {
		t.Errorf("who may not read the folder is told %v", err)
	}
	_, err = os.Create(filepath.Join(folder, "x"))
	if f, ok := errors.AsType[*apperr.Error](storeopen.OpenError(err, folder)); !ok || f.What != "this user may not use the data folder" || f.Code != apperr.TryAgain {
		t.Errorf("a start in it ends with %v", err)
	}
}

// A disk that cannot be written now may be later: the service manager tries again.
func TestAStartOnADiskThatCannotBeWrittenIsTriedAgain(t *testing.T) {
	for _, err := range []error{
		&os.PathError{Op: "open", Path: "data/trestle.lock", Err: syscall.EROFS}, &os.PathError{Op: "open", Path: "data", Err: syscall.EACCES},
		sqlite.ErrReadOnly, errors.Join(engine.ErrUnwritable, errors.New("disk I/O error")),
	} {
		if f, ok := errors.AsType[*apperr.Error](storeopen.OpenError(err, "data")); !ok || f.Code != apperr.TryAgain || !strings.Contains(f.Remedy, "TRS-R10") {
			t.Errorf("a start that ends with %v is answered %+v", err, f)
		}
	}
}

// asStranger has this test touch files as a person who does not own the folder.
// Root may read everything, so its thread has another user's rights meanwhile.
func asStranger(t *testing.T, folder string) {
	t.Helper()
	if os.Geteuid() != 0 {
		testutil.OK(t, os.Chmod(folder, 0))
		t.Cleanup(func() { _ = os.Chmod(folder, 0o700) })
		return
	}
	runtime.LockOSThread()
	testutil.OK(t, syscall.Setfsuid(65534))
	t.Cleanup(func() {
		_ = syscall.Setfsuid(0)
		runtime.UnlockOSThread()
	})
}
