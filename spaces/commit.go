package spaces

import (
	"cmp"
	"errors"
	"strings"
	"time"
)

// A Wake is the leased right to run a cycle, with what started it.
type Wake struct {
	Cycle  Cycle
	Lease  MindLease
	Rows   []InboxRow       // claimed, in seq order
	Events []Event          // of Rows, same order
	Steps  []Step           // done so far: empty for a new cycle, else it resumes after them
	Turns  []TranscriptTurn // of those steps
	// Inner holds the events of those steps in the inner log, in order.
	Inner []EventBody
	// Consumed are all rows the cycle has been shown, for [NextChain].
	Consumed []ConsumedRow
	Resumed  bool
	Halted   bool // a person stopped it before: it only has to be closed
	// Head is the last event of the space when its rows were judged; 0 when an
	// earlier process judged them.
	Head  int64
	Timer *WakeTimer // what woke it when no row did
	Task  TaskRef    // of the mission that it works for
	// Waits are the expectations that have ended for the cycle, with or without a row.
	Waits []PendingWait
}

// A StepCommit is everything one step decided. It happens whole or not at all.
type StepCommit struct {
	Lease  MindLease
	Step   Step
	Inner  []EventBody      // events for the mind's inner log, in order
	Turns  []TranscriptTurn // N is given by the store, after those already there
	Effect []RoomEffect
	Timers []WakeTimer
	Looked *WakeTimer // the timer that woke the cycle, with what its look came to; nil: it did not look in this step
	Runs   []ToolRun  // calls of outside tools that it asks for; they begin after the commit
	Shown  []string   // calls of outside tools whose results are among Turns
	// GivenUp are questions of the mind whose answers are not waited for any longer.
	GivenUp []EventID
	// Missions are what it does to missions. What a mission does not take any more by then
	// is left out.
	Missions []MissionStep
	Active   SpaceID // where the cycle's plain messages go from now on
	Upto     int64   // last event of the trigger space it has been shown
	// Judge is asked, within the transaction, about rows that arrived meanwhile;
	// those that wake join this cycle. With Close only those up to Upto are judged:
	// what the cycle was shown is consumed by it, the rest wakes another. Nil
	// leaves all for a later one. Like Leaves it is asked once more where the
	// transaction has to be run again.
	Judge func(GateInput) []GateDecision
	// Leaves is asked, within the transaction, whether the process would carry an
	// action at once. It is asked only of those that need not wait behind another;
	// they are stored as being sent and come back in [CommitResult.Leaving]. Nil: all
	// wait in the outbox.
	Leaves func(Action) bool
	// Draft is what people may have been shown of the step's message as a message of
	// its own: the action for that chat takes it over. Empty: nothing.
	Draft DraftID
	Close *CycleClose
	At    time.Time
}

// A CycleClose ends a cycle: its rows are consumed, its cursor moves, it gets its number.
type CycleClose struct {
	Stop     StopReason
	Detail   string
	Rest     string
	Derived  bool // the rest line was made from its acts
	Denials  int
	Manifest ToolManifest // the acts it was offered; kept once for all cycles
	Prompts  string       // as [Cycle] has it
	Plan     []byte
	// Notices are what people are told with the end of the cycle. Their At is that of the
	// commit.
	Notices []RoomNotice
	// Withdraw are notices that are taken back, by their rooms and keys.
	Withdraw []RoomNotice
	// Model and Answered say which model of the endpoint an addressed cycle asked and in
	// which form it answered; empty where no person was to be answered.
	Model    string
	Answered AnswerForm
	// Back is true when the rows go back to ready for another attempt (a failed
	// model), unless they have used up their attempts: then they die.
	Back bool
	// Spared is true when they are not to blame and go back however often they did.
	Spared bool
	// RetryAt is when rows that go back become due.
	RetryAt time.Time
}

// A RoomNotice is a message of the process itself in the chats of a room, and in a thread
// there. It is no event of the room.
type RoomNotice struct {
	Room   SpaceID
	Thread ThreadID
	Key    string // a notice is posted once for each
	Text   string
	// About is the message that gets a reaction in a chat whose platform refuses the notice;
	// empty for none.
	About EventID
	// Choices are buttons below the notice, where the platform has buttons. The last line
	// of its Text then says how to choose in words; once the choice is made, the outcome
	// replaces that line and the buttons go away.
	Choices []ChoiceButton
	// Stop is the one button of a notice that has no Choices, because people wait for
	// something that they may stop; zero: none.
	Stop ChoiceButton
	At   time.Time
}

