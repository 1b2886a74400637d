package server

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-6.1-2, PRD-6.1-3: every tool of the platforms' tier has a setting that removes it, and
// no other tool has one; without the setting no agent loses a tool.
func TestEveryActOfAPlatformCanBeTaken(t *testing.T) {
	taken := withheldTools(config.ResolvedSettings{}) // every setting is false
	for _, o := range shell.NewCatalogue(true).WithDemanded().Manifest().Acts {
		if can := slices.Contains(taken, o.Name); can != (o.Tier == spaces.TierPlatform) {
			t.Errorf("%s, of tier %s, can be taken: %v", o.Name, o.Tier, can)
		}
	}
	if left := ShellSettings(config.AgentEntry{}, new(config.Config).SettingsFor("", "")).Without; left != nil {
		t.Errorf("without a word in the file, %q are taken", left)
	}
}

// SEQ-24, SEQ-29, SEQ-37, SEQ-43, SEQ-47, SEQ-68, SEQ-69, SEQ-70, CON-26,
// PRD-6.4-3: what the file says of frames reaches the shell.
func TestWhatTheFileSaysOfFramesReachesThem(t *testing.T) {
	var s config.ResolvedSettings
	s.Chat.KeepRecent, s.Chat.SummariseAbove, s.Relevance.Snippet = 3, 4, 70
	s.Threads.Keep, s.Threads.Partial, s.Threads.Summary = 0.9, 0.5, 0.2
	s.Levels.Start, s.Levels.Max, s.Guard = 2, 4, 0.7
	got := ShellSettings(config.AgentEntry{}, s)
	want := ShellSettings(config.AgentEntry{}, config.ResolvedSettings{})
	want.KeepRecent, want.SummariseFrom, want.Snippet = 3, 4, 70
	want.Threads = hud.ConversationWeights{Keep: 0.9, Partial: 0.5, Summary: 0.2}
	want.LevelStart, want.LevelMax, want.Guard = 2, 4, 0.7
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		focus    string
		priority int
		weight   float64
	}{{"normal", 5, 1}, {"low", 5, 0.5}, {"high", 5, 2}, {"normal", 10, 2}, {"low", 1, 0.1}} {
		s.Focus, s.Priority = c.focus, c.priority
		if got := ShellSettings(config.AgentEntry{}, s).Weight; got != c.weight {
			t.Errorf("focus %s with priority %d weighs %v, want %v", c.focus, c.priority, got, c.weight)
		}
	}
	for _, include := range []bool{true, false} {
		if s.Spans.IncludeActive = include; ShellSettings(config.AgentEntry{}, s).SpanBeside == include {
			t.Errorf("the open span is one of them: %v", !include)
		}
	}
}
