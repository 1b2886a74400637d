package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/pubsub"
)

// events -f --kind knows the types that the page of the console explains, and no
// other: one that is new belongs into both.
func TestLiveTypesAreThoseOfTheirPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "console.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| type | tells |\n| --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for row := range strings.Lines(table) {
		types, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		want = append(want, regexp.MustCompile("[a-z_]+").FindAllString(types, -1)...)
	}
	want = append(want, pubsub.Skipped)
	if diff := cmp.Diff(want, liveTypes()); diff != "" {
		t.Errorf("docs/console.md and events -f --kind differ (-page +command):\n%s", diff)
	}
	published := regexp.MustCompile(`(?:\.publish|\.Publish)\("([a-z_]+)"`)
	for _, folder := range []string{"shell", "internal/console", "cmd/trestle/internal/server", "cmd/trestle/internal/cli"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(folder, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range published.FindAllStringSubmatch(string(text), -1) {
				if !strings.Contains(strings.Join(want, " "), m[1]) {
					t.Errorf("%s publishes %q, which docs/console.md does not explain", file, m[1])
				}
			}
		}
	}
}
