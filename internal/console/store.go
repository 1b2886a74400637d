package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/pubsub"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// A LineSpan is a time during which the line of an account stood in one way.
type LineSpan struct {
	Line    string // its entry in the configuration
	Account string // empty while it is not known who we are there
	State   string // connecting, connected, degraded, misconfigured, conflict
	Reason  string
	From    time.Time
	To      time.Time // when it was last seen, or the next one began
	Newest  bool      // of its line
}

// An Account is one account as the record knows it.
type Account struct {
	Account string    `json:"account"`
	Heard   time.Time `json:"heard"`   // when something was last recorded; zero if never
	Said    time.Time `json:"said"`    // when something was last sent; zero if never
	Waiting int       `json:"waiting"` // to be sent
	Unknown int       `json:"unknown"` // that may have arrived
}

// ErrUnknown is returned when nothing in the record has the name asked for.
var ErrUnknown = errors.New("not in the record")

// An AmbiguousNameError is returned when a name, or the beginning of an id, fits several things.
// It is an [ErrUnknown] as well.
type AmbiguousNameError struct {
	Kind  string // what the things are, such as "runs"
	Given string
	Could []string // each thing that it fits; of more than [MaxAmbiguous] the first
}

// MaxAmbiguous is how many things are listed that an ambiguous name could be.
const MaxAmbiguous = 8

var _ UserError = AmbiguousNameError{}

// Error implements error.
func (e AmbiguousNameError) Error() string {
	list, more := e.Could, ""
	if len(list) > MaxAmbiguous {
		list, more = list[:MaxAmbiguous], " and others"
	}
	return fmt.Sprintf("several %s fit %q: %s%s", e.Kind, e.Given, strings.Join(list, ", "), more)
}

// Is reports whether target is [ErrUnknown].
func (e AmbiguousNameError) Is(target error) bool { return target == ErrUnknown }

// Refusal implements [UserError].
func (e AmbiguousNameError) Refusal() ErrorAnswer {
	return ErrorAnswer{Error: e.Error(), Do: "write more of the id that is meant"}
}

// Store is what an operator can see of the record. It works beside a running
// process and without one. Every list is bounded by its limit and newest first
// unless its comment differs; its caller owns it. Nothing counts over a log.
type Store interface {
	RoomReader
	RunReader
	MindReader
	MemoryReader
	ConnectionReader
	NameReader
	ToolReader
	// Missions returns the missions of the record.
	Missions() MissionReader
	// Tally counts what is under way, and what was spent since the day began.
	Tally(ctx context.Context, day time.Time) (Totals, error)
	// Said returns messages whose present words have all of the wanted ones, newest
	// first: one that was edited with its last words, and none that was deleted. It
	// looks through the newest messages alone, at most [MaxSearched] of them.
	Said(ctx context.Context, f MessageQuery) ([]spaces.Event, error)
}

// A MissionRecord is a mission with all that happened to it.
type MissionRecord struct {
	Mission spaces.Mission       `json:"mission"`
	Changes []spaces.MissionMove `json:"changes"` // of its state and of its tasks, oldest first
	Tokens  int                  `json:"tokens"`  // that its runs have used, weighted as budgets count them
	Cost    int64                `json:"cost"`    // in millionths of the currency
	Runs    int                  `json:"runs"`
	// Checkpoints are where the mission can go on from, oldest first. They have an answer of
	// their own.
	Checkpoints []spaces.MissionCheckpoint `json:"-"`
}

// Used says what the runs of the mission have used, beside its budget if it has one, and the
// share of that in percent, at most 100; -1 without a budget.
func (r *MissionRecord) Used() (text string, share int) {
	used := money.UsedTokens{Tokens: r.Tokens, Cost: r.Cost}
	limit := r.Mission.Spendable()
	if !limit.Limited() {
		return NarrowThousands(used.Tokens) + " tokens", -1
	}
	return limit.Compare(used), min(limit.Share(used), 100)
}

// A RecordedMove is a move with the mission that made it.
type RecordedMove struct {
	Mission spaces.MissionID
	Space   spaces.SpaceID
	Move    spaces.MissionMove
}

