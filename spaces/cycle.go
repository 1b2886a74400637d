package spaces

import (
	"time"

	"github.com/trestle-bridge/trestle/internal/money"
)

// A CycleState is the stored state of a cycle.
type CycleState string

// The states of a cycle.
const (
	CycleOpen      CycleState = "open"
	CycleClosed    CycleState = "closed"
	CycleAbandoned CycleState = "abandoned" // given up; its rows went back or died
)

// A ShellState is a state of the shell's state machine.
type ShellState string

// The states of the shell.
const (
	Idle          ShellState = "idle"
	Contemplating ShellState = "contemplating"
	Engaging      ShellState = "engaging"
	Acting        ShellState = "acting"
	WaitingReply  ShellState = "waiting_reply"
	Sleeping      ShellState = "sleeping"
)

// A StateTransition is one move of the shell's machine. It is a value: only the
// shell's transition function makes one, and nothing changes it afterwards.
type StateTransition struct {
	Cycle  CycleID    `json:"cycle"`
	From   ShellState `json:"from"`
	To     ShellState `json:"to"`
	By     string     `json:"by"` // coordinator, agent, user, system
	Reason string     `json:"reason"`
	Stop   StopReason `json:"stop,omitempty"`
	At     time.Time  `json:"at"`
}

// A StopReason says why a cycle ended. Every ended cycle has one.
type StopReason string

// The stop reasons.
const (
	StopCompleted        StopReason = "completed"
	StopSilent           StopReason = "silent" // ended without a tool call: a success
	StopSkipped          StopReason = "skipped"
	StopSuperseded       StopReason = "superseded"
	StopSleeping         StopReason = "sleeping"
	StopWaitingReply     StopReason = "waiting_reply"
	StopWaitingTool      StopReason = "waiting_tool" // the result of a tool wakes the agent
	StopBudget           StopReason = "budget_exhausted"
	StopMaxRetries       StopReason = "max_retries"
	StopMaxSteps         StopReason = "max_steps"
	StopTimeout          StopReason = "timeout"
	StopModelError       StopReason = "model_error"
	StopCancelled        StopReason = "human_cancelled"
	StopCoordinator      StopReason = "coordinator_error"
	StopNoCapableAgent   StopReason = "no_capable_agent"
	StopDependencyFailed StopReason = "dependency_failed"
)

// StopReasons returns all of them, the frequent ones first.
func StopReasons() []StopReason {
	return []StopReason{
		StopCompleted, StopSilent, StopSkipped, StopSuperseded, StopSleeping, StopWaitingReply, StopWaitingTool, StopBudget, StopMaxRetries, StopMaxSteps,
		StopTimeout, StopModelError, StopCancelled, StopCoordinator, StopNoCapableAgent, StopDependencyFailed,
	}
}

// Failed reports whether a run that stopped so did not do what it was woken for.
func (s StopReason) Failed() bool {
	switch s {
	case StopBudget, StopMaxRetries, StopMaxSteps, StopTimeout, StopModelError, StopCoordinator, StopNoCapableAgent, StopDependencyFailed:
		return true
	case StopCompleted, StopSilent, StopSkipped, StopSuperseded, StopSleeping, StopWaitingReply, StopWaitingTool, StopCancelled:
		return false
	}
	return false
}

// TokenUsage is the number of tokens and calls that model calls took.
type TokenUsage struct {
	Prompt    int   `json:"prompt"`
	Cached    int   `json:"cached"` // of Prompt
	Output    int   `json:"output"`
	Estimated int   `json:"estimated"` // our own count of the prompt
	Calls     int   `json:"calls"`
	Cost      int64 `json:"cost,omitempty"` // in millionths of the installation's currency; 0 where no price was known
}

// Total returns the tokens that count against budgets: a cached one costs about
// a tenth of a fresh one, and counts so.
func (u TokenUsage) Total() int { return u.Prompt - u.Cached + u.Cached/10 + u.Output }

// Used returns what counts against budgets.
func (u TokenUsage) Used() money.UsedTokens { return money.UsedTokens{Tokens: u.Total(), Cost: u.Cost} }

// Add returns the sum of both.
func (u TokenUsage) Add(v TokenUsage) TokenUsage {
	return TokenUsage{u.Prompt + v.Prompt, u.Cached + v.Cached, u.Output + v.Output, u.Estimated + v.Estimated, u.Calls + v.Calls, u.Cost + v.Cost}
}

