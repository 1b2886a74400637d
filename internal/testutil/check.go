// Package testutil is what tests ask most: whether a call went well, and whether what came
// is what was wanted, or what a file holds. It knows none of our types, and nothing but tests uses it.
package testutil

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// OK ends the test when there is an error.
func OK(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Same fails the test, which goes on, when got is not what was wanted, and says what it
// is and how they differ.
func Same(tb testing.TB, what string, want, got any) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Golden is Same for what a file holds, which is written anew first if update says so.
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
