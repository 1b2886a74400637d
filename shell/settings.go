package shell

import (
	"context"
	"log/slog"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/spaces"
)

// An Agent is who thinks: identity, model, grants. Its values do not change; for
// other ones the agent is replaced, see [Shell.SetAgents].
type Agent struct {
	ID      spaces.AgentID
	Name    string
	Persona string
	Model   llm.ChatModel
	// Embedder computes embeddings for agents with Settings.MeaningModel. Default: none
	// are computed.
	Embedder llm.Embedder
	// System is the system message, instead of the one made of the prompts, the
	// name and the persona. Default: that one.
	System string
	// Price returns what a million tokens of the model of that name at the agent's
	// endpoint or among its fallbacks cost; zero when that is not known. Default: it is not.
	Price func(model string) money.TokenPrice
}

// usage returns the usage of a call of the model of that name, with its cost.
func (a *Agent) usage(model string, u llm.TokenUsage) spaces.TokenUsage {
	used := spaces.TokenUsage{Prompt: u.Prompt, Cached: u.Cached, Output: u.Output, Calls: 1}
	if a.Price != nil {
		used.Cost = a.Price(model).Cost(u.Prompt, u.Cached, u.Written, u.Output)
	}
	return used
}

// BudgetLimits are what cycles may use, in weighted tokens and in money.
type BudgetLimits struct {
	Cycle  money.SpendLimit // one cycle
	Root   money.SpendLimit // one causal chain
	Sender money.SpendLimit // the messages of one person, a day
	Agent  money.SpendLimit // one agent, a day
	Space  money.SpendLimit // one space, a day
	All    money.SpendLimit // all agents, a day

	ToolsPerDay    int // calls of outside tools by one agent in a day of UTC; 0: no limit
	ToolsPerMinute int // the same in a minute, half for the tier marketplace; 0: no limit
}

// Priced returns the limits for a model whose price is known, or is not.
func (b BudgetLimits) Priced(known bool) BudgetLimits {
	return BudgetLimits{
		Cycle: b.Cycle.Priced(known), Root: b.Root.Priced(known), Sender: b.Sender.Priced(known),
		Agent: b.Agent.Priced(known), Space: b.Space.Priced(known), All: b.All.Priced(known),
		ToolsPerDay: b.ToolsPerDay, ToolsPerMinute: b.ToolsPerMinute,
	}
}

// daily reports whether the use of an agent, a space or all agents is limited by the day.
func (b BudgetLimits) daily() bool { return b.Agent.Limited() || b.Space.Limited() || b.All.Limited() }

// A PhasePolicy says whether an agent thinks in a model call of its own before it acts.
type PhasePolicy string

// The policies for phases.
const (
	// PhasesAuto thinks first where the agent is not addressed: there the question is
	// whether to speak at all.
	PhasesAuto PhasePolicy = "auto"
	PhasesTwo  PhasePolicy = "two"
	PhasesOne  PhasePolicy = "one"
)

