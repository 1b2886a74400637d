package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
)

// ECOSYSTEM 3.2: whatever keeps a message from waking an agent is said in words, with
// what helps, by explain and by the page on silence.
func TestEveryReasonForSilenceIsSaidInWords(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	gate, err := os.ReadFile(filepath.Join(root, "shell", "gate.go"))
	testutil.OK(t, err)
	page, err := os.ReadFile(filepath.Join(root, "docs", "silent.md"))
	testutil.OK(t, err)
	wakes := []string{shell.GateAwaited, shell.GateDirect, shell.GatePair, shell.GateMention, shell.GateReply, shell.GateThread, shell.GateAll}
	reasons := []string{"rate", "past"}
	for _, m := range regexp.MustCompile(`Gate\w+ += "(\w+)"`).FindAllStringSubmatch(string(gate), -1) {
		if !slices.Contains(wakes, m[1]) {
			reasons = append(reasons, m[1])
		}
	}
	for _, reason := range reasons {
		if verdicts[reason] == "" {
			t.Errorf("explain --silence says %q and nothing else", reason)
		}
		if !strings.Contains(string(page), "`"+reason+"`") {
			t.Errorf("docs/silent.md does not tell of %q", reason)
		}
	}
	if len(reasons) < 15 {
		t.Errorf("only %q were looked at", reasons)
	}
}