// WaitingKey returns the key of the notice by which people are told that an agent's answer
// to the first of some messages waits for its model.
func WaitingKey(agent AgentID, room SpaceID, first EventID) string {
	return "waiting|" + string(agent) + "|" + string(room) + "|" + string(first)
}

// A ChoiceButton is a button below a notice. Its value comes back when a person presses
// it.
type ChoiceButton struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// An AnswerForm is the form in which a model answered a person.
type AnswerForm string

// The forms of answers.
const (
	AnsweredByCall  AnswerForm = "call"  // it called a tool
	AnsweredInWords AnswerForm = "words" // it wrote its answer in place of calling one
)

// CommitResult is the result of a step commit.
type CommitResult struct {
	Events []Event       // appended to rooms, in order
	N      int64         // number of the cycle when it closed
	Wakes  []PendingWork // other minds that now have ready rows
	// Leaving are actions stored as being sent: the caller must send them.
	Leaving []Action
	Waiting []string // accounts with actions that are ready in the outbox
	Head    int64    // last event of the trigger space when its rows were judged
	// Joined are rows that arrived meanwhile and now belong to the cycle.
	Joined       []InboxRow
	JoinedEvents []Event
	// Waits ended meanwhile and now belong to the cycle.
	Waits []PendingWait
	// Authority is that of those behind the joined rows and waits; it counts with them.
	Authority AuthorityLevel
}

// A TimerKind is the purpose of a timer.
type TimerKind string

// The kinds of timer.
const (
	TimerAct   TimerKind = "timer" // the agent's timer act
	TimerSleep TimerKind = "sleep" // the end of its sleep
	TimerPlan  TimerKind = "plan"  // the agent's plan tool
	TimerTool  TimerKind = "tool"  // the end of a tool run, whose id is its note
	TimerTask  TimerKind = "task"  // a task of a mission, whose name is its note, see [TaskRef.String]
)

// A WakeTimer fires once, never early, and survives restarts. When one with a
// cron line fires, the next is set in its place in the same transaction; times
// that passed meanwhile are made up for by one firing.
type WakeTimer struct {
	ID    string
	Mind  Mind
	Kind  TimerKind
	Space SpaceID // where it was set, or that it is about
	Note  string
	Due   time.Time
	Cycle CycleID   // that set it
	Plan  string    // the plan it belongs to, by which it is forgotten; empty for other timers
	Cron  string    // when it recurs; empty when it does not
	Zone  string    // of the clocks that At and Cron go by; empty: those of the process
	SetBy EntityID  // whose message it was set for; empty: none
	SetAt time.Time // when it was set
	Tries int       // how many wakes of it have failed because the model failed
	Look  TimerLook // what is looked at before it wakes a model
}

// A TimerLook is what is looked at when a timer fires: a model is called only when
// something is found. The zero value is that of a timer that always calls one.
type TimerLook struct {
	Tool     string      `json:"tool,omitempty"`     // an outside tool that only reads, as models call it
	Args     string      `json:"args,omitempty"`     // of Tool, JSON
	Messages bool        `json:"messages,omitempty"` // new messages of others in the timer's space
	Seen     int64       `json:"seen,omitempty"`     // last event of the space when the timer was set or last looked
	At       time.Time   `json:"at,omitzero"`        // when it last looked
	Outcome  LookOutcome `json:"outcome,omitempty"`  // of that; empty before the first
}

// A LookOutcome is what a look before a timer's wake came to.
type LookOutcome string

// The outcomes of looks.
const (
	LookFound   LookOutcome = "found something"
	LookNothing LookOutcome = "found nothing"
	LookFailed  LookOutcome = "failed"
)

// Wanted reports whether anything is to be looked at.
func (l TimerLook) Wanted() bool { return l.Tool != "" || l.Messages }

// String returns what is looked at, as models write it.
func (l TimerLook) String() string {
	if l.Messages {
		return NewMessages
	}
	return strings.TrimSpace(l.Tool + " " + l.Args)
}

