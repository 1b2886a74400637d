package hud

// ViewLimits are the sizes of a view. The zero value works.
type ViewLimits struct {
	ContextTokens    int // the model's window. Default: 32000
	MaxOutputTokens  int // kept free for the answer. Default: an eighth of the window, at most 4096
	MaxLogTokens     int // consciousness.max_tokens. Default: 100000
	RecallTokens     int // of recalled lines. Default: 1500
	FullCycles       int // newest closed cycles that a cut leaves verbatim. Default: 10
	MinRecentCycles  int // of these, kept even when they crowd the keyframe. Default: 10
	KeepTurns        int // of these, kept by every cut as long as they fit at all. Default: 4
	SummaryTokens    int // of what a cut by turns leaves of the turns it absorbs, at least. Default: 300
	HighWater        int // percent of the budget at which to cut. Default: 80
	LowWater         int // percent of the budget left by such a cut. Default: 50
	NewestShare      int // percent of a history's tokens for its newest lines. Default: 20
	SpansShown       int // newest spans whose lines are rendered by age. Default: 5
	SummariesSingle  int // newest cycles that are not grouped: in full, or a summary each. Default: 50
	SummariesGrouped int // cycles in one group. Default: 30

	Guard            int                  // percent of the window that fixed text, keyframe, turns and tail never pass. Default: 80
	KeepRecent       int                  // newest lines of the active room that a keyframe shows before it chooses. Default: 15
	SummariseAbove   int                  // lines up to which it shows all of them so. Default: 20
	ActiveSpanBeside bool                 // the open span is none of SpansShown, but shown beside them. Default: one of them
	Snippet          int                  // characters of an account that are compared with what is asked. Default: 500
	LevelStart       int                  // level of compression at which elements begin, 1 to 5. Default: 1
	LevelMax         int                  // the highest; what does not fit at it is left out. Default: 5
	Threads          *ConversationWeights // of conversations; nil: [DefaultConversationWeights]
}

func (l ViewLimits) withDefaults() ViewLimits {
	set := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	set(&l.ContextTokens, 32000)
	set(&l.MaxOutputTokens, min(4096, l.ContextTokens/8))
	set(&l.MaxLogTokens, 100000)
	set(&l.RecallTokens, 1500)
	set(&l.FullCycles, 10)
	set(&l.MinRecentCycles, 10)
	set(&l.KeepTurns, 4)
	set(&l.SummaryTokens, 300)
	set(&l.HighWater, 80)
	set(&l.LowWater, 50)
	set(&l.NewestShare, 20)
	set(&l.SpansShown, 5)
	set(&l.SummariesSingle, 50)
	set(&l.SummariesGrouped, 30)
	set(&l.Guard, 80)
	set(&l.KeepRecent, 15)
	set(&l.SummariseAbove, 20)
	set(&l.Snippet, 500)
	set(&l.LevelStart, 1)
	set(&l.LevelMax, maxLevel)
	return l
}
