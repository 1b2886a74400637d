package spaces

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNameOfAMindReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Mind{
			Agent:  AgentID(rapid.StringMatching(`[^/]+`).Draw(t, "agent")),
			Circle: CircleID(rapid.StringN(1, 20, -1).Draw(t, "circle")),
		}
		if got, ok := ParseMind(want.String()); !ok || got != want {
			t.Errorf("got %+v, %v, want %+v", got, ok, want)
		}
	})
	for _, s := range []string{"", "/", "ada", "ada/", "/home"} {
		if m, ok := ParseMind(s); ok {
			t.Errorf("%q is read as %+v", s, m)
		}
	}
}

// SEQ-01, DESIGN 1
func TestMindIsABranchOfItsAgentsInnerSpace(t *testing.T) {
	m := Mind{Agent: "ada", Circle: "home"}
	if m.Inner() != "inner:ada" || m.Branch() != "home" {
		t.Errorf("%s is branch %s of %s", m, m.Branch(), m.Inner())
	}
	if other := (Mind{Agent: "ada", Circle: "work"}); other.Inner() != m.Inner() || other.Branch() == m.Branch() {
		t.Errorf("%s and %s are not two branches of one space", m, other)
	}
}

func TestAgentIsKnownByItsEntity(t *testing.T) {
	if a, ok := AgentID("ada").Entity().IsAgent(); !ok || a != "ada" {
		t.Errorf("got %q, %v", a, ok)
	}
	for _, e := range []EntityID{"", "ada", "e-agent:ada"} {
		if a, ok := e.IsAgent(); ok {
			t.Errorf("%q is taken for agent %q", e, a)
		}
	}
}