// AgentSettings are the knobs of one agent in one space, already resolved: most
// specific wins. Every field has its default in [DefaultSettings].
type AgentSettings struct {
	ModelName     string
	ContextTokens int                         // the model's window
	MaxOutput     int                         // tokens an answer may take
	MaxSteps      int                         // model calls in one cycle
	MaxRoomActs   int                         // acts on rooms in one cycle
	Phases        PhasePolicy                 // whether thinking is a call of its own; empty: auto
	Tags          bool                        // the tags dialect instead of tools
	Without       []string                    // acts taken from the agent there; system acts cannot be. Nobody changes it
	DeniedTools   []string                    // names and patterns of outside tools taken from it there
	Told          bool                        // an entry of the configuration is about the room or its server
	Wake          spaces.WakePolicy           // the agent's own word on what wakes it there; empty: the space's
	Links         spaces.LinkPolicy           // which addresses stay links there; empty: by what the frame held
	LinkHosts     []string                    // whose web pages stay links but under LinksNone
	GreetPlainly  bool                        // nothing is looked up when only greetings woke it
	PlainText     PlainTextPolicy             // what becomes of an answer that is no tool call; empty: deliver once asked
	SendStale     bool                        // on_stale: send
	Streaming     spaces.StreamingPolicy      // how people see an answer grow
	Feedback      spaces.FeedbackMode         // how people rate what it says there; empty: not at all
	Acknowledge   string                      // emoji of the reaction that shows people that their message is worked on; empty: none does
	WaitTimeout   time.Duration               // for a reply
	Histories     hud.HistoryLimits           // shown when words for another space are composed
	Parallel      int                         // cycles of one mind at a time
	Expires       time.Duration               // after which a message is not sent any more; 0 is never
	OnUnknown     spaces.UnknownOutcomePolicy // what happens to a send with an unknown outcome
	RecallTokens  int
	Across        bool                    // a direct chat knows what its person has read in other circles (S5)
	Pictures      int                     // shown with one call, at most; 0 for a model that does not see
	PictureSide   int                     // pixels of their longest side, at most
	HighWater     float64                 // share of the budget at which the context is cut
	LowWater      float64                 // share it is cut down to
	FullCycles    int                     // newest closed cycles that a cut leaves verbatim
	MinCycles     int                     // of these, kept even when they crowd the summaries
	LogTokens     int                     // of keyframe and log together (CON-18)
	SingleCycles  int                     // newest cycles in full or with a summary line each
	GroupSize     int                     // older ones that share a line
	SpansShown    int                     // newest connection spans rendered by age (SEQ-29)
	SpanBeside    bool                    // the open span is shown beside these, not as one of them
	KeepRecent    int                     // newest lines of the active room shown before any is chosen (SEQ-37)
	SummariseFrom int                     // lines up to which all of them are (SEQ-39)
	Threads       hud.ConversationWeights // of conversations (SEQ-68, SEQ-69, SEQ-70)
	LevelStart    int                     // levels of compression, 1 to 5 (SEQ-47)
	LevelMax      int
	Guard         float64        // share of the window that is never passed (PRD-6.4)
	Snippet       int            // characters of an account that are compared with what is asked
	Weight        float64        // of the room beside the active one (SEQ-24, SEQ-43); 1 is as others
	Zone          *time.Location // of the room's clocks; nil: that of [Options.Now]
	ReadLimit     int            // lines one read shows, when the agent does not say
	MemoryChars   int            // of one memory
	Onboarding    int            // tokens that setting up a room may take of a frame; 0: nothing is offered or set up
	CompactAfter  int            // closed cycles after which a rested mind is cut (PRD-6.4)
	CompactKeep   int            // newest ones that every cut leaves verbatim
	SummaryTokens int            // of what such a cut leaves of the others, at least
	DigestModel   string         // the endpoint's model that condenses old accounts; empty: none
	MeaningModel  string         // the endpoint's model that says where words stand; empty: none
	CacheTTL      time.Duration  // how long a provider's cache lives
	Budget        BudgetLimits
	Ambient       AmbientPolicy
}

// DefaultSettings returns the defaults of REQUIREMENTS 8 and DESIGN 9.
func DefaultSettings() AgentSettings {
	return AgentSettings{
		ContextTokens: 32_000, MaxOutput: 2_000, MaxSteps: 12, MaxRoomActs: 8, GreetPlainly: true, Parallel: 8,
		WaitTimeout: 5 * time.Minute, Histories: hud.HistoryLimits{Origin: 10, Target: 15, LongOrigin: 5, LongTarget: 10}, Expires: time.Hour, OnUnknown: spaces.ResendOnce, RecallTokens: 1_500, Across: true, PictureSide: 1024, HighWater: 0.8, LowWater: 0.5, FullCycles: 10, MinCycles: 10,
		LogTokens: 100_000, SingleCycles: 50, GroupSize: 30, SpansShown: 5, KeepRecent: 15, SummariseFrom: 20, Threads: hud.DefaultConversationWeights(),
		LevelStart: 1, LevelMax: 5, Guard: 0.8, Snippet: 500, Weight: 1, ReadLimit: 50, MemoryChars: 200, Onboarding: 800,
		CompactAfter: 8, CompactKeep: 4, SummaryTokens: 300, CacheTTL: 5 * time.Minute,
		Budget: BudgetLimits{
			Cycle: money.SpendLimit{Tokens: 400_000}, Sender: money.SpendLimit{Tokens: 10_000_000},
			Agent: money.SpendLimit{Tokens: 50_000_000}, Space: money.SpendLimit{Tokens: 50_000_000}, All: money.SpendLimit{Tokens: 50_000_000},
			ToolsPerDay: 1000, ToolsPerMinute: 60,
		},
	}
}

