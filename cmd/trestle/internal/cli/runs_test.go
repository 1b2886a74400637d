package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/console/api"
)

// ECOSYSTEM 3.1: one API, three clients: whether a process runs or none does, the
// tokens that a run might use are those of its room.
func TestRunIsShownWithTheBudgetOfItsRoom(t *testing.T) {
	for name, running := range map[string]bool{"running": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			s := stage0(t)
			s.write(t, "budget: {per_cycle: 90k}\nspaces:\n  den: {wake: all, budget: {per_cycle: 50k}}\n", 0o600)
			s.done(t, "hello\n", "chat")
			if running {
				s.serve(t)
			}
			run := string(answerOf[[]api.RunRow](t, s, "runs", "-o", "json")[0].Run)
			if a := answerOf[api.RunAnswer](t, s, "runs", "show", run, "-o", "json"); a.Budget != 50_000 {
				t.Errorf("a budget of %d tokens, want the room's 50000", a.Budget)
			}
		})
	}
}

// K22: explain says of a run when its partial message may still be visible in the chat.
func TestExplainTellsOfABeginningThatMayBeLeft(t *testing.T) {
	var a api.RunAnswer
	if err := json.Unmarshal([]byte(`{"lost_beginnings": [{"account": "telegram:1", "chat": "-100"}]}`), &a); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	explain(&out, a, nil)
	if !strings.Contains(out.String(), "lost     its beginning may stand in telegram:1/-100,") {
		t.Errorf("explain says %s", &out)
	}
}
