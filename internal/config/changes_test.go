package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// The last five changes are taken back one after the other, behind a link too, with the mode of the file, and
// not when the file was changed otherwise.
func TestChangesAreTakenBackInTurn(t *testing.T) {
	folder := t.TempDir()
	data, target, link := filepath.Join(folder, "data"), filepath.Join(folder, "real.yaml"), filepath.Join(folder, "trestle.yaml")
	testutil.OK(t, os.WriteFile(target, []byte("n: 0\n"), 0o640))
	testutil.OK(t, os.Symlink(target, link))
	text := func(n int) string { return fmt.Sprintf("n: %d\n", n) }
	read := func() string {
		t.Helper()
		got, err := os.ReadFile(target)
		testutil.OK(t, err)
		return string(got)
	}
	for n := range 7 {
		testutil.OK(t, WriteChange(data, FileChange{File: link, Path: "n", Before: text(n), After: text(n + 1)}))
	}
	if err := WriteChange(data, FileChange{File: link, Path: "n", Before: text(3), After: text(4)}); err == nil || read() != text(7) {
		t.Errorf("a file that was changed meanwhile is written: %v", err)
	}
	testutil.OK(t, os.WriteFile(target, []byte("n: mine\n"), 0o640))
	if _, err := UndoChange(data, link); err == nil || read() != "n: mine\n" {
		t.Errorf("a change is taken back under another: %v", err)
	}
	testutil.OK(t, os.WriteFile(target, []byte(text(7)), 0o640))
	for n := 6; n >= 2; n-- {
		_, err := UndoChange(data, link)
		testutil.OK(t, err)
		testutil.Same(t, "undone", text(n), read())
	}
	if _, err := UndoChange(data, link); err == nil || !strings.Contains(err.Error(), "no change") {
		t.Errorf("a sixth change is taken back: %v", err)
	}
	for path, want := range map[string]os.FileMode{target: 0o640, filepath.Join(data, changesFile): 0o600} {
		info, err := os.Stat(path)
		testutil.OK(t, err)
		testutil.Same(t, path, want, info.Mode().Perm())
	}
	left, err := filepath.Glob(filepath.Join(folder, "*.yaml.*"))
	if len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
