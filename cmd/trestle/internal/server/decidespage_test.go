package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// The page on how an agent decides shows the prompt that its scene ends with.
func TestTheDecisionPageShowsARealPrompt(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "how-an-agent-decides.md"))
	testutil.OK(t, err)
	scene, err := txtar.ParseFile("testdata/scenes/how_an_agent_decides.txtar")
	testutil.OK(t, err)
	_, block, _ := strings.Cut(string(page), "```text\n")
	block, _, _ = strings.Cut(block, "```")
	for _, f := range scene.Files {
		if f.Name == "frame" {
			testutil.Same(t, "the prompt on the page", string(f.Data), block)
			return
		}
	}
	t.Error("the scene has no frame")
}
