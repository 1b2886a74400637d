package spaces

import "time"

// An EventBody is the content of an event. The set is closed; every switch over it lists
// all of them.
//
//sumtype:decl
type EventBody interface {
	// Kind names the body in stored data.
	Kind() EventKind
	body()
}

// MessagePosted is a message.
type MessagePosted struct {
	Text string `json:"text"` // CommonMark
	// Ref is the message on its platform; zero for an agent's message, whose
	// places are told by [Delivered].
	Ref         MessageRef       `json:"ref,omitzero"`
	ReplyRef    MessageRef       `json:"replyRef,omitzero"` // as the platform named it
	Mentions    []EntityID       `json:"mentions,omitempty"`
	ToUs        bool             `json:"toUs,omitempty"` // the platform marks it as meant for its account
	Command     string           `json:"command,omitempty"`
	Args        string           `json:"args,omitempty"`
	Attachments []FileAttachment `json:"attachments,omitempty"`
	Forwarded   string           `json:"forwarded,omitempty"`
	Viewing     string           `json:"viewing,omitempty"` // the chat that its author had open beside this one
	// ThreadTitle is what the platform calls the event's thread beside the message, which
	// may be the title that the thread began with; empty when it does not say.
	ThreadTitle string `json:"threadTitle,omitempty"`
	Broadcast   bool   `json:"broadcast,omitempty"` // said in a thread and shown in the room itself as well
	// Past is true for messages from before the account was connected that were written
	// into the log later, from history or an export, and for those that were handled
	// before the database was restored. They wake no agent, and do not make their authors
	// members of the room.
	Past bool `json:"past,omitempty"`
	// Origin is the space that a cross-space message came from.
	Origin *SendOrigin `json:"origin,omitempty"`
}

// FileAttachment is a file seen on a message.
type FileAttachment struct {
	Kind string `json:"kind"`
	ID   string `json:"id"` // opaque, for the adapter
	Name string `json:"name,omitempty"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"` // bytes; 0 unknown
}

// Title returns what a file is called in words: its kind and its name, if it has one.
func (a FileAttachment) Title() string {
	if a.Name == "" {
		return a.Kind
	}
	return a.Kind + " " + a.Name
}

// SendOrigin tells which cycle, woken where, sent a message to another space.
type SendOrigin struct {
	Space SpaceID `json:"space"`
	Event EventID `json:"event,omitempty"`
	Cycle CycleID `json:"cycle"`
	Why   string  `json:"why,omitempty"`
}

// MessageEdited replaces the words of a message, and what it carries if that is named.
type MessageEdited struct {
	Target EventID    `json:"target,omitempty"` // empty when only the platform's name is known
	Ref    MessageRef `json:"ref,omitzero"`
	Text   string     `json:"text"`
	// Attachments are all that the message carries from now on. Nil leaves them as they
	// are; an empty slice removes them. Their ids are those of Ref's account.
	Attachments []FileAttachment `json:"attachments,omitzero"`
}

// MessageDeleted removes a message from every later view.
type MessageDeleted struct {
	Target EventID    `json:"target,omitempty"`
	Ref    MessageRef `json:"ref,omitzero"`
}

// ReactionAdded is an emoji put on a message.
type ReactionAdded struct {
	Target EventID    `json:"target,omitempty"`
	Ref    MessageRef `json:"ref,omitzero"`
	Emoji  string     `json:"emoji"`
}

// ReactionRemoved is an emoji taken back.
type ReactionRemoved struct {
	Target EventID    `json:"target,omitempty"`
	Ref    MessageRef `json:"ref,omitzero"`
	Emoji  string     `json:"emoji"`
	// Everybody means that the reactions of all senders are removed; an empty Emoji is then
	// every one.
	Everybody bool `json:"everybody,omitempty"`
}

// VoiceTranscribed tells what was said in a voice that a message carries. Machines hear
// it, so it may be wrong; it takes nothing from what was written.
type VoiceTranscribed struct {
	Target EventID    `json:"target,omitempty"`
	Ref    MessageRef `json:"ref,omitzero"`
	File   string     `json:"file"`  // which attachment, as its platform names it
	Text   string     `json:"text"`  // plain
	Model  string     `json:"model"` // that heard it
}

