package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// Files of earlier versions load with the same meaning. After the first release a
// file in testdata/shapes is never changed, and the expected output only gains
// lines.
func TestFilesOfEarlierVersionsKeepTheirMeaning(t *testing.T) {
	files, err := filepath.Glob("testdata/shapes/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	env := "OPENAI_BASE_URL=http://127.0.0.1:1/v1\nOPENAI_API_KEY=sk-1\nTELEGRAM_BOT_TOKEN=1:a"
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			testutil.OK(t, err)
			dir := t.TempDir()
			for name, content := range map[string]string{DefaultFile: string(text), "token": "1:a\n", "ada.md": "You are Ada.\n"} {
				testutil.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
			}
			lookup, environ := environment(env)
			c, err := Load(LoadOptions{Folder: dir, Lookup: lookup, Environ: environ})
			if err != nil || len(c.Problems) > 0 {
				t.Fatalf("error %v, problems %v", err, c.Problems)
			}
			var out strings.Builder
			WriteRows(&out, c.Rows(ShowOptions{Origin: true}), ShowOptions{Origin: true})
			for _, w := range c.Warnings {
				out.WriteString("warning: " + w.Err.String() + "\n")
			}
			got := strings.ReplaceAll(out.String(), dir, "DIR")
			shown := strings.TrimSuffix(file, ".yaml") + ".shown"
			testutil.Golden(t, *update, shown, got)
		})
	}
}