// A Cycle is one wake from start to rest.
type Cycle struct {
	ID     CycleID
	Mind   Mind
	Space  SpaceID // trigger space; empty for a wake without one
	Epoch  int64
	State  CycleState
	Wake   string // the gate's reason
	Active SpaceID
	// Upto is the last event of the trigger space shown so far.
	Upto    int64
	Base    int64 // closed cycles of the mind when it began: the history it sees
	N       int64 // its own number among the closed ones; 0 while open
	Stop    StopReason
	Detail  string
	Rest    string // the rest line
	Usage   TokenUsage
	Denials int
	// Authority is the lowest authority of the people whose words it was shown.
	Authority AuthorityLevel
	Manifest  string // hash of the [Manifest] it was offered
	Prompts   string // versions of prompt sections it was told that are not built in: "identity@2 tools@3"
	Plan      []byte // frame plan of its last step, JSON of hud.Plan
	Started   time.Time
	Ended     time.Time
}

// Phase is the part of a cycle a step belongs to.
type Phase string

// The phases.
const (
	Contemplation Phase = "contemplation"
	Engagement    Phase = "engagement"
)

// A StepState is the state of a step.
type StepState string

// StepDone is the state of every stored step.
const StepDone StepState = "done"

// A Step is one model call and what it decided.
type Step struct {
	Cycle   CycleID
	N       int // from 0
	Phase   Phase
	State   StepState
	Request string // hash of the frame
	Finish  string
	Model   string // that answered in place of the agent's own; empty: its own did
	Usage   TokenUsage
	At      time.Time
	Frame   []byte // plan of the frame, JSON
	// Shown says what the frame was made of; nil when that was not recorded, and
	// when it is not kept any more.
	Shown *FrameSources
	// Expired is true when what the frame was made of is not kept any more.
	Expired bool
}

// FrameSources names the stored parts that a frame was made of, so that the
// same bytes can be put together again: the system text, a keyframe, the cycles
// closed after it, the first turns of its own cycle, and the tail, which is
// found nowhere else.
type FrameSources struct {
	System   string    `json:"-"`        // the text
	Keyframe int64     `json:"keyframe"` // its number; 0 for none
	Turns    int       `json:"turns"`    // of the frame's own cycle
	Tail     string    `json:"tail"`
	Refs     []EventID `json:"refs,omitempty"` // remote events whose words it shows beside the keyframe and the turns
	// Whole is every message after the system text, when the frame had to be made
	// shorter than its parts; nil otherwise.
	Whole []TranscriptTurn `json:"whole,omitempty"`
}

// TurnRole is who speaks in a turn, as the model's chat format has it.
type TurnRole string

// The roles of turns.
const (
	RoleSystem    TurnRole = "system"
	RoleUser      TurnRole = "user"
	RoleAssistant TurnRole = "assistant"
	RoleTool      TurnRole = "tool"
)

// A TranscriptTurn is one message of the consciousness as it was shown: references and
// the rendering it had. It is never rendered again with a later state; only a
// delete or forget redacts it.
type TranscriptTurn struct {
	Cycle  CycleID    `json:"-"`
	N      int        `json:"-"` // order within the cycle, from 0
	Role   TurnRole   `json:"role"`
	Text   string     `json:"text,omitempty"`
	Calls  []TurnCall `json:"calls,omitempty"`  // on assistant turns
	CallID string     `json:"callId,omitempty"` // on tool turns
	Refs   []EventID  `json:"refs,omitempty"`   // remote events whose words it shows
	Tokens int        `json:"tokens,omitempty"` // exact, of the rendering
}

// A TurnCall is one call of an assistant turn.
type TurnCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

// A Keyframe is the result of one compaction of a mind's context: every frame begins with it until
// the next cut.
type Keyframe struct {
	Mind   Mind
	N      int64 // rising within the mind
	Text   string
	Refs   []EventID // remote events whose words it shows
	Tokens int
	// Upto is how many closed cycles it has absorbed; the turns of later ones follow it.
	Upto  int64
	Cause string
	Plan  []byte // what is in it and what was left out, JSON of hud.Plan
	At    time.Time
}

// A ClosedCycle is a cycle as the HUD holds it: its number, its summary, and
// its turns as long as they are shown in full.
type ClosedCycle struct {
	ID     CycleID
	N      int64
	Space  SpaceID
	Rest   string
	Stop   StopReason
	Asked  time.Time // when it began, as the record has it; zero where it asked no model
	Ended  time.Time
	Turns  []TranscriptTurn
	Tokens int
}

// A CycleSummary is a summary by a cheaper model of the summaries of consecutive old cycles
// while nothing else was to do. It is no event: it says nothing that they do not
// say, and it can be made again.
type CycleSummary struct {
	Mind        Mind
	First, Last int64 // numbers of the cycles
	Text        string
	Sources     []EventID  // messages that those cycles were shown; with one of them it goes
	Readers     []EntityID // who could read all of the rooms the cycles were in
	Model       string     // the endpoint's name for who made it
	Space       SpaceID    // for which it is counted, beside everything
	Usage       TokenUsage
	At          time.Time
}
