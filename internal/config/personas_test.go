package config

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// PRD-5.5-A3: three built-in personas, each by its name; a text is itself.
func TestPersonasAreKnownByName(t *testing.T) {
	for _, name := range []string{"friendly", "professional", "technical"} {
		c, err := loadText(t, "agents: {ada: {persona: "+name+"}}", "")
		testutil.OK(t, err)
		a, _ := c.Agent("ada")
		if a.Persona != personas[name] || len(strings.Fields(a.Persona)) < 30 {
			t.Errorf("%s is %q", name, a.Persona)
		}
	}
	c, err := loadText(t, "agents: {ada: {persona: You are friendly}}", "")
	testutil.OK(t, err)
	if a, _ := c.Agent("ada"); a.Persona != "You are friendly" {
		t.Errorf("a text became %q", a.Persona)
	}
}
