package config

import (
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// Settings are the knobs of one agent in one space, each resolved: the space's
// word before the agent's before the file's before the default. The keys, the
// defaults and what each means stand in settings_keys.go.
type Settings struct {
	Phases    string // two, one
	Dialect   string // tools, tags
	OnStale   string // reconsider, send
	Streaming string // drafts, edits, off
	Wake      spaces.WakePolicy
	Focus     string
	Priority  int

	MaxSteps        int
	MaxOutputTokens int
	MaxSpaceActs    int
	Parallel        int
	ContextTokens   int
	RecallTokens    int
	Across          bool
	HighWater       float64
	LowWater        float64
	Guard           float64
	CacheTTL        time.Duration
	Expires         time.Duration
	OnUnknown       spaces.UnknownOutcomePolicy

	// Acts says which acts the agent has, by their names; the shell's own it always has.
	Acts struct {
		SendMessage, SendFile, React, EditMessage, DeleteMessage, ReadMessages, Search, SetUp bool
	}
	Greeting struct{ LookUp bool }

	Consciousness struct {
		MaxTokens, MinRecentCycles          int
		FullCycles, SingleCycles, GroupSize int
	}
	Chat struct{ KeepRecent, SummariseAbove int }

	Spans struct {
		Limit         int
		IncludeActive bool
		Idle          time.Duration
	}
	Threads    struct{ Keep, Partial, Summary float64 }
	Levels     struct{ Start, Max int }
	CrossSpace struct{ OriginLimit, TargetLimit, LongOriginLimit, LongTargetLimit int }
	Compact    struct{ AfterTurns, Keep, SummaryTokens int }
	Relevance  struct {
		Snippet    int
		Embeddings string // names the model that says where lines stand by their meaning; empty: none does
	}
	Read    struct{ Limit int }
	Wait    struct{ Timeout time.Duration }
	Memory  struct{ MaxChars int }
	Prompts struct{ Onboarding int }

	// Price is what a million tokens of the model cost; 0 is unknown.
	Price struct{ Input, Cached, Output float64 }
	// Budget holds tokens; 0 is no limit.
	Budget struct{ AgentPerDay, SpacePerDay, SenderPerDay, PerDay, PerCycle, PerRoot int }
	// Attachments says whether files are fetched, and how much of them at most.
	Attachments struct {
		Fetch, Send   bool
		MaxMB, KeepMB int
	}
	// Voice names the model that hears voice messages; empty: none does.
	Voice struct{ Model string }
	// Summary names the model that condenses accounts of old runs; empty: none does.
	Summary struct{ Model string }
	// Images says how many pictures the model is shown; 0 when it does not see.
	Images struct{ Most, Side int }
	// Retention is how long full model requests are kept; 0 is for ever.
	Retention struct{ Frames time.Duration }
}

// settingsLayer holds what one place of the configuration says about settings, by key.
type settingsLayer map[string]writtenSetting

// writtenSetting is one value as it was written.
type writtenSetting struct {
	text string
	at   Origin
}

// resolveSettings returns the settings that layers give, the most specific last. The
// values have been checked when they were read.
func resolveSettings(layers ...settingsLayer) Settings {
	var s Settings
	for _, k := range settingKeys {
		k.mustSet(&s, k.fallback)
		for _, l := range layers {
			if v, ok := l[k.name]; ok {
				k.mustSet(&s, v.text)
			}
		}
	}
	return s
}

// winningValue returns the most specific value of a key and where it was written.
func winningValue(k settingKey, layers ...settingsLayer) writtenSetting {
	found := writtenSetting{text: k.fallback}
	for _, l := range layers {
		if v, ok := l[k.name]; ok {
			found = v
		}
	}
	return found
}