// MoveReader reads what missions did.
type MoveReader interface {
	// Moved returns the moves of all missions since a place in the record, oldest first, with
	// the place behind them. -1 represents the end.
	Moved(ctx context.Context, after int64, limit int) ([]RecordedMove, int64, error)
}

// MissionReader reads missions.
type MissionReader interface {
	MoveReader
	// Missions returns the newest missions.
	Missions(ctx context.Context, limit int) ([]spaces.Mission, error)
	// Mission returns a mission by its id or by the end of it.
	Mission(ctx context.Context, id string) (MissionRecord, error)
}

// ConnectionReader reads when accounts and agents were connected.
type ConnectionReader interface {
	// Lines returns how the lines of accounts stood at some time between the two, ordered by
	// the time at which they entered that state.
	Lines(ctx context.Context, from, to time.Time, limit int) ([]LineSpan, error)
	// Connections returns the connection spans that were open at some time between
	// the two, in the order in which they opened.
	Connections(ctx context.Context, from, to time.Time, limit int) ([]spaces.ConnectionSpan, error)
}

// NameReader reads the names of rooms and of people.
type NameReader interface {
	// RoomNames returns how every room is called.
	RoomNames(ctx context.Context) (map[spaces.SpaceID]string, error)
	// Names returns who the ids are; unknown ones are absent.
	Names(ctx context.Context, ids []spaces.EntityID) (map[spaces.EntityID]spaces.Entity, error)
	// People returns members whose name or handle begins with the word, by name,
	// once for each space they are in.
	People(ctx context.Context, word string, limit int) ([]MemberInfo, error)
}

// ToolReader reads which tools were offered, and which calls were refused.
type ToolReader interface {
	// Denials returns what was refused.
	Denials(ctx context.Context, f DenialFilter) ([]Denial, error)
	// Manifests returns the versions of the acts that runs were offered whose names
	// begin so, the last used first.
	Manifests(ctx context.Context, beginning string, limit int) ([]ManifestUse, error)
}

// The bounds of what is followed and looked through.
const (
	MaxChain    = 12
	MaxSearched = 20_000
)

// MessageQuery are what messages are looked for by.
type MessageQuery struct {
	Text  string         // words, all of which must be there in any case and order
	Space spaces.SpaceID // empty: everywhere
	Since time.Time
	Limit int
}

// A Cursor is a row of a list that begins with the latest: what is behind it is
// asked for. The zero Cursor is before the first row.
type Cursor struct {
	At time.Time // to the millisecond
	ID string    // tells rows of one moment apart
}

// String writes a cursor for an address.
func (c Cursor) String() string {
	if c.At.IsZero() {
		return "0." + c.ID
	}
	return FormatInt(c.At.UnixMilli()) + "." + c.ID
}

// RoomReader reads the rooms and their logs.
type RoomReader interface {
	// Rooms returns every room, oldest first.
	Rooms(ctx context.Context) ([]Room, error)
	// LatestRooms returns the rooms behind a row, those first in which something
	// was recorded last. A row's cursor is its last time with its id.
	LatestRooms(ctx context.Context, behind Cursor, limit int) ([]Room, error)
	// Room returns one room with its members, or [ErrUnknown].
	Room(ctx context.Context, id spaces.SpaceID) (Room, []spaces.SpaceMember, error)
	// Recent returns the newest events of every room, or of one, in the order in
	// which they were recorded.
	Recent(ctx context.Context, room spaces.SpaceID, limit int) ([]spaces.Event, error)
	// Log returns the events of a room before a seq with what became of each; 0
	// is from the end.
	Log(ctx context.Context, room spaces.SpaceID, before int64, limit int) ([]LogLine, error)
}

// ActivityReader is what a narrator reads.
type ActivityReader interface {
	// Happened returns what happened to spans and deliveries since a place in the
	// record, oldest first, with the place behind it. -1 represents the end.
	Happened(ctx context.Context, after int64, limit int) ([]spaces.Event, int64, error)
}

// A MemberInfo is a person who is a member of a space.
type MemberInfo struct {
	spaces.Entity
	Space spaces.SpaceID
}

