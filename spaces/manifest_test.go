package spaces

import (
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// PRD-7.2-1: a version has the name of all that there is about its acts: nothing
// about one of them changes without another name.
func TestManifestIsNamedByAllOfItsActs(t *testing.T) {
	acts := func(change func(*ToolDefinition)) []ToolDefinition {
		o := ToolDefinition{Name: "react", Tier: TierPlatform, Risk: RiskWriteOwn, About: "Puts an emoji on a message.", Schema: []byte(`{"type":"object"}`)}
		change(&o)
		return []ToolDefinition{{Name: "view", Schema: []byte(`{}`)}, o}
	}
	same := func(*ToolDefinition) {}
	want := NewManifest(acts(same)).Hash
	if got := NewManifest(acts(same)).Hash; got != want || len(want) != 16 {
		t.Errorf("the same acts are called %q and %q", got, want)
	}
	backwards := acts(same)
	slices.Reverse(backwards)
	seen := map[string]bool{want: true}
	for what, changed := range map[string][]ToolDefinition{
		"name":   acts(func(o *ToolDefinition) { o.Name = "unreact" }),
		"tier":   acts(func(o *ToolDefinition) { o.Tier = TierSystem }),
		"risk":   acts(func(o *ToolDefinition) { o.Risk = RiskReadOwn }),
		"about":  acts(func(o *ToolDefinition) { o.About += " One." }),
		"schema": acts(func(o *ToolDefinition) { o.Schema = []byte(`{"type":"array"}`) }),
		"order":  backwards,
		"number": acts(same)[:1],
	} {
		name := NewManifest(changed).Hash
		if seen[name] {
			t.Errorf("acts of another %s are called %s as others", what, name)
		}
		seen[name] = true
	}
}

// PRD-7.2-1: what an act takes is read from its schema; one that has no arguments
// takes none.
func TestArgumentsAreThoseOfTheSchema(t *testing.T) {
	o := ToolDefinition{Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"},"at":{"type":"integer"}},"required":["text"]}`)}
	want := []ToolArgument{{"at", false, `{"type":"integer"}`}, {"text", true, `{"type":"string"}`}}
	testutil.Same(t, "arguments", want, o.Arguments())
	for _, none := range []string{`{"type":"object"}`, `true`} {
		if got := (ToolDefinition{Schema: []byte(none)}).Arguments(); got != nil {
			t.Errorf("%s takes %v", none, got)
		}
	}
}
