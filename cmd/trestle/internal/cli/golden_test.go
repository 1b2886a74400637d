package cli

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata/golden")

// golden compares got with the golden file of that name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name+".golden")
	if *update {
		testutil.OK(t, os.MkdirAll(filepath.Dir(file), 0o750))
		testutil.OK(t, os.WriteFile(file, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with: go test ./cmd/trestle/internal/cli -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), rewrite with go test ./cmd/trestle/internal/cli -update:\n%s", file, diff)
	}
}

// stage0 is an empty folder to run commands in.
func stage0(t *testing.T) stage {
	t.Helper()
	return stage{folder: t.TempDir()}
}

func mustOpen(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name)
	testutil.OK(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}
