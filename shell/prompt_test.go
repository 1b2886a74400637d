package shell

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-5.5-1, PRD-5.5-A1, PRD-5.7-1, PRD-11-1: the sections have the size that was decided.
func TestSectionsKeepTheirSize(t *testing.T) {
	var c hud.TokenCounter
	for name, want := range map[string][2]int{
		"memory": {600, 900}, "memories": {200, 350}, "tools": {200, 700}, "antipatterns": {40, 250},
		"capabilities": {150, 700}, "instructions": {200, 600}, "identity": {20, 150},
	} {
		if n := c.Count(told(name)); n < want[0] || n > want[1] {
			t.Errorf("%s has %d tokens, want %d to %d", name, n, want[0], want[1])
		}
	}
}

// The constants in prompt.go are exact, and the first prompt is small.
func TestFixedTokensAreCounted(t *testing.T) {
	var c hud.TokenCounter
	nobody := &Agent{}
	tools := 0
	const toolOverhead = 8 // what a provider adds around each tool, in tokens
	count := func(tool llm.ToolSpec) int {
		return c.Count(tool.Name) + c.Count(tool.Description) + c.Count(string(tool.Schema)) + toolOverhead
	}
	for _, tool := range NewCatalogue(false).Tools() {
		tools += count(tool)
	}
	all := NewCatalogue(true).Tools()
	if n := count(all[len(all)-1]); n != fileToolTokens || len(all) != len(NewCatalogue(false).Tools())+1 {
		t.Errorf("send_file takes %d tokens, fileToolTokens says %d", n, fileToolTokens)
	}
	all = NewCatalogue(false).WithFileReading().Tools()
	if n := count(all[len(all)-1]); n != readFileTokens {
		t.Errorf("read_file takes %d tokens, readFileTokens says %d", n, readFileTokens)
	}
	if tools != toolTokens {
		t.Errorf("the tools take %d tokens, toolTokens says %d", tools, toolTokens)
	}
	if n := c.Count(systemText(nobody, systemKey{set: prompts.BuiltIn()})); n != promptTokens {
		t.Errorf("the system text takes %d tokens, promptTokens says %d", n, promptTokens)
	}
	if n := c.Count(systemText(nobody, systemKey{set: prompts.BuiltIn(), tags: true})); n != tagPromptTokens {
		t.Errorf("the system text with tags takes %d tokens, tagPromptTokens says %d", n, tagPromptTokens)
	}
	if n := c.Count(systemText(nobody, systemKey{set: prompts.BuiltIn(), outside: true})); n != promptTokens+outsidePromptTokens {
		t.Errorf("the system text takes %d tokens with outside tools, want %d", n, promptTokens+outsidePromptTokens)
	}
	if n := c.Count(systemText(nobody, systemKey{set: prompts.BuiltIn(), words: true})); n != promptTokens+wordsPromptTokens {
		t.Errorf("the system text takes %d tokens where words are delivered, want %d", n, promptTokens+wordsPromptTokens)
	}
	if sum := promptTokens + toolTokens; sum > 2900 {
		t.Errorf("the fixed texts take %d tokens, want at most 2900", sum)
	}
}

// PRD-5.5-2, PRD-5.5-5, PRD-5.6-1, -2, -4, PRD-5.6-A1, PRD-5.7-2, PRD-5.7-A1,
// PRD-5.8-A1, -A3, PRD-11-2, GTS-26 … GTS-32, BLU-38, BLU-45, CON-09, CON-14, CON-23.
func TestSystemTextSaysWhatWasAskedFor(t *testing.T) {
	text := systemText(&Agent{ID: "ada", Name: "Ada", Persona: "You like ships."}, systemKey{set: prompts.BuiltIn()})
	for _, want := range []string{
		"You are Ada (entity agent:ada)", "You like ships.",
		"**user_fact**", "**decision**", "**space_knowledge**", "**preference**", "four questions", "Never store",
		"When to act: asked to do something → do it.", "information that is not on your screen → look it up",
		"Conversation → just talk.", "Ambiguous → ask one short question first.", "How: give each call",
		"Never: look things up for greetings or small talk; store every turn; repeat an identical call; show raw JSON",
		"verify again what you already know", "# AVOID\n\n- ",
		"`look capabilities`",
		"talk to the people in it, not about them", "never \"I was asked to tell you\"",
		"`send_message` speaks in the active space", "@Name in a message calls that member", "silence is a fine answer",
		"Responded to [who] about [topic]. [Key actions taken]. [What's pending].",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the system text lacks %q", want)
		}
	}
	if n := strings.Count(told("antipatterns"), "\n- "); n != 6 {
		t.Errorf("%d anti-patterns, want 6", n)
	}
}

