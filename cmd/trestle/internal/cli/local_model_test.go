package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// Where nothing is configured, the server of models on this machine answers, with its first
// model; a file, or a key in the environment, comes before it.
func TestServerOnThisMachineAnswersWithoutAFile(t *testing.T) {
	url := onModel(t, &llmtest.Server{Model: chatter{}, Names: []string{"qwen3", "llama"}})
	ask := func(t *testing.T, env string, args ...string) string {
		t.Helper()
		s := stage{folder: t.TempDir(), env: env}
		var out, errs screen
		p := s.program(strings.NewReader("hello\n"), &out, &errs)
		p.Endpoints = []string{url, "http://127.0.0.1:1/v1"}
		if code := p.Run(t.Context(), append(args, "--data", filepath.Join(s.folder, "data"))); code != apperr.Done {
			t.Fatalf("%v: exit %s\n%s%s", args, code, out.String(), errs.String())
		}
		return out.String()
	}
	if out := ask(t, "", "config", "show"); !strings.Contains(out, url) || !strings.Contains(out, "qwen3") {
		t.Errorf("config show:\n%s", out)
	}
	if out := ask(t, "", "chat"); strings.Contains(out, "stand-in") || strings.TrimSpace(out) == "" {
		t.Errorf("the answer is %q", out)
	}
	if out := ask(t, "GEMINI_API_KEY=planted", "config", "show"); strings.Contains(out, url) || !strings.Contains(out, "gemini") || strings.Contains(out, "planted") {
		t.Errorf("with a key: config show:\n%s", out)
	}
}
