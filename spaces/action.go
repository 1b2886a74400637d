package spaces

import (
	"strconv"
	"time"
)

// An ActionKind is the kind of an action on a platform.
type ActionKind string

// The kinds of action.
const (
	ActSend   ActionKind = "send"
	ActEdit   ActionKind = "edit"
	ActDelete ActionKind = "delete"
	ActReact  ActionKind = "react"
)

// An ActionState is the state of an action in the outbox.
type ActionState string

// The states of an action. The last four are terminal.
const (
	ActionReady     ActionState = "ready"
	ActionSending   ActionState = "sending"
	ActionUnknown   ActionState = "unknown" // may have been accepted; held for a person, or resent once
	ActionSent      ActionState = "sent"
	ActionFailed    ActionState = "failed"
	ActionExpired   ActionState = "expired"
	ActionCancelled ActionState = "cancelled"
)

// Why an action ended when its time was over.
const (
	ReasonLate        = "It could not be delivered in time and is no longer sent."
	ReasonLateUnknown = "It was sent, and until its time was over the platform did not say whether it arrived. It is no longer sent."
)

// UnknownOutcomePolicy says what happens to a send whose outcome is unknown.
type UnknownOutcomePolicy string

// The policies for unknown outcomes.
const (
	ResendOnce UnknownOutcomePolicy = "resend_once" // once for each send whose outcome is unknown, when the platform answers again
	Hold       UnknownOutcomePolicy = "hold"
)

// An Action is one decided effect on one chat: a row of the outbox.
type Action struct {
	ID      ActionID
	Cycle   CycleID
	Ordinal int // dense from 0 within the cycle
	Kind    ActionKind
	Space   SpaceID
	Thread  ThreadID // as the chat calls it; empty for the chat itself
	// RoomThread is the room's thread that it belongs to where that did not begin in
	// this chat; then Thread is empty, and the sender finds the thread.
	RoomThread ThreadID
	Event      EventID // the event it delivers, or that asks for it
	Account    string
	Chat       string
	Agent      AgentID
	Text       string         // CommonMark for send and edit, emoji for react
	Files      []MessageFile  // for send: each goes behind the words, as a message of its own
	Choices    []ChoiceButton // for send, and for edit of a notice: buttons below the words
	Voice      string         // whose words are carried from another chat of the space; empty for an agent's own
	Via        string         // with Voice: the platform they were said on
	Portrait   string         // with Voice: the address of their picture; may be empty
	Target     EventID        // message to edit, delete, react to, or answer
	Recipient  string         // for send: see [ProcessNotice.To]
	Draft      DraftID        // for send: what people see of it already, which its first part replaces; empty: nothing
	Policy     UnknownOutcomePolicy

	State     ActionState
	Part      int // parts already accepted
	Attempts  int // of the current part
	NotBefore time.Time
	Expires   time.Time
	Created   time.Time
	Refs      []MessageRef // one an accepted part
	// Resent is true when an unknown part was sent a second time.
	Resent bool
	Code   string // why it failed
	// Problem is the code of the problem that Code belongs to, for operators; empty
	// when there is none. The store derives it.
	Problem string
}

// A MessageFile is a file of a message to be sent: one that was attached to a message
// the agent saw, or one that the agent wrote.
type MessageFile struct {
	Account string `json:"account,omitempty"` // on which it was seen; empty for one with Data
	FileAttachment
	Data []byte `json:"data,omitempty"` // its bytes, of what was never on a platform
}

// A RoomEffect is an act of the agent on a room, as the shell decides it. The
// store turns it into an event and one action for each chat of the room, in one
// transaction.
type RoomEffect struct {
	Kind  ActionKind
	Space SpaceID
	// Branch is the branch of the room's log that records it; empty is the primary one. An
	// action on another branch reaches no platform and wakes no agent: it is a rehearsal.
	Branch  BranchID
	Thread  ThreadID
	ID      EventID       // of the event it becomes
	Target  EventID       // message answered, edited, deleted or reacted to
	Text    string        // words or emoji
	Files   []MessageFile // for send; then Text may be empty
	Chain   CausalChain
	Origin  *SendOrigin
	Mention []EntityID
	// Broadcast shows words in a thread in the room itself as well, where the
	// platform can.
	Broadcast bool
	// Seen is the last event of Space the agent had been shown; with Strict set, a
	// commit after others have spoken in the thread fails with [ErrStale].
	Seen   int64
	Strict bool
	// MaxRun is how many messages of agents may follow each other before a person
	// speaks; a commit of one more fails with [ErrAgentRun]. 0: no bound.
	MaxRun  int
	Policy  UnknownOutcomePolicy
	Expires time.Time
	// Wait is the answer that the run waits for; the run ends with this step. Nil: none.
	Wait *WaitSpec
	// Feedback is how people may rate it, for send; empty: not at all.
	Feedback FeedbackMode
}

// An OutsideMessage is a message that a program of a person sends in the name of an agent.
type OutsideMessage struct {
	Agent  AgentID
	Effect RoomEffect // of kind ActSend
	At     time.Time
}

// DraftID names a draft. It follows from the step whose message the draft may
// become, so that a step that is thought again has the same one; unique for ever,
// and is never parsed.
type DraftID string

// DraftOf returns the id of a step's draft.
func DraftOf(cycle CycleID, step int) DraftID {
	return DraftID(string(cycle) + "/" + strconv.Itoa(step))
}

// A MessageDraft is the beginning of an agent's message, shown in one chat while the
// model writes it. It is not decided and in no log: the step's commit keeps it or takes
// it back.
type MessageDraft struct {
	ID      DraftID
	Cycle   CycleID
	Step    int
	Agent   AgentID
	Space   SpaceID
	Account string
	Chat    string
	Thread  ThreadID // as the chat calls it
	Target  EventID  // message answered
	Text    string   // CommonMark so far, whole sentences
	Show    StreamingPolicy
}

// An AckReaction is a reaction on a person's message which shows that a run works on it. It
// is no event and no act of the agent: it is taken back once the run has answered in the
// chat, or is over.
type AckReaction struct {
	Run     CycleID
	Event   EventID // the message
	Message MessageRef
	Thread  ThreadID // of the message
	Emoji   string
}

// StreamingPolicy says how an answer is shown while a model writes it.
type StreamingPolicy string

// The ways to show an answer that grows; any other policy shows nothing.
const (
	StreamAuto   StreamingPolicy = "auto"   // as a draft where people can stop it, else as a message that is edited; short ones not at all
	StreamDrafts StreamingPolicy = "drafts" // as a draft, where the chat has that
	StreamEdits  StreamingPolicy = "edits"  // as a message that is edited
)

// Shows reports whether anything is shown before an answer is whole.
func (p StreamingPolicy) Shows() bool {
	return p == StreamDrafts || p.Posts()
}

// Posts reports whether what is shown may be a message.
func (p StreamingPolicy) Posts() bool { return p == StreamAuto || p == StreamEdits }
