package cli

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
)

// R-6, DESIGN 6.1: the gate is each agent's own. What its entry says on what wakes it
// counts where the room has no word of its own.
func TestAgentsOwnWordOnWhatWakesItCounts(t *testing.T) {
	for text, want := range map[string]int{
		"agents: {ada: {name: Ada, wake: all}, max: {name: Max}}\nspaces: {den: {agents: [ada, max]}}\n":                            1,
		"wake: all\nagents: {ada: {name: Ada, wake: mention}, max: {name: Max, wake: none}}\nspaces: {den: {agents: [ada, max]}}\n": 0,
		"agents: {ada: {name: Ada, wake: all}, max: {name: Max}}\nspaces: {den: {agents: [ada, max], wake: mention}}\n":             0,
		"agents: {ada: {name: Ada, wake: none}}\nspaces: {den: {agents: [ada]}}\n":                                                  0,
		"agents: {ada: {name: Ada, wake: none}}\n":                                                                                  0, // Home is a direct chat
	} {
		s := stage0(t)
		s.write(t, text, 0o600)
		out, errs, code := s.do(t, "hello\n", "chat")
		if got := strings.Count(out, "You said: “hello”"); code != apperr.Done || got != want {
			t.Errorf("with\n%sexit %s, %d answers, want %d:\n%s%s", text, code, got, want, out, errs)
		}
	}
}
