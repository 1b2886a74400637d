package doctor

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// The doctor says what a start would fail with: a folder that cannot be written.
func TestAFolderThatCannotBeWrittenIsFound(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	testutil.OK(t, os.WriteFile(file, nil, 0o600))
	for folder, fine := range map[string]bool{dir: true, filepath.Join(dir, "new", "data"): true, filepath.Join(file, "data"): false, "/proc/self/data": false} {
		if err := Writable(folder); (err == nil) != fine {
			t.Errorf("%s: %v", folder, err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// The doctor says what a start would fail with: an address that another program uses.
func TestAnAddressInUseIsFound(t *testing.T) {
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testutil.OK(t, err)
	c := ConsoleAddress{Listen: ln.Addr().String(), Addresses: Addresses}
	if found := c.Examine(t.Context()); len(found) != 1 || found[0].Level != adapters.Failure || found[0].Code != "TRS-C05" || !strings.Contains(found[0].What, "in use") {
		t.Errorf("in use: %+v", found)
	}
	testutil.OK(t, ln.Close())
	if found := c.Examine(t.Context()); len(found) != 1 || found[0].Level == adapters.Failure {
		t.Errorf("free: %+v", found)
	}
}