// RunReader reads what the agents did.
type RunReader interface {
	// Runs returns cycles that match the filter, with their words if it asks for them.
	// Before one that is not known is [ErrUnknown].
	Runs(ctx context.Context, f Filter) ([]ListedRun, error)
	// Run returns one cycle with everything that belongs to it. A unique beginning
	// of its id is enough. No such cycle is [ErrUnknown].
	Run(ctx context.Context, id string) (Run, error)
	// Frame returns what the model was shown in a step, or [ErrUnknown].
	Frame(ctx context.Context, run spaces.CycleID, step int) (Frame, error)
	// Because returns the chain of causes of a run: the event that woke it, what led
	// to that, and so on to the root. It is empty for a run that no event woke, and
	// ends early after [MaxChain] events.
	Because(ctx context.Context, run spaces.CycleID) ([]spaces.Event, error)
}

// MindReader reads the minds and what they were shown.
type MindReader interface {
	// Minds returns every mind with its newest cycle, by name.
	Minds(ctx context.Context, day time.Time) ([]Mind, error)
	// LatestMinds returns the minds behind a row, those first that ran last. A
	// row's place is when its last run began, zero for none, with the mind's name.
	LatestMinds(ctx context.Context, day time.Time, behind Cursor, limit int) ([]Mind, error)
	// WordyModel returns the model that the mind asked last, if it is known to answer
	// people in words in place of calling a tool; empty otherwise.
	WordyModel(ctx context.Context, m spaces.Mind) (string, error)
	// Turns returns what the mind's newest cycles were shown and answered, oldest
	// first, after its newest keyframe, which comes first and may be nil.
	Turns(ctx context.Context, m spaces.Mind, limit int) (*spaces.Keyframe, []spaces.TranscriptTurn, error)
}

// MemoryReader reads what minds keep, as it may be shown: without words that were
// deleted since.
type MemoryReader interface {
	// Memory returns what a mind has. One that is not in the record has nothing.
	Memory(ctx context.Context, m spaces.Mind) (Memory, error)
	// Told returns what a mind was told: the events of these ids, in their order,
	// without those that are unknown.
	Told(ctx context.Context, m spaces.Mind, ids []spaces.EventID) ([]spaces.Event, error)
	// Maker returns the run that kept something in the mind's inner log; empty when
	// it is unknown.
	Maker(ctx context.Context, m spaces.Mind, kept spaces.EventID) (spaces.CycleID, error)
}

// A Memory is what a mind has of its own.
type Memory struct {
	Self    spaces.InnerState
	Plans   []spaces.WakeTimer    // timers too; the next first
	Digests []spaces.CycleSummary // of its old cycles, in their order
}

// Process is the running program as the console reads and steers it.
type Process interface {
	ProcessState
	ProcessControl
}

// ProcessState reads the state of the running program.
type ProcessState interface {
	// Health returns the state of everything now.
	Health() Health
	// Boot returns the stages of the start with their results.
	Boot() Boot
	// Problems returns the problems that are open, worst first.
	Problems(ctx context.Context) ([]alerts.Alert, error)
	// Adapters returns every account, as it is now.
	Adapters() []Adapter
}

// ProcessControl has the running program do what an operator asks for.
type ProcessControl interface {
	// Cancel ends a run at once, with the stop reason human_cancelled. It
	// reports whether it was under way.
	Cancel(ctx context.Context, run spaces.CycleID) (bool, error)
	// Forget has a mind forget the memory, timer or plan of that id, and reports
	// whether it had it.
	Forget(ctx context.Context, m spaces.Mind, id string) (bool, error)
	// Correct puts a fact in place of that of the mind's memory of that id, and
	// reports whether it had it. A fact that cannot be kept is [UserError].
	Correct(ctx context.Context, m spaces.Mind, id, fact string) (bool, error)
	// StepMission does a step to the mission of that id, or whose id ends so, in the name of
	// the operator, and returns it as it is then. A step that it does not take is
	// [UserError]; one to no mission is [ErrUnknown]. Of the step its kind and the checkpoint
	// count.
	StepMission(ctx context.Context, id string, step spaces.MissionStep) (spaces.Mission, error)
}

// Jobs is long work as an operator sees and steers it. Beside its own errors it
// returns [jobs.ErrUnknown] and [jobs.ErrOver].
type Jobs interface {
	jobs.JobReader
	// Ask has a job become Paused, Cancelled or Ready (to resume) and returns it as
	// it is then: a running one is told with its next piece.
	Ask(ctx context.Context, id int64, want jobs.JobState) (jobs.Job, error)
}

