package spaces

import (
	"errors"
	"time"

	"github.com/trestle-bridge/trestle/internal/money"
)

// An InboxRowState is the state of an inbox row.
type InboxRowState string

// The states of a row. Every accepted row is in exactly one.
const (
	RowReady    InboxRowState = "ready"
	RowClaimed  InboxRowState = "claimed"
	RowConsumed InboxRowState = "consumed"
	RowIgnored  InboxRowState = "ignored" // seen, not woken; the reason says why
	RowDead     InboxRowState = "dead"    // given up after too many attempts or crashes
)

// An InboxRow is one event waiting for one mind. Ingress writes it without judging.
type InboxRow struct {
	Mind     Mind
	Space    SpaceID
	Seq      int64
	Event    EventID
	State    InboxRowState
	Reason   string // the gate's verdict or the cause of death
	Attempts int
	Crashes  int
	Cycle    CycleID // with claimed and consumed
	// NotBefore is when a row that went back becomes due again; zero at once.
	NotBefore time.Time
}

// MaxAttempts is how often rows go back to ready before they are dead.
const MaxAttempts = 5

// A PendingWork says that a mind has ready rows in a space.
type PendingWork struct {
	Mind  Mind
	Space SpaceID
	Since time.Time // when the oldest of them was recorded
}

// A WakeClaim asks for a wake.
type WakeClaim struct {
	Mind   Mind
	Space  SpaceID
	Holder string
	TTL    time.Duration
	At     time.Time
	// Again is set when what the holder had open here broke off in its hands: it is
	// taken up although its lease has not run out, and that is no crash.
	Again bool
	// Judge is called at most once each time the transaction runs, within it, and must
	// be pure.
	Judge func(GateInput) []GateDecision
	// InTurn is set where one agent speaks after the other: the claim takes nothing while
	// another one has a run under way in the space.
	InTurn bool
}

// A GateDecision is the gate's word on one row.
type GateDecision struct {
	Seq int64
	// Wake is true when the row starts or joins a cycle; otherwise it is ignored.
	Wake   bool
	Reason string // see the shell's gate for the closed list
	// Later is when a row that does not wake now is judged again; zero: it is ignored.
	Later time.Time
	// Say is told in the room, once for ever for Once; empty: nothing.
	Say, Once string
}

// GateInput holds everything the gate needs to decide.
type GateInput struct {
	Space    Space
	Uplink   Uplink
	Rows     []InboxRow
	Events   []Event // of Rows, same order
	Members  []SpaceMember
	ReplyTos map[EventID]EntityID // who wrote the messages the events reply to
	Roots    map[EventID]ChainUsage
	// Senders is what the messages of each person used since the day began.
	Senders map[EntityID]money.UsedTokens
	// Threads holds, for the threads of the events, the newest line that an agent wrote there
	// before the first of them.
	Threads map[ThreadID]ThreadLine
	// Waits are the answers that the mind waits for here, and ended waits it was not told of.
	Waits []PendingWait
	At    time.Time
}

// A ThreadLine is who wrote a line of a thread, and when.
type ThreadLine struct {
	Who EntityID
	At  time.Time
}

// ChainUsage is the usage of a causal chain so far.
type ChainUsage struct {
	Messages int // by agents
	Tokens   int
	Cost     int64 // in millionths of the installation's currency
	Stopped  bool  // a person said stop
}

// ErrHalted is returned when a write belongs to a run that a person has stopped.
// Nothing of the write happened; only the closing of the run is still taken.
var ErrHalted = errors.New("stopped by a person")

// A RunSign tells of a run that is under way, so that people can be shown it.
type RunSign struct {
	Run     CycleID
	Agent   AgentID
	Name    string // how people call the agent
	Space   SpaceID
	Thread  ThreadID   // of the newest message that woke it, as the space calls it
	Message MessageRef // that message; zero when it was none
	Title   string     // the beginning of its words; empty when it has none
	After   CycleID    // the run that waited for what woke it; empty: none did
	Began   time.Time  // here; a run that goes on after a restart begins anew
	// Asked are the messages of people who addressed the agent, each with the reaction that
	// shows that the run works on it; none where no reaction is to.
	Asked []AckReaction
	// Told is true once people were told in the room that they wait, by a notice with a
	// button that stops the run.
	Told bool
}

// A StopRequest is a person's word that runs are to end. From the moment it is stored
// nothing that those runs decide is taken any more, whatever process they are in.
type StopRequest struct {
	Run   CycleID // this run; empty: every run of Space
	Space SpaceID // whose runs end, and all that waits there for an agent; with Run: where it must have begun, empty for anywhere
	Agent AgentID // of Space, this one's alone; empty: every agent's
	// Event limits a request without a Run to what works on one message of Space or waits to,
	// and what came of that; empty: all of it.
	Event EventID
	// Here limits a request without a Run to what began at one place of Space; nil: all of it.
	Here   *StopPlace
	Unsent bool // also the messages that those agents decided and that were not sent
	// Say is told in the rooms of the runs that end, once a run; empty: nothing.
	Say string
	At  time.Time
}

// A StopPlace is where runs began: in a thread of a space, or with a message that a thread
// hangs on.
type StopPlace struct {
	Thread  ThreadID
	Message MessageRef // zero: none
	// Pressed is when a person asked, by the platform's clock: what began there later goes
	// on. Zero: all of it ends.
	Pressed time.Time
}

// StopResult lists what a stop request ended.
type StopResult struct {
	Runs    []StoppedRun // that were under way
	Waiting int          // messages that had not woken an agent yet and now will not
	Waits   int          // waits that were ended
	Calls   []string     // calls of outside tools that were cancelled, by their ids
	Unsent  int          // actions that are not sent any more
	Paused  int          // missions that ran and wait for a person now
	Later   int          // runs at the place that go on, because they began after the press
}

// A StoppedRun is one run that was under way.
type StoppedRun struct {
	Run   CycleID
	Mind  Mind
	Space SpaceID // empty for a wake without one
}

// A MuteRequest is a person's word that agents are to follow a room in silence, or no more.
type MuteRequest struct {
	Space  SpaceID
	Agent  AgentID   // empty: every agent of the room
	Lifted bool      // they may speak again
	Until  time.Time // zero: until it is lifted
	At     time.Time
}
