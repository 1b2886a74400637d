package hud

import (
	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// A RoomView is a mind's place in a room: the room, its uplink, and the periods it
// was there.
type RoomView struct {
	Room   *Room
	Uplink spaces.Uplink
	Spans  []spaces.ConnectionSpan // newest first
	// Short is the space's name in acts, "s1". Minted by the shell in the order of
	// the uplinks; the same for the mind's whole life.
	Short string
	// Weight is what the room counts beside the active one, against others that are
	// not (SEQ-24, SEQ-43). Default: 1
	Weight float64

	across   bool              // of another circle, see [Across]
	audience []spaces.EntityID // who can read what the mind says
}

// Limits are the sizes of a view. The zero value works.
type Limits struct {
	ContextTokens    int // the model's window. Default: 32000
	MaxOutputTokens  int // kept free for the answer. Default: an eighth of the window, at most 4096
	MaxLogTokens     int // consciousness.max_tokens (CON-18). Default: 100000
	RecallTokens     int // of recalled lines. Default: 1500
	FullCycles       int // newest closed cycles that a cut leaves verbatim (CON-28). Default: 10
	MinRecentCycles  int // of these, kept even when they crowd the keyframe (CON-19). Default: 10
	KeepTurns        int // of these, kept by every cut as long as they fit at all (PRD-6.4). Default: 4
	SummaryTokens    int // of what a cut by turns leaves of the turns it absorbs, at least (PRD-6.4). Default: 300
	HighWater        int // percent of the budget at which to cut. Default: 80
	LowWater         int // percent of the budget left by such a cut. Default: 50
	NewestShare      int // percent of a history's tokens for its newest lines. Default: 20
	SpansShown       int // newest spans whose lines are rendered by age (SEQ-29). Default: 5
	SummariesSingle  int // newest cycles that are not grouped: in full, or a summary each (CON-28). Default: 50
	SummariesGrouped int // cycles in one group. Default: 30

	Guard            int                  // percent of the window that fixed text, keyframe, turns and tail never pass (PRD-6.4). Default: 80
	KeepRecent       int                  // newest lines of the active room that a keyframe shows before it chooses (SEQ-37). Default: 15
	SummariseAbove   int                  // lines up to which it shows all of them so (SEQ-39). Default: 20
	ActiveSpanBeside bool                 // the open span is none of SpansShown, but shown beside them. Default: one of them
	Snippet          int                  // characters of an account that are compared with what is asked (CON-26). Default: 500
	LevelStart       int                  // level of compression at which elements begin, 1 to 5 (SEQ-47). Default: 1
	LevelMax         int                  // the highest; what does not fit at it is left out. Default: 5
	Threads          *ConversationWeights // of conversations; nil: [DefaultShares]
}

func (l Limits) withDefaults() Limits {
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

// A View is one mind looking at its rooms, at one moment of its log. It may be
// kept from cycle to cycle; the shell appends to Current, moves it to Closed,
// and sets Keyframe after a cut.
//
// A View reads its rooms and is not safe for concurrent use with them.
type View struct {
	Agent  spaces.AgentID
	Circle spaces.CircleID
	Seats  []RoomView
	Beyond []RoomView // in rooms of other circles, see [Across]; looked through, never part of the keyframe
	Active spaces.SpaceID
	Branch spaces.BranchID    // of the rooms, on which the agent acts; empty is the primary one
	Self   *spaces.InnerState // nil is empty
	Plans  []spaces.Timer     // that have not fired, the next first, due in the location they are shown in
	System string             // the system message
	// FixedTokens are those of System and of the tools, counted by the shell.
	FixedTokens int
	Keyframe    *spaces.Keyframe        // nil before the first cut
	Earlier     []spaces.ClosedCycle    // those the keyframe absorbed, without turns, in order of N; needed by Cut alone
	Digests     []spaces.CycleSummary   // of groups of them; shown in place of their accounts
	Closed      []spaces.ClosedCycle    // those after it, with turns, in order of N
	Current     []spaces.TranscriptTurn // of the open cycle
	Limits      Limits
	Counter     *Counter
	Weights     *recall.Weights // nil: the default ones
	// Asked is where the words stand that old lines are recalled by; nil: unknown, and
	// no line is found by its meaning.
	Asked spaces.EmbeddingVector

	bounded bool // bounds stand for counts, while a cut tries whether all fits anyway
}

// Budget returns how many tokens all messages but the fixed ones may have.
func (v *View) Budget() int {
	l := v.Limits.withDefaults()
	return max(0, min(l.ContextTokens-l.MaxOutputTokens-v.FixedTokens, l.MaxLogTokens))
}

// Seat returns the mind's seat in the space, or nil.
func (v *View) Seat(id spaces.SpaceID) *RoomView {
	for i := range v.Seats {
		if v.Seats[i].Uplink.Space == id {
			return &v.Seats[i]
		}
	}
	return nil
}

func (v *View) me() spaces.EntityID { return v.Agent.Entity() }

// label returns the room's name as lines have it: its cleaned name, with its
// short id when another room of the view is called the same.
func (v *View) label(s *RoomView) string {
	name, key := s.Room.called()
	alike := func(o *RoomView) bool {
		_, other := o.Room.called()
		return o.Short != s.Short && other == key
	}
	for i := range v.Seats {
		if alike(&v.Seats[i]) {
			return name + "~" + s.Short
		}
	}
	for i := range v.Beyond {
		if s.across && alike(&v.Beyond[i]) {
			return name + "~" + s.Short
		}
	}
	return name
}

// called returns the room's cleaned name, and what names that look like it have in
// common.
func (r *Room) called() (name, key string) {
	if now := r.Name(); r.named.key == "" || r.named.from != now {
		clean := CleanName(now)
		r.named = nameCache{now, clean, skeleton(clean)}
	}
	return r.named.name, r.named.key
}

// nameCache is the name of a room as it was last worked out.
type nameCache struct{ from, name, key string }

// eachRefs calls f with the messages that the keyframe shows, and each turn.
func (v *View) eachRefs(f func([]spaces.EventID)) {
	if v.Keyframe != nil {
		f(v.Keyframe.Refs)
	}
	for t := range v.turns() {
		f(t.Refs)
	}
}
