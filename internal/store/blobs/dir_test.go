package blobs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

func TestSameBytesAreKeptOnce(t *testing.T) {
	f, err := Open(filepath.Join(t.TempDir(), "files"))
	testutil.OK(t, err)
	one, n, err := f.Put(strings.NewReader("hello"))
	if err != nil || n != 5 || one != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Fatalf("got %q, %d, %v", one, n, err)
	}
	if two, _, err := f.Put(strings.NewReader("hello")); err != nil || two != one {
		t.Errorf("again: %q, %v", two, err)
	}
	got, err := os.ReadFile(f.Path(one))
	if err != nil || string(got) != "hello" {
		t.Errorf("got %q, %v", got, err)
	}
	if all, err := filepath.Glob(filepath.Join(f.path, "*", "*")); err != nil || len(all) != 1 {
		t.Errorf("kept %q, %v", all, err)
	}
}

// K6: half a file has no name, and the next process finds none of it.
func TestHalfAFileLeavesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	f, err := Open(dir)
	testutil.OK(t, err)
	broken := io.MultiReader(strings.NewReader("hel"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if hash, _, err := f.Put(broken); !errors.Is(err, io.ErrUnexpectedEOF) || hash != "" {
		t.Errorf("got %q, %v", hash, err)
	}
	begun := filepath.Join(dir, unfinished+"1")
	testutil.OK(t, os.WriteFile(begun, []byte("hel"), 0o600))
	if _, err := Open(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(begun); err != nil {
		t.Errorf("what another process may be writing is gone: %v", err)
	}
	age(t, begun, stale)
	if _, err := Open(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// age makes a file older than d.
func age(t *testing.T, name string, d time.Duration) {
	t.Helper()
	then := time.Now().Add(-d - time.Second)
	testutil.OK(t, os.Chtimes(name, then, then))
}

// Issue 7: processes may share a folder. What one has just put there another does
// not remove, and each can tell that it is the same folder.
func TestProcessesShareAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	first, err := Open(dir)
	testutil.OK(t, err)
	second, err := Open(dir)
	testutil.OK(t, err)
	hash, _, err := first.Put(strings.NewReader("hello"))
	testutil.OK(t, err)
	for _, want := range []bool{false, true} {
		if removed, err := second.Remove(hash); removed != want || err != nil {
			t.Errorf("removed %t, %v; want %t", removed, err, want)
		}
		if !want {
			age(t, first.Path(hash), fresh)
		}
	}
	other, err := Open(t.TempDir())
	testutil.OK(t, err)
	var marks []string
	for i, f := range []*BlobDir{first, second, other} {
		mark, err := f.Mark(func() string { return "folder " + strconv.Itoa(i) })
		testutil.OK(t, err)
		marks = append(marks, mark)
	}
	testutil.Same(t, "marks", []string{"folder 0", "folder 0", "folder 2"}, marks)
}

// A process that stored bytes may not have recorded them yet.
func TestBytesAreNotRemovedTheMomentTheyAreThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := Open(filepath.Join(t.TempDir(), "files"))
		testutil.OK(t, err)
		hash, _, err := f.Put(strings.NewReader("hello"))
		testutil.OK(t, err)
		for _, removed := range []bool{false, true, true} {
			if got, err := f.Remove(hash); got != removed || err != nil {
				t.Errorf("removed %t, %v; want %t", got, err, removed)
			}
			<-time.After(fresh + 1)
			if _, _, err := f.Put(strings.NewReader("other")); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := f.Hashes(); err != nil || len(left) != 1 || left[0] == hash || len(f.placed) != 1 {
			t.Errorf("left %q, %v; %d are remembered", left, err, len(f.placed))
		}
	})
}

// A folder that other users could enter is its owner's alone afterwards.
func TestFolderBecomesPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "files")
	f, err := Open(path)
	testutil.OK(t, err)
	if changed, err := f.KeepPrivate(); changed || err != nil {
		t.Errorf("a folder that is not there was changed: %t %v", changed, err)
	}
	testutil.OK(t, os.Mkdir(path, 0o700))
	testutil.OK(t, os.Chmod(path, 0o755))
	for _, want := range []bool{true, false} {
		if changed, err := f.KeepPrivate(); changed != want || err != nil {
			t.Errorf("changed %t (%v), want %t", changed, err, want)
		}
	}
	info, err := os.Stat(path)
	testutil.OK(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v", info.Mode())
	}
}
