package spaces

import "time"

// A Body is the content of an event. The set is closed; every switch over it lists
// all of them.
//
//sumtype:decl
type Body interface {
	// Kind names the body in stored data.
	Kind() Kind
	body()
}

// Said is a message.
type Said struct {
	Text string `json:"text"` // CommonMark
	// Ref is the message on its platform; zero for an agent's message, whose
	// places are told by [Delivered].
	Ref         Ref          `json:"ref,omitzero"`
	ReplyRef    Ref          `json:"replyRef,omitzero"` // as the platform named it
	Mentions    []EntityID   `json:"mentions,omitempty"`
	ToUs        bool         `json:"toUs,omitempty"` // the platform marks it as meant for its account
	Command     string       `json:"command,omitempty"`
	Args        string       `json:"args,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Forwarded   string       `json:"forwarded,omitempty"`
	Broadcast   bool         `json:"broadcast,omitempty"` // said in a thread and shown in the room itself as well
	// Past is true for what was said before we listened and was written into the
	// log later, from history or an export, and for what was dealt with before the
	// record was put back. It is news to nobody, and says nothing of who is in the room
	// now.
	Past bool `json:"past,omitempty"`
	// Origin is the space that a cross-space message came from.
	Origin *Provenance `json:"origin,omitempty"`
}

// Attachment is a file seen on a message.
type Attachment struct {
	Kind string `json:"kind"`
	ID   string `json:"id"` // opaque, for the adapter
	Name string `json:"name,omitempty"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"` // bytes; 0 unknown
}

// Title returns what a file is called in words: its kind and its name, if it has one.
func (a Attachment) Title() string {
	if a.Name == "" {
		return a.Kind
	}
	return a.Kind + " " + a.Name
}

// Provenance tells which cycle, woken where, sent a message to another space.
type Provenance struct {
	Space SpaceID `json:"space"`
	Event EventID `json:"event,omitempty"`
	Cycle CycleID `json:"cycle"`
	Why   string  `json:"why,omitempty"`
}

// Edited replaces the words of a message.
type Edited struct {
	Target EventID `json:"target,omitempty"` // empty when only the platform's name is known
	Ref    Ref     `json:"ref,omitzero"`
	Text   string  `json:"text"`
}

// Deleted removes a message from every later view.
type Deleted struct {
	Target EventID `json:"target,omitempty"`
	Ref    Ref     `json:"ref,omitzero"`
}

// Reacted is an emoji put on a message.
type Reacted struct {
	Target EventID `json:"target,omitempty"`
	Ref    Ref     `json:"ref,omitzero"`
	Emoji  string  `json:"emoji"`
}

// Unreacted is an emoji taken back.
type Unreacted struct {
	Target EventID `json:"target,omitempty"`
	Ref    Ref     `json:"ref,omitzero"`
	Emoji  string  `json:"emoji"`
	// Everybody means that the reactions of all senders are removed; an empty Emoji is then
	// every one.
	Everybody bool `json:"everybody,omitempty"`
}

// Transcribed tells what was said in a voice that a message carries. Machines hear
// it, so it may be wrong; it takes nothing from what was written.
type Transcribed struct {
	Target EventID `json:"target,omitempty"`
	Ref    Ref     `json:"ref,omitzero"`
	File   string  `json:"file"`  // which attachment, as its platform names it
	Text   string  `json:"text"`  // plain
	Model  string  `json:"model"` // that heard it
}

// Joined means that an entity is now in the space.
type Joined struct {
	Who EntityID `json:"who"`
}

// Left means that an entity is no longer in the space.
type Left struct {
	Who EntityID `json:"who"`
	By  EntityID `json:"by,omitempty"`
}

// Renamed is a new title of the space, or of the event's thread.
type Renamed struct {
	Title string `json:"title"`
}

// Pinned means that a message was pinned.
type Pinned struct {
	Target EventID `json:"target,omitempty"`
	Ref    Ref     `json:"ref,omitzero"`
}

// Unpinned means that a message was unpinned.
type Unpinned struct {
	Target EventID `json:"target,omitempty"`
	Ref    Ref     `json:"ref,omitzero"`
}