// Prompts are the versions of what agents are told, as an operator sees and changes them.
type Prompts interface {
	// Book returns all versions, and which of them are activated.
	Book(ctx context.Context) (*prompts.PromptBook, error)
	// Change activates a version or rolls one back. What cannot be done is [UserError].
	Change(ctx context.Context, c prompts.PromptChange) (prompts.PromptChange, error)
}

// Settings is the configuration in force. Credentials are shown as ***.
type Settings interface {
	// Rows lists every key in force with its value and where that was written.
	Rows() []SettingRow
	// Schema returns the JSON schema of the configuration.
	Schema() []byte
	// Budget returns what one run of an agent in a space may use.
	Budget(agent spaces.AgentID, space spaces.SpaceID) money.SpendLimit
	// Currency returns the code of the currency that costs are in.
	Currency() string
	// Model returns the model of an agent and how it is used.
	Model(agent spaces.AgentID) ModelUse
}

// ModelUse is a model as an agent uses it. The words say where the numbers are from, such
// as "as the endpoint tells".
type ModelUse struct {
	Name       string // of the model at its endpoint; empty for the built-in stand-in
	Window     int    // how many tokens of its window are used
	WindowFrom string
	Price      string // in words; empty where it is not known
	PriceFrom  string
}

// EventSource is the live events of this process.
type EventSource interface {
	// Open returns the events from now on.
	Open(room int) pubsub.LiveStream
	// Resume returns the events after the one with that id.
	Resume(id int64, room int) pubsub.LiveStream
}

// Totals is the record in numbers.
type Totals struct {
	Inbox   int       `json:"inbox"`   // rows ready or claimed
	Open    int       `json:"open"`    // cycles under way
	Outbox  int       `json:"outbox"`  // actions ready or sending
	Oldest  time.Time `json:"oldest"`  // when the oldest of them was decided; zero without any
	Unknown int       `json:"unknown"` // actions that may have arrived
	Failed  int       `json:"failed"`  // actions that never will, today
	Timers  int       `json:"timers"`
	Waits   int       `json:"waits"`  // runs that wait for a person's answer
	Tokens  int       `json:"tokens"` // of all agents, today
	Bytes   int64     `json:"bytes"`  // of the database
}

// Room is a space as an operator sees it.
type Room struct {
	Space   spaces.Space         `json:"space"`
	Chats   []spaces.ChatMapping `json:"chats"`
	Agents  []spaces.AgentID     `json:"agents"`
	Muted   []spaces.AgentID     `json:"muted"` // of Agents: they follow it in silence; filled for one room alone
	Members int                  `json:"members"`
	Events  int64                `json:"events"` // seq of its last event
	Last    time.Time            `json:"last"`   // when that was recorded; zero without any
}

// A LogLine is one event of a room with what became of it.
type LogLine struct {
	Event  spaces.Event
	Marks  []GateMark          // what each mind made of it, in the order of the uplinks
	Places []spaces.MessageRef // where an agent's message is on platforms
}

// A GateMark is what one mind made of an event.
type GateMark struct {
	Mind   spaces.Mind
	State  spaces.InboxRowState
	Reason string         // the gate's word: why it woke, or why not
	Run    spaces.CycleID // that was shown it; empty for none
}

// Mind is a mind as an operator sees it.
type Mind struct {
	Mind   spaces.Mind   `json:"mind"`
	Last   *spaces.Cycle `json:"last"`   // its newest cycle; nil before the first
	Cycles int64         `json:"cycles"` // closed
	Tokens int           `json:"tokens"` // today
	Open   int           `json:"open"`   // cycles under way
	Prompt int           `json:"prompt"` // of Tokens: read by the model
	Cached int           `json:"cached"` // of Prompt: kept by the endpoint
	Cost   int64         `json:"cost"`   // of Tokens, in millionths of the installation's currency
}

