package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// The file on each page about a provider is accepted as it stands, once its key is set, and
// names an endpoint.
func TestFilesOnModelPagesWork(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "docs", "models", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	fence := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	variable := regexp.MustCompile(`\$\{([A-Z_]+)`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		testutil.OK(t, err)
		files := fence.FindAllSubmatch(text, -1)
		if len(files) == 0 {
			t.Errorf("%s has no file", page)
		}
		for _, file := range files {
			var env []string
			for _, name := range variable.FindAllSubmatch(file[1], -1) {
				env = append(env, string(name[1])+"=planted")
			}
			s := stage{folder: t.TempDir(), env: strings.Join(env, "\n")}
			s.write(t, string(file[1]), 0o600)
			if out, errs, code := s.do(t, "", "config", "check"); code != apperr.Done {
				t.Errorf("%s: exit %s\n%s%s", page, code, out, errs)
			}
			if out := s.done(t, "", "config", "show"); strings.Contains(out, "offline") || strings.Contains(out, "planted") {
				t.Errorf("%s: the file makes\n%s", page, out)
			}
		}
	}
}
