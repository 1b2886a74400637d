// Package testutil has assertions for tests. Only tests import it.
package testutil

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// OK ends the test when err is not nil.
func OK(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Same reports the difference when got is not equal to want.
func Same(tb testing.TB, what string, want, got any) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Golden compares got with the content of a file, which it writes first if update is
// set.
func Golden(tb testing.TB, update bool, file, got string) {
	tb.Helper()
	if update {
		OK(tb, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	OK(tb, err)
	Same(tb, file+"; write it with -update", string(want), got)
}

// WithFiles returns a copy of files with more added, by name.
func WithFiles(tb testing.TB, files fs.FS, more map[string]string) fs.FS {
	tb.Helper()
	all := fstest.MapFS{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		all[name] = &fstest.MapFile{Data: text}
		return err
	})
	OK(tb, err)
	for name, text := range more {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

// Replace sets a variable to another value until the test ends.
func Replace[T any](tb testing.TB, variable *T, value T) {
	tb.Helper()
	old := *variable
	tb.Cleanup(func() { *variable = old })
	*variable = value
}