// Filter chooses cycles. Its zero value matches all.
type Filter struct {
	Space  spaces.SpaceID
	Agent  spaces.AgentID
	Circle spaces.CircleID // of the agent's mind; counts with Agent alone
	Stop   spaces.StopReason
	Rating spaces.AnswerRating // only those with a message that a person rated so
	Since  time.Time
	Before spaces.CycleID // only older ones than this
	Limit  int            // at most this many; 0 is 100
	Words  bool           // what was asked and answered is read as well
}

// A ListedRun is one cycle in a list. Who asked, and the words of both, are there where the
// filter asks for them, without those of messages that were deleted since.
type ListedRun struct {
	spaces.Cycle
	Asker  spaces.EntityID // of the message that woke it; empty where no message did
	Asked  string          // its words as the agent was shown them
	Answer string          // the first message that it sent
	Sends  int             // messages that it decided to send
}

// Run is one cycle with everything that explains it.
type Run struct {
	Cycle   spaces.Cycle            `json:"cycle"`
	Rows    []spaces.InboxRow       `json:"rows"`   // what it was shown, with the gate's reasons
	Events  []spaces.Event          `json:"events"` // of Rows, same order
	Steps   []spaces.Step           `json:"steps"`
	Turns   []spaces.TranscriptTurn `json:"turns"`
	Inner   []spaces.Event          `json:"inner"` // what it wrote into the inner log
	Actions []spaces.Action         `json:"actions"`
	Settled []time.Time             `json:"settled"` // of Actions, same order: when each was over, by the database's clock; zero if it is not
	Lost    []spaces.MessageRef     `json:"lost"`    // chats in which the beginning of an answer may still be visible
	Tools   []spaces.ToolRun        `json:"tools"`   // calls of tools from outside
	Rated   []spaces.Feedback       `json:"rated"`   // ratings of what it said, oldest first
	Waits   []spaces.PendingWait    `json:"waits"`   // those that ended for it, and what it waits or waited for itself
}

// DenialFilter chooses denials. Its zero value matches all.
type DenialFilter struct {
	Agent  spaces.AgentID
	Since  time.Time
	Before int64 // only those with a smaller number
	Limit  int   // at most this many; 0 is 100
}

// A Denial is one refusal with its number in the record.
type Denial struct {
	N int64
	spaces.Denial
}

// A Frame is what the model was shown in one step, put together again from the
// record.
type Frame struct {
	Run  spaces.Cycle
	Step spaces.Step
	// Messages are the whole prompt; nil when it was not recorded what it was made of.
	Messages []Message
	// Exact is true when these are the bytes the model was sent; false when words
	// were deleted since.
	Exact    bool
	Keyframe *spaces.Keyframe // nil without one
	// Before is the run and step of the mind's frame before this one, and After
	// that of the next; zero without one.
	Before, After StepRef
}

// A StepRef names a step.
type StepRef struct {
	Run  spaces.CycleID
	Step int
}

// A Message is one message of a frame.
type Message struct {
	Part string // system, keyframe, log, cycle, tail
	Run  spaces.CycleID
	N    int64 // number of the run among those of its mind; 0 for others
	spaces.TranscriptTurn
}

// A SendVerb is what an operator does about a message that was not delivered.
type SendVerb string

// What an operator does about messages.
const (
	SendAgain SendVerb = "resend" // where it failed, expired, or it is unknown whether it arrived
	SendDrop  SendVerb = "drop"   // where it waits, or it is unknown whether it arrived
)

// MayChange reports whether an operator may do it about a message in a state.
func (v SendVerb) MayChange(s spaces.ActionState) bool {
	switch v {
	case SendAgain:
		return s == spaces.ActionFailed || s == spaces.ActionExpired || s == spaces.ActionUnknown
	case SendDrop:
		return s == spaces.ActionReady || s == spaces.ActionUnknown
	}
	return false
}

// A SettingRow is one key of the configuration.
type SettingRow struct {
	Path    string `json:"path"`
	Value   string `json:"value"`
	Origin  string `json:"origin"`
	Meaning string `json:"meaning"` // what it is for
	Default string `json:"default"`
}

// A ManifestUse is a version of the acts with the time of its use. Its acts are nil
// where an older program left its name alone.
type ManifestUse struct {
	spaces.ToolManifest
	First, Last time.Time // when runs that were offered it ended; the last is noted once an hour
}
