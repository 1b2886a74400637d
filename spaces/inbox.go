package spaces

import "time"

// RowState is where an inbox row stands.
type RowState string

// The states of a row. Every accepted row is in exactly one (I3).
const (
	RowReady    RowState = "ready"
	RowClaimed  RowState = "claimed"
	RowConsumed RowState = "consumed"
	RowIgnored  RowState = "ignored" // seen, not woken; the reason says why
	RowDead     RowState = "dead"    // given up after too many attempts or crashes
)

// A Row is one event waiting for one mind. Ingress writes it without judging.
type Row struct {
	Mind     Mind
	Space    SpaceID
	Seq      int64
	Event    EventID
	State    RowState
	Reason   string // the gate's verdict or the cause of death
	Attempts int
	Crashes  int
	Cycle    CycleID // with claimed and consumed
	// NotBefore is when a row that went back becomes due again; zero at once.
	NotBefore time.Time
}

// A Waiting says that a mind has ready rows in a space.
type Waiting struct {
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
	Judge func(Judged) []Verdict
}

// A Verdict is the gate's word on one row.
type Verdict struct {
	Seq int64
	// Wake is true when the row starts or joins a cycle; otherwise it is ignored.
	Wake   bool
	Reason string // see the shell's gate for the closed list
	// Say is told in the room, once for ever for Once; empty: nothing.
	Say, Once string
}

// Judged is what the gate is given: everything it needs, nothing to fetch.
type Judged struct {
	Space    Space
	Uplink   Uplink
	Rows     []Row
	Events   []Event // of Rows, same order
	Members  []Member
	ReplyTos map[EventID]EntityID // who wrote the messages the events reply to
	Roots    map[EventID]RootTally
	// Senders is what the words of each person have cost since the day began, in
	// weighted tokens.
	Senders map[EntityID]int
	// Waits is what the mind waits for here, or did and has not been told of.
	Waits []Wait
	At    time.Time
}

// RootTally is what a causal chain has used so far.
type RootTally struct {
	Messages int // by agents
	Tokens   int
	Stopped  bool // a person said stop
}