// MemberJoined means that an entity is now in the space.
type MemberJoined struct {
	Who EntityID `json:"who"`
}

// MemberLeft means that an entity is no longer in the space.
type MemberLeft struct {
	Who EntityID `json:"who"`
	By  EntityID `json:"by,omitempty"`
}

// SpaceRenamed is a new title of the space, or of the event's thread.
type SpaceRenamed struct {
	Title string `json:"title"`
}

// MessagePinned means that a message was pinned.
type MessagePinned struct {
	Target EventID    `json:"target,omitempty"`
	Ref    MessageRef `json:"ref,omitzero"`
}

// MessageUnpinned means that a message was unpinned.
type MessageUnpinned struct {
	Target EventID    `json:"target,omitempty"`
	Ref    MessageRef `json:"ref,omitzero"`
}

// A ChatMove is a chat's going on under another id on its platform.
type ChatMove struct {
	From, To string
	Same     bool // messages and threads have their old ids there
}

// ChatMigrated means that a chat of the space goes on under another id.
type ChatMigrated struct {
	Account string `json:"account"`
	From    string `json:"from"`
	To      string `json:"to"`
}

// ChatLinked means that a chat was mapped to the space, or let us in again.
type ChatLinked struct {
	Account string `json:"account"`
	Chat    string `json:"chat"`
}

// ChatUnlinked means that a chat of the space cannot be reached any more.
type ChatUnlinked struct {
	Account string `json:"account"`
	Chat    string `json:"chat"`
	Reason  string `json:"reason,omitempty"`
}

// ActionDelivered tells that a platform accepted an agent's message.
type ActionDelivered struct {
	Message EventID      `json:"message"`
	Action  ActionID     `json:"action"`
	Refs    []MessageRef `json:"refs"` // one a part
}

// SendFailed records that an action will not reach a platform, or that its result
// cannot be known.
type SendFailed struct {
	Message EventID     `json:"message,omitempty"`
	Action  ActionID    `json:"action"`
	State   ActionState `json:"state"` // failed, expired, unknown or cancelled
	Code    string      `json:"code"`
	Reason  string      `json:"reason"` // a plain sentence for the agent
	// Problem is the code of the problem that this belongs to, for operators; empty
	// when there is none.
	Problem string `json:"problem,omitempty"`
}

// HistoryGap is a time whose events no platform can deliver any more.
type HistoryGap struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Reason string    `json:"reason"`
}

// AttachmentMissing is the What of an [Unreadable] for a file that was seen and
// could not be fetched.
const AttachmentMissing = "attachment_missing"

// UnreadableUpdate is an update that could not be read. Raw keeps it.
type UnreadableUpdate struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
	Raw    []byte `json:"raw,omitempty"`
}

// NoteAdded is a note of the agent, from a note act or the <notes> of a thought.
type NoteAdded struct {
	Text  string  `json:"text"`
	Label string  `json:"label,omitempty"` // "notes", "questions", "setup", or what the agent wrote
	Cycle CycleID `json:"cycle,omitempty"`
	// SetUp is set when it says how far a room's set-up has come: then it is none of
	// the agent's notes.
	SetUp *OnboardingNote `json:"setUp,omitempty"`
}

// BookmarkSet is a labelled place in what the agent saw.
type BookmarkSet struct {
	Label  string    `json:"label"`
	Space  SpaceID   `json:"space,omitempty"`
	Object ObjectID  `json:"object,omitempty"`
	Events []EventID `json:"events"` // in view when it was set
	Cycle  CycleID   `json:"cycle,omitempty"`
}

// CycleStarted opens a cycle in the inner log.
type CycleStarted struct {
	Cycle  CycleID   `json:"cycle"`
	Space  SpaceID   `json:"space,omitempty"` // empty for a wake without a space
	Reason string    `json:"reason"`          // the gate's word: mention, direct, timer, …
	Events []EventID `json:"events,omitempty"`
	Active SpaceID   `json:"active,omitempty"`
}

