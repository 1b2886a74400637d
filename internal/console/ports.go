package console

import (
	"context"
	"errors"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// ErrUnknown is returned when nothing in the record has the name asked for.
var ErrUnknown = errors.New("not in the record")

// Record is what an operator can see of the record. It works beside a running
// process and without one. Every list is bounded by its limit and newest first
// unless it says otherwise; its caller owns it.
type Record interface {
	// Tally counts what is under way, and what was spent since the day began.
	Tally(ctx context.Context, day time.Time) (Tally, error)
	// Rooms returns every room, oldest first.
	Rooms(ctx context.Context) ([]Room, error)
	// Minds returns every mind with its newest cycle, by name.
	Minds(ctx context.Context, day time.Time) ([]Mind, error)
	// Runs returns cycles that match the filter.
	Runs(ctx context.Context, f Filter) ([]spaces.Cycle, error)
	// Run returns one cycle with everything that belongs to it. A unique beginning
	// of its id is enough. No such cycle is [ErrUnknown].
	Run(ctx context.Context, id string) (Run, error)
	// Recent returns the newest events of every room, or of one, in the order in
	// which they were recorded.
	Recent(ctx context.Context, room spaces.SpaceID, limit int) ([]spaces.Event, error)
	// Names returns who the ids are; unknown ones are absent.
	Names(ctx context.Context, ids []spaces.EntityID) (map[spaces.EntityID]spaces.Entity, error)
	// Turns returns what the mind's newest cycles were shown and answered, oldest
	// first, after its newest keyframe, which comes first and may be nil.
	Turns(ctx context.Context, m spaces.Mind, limit int) (*spaces.Keyframe, []spaces.Turn, error)
}

// Tally is the record in numbers.
type Tally struct {
	Inbox   int       `json:"inbox"`   // rows ready or claimed
	Open    int       `json:"open"`    // cycles under way
	Outbox  int       `json:"outbox"`  // actions ready or sending
	Oldest  time.Time `json:"oldest"`  // when the oldest of them was decided; zero without any
	Unknown int       `json:"unknown"` // actions that may have arrived
	Failed  int       `json:"failed"`  // actions that never will, today
	Timers  int       `json:"timers"`
	Tokens  int       `json:"tokens"` // of all agents, today
	Bytes   int64     `json:"bytes"`  // of the database
}

// Room is a space as an operator sees it.
type Room struct {
	Space   spaces.Space     `json:"space"`
	Chats   []spaces.Mapping `json:"chats"`
	Agents  []spaces.AgentID `json:"agents"`
	Members int              `json:"members"`
	Events  int64            `json:"events"` // seq of its last event
	Last    time.Time        `json:"last"`   // when that was recorded; zero without any
}

// Mind is a mind as an operator sees it.
type Mind struct {
	Mind   spaces.Mind   `json:"mind"`
	Last   *spaces.Cycle `json:"last"` // its newest cycle; nil before the first
	Cycles int64         `json:"cycles"`
	Tokens int           `json:"tokens"` // today
}

// Filter chooses cycles. Its zero value matches all.
type Filter struct {
	Space spaces.SpaceID
	Agent spaces.AgentID
	Stop  spaces.StopReason
	Since time.Time
	Limit int // at most this many; 0 is 100
}

// Run is one cycle with everything that explains it.
type Run struct {
	Cycle   spaces.Cycle    `json:"cycle"`
	Rows    []spaces.Row    `json:"rows"`   // what it was shown, with the gate's reasons
	Events  []spaces.Event  `json:"events"` // of Rows, same order
	Steps   []spaces.Step   `json:"steps"`
	Turns   []spaces.Turn   `json:"turns"`
	Inner   []spaces.Event  `json:"inner"` // what it wrote into the inner log
	Actions []spaces.Action `json:"actions"`
}