// An EventPublisher carries typed live events to readers. Publish never
// blocks; an event without a reader is dropped.
type EventPublisher interface {
	Publish(kind, content string, metadata map[string]any, at time.Time)
}

// A TypingNotifier shows people that an agent is at it.
type TypingNotifier interface {
	// Active tells that a run is under way. It is called every few seconds for the first two
	// minutes, and never blocks. rested delivers the end of the run: true when it waits for a
	// person, an approval or a tool. It is closed without a value when this process does not
	// end the run.
	Active(s spaces.RunSign, rested <-chan bool)
}

// A MediaAccess says what agents see, hear and send beside text.
type MediaAccess struct {
	Sight ImageSource         // nil: no model sees
	Ears  TranscriptionStatus // nil: voices are not transcribed
	Files bool                // agents may send files
	Texts DocumentSource      // what files say; nil: agents cannot read them
}

// A ProgressDisplay shows people what a run does while it goes on.
type ProgressDisplay struct {
	Presence TypingNotifier // nil: no typing is shown
	Drafts   DraftDisplay   // nil: no drafts are shown
}

// Options are the parts a shell is made of.
type Options struct {
	Inbox   WakeQueue
	Journal CycleStore
	Record  LogReader
	Halter  RunStopper
	// Forgetter is asked by [Shell.Forget].
	Forgetter MemoryEditor
	Digests   SummaryStore // nil: old accounts stay as they are
	// Meanings is nil where old lines are found by words alone.
	Meanings EmbeddingStore
	Agents   []Agent
	// Prompts says what agents are told. Default: what is built in.
	Prompts PromptSource
	// Settings returns the resolved knobs; the space may be empty.
	Settings func(spaces.AgentID, spaces.SpaceID) AgentSettings
	Bus      EventPublisher
	ProgressDisplay
	MediaAccess
	// SamePerson returns all entities that are the same person as one, without that one.
	// Default: there are none.
	SamePerson func(ctx context.Context, who spaces.EntityID) ([]spaces.EntityID, error)
	Outside    OutsideAccess
	Counter    *hud.TokenCounter
	// Holder names this process in leases; unique for ever.
	Holder string
	// NewID mints ids that are unique for ever and rise with time.
	NewID func() string
	// Nonce mints the secret word that marks an act in the tags dialect.
	Nonce  func() string
	Logger *slog.Logger
	// Now is what time it is for the agents. Default: time.Now.
	Now func() time.Time
	// Cycles is how many cycles may run at once. Default: 1024.
	Cycles int
	// Poll is how often the record is polled for work without a notification. Default: 1 s.
	Poll time.Duration
	// Lease is how long a claim lives without a commit. Default: 10 min, longer
	// than the longest model call.
	Lease time.Duration
	// Minds is how many minds are kept in memory between cycles, a quarter of them
	// such as are quickly read again. Default: 1024.
	Minds int
}

// limits returns the sizes of the agent's view.
func (s AgentSettings) limits() hud.ViewLimits {
	return hud.ViewLimits{
		ContextTokens: s.ContextTokens, MaxOutputTokens: s.MaxOutput, RecallTokens: s.RecallTokens,
		MaxLogTokens: s.LogTokens, SpansShown: s.SpansShown, SummariesSingle: s.SingleCycles, SummariesGrouped: s.GroupSize,
		FullCycles: s.FullCycles, MinRecentCycles: s.MinCycles, KeepTurns: s.CompactKeep, SummaryTokens: s.SummaryTokens,
		HighWater: int(s.HighWater * 100), LowWater: int(s.LowWater * 100),
		Guard: int(s.Guard * 100), KeepRecent: s.KeepRecent, SummariseAbove: s.SummariseFrom, ActiveSpanBeside: s.SpanBeside,
		Snippet: s.Snippet, LevelStart: s.LevelStart, LevelMax: s.LevelMax, Threads: &s.Threads,
	}
}