// ThoughtRecorded is text that the agent wrote in contemplation, or the reasoning that
// its endpoint told of another step. It is never sent to a room.
type ThoughtRecorded struct {
	Cycle CycleID `json:"cycle"`
	Step  int     `json:"step,omitempty"`
	Text  string  `json:"text"`
}

// ToolCalled is an act the agent decided on.
type ToolCalled struct {
	Cycle  CycleID `json:"cycle"`
	Step   int     `json:"step"`
	CallID string  `json:"call"`
	Name   string  `json:"name"`
	Args   string  `json:"args"` // JSON, already validated
}

// ToolReturned is the result of a tool call. It names remote events and never copies them.
type ToolReturned struct {
	Cycle  CycleID    `json:"cycle"`
	Step   int        `json:"step"`
	CallID string     `json:"call"`
	OK     bool       `json:"ok"`
	Note   string     `json:"note,omitempty"` // code or sentence when not OK
	Refs   []EventID  `json:"refs,omitempty"`
	Took   int64      `json:"ms,omitempty"`   // milliseconds until it was performed
	Usage  TokenUsage `json:"usage,omitzero"` // of a model that was asked for its sake
}

// CycleSummarised is the agent's own summary of a cycle.
type CycleSummarised struct {
	Cycle   CycleID `json:"cycle"`
	N       int64   `json:"n"` // number of the cycle within the mind
	Text    string  `json:"text"`
	Derived bool    `json:"derived,omitempty"` // made from its acts, not by the agent
}

// GoalSet is a goal set, changed or done.
type GoalSet struct {
	Text   string `json:"text"`
	Status string `json:"status"` // active, long-term, done, dropped
}

// MemoryAdded is a fact the agent chose to keep.
type MemoryAdded struct {
	ID      string     `json:"id"`
	Fact    string     `json:"fact"`
	What    string     `json:"kind"` // user_fact, decision, space_knowledge, preference
	Sources []EventID  `json:"sources,omitempty"`
	Readers []EntityID `json:"readers,omitempty"` // who may learn it: the intersection over the sources
	Space   SpaceID    `json:"space,omitempty"`
	// Corrected: a person put this fact in place of the memory's; the rest is as it
	// was. It says nothing of a memory that is gone.
	Corrected bool `json:"corrected,omitempty"`
}

// MemoryRemoved takes a memory back.
type MemoryRemoved struct {
	ID string `json:"id"`
}

// CallDenied records a tool call that was refused.
type CallDenied struct {
	Denial Denial `json:"denial"`
}

// StatesChanged records moves of the shell's state machine, in order.
type StatesChanged struct {
	Moves []StateTransition `json:"moves"`
}

// ContextCompacted records a compaction of the context: its cause, and what it freed. The
// cycles it names stay in the store and can be read at any time.
type ContextCompacted struct {
	Cause        string  `json:"cause"` // first, high_water, guard, turns, redaction, fresh
	Cycle        CycleID `json:"cycle,omitempty"`
	TokensBefore int     `json:"before"` // of keyframe and turns
	TokensAfter  int     `json:"after"`
	Cycles       int     `json:"cycles"`             // closed cycles that went into summaries
	From         int64   `json:"from,omitempty"`     // number of the first of them; 0 for none
	To           int64   `json:"to,omitempty"`       // and of the last
	Elements     int     `json:"elements,omitempty"` // of the view, shown or not
	Left         int     `json:"left,omitempty"`     // of these, left out
}

// CycleStopped closes a cycle in the inner log.
type CycleStopped struct {
	Cycle  CycleID    `json:"cycle"`
	Reason StopReason `json:"reason"`
	Detail string     `json:"detail,omitempty"`
}

// SpanChanged records that a connection span opened, was checkpointed or closed.
type SpanChanged struct {
	Span   int64      `json:"span"`
	Space  SpaceID    `json:"space"`
	What   string     `json:"what"` // opened, checkpointed, closed
	Reason SpanReason `json:"reason"`
	Event  EventID    `json:"event,omitempty"` // remote event it is at
	Seq    int64      `json:"seq"`
}
