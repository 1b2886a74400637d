package spaces

import "time"

// InboxRowState is where an inbox row stands.
type InboxRowState string

// The states of a row. Every accepted row is in exactly one (I3).
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

// A PendingWork says that a mind has ready rows in a space.
type PendingWork struct {
	Mind  Mind
	Space SpaceID
	Since time.Time // when the oldest of them was recorded
}

// A Claim asks for a wake.
type Claim struct {
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
}

// A GateDecision is the gate's word on one row.
type GateDecision struct {
	Seq int64
	// Wake is true when the row starts or joins a cycle; otherwise it is ignored.
	Wake   bool
	Reason string // see the shell's gate for the closed list
	// Say is told in the room, once for ever for Once; empty: nothing.
	Say, Once string
}

// GateInput is what the gate is given: everything it needs, nothing to fetch.
type GateInput struct {
	Space    Space
	Uplink   Uplink
	Rows     []InboxRow
	Events   []Event // of Rows, same order
	Members  []Member
	ReplyTos map[EventID]EntityID // who wrote the messages the events reply to
	Roots    map[EventID]ChainUsage
	// Senders is what the words of each person have cost since the day began, in
	// weighted tokens.
	Senders map[EntityID]int
	// Waits is what the mind waits for here, or did and has not been told of.
	Waits []Wait
	At    time.Time
}

// ChainUsage is what a causal chain has used so far.
type ChainUsage struct {
	Messages int // by agents
	Tokens   int
	Stopped  bool // a person said stop
}
