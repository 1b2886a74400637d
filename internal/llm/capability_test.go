package llm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What was learned outlives the process; a damaged file is learned anew.
func TestWhatWasLearnedIsKeptInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "models.json")
	want := ModelCapability{Demands: []string{"no_tool_choice"}, Window: 8192, MaxOutput: 100}
	f := &CapabilityFile{Path: path}
	for _, name := range []string{"m", "n"} {
		if err := f.SaveCapability("http://a/v1", name, want); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SaveCapability("http://a/v1", "n", ModelCapability{}); err != nil {
		t.Fatal(err)
	}
	read := &CapabilityFile{Path: path, ReadOnly: true}
	if diff := cmp.Diff(want, read.LoadCapability("http://a/v1", "m")); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	for _, other := range []string{"http://a/v1 n", "http://b/v1 m"} {
		endpoint, name, _ := strings.Cut(other, " ")
		if got := read.LoadCapability(endpoint, name); !got.IsZero() {
			t.Errorf("%s: %+v", other, got)
		}
	}
	if err := read.SaveCapability("http://a/v1", "m", ModelCapability{}); err != nil || !read.LoadCapability("http://a/v1", "m").IsZero() {
		t.Errorf("in memory: %v", err)
	}
	if got := (&CapabilityFile{Path: path}).LoadCapability("http://a/v1", "m"); !cmp.Equal(got, want) {
		t.Errorf("a file that is only read was changed: %+v", got)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := (&CapabilityFile{Path: path}).LoadCapability("http://a/v1", "m"); !got.IsZero() {
		t.Errorf("a damaged file gives %+v", got)
	}
	if err := (&CapabilityFile{Path: filepath.Join(path, "none", "models.json")}).SaveCapability("http://a/v1", "m", want); err == nil {
		t.Error("a folder that is missing is no error")
	}
}