// PRD-5.6-5, PRD-5.6-A2, PRD-5.7-3, PRD-12-6: how to act comes before the forms of acts
// and begins with when; what chat must avoid is not told where the agent composes or
// digests.
func TestHowToActComesBeforeTheActs(t *testing.T) {
	text := systemText(&Agent{ID: "ada", Name: "Ada"}, systemKey{set: prompts.BuiltIn(), tags: true})
	how, forms := strings.Index(text, "# ACTS\n\nWhen to act:"), strings.Index(text, "# FORM OF ACTS")
	if how < 0 || forms < how {
		t.Errorf("how to act stands at %d, the forms of acts at %d", how, forms)
	}
	for _, task := range []string{"compose", "digest"} {
		if strings.Contains(told(task), "AVOID") {
			t.Errorf("%s has the anti-patterns of chat", task)
		}
	}
}

// PRD-1-2: the system text is made of sections, each of which is one version of a file.
func TestSystemTextIsMadeOfVersionedSections(t *testing.T) {
	text := systemText(&Agent{}, systemKey{set: prompts.BuiltIn(), tags: true})
	for _, s := range prompts.AllSections() {
		plain, _, _ := strings.Cut(told(s.Name), "{{")
		if got, want := strings.Contains(text, strings.TrimSpace(plain)), s.Mode == prompts.AlwaysShown || s.Mode == prompts.TagsDialect; s.Name != "compose" && got != want {
			t.Errorf("the system text has %s, which is of mode %s: %v", s.Name, s.Mode, got)
		}
	}
}

// told returns the built-in text of a section.
func told(section string) string { return prompts.BuiltIn().Text(section) }

// PRD-6.1-1, PRD-11-9: every act has the tier that was decided for it: what touches the
// agent alone is the system's, what reaches people or reads what they said is the
// platform's. What nobody has decided about is trusted least.
func TestEveryActHasItsTier(t *testing.T) {
	want := map[string]spaces.ToolTier{}
	for name := range strings.FieldsSeq("look enter_space sleep remind bookmark note goal remember forget fork done") {
		want[name] = spaces.TierSystem
	}
	for name := range strings.FieldsSeq("send_message ask checklist check react edit_message delete_message read_messages search send_file set_up propose_mission mission submit_task return_task verify_task") {
		want[name] = spaces.TierPlatform
	}
	got := map[string]spaces.ToolTier{}
	for _, o := range NewCatalogue(true).WithDemanded().Manifest().Acts {
		got[o.Name] = o.Tier
	}
	testutil.Same(t, "tiers", want, got)
	if tier := NewCatalogue(true).Tier("rm_rf"); tier != spaces.TierMarketplace {
		t.Errorf("an unknown act has tier %s", tier)
	}
}

// BLU-09, BLU-49, R-2: acts are done where the agent is. No act but going somewhere
// must be told where; a message names nobody but in its words.
func TestNoActMustBeToldWhere(t *testing.T) {
	for _, tool := range NewCatalogue(true).WithDemanded().Tools() {
		var schema struct {
			Required   []string
			Properties map[string]json.RawMessage
		}
		testutil.OK(t, json.Unmarshal(tool.Schema, &schema))
		if got := slices.Contains(schema.Required, "space"); got != (tool.Name == "enter_space") {
			t.Errorf("%s must be told a space: %v", tool.Name, got)
		}
		for name := range schema.Properties {
			if strings.Contains(name, "mention") || strings.Contains(name, "target") {
				t.Errorf("%s takes %s", tool.Name, name)
			}
		}
		if tool.Name == "send_message" && len(schema.Required) > 0 {
			t.Errorf("send_message wants %v", schema.Required)
		}
	}
}

// PRD-5.5-6, PRD-5.5-A2, PRD-6.1-A1, -A5: descriptions guide, tiers are known.
func TestActsAreDescribedAndTiered(t *testing.T) {
	c := NewCatalogue(false)
	for _, tool := range c.Tools() {
		if tool.Description == "" || len(tool.Schema) == 0 {
			t.Errorf("%s lacks a description or schema", tool.Name)
		}
		if c.Tier(tool.Name) == "marketplace" {
			t.Errorf("%s has no tier of its own", tool.Name)
		}
	}
	remember := c.find("remember").about
	for _, want := range []string{"user_fact", "preference", "Under 200 characters", "Never:"} {
		if !strings.Contains(remember, want) {
			t.Errorf("remember does not say %q", want)
		}
	}
	if c.Tier("rm_rf") != "marketplace" {
		t.Error("an unknown act is trusted")
	}
}

// CON-49, PRD-7.2-1: the tools are the same bytes for every catalogue, so that prefixes
// match and versions have one name; other acts have another.
func TestCatalogueIsTheSameBytesEveryTime(t *testing.T) {
	a, b := NewCatalogue(false), NewCatalogue(false)
	if a.Manifest().Hash != b.Manifest().Hash {
		t.Error("two catalogues of one version differ")
	}
	if NewCatalogue(true).Manifest().Hash == a.Manifest().Hash {
		t.Error("with another act the version is the same")
	}
}
