package spaces

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"
)

// A ToolRunState is the state of a call of an outside tool.
type ToolRunState string

// The states of tool runs.
const (
	ToolAsked     ToolRunState = "awaiting_approval" // a person has to allow it, or to choose for it
	ToolReady     ToolRunState = "ready"             // recorded, not begun
	ToolRunning   ToolRunState = "running"
	ToolDone      ToolRunState = "done"
	ToolFailed    ToolRunState = "failed"
	ToolDenied    ToolRunState = "denied"    // a person refused it
	ToolExpired   ToolRunState = "expired"   // no person decided in time
	ToolCancelled ToolRunState = "cancelled" // a person ended it
	ToolUnknown   ToolRunState = "unknown"   // it was begun, and may have happened
)

// toolRunMoves are the states that may follow each state. A run goes back to ready when
// the process that ran it ended and the tool may be called twice. It waits for a person
// again when the tool asks for a choice before it goes on.
var toolRunMoves = map[ToolRunState][]ToolRunState{
	ToolAsked:   {ToolReady, ToolDenied, ToolExpired, ToolCancelled},
	ToolReady:   {ToolRunning, ToolCancelled},
	ToolRunning: {ToolReady, ToolAsked, ToolDone, ToolFailed, ToolCancelled, ToolUnknown},
}

// MayBecome reports whether a run in this state may enter the next one.
func (s ToolRunState) MayBecome(next ToolRunState) bool {
	return slices.Contains(toolRunMoves[s], next)
}

// Ended reports whether the run has come to its end.
func (s ToolRunState) Ended() bool { return len(toolRunMoves[s]) == 0 }

// A ToolRun is one call of an outside tool, from the commit of the step that asked for it
// to its result. It is recorded before it begins, so that a tool that must not be called
// twice never is.
type ToolRun struct {
	ID     string // unique for ever; sent to tool servers as well
	Cycle  CycleID
	Step   int
	Call   string // the model's id of the call, unique within the cycle
	Mind   Mind
	Space  SpaceID  // that was active
	Thread ThreadID // there, of what woke the cycle
	Asker  EntityID // whose message it was asked for; empty: none
	Tool   string   // as the model is offered it
	Server string   // where the tool is from
	Args   string   // JSON
	Risk   ToolRisk
	// Repeats is true when the tool may be called again after a process that ran it ended.
	Repeats bool
	State   ToolRunState

	ToolApproval
	ToolLease
	Input    ToolInput
	Proposed time.Time
	Started  time.Time
	Ended    time.Time

	Result  string // what the model may read of it, whole; data, never instructions
	Detail  string // the reason of a failure, for the operator
	Readers []EntityID
	// Parked is true when its cycle has ended before it: its end wakes the mind.
	Parked bool
	// Shown is true when its result is in the transcript.
	Shown bool
}

// A ToolApproval is what a person decides about a tool run. The zero value is that of a run
// that needs no decision.
type ToolApproval struct {
	Code      string    // by which people name the run
	Approvers []string  // who may decide: the words below, or PLATFORM:USER; empty: who asked for it, in their direct chat, and admins
	Expires   time.Time // when it is too late
	DecidedBy EntityID
}

// A ToolInput is a choice that a tool asks a person for before it goes on. The zero value is
// that of a run that asks for none.
type ToolInput struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
	State    string   `json:"state,omitempty"`  // of the tool's server, which gets it back; not for a model
	Choice   int      `json:"choice,omitempty"` // of a person, from 1; 0: none yet
}

// Words for approvers.
const (
	ApproverRequester = "requester"
	ApproverAdmins    = "admins"
	ApproverOwner     = "owner"
)

// A ToolLease says which process runs a tool.
type ToolLease struct {
	Holder  string
	Until   time.Time // when another process takes the holder for ended
	Attempt int       // from 1
}

// ToolArgsHash returns the hash by which an approval names arguments.
func ToolArgsHash(tool, args string) string {
	sum := sha256.Sum256([]byte(tool + "\x00" + args))
	return hex.EncodeToString(sum[:8])
}

// A ToolRunEnd is how a run ended.
type ToolRunEnd struct {
	ID     string
	Holder string // that ran it; empty for a run that did not run
	State  ToolRunState
	Result string
	Detail string
	At     time.Time
	// What follows is of a run that waits for a person's choice: which, by whom and how
	// long, and the notice by which people are asked.
	Input ToolInput
	ToolApproval
	Notice RoomNotice
}

// A ToolDecision is a person's decision about a run that awaits one.
type ToolDecision struct {
	Code   string
	By     EntityID
	Allow  bool
	Always bool // also for later calls of the tool by the agent in that space
	Choice int  // what the tool asked for, from 1; 0 for a run that has not begun
	// Outcome is what the request says at its end once this has been decided.
	Outcome string
	// Say is true when the space where the call was asked for is told the outcome by a
	// message as well: the decision was made elsewhere.
	Say bool
	At  time.Time
}

// RequestKey returns the key of the notice by which people are asked to decide about the
// run.
func (r *ToolRun) RequestKey() string {
	if r.Input.Question != "" {
		return "input|" + r.ID + "|" + strconv.Itoa(r.Attempt)
	}
	return "approval|" + r.ID
}

// StatusKey returns the key of the notice by which people are told that the run's cycle
// waits for tools.
func (r *ToolRun) StatusKey() string { return "working|" + string(r.Cycle) }

// A ToolGrant says that a person always allows an agent a tool in a space.
type ToolGrant struct {
	Agent AgentID   `json:"agent"`
	Space SpaceID   `json:"space"`
	Tool  string    `json:"tool"`
	By    EntityID  `json:"by"`
	Since time.Time `json:"since"`
}