// A ChatMove is a chat's going on under another id on its platform.
type ChatMove struct {
	From, To string
	Same     bool // messages and threads have their old ids there
}

// Migrated means that a chat of the space goes on under another id.
type Migrated struct {
	Account string `json:"account"`
	From    string `json:"from"`
	To      string `json:"to"`
}

// Linked means that a chat was mapped to the space, or let us in again.
type Linked struct {
	Account string `json:"account"`
	Chat    string `json:"chat"`
}

// Unlinked means that a chat of the space cannot be reached any more.
type Unlinked struct {
	Account string `json:"account"`
	Chat    string `json:"chat"`
	Reason  string `json:"reason,omitempty"`
}

// Delivered tells that a platform accepted an agent's message.
type Delivered struct {
	Message EventID  `json:"message"`
	Action  ActionID `json:"action"`
	Refs    []Ref    `json:"refs"` // one a part
}

// Failed tells that an action will not reach a platform, or that nobody can
// know whether it did.
type Failed struct {
	Message EventID     `json:"message,omitempty"`
	Action  ActionID    `json:"action"`
	State   ActionState `json:"state"` // failed, expired, unknown or cancelled
	Code    string      `json:"code"`
	Reason  string      `json:"reason"` // a plain sentence for the agent
	// Problem is the code of the problem that this belongs to, for operators; empty
	// when there is none.
	Problem string `json:"problem,omitempty"`
}

// Gap is a time whose events no platform can deliver any more.
type Gap struct {
	From   time.Time `json:"from"`
	To     time.Time `json:"to"`
	Reason string    `json:"reason"`
}

// AttachmentMissing is the What of an [Unreadable] for a file that was seen and
// could not be fetched.
const AttachmentMissing = "attachment_missing"

// Unreadable is an update that could not be read. Raw keeps it.
type Unreadable struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
	Raw    []byte `json:"raw,omitempty"`
}

// Noted is a note of the agent, from a note act or the <notes> of a thought.
type Noted struct {
	Text  string  `json:"text"`
	Label string  `json:"label,omitempty"` // "notes", "questions", "setup", or what the agent wrote
	Cycle CycleID `json:"cycle,omitempty"`
	// SetUp is set when it says how far a room's set-up has come: then it is none of
	// the agent's notes.
	SetUp *OnboardingNote `json:"setUp,omitempty"`
}

// Bookmarked is a labelled place in what the agent saw.
type Bookmarked struct {
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

// Thought is text that the agent wrote in contemplation; only the agent sees it.
type Thought struct {
	Cycle CycleID `json:"cycle"`
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
	Cycle  CycleID   `json:"cycle"`
	Step   int       `json:"step"`
	CallID string    `json:"call"`
	OK     bool      `json:"ok"`
	Note   string    `json:"note,omitempty"` // code or sentence when not OK
	Refs   []EventID `json:"refs,omitempty"`
	Took   int64     `json:"ms,omitempty"`   // milliseconds until it was performed
	Usage  Usage     `json:"usage,omitzero"` // of a model that was asked for its sake
}

// CycleSummarised is the agent's own summary of a cycle.
type CycleSummarised struct {
	Cycle   CycleID `json:"cycle"`
	N       int64   `json:"n"` // number of the cycle within the mind
	Text    string  `json:"text"`
	Derived bool    `json:"derived,omitempty"` // made from its acts, not by the agent
}

// Goal is a goal set, changed or done.
type Goal struct {
	Text   string `json:"text"`
	Status string `json:"status"` // active, long-term, done, dropped
}

// Remembered is a fact the agent chose to keep.
type Remembered struct {
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

// Forgot takes a memory back.
type Forgot struct {
	ID string `json:"id"`
}

// Denied records a tool call that was refused.
type Denied struct {
	Denial Denial `json:"denial"`
}

// Transitioned records moves of the shell's state machine, in order.
type Transitioned struct {
	Moves []Transition `json:"moves"`
}

// Compacted records a compaction of the context: its cause, and what it freed. The
// cycles it names stay in the store and can be read at any time.
type Compacted struct {
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

// Stopped closes a cycle in the inner log.
type Stopped struct {
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