// NewMessages is how models name the look for new messages.
const NewMessages = "new messages"

// Name returns the id by which a timer is cancelled.
func (t *WakeTimer) Name() string { return cmp.Or(t.Plan, t.ID) }

// An IngestItem is one translated update to be stored.
type IngestItem struct {
	Event Event            // Seq, Readers, chain and entity ids are filled in by the store
	From  PlatformIdentity // zero when no person acted
	// Chat is where it happened, and ThreadTitle how the thread of the event is
	// called there; empty when the platform does not say.
	Chat, ThreadTitle string
	// Who are the people the body is about, for joined and left; the store makes
	// entities of them and one event each.
	Who []PlatformIdentity
	// Present is true when only those of Who are meant who are members of the space.
	Present bool
	// Mentions are people named in a message, in order; the store makes entities of them.
	Mentions []PlatformIdentity
	// Ref is the message on its platform, so that replies, edits and echoes find
	// it; zero for updates that are no message.
	Ref MessageRef
	// Hushed is why the message, although it is stored and shown, wakes no agent; empty
	// for messages that the gate judges.
	Hushed string
	// ReplyRef is the message it answers, as the platform names it; the store
	// turns it into Event.ReplyTo when it is known.
	ReplyRef MessageRef
	// ReplyFrom and ReplyAt say who wrote the message it answers, and when, where
	// accounts name messages each in their own way; zero elsewhere.
	ReplyFrom PlatformIdentity
	ReplyAt   time.Time
	// ByReply is true when all that makes a message meant for us is that it answers
	// one of our account. Where that is a copy of a person's words, it is meant for
	// that person.
	ByReply bool
	// Common is true when its source and refs mean the same to every account of the
	// platform: what one account of a space has told is not recorded again for another.
	Common bool
	// Alike is the id under which accounts that name the same fact differently know it, with
	// the platform; empty where there is no such thing. The n-th time that one of them
	// tells of it is the n-th time of each other.
	Alike string
}

// An IngestBatch is one batch from one adapter: it is recorded whole, with the
// cursor, or not at all.
type IngestBatch struct {
	Account string
	Cursor  []byte // nil leaves the stored one
	Items   []IngestItem
	// Files is true when the files that messages of the account carry are fetched, so
	// that they can be carried to the other chats of a room.
	Files bool
	// Refused holds messages of people and chats that are not admitted: who and how
	// often, and nothing of what.
	Refused []RejectedSender
	At      time.Time
	// Claims is asked, within the transaction and after everything else of it,
	// which of the minds that now have ready rows would be claimed at once: a
	// message that finds its mind free costs no second commit. Those that wake come
	// back in [IngestResult.Woken]. Nil claims none.
	Claims func([]PendingWork) []WakeClaim
}

// A RejectedSender is one update that was turned away.
type RejectedSender struct {
	Chat string
	Who  PlatformIdentity // its name is not kept
	Kind string           // message, edit, …
}

// IngestResult is the result of storing a batch.
type IngestResult struct {
	New        int // events appended
	Past       int // those of them that are messages of the past, see [Said.Past]
	Duplicates int
	Wakes      []PendingWork // minds that now have ready rows, but for those claimed
	Woken      []Wake        // of [Intake.Claims]
	Spaces     []SpaceID     // rooms that changed
	Waiting    []string      // accounts with something to carry from another chat
}

// ErrLeaseLost is returned when a write carries an epoch that is no longer the
// lease's. Nothing of the write happened; the holder stops itself.
var ErrLeaseLost = errors.New("lease lost")

// ErrStale is returned when a message was written, edited or deleted in the
// thread since the agent looked. Nothing of the write happened.
var ErrStale = errors.New("stale speech")

// ErrAgentRun is returned when an agent's message would follow as many
// others by agents as its effect allows. Nothing of the write happened.
var ErrAgentRun = errors.New("too many agent messages in a row")

// A MindLease is the right to run one mind over one space. Every write of the
// holder carries the epoch and is refused once the epoch has moved on.
type MindLease struct {
	Mind    Mind
	Space   SpaceID
	Holder  string // process id, unique for ever
	Epoch   int64  // only grows
	Expires time.Time
}
