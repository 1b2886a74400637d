package console

import (
	"encoding/json"
	"time"

	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/spaces"
)

// A RunRow is one run in a list.
type RunRow struct {
	Run     spaces.CycleID    `json:"run"`
	Mind    string            `json:"mind"`
	Space   spaces.SpaceID    `json:"space"`
	State   spaces.CycleState `json:"state"`
	Wake    string            `json:"wake"`
	Stop    spaces.StopReason `json:"stop_reason"` // empty while it is open
	Detail  string            `json:"stop_detail,omitempty"`
	Tokens  int               `json:"tokens_used"`
	Calls   int               `json:"calls"`
	Denials int               `json:"denials"`
	Started time.Time         `json:"started"`
	Seconds float64           `json:"seconds"`
}

// RowOf returns a run as a list shows it.
func RowOf(y spaces.Cycle) RunRow {
	r := RunRow{
		Run: y.ID, Mind: y.Mind.String(), Space: y.Space, State: y.State, Wake: y.Wake, Stop: y.Stop, Detail: y.Detail,
		Tokens: y.Usage.Total(), Calls: y.Usage.Calls, Denials: y.Denials, Started: y.Started,
	}
	if !y.Ended.IsZero() {
		r.Seconds = y.Ended.Sub(y.Started).Seconds()
	}
	return r
}

type runsAnswer struct {
	Runs []RunRow       `json:"runs"`
	Next spaces.CycleID `json:"next,omitempty"` // goes into before for the next page; empty at the end
}

// RunAnswer is one run with everything that explains it (PRD-5.1-A4, PRD-5.2-6).
type RunAnswer struct {
	RunRow
	Active     spaces.SpaceID    `json:"active_space,omitempty"` // where plain messages of the run go; empty before it entered one
	Rest       string            `json:"rest,omitempty"`
	Ended      time.Time         `json:"ended,omitzero"`
	Usage      spaces.TokenUsage `json:"usage"`
	Budget     int               `json:"token_budget_estimate"` // 0: no limit
	Cost       *float64          `json:"cost"`                  // null when no price is configured
	Manifest   string            `json:"tool_manifest,omitempty"`
	Denials    []DenialRow       `json:"permission_denials"`
	Shown      []shownRow        `json:"shown"`
	Steps      []stepRow         `json:"steps"`
	Deliveries []deliveryRow     `json:"deliveries"`
	Lost       []lostRow         `json:"lost_beginnings"`
	Waits      []waitRow         `json:"waits"`
	Plan       json.RawMessage   `json:"frame_plan"` // of its last step; null without one
}

// A shownRow is one event that the run was shown.
type shownRow struct {
	Event  spaces.EventID       `json:"event"`
	Seq    int64                `json:"seq"`
	Actor  spaces.EntityID      `json:"actor,omitempty"`
	Kind   spaces.EventKind     `json:"kind"`
	State  spaces.InboxRowState `json:"state"`
	Reason string               `json:"reason"`
}

// A waitRow is what a run expects of a question (BLU-31): of its own, or of one
// whose end woke it.
type waitRow struct {
	Run     spaces.CycleID      `json:"run"` // that asked
	Space   spaces.SpaceID      `json:"space"`
	Event   spaces.EventID      `json:"event"` // the question
	Seq     int64               `json:"seq"`
	Call    string              `json:"call"`
	Who     []spaces.EntityID   `json:"waitingFor"` // empty: anybody, or any person
	Due     time.Time           `json:"due"`
	Outcome spaces.WaitOutcome  `json:"outcome,omitempty"` // empty as long as it lasts
	Answers []spaces.WaitAnswer `json:"answers"`
}

// A stepRow is one model call with what it decided.
type stepRow struct {
	N       int               `json:"step"`
	Phase   spaces.Phase      `json:"phase"`
	State   spaces.StepState  `json:"state"`
	Finish  string            `json:"finish,omitempty"`
	Thought string            `json:"thought,omitempty"` // of a contemplation; nobody else has seen it
	Usage   spaces.TokenUsage `json:"usage"`
	At      time.Time         `json:"at"`
	Acts    []actRow          `json:"acts"`
}

// An actRow is one act with what came of it.
type actRow struct {
	Call string           `json:"call"`
	Name string           `json:"name"`
	Args json.RawMessage  `json:"args"`
	OK   bool             `json:"ok"`
	Note string           `json:"note,omitempty"`
	Refs []spaces.EventID `json:"refs,omitempty"`
	// Milliseconds until it was performed; what it sent is among the deliveries.
	ExecutionMS int64             `json:"execution_ms"`
	Usage       spaces.TokenUsage `json:"usage,omitzero"`           // of a model that was asked for its sake, as for words for another space; part of the step's
	Cost        *float64          `json:"estimated_cost,omitempty"` // of that; absent without a price
}

// A deliveryRow is one decided effect with what became of it.
type deliveryRow struct {
	Action   spaces.ActionID     `json:"action"`
	Kind     spaces.ActionKind   `json:"kind"`
	Space    spaces.SpaceID      `json:"space"`
	Event    spaces.EventID      `json:"event"`
	Account  string              `json:"account"`
	Chat     string              `json:"chat"`
	State    spaces.ActionState  `json:"state"`
	Attempts int                 `json:"attempts"`
	Code     string              `json:"code,omitempty"`
	Problem  string              `json:"problem,omitempty"` // the code to look up in docs/problems.md
	Receipts []spaces.MessageRef `json:"receipts"`
}

// A lostRow is a chat where a streamed partial answer may still be visible, because its
// post was never confirmed.
type lostRow struct {
	Account string `json:"account"`
	Chat    string `json:"chat"`
}

// A DenialRow is one refusal.
type DenialRow struct {
	N int64 `json:"n,omitempty"` // its number in the record
	spaces.Denial
	// Because is what led to it, from the event that woke the run to the root.
	Because []CauseRow `json:"because,omitempty"`
	Grant   *Grant     `json:"grant,omitempty"`
}

// A CauseRow is one link of a chain of causes.
type CauseRow struct {
	Event spaces.EventID   `json:"event"`
	Space spaces.SpaceID   `json:"space"`
	Seq   int64            `json:"seq"`
	Actor spaces.EntityID  `json:"actor,omitempty"`
	Name  string           `json:"name,omitempty"` // of the actor, when it is known
	Kind  spaces.EventKind `json:"kind"`
	At    time.Time        `json:"at"`
}

// A Grant says what in the configuration decides about a denial.
type Grant struct {
	YAML string `json:"yaml,omitempty"` // what to write; empty when no setting allows such an act
	Says string `json:"says"`
}

// A FoundRow is one message that was looked for.
type FoundRow struct {
	Event spaces.EventID  `json:"event"`
	Space spaces.SpaceID  `json:"space"`
	Seq   int64           `json:"seq"`
	Actor spaces.EntityID `json:"actor,omitempty"`
	Name  string          `json:"name,omitempty"`
	At    time.Time       `json:"at"`
	Text  string          `json:"text"`
}

type searchAnswer struct {
	Messages []FoundRow `json:"messages"`
}

type denialsAnswer struct {
	Denials []DenialRow `json:"denials"`
	Next    int64       `json:"next,omitempty"`
}

// A SpaceRow is one space in a list.
type SpaceRow struct {
	Space   spaces.SpaceID    `json:"space"`
	Name    string            `json:"name"`
	Circle  spaces.CircleID   `json:"circle"`
	Wake    spaces.WakePolicy `json:"wake"`
	Direct  bool              `json:"direct"`
	Agents  []spaces.AgentID  `json:"agents"`
	Members int               `json:"members"`
	Events  int64             `json:"events"`
	Last    time.Time         `json:"last,omitzero"`
	Chats   []chatRow         `json:"chats"`
}

type chatRow struct {
	Account string `json:"account"`
	Chat    string `json:"chat"`
	Title   string `json:"title,omitempty"`
	Relay   bool   `json:"relay"`
	Live    bool   `json:"live"`
}

type spacesAnswer struct {
	Spaces []SpaceRow `json:"spaces"`
}

// spaceAnswer is one space with a page of its log, newest first.
type spaceAnswer struct {
	SpaceRow
	People []memberRow `json:"people"`
	Log    []lineRow   `json:"log"`
	Next   int64       `json:"next,omitempty"` // goes into before for older events
}

type memberRow struct {
	ID    spaces.EntityID   `json:"id"`
	Kind  spaces.EntityKind `json:"kind"`
	Name  string            `json:"name"`
	Since int64             `json:"since"`
}

// A lineRow is one event of a space with what became of it.
type lineRow struct {
	Seq    int64               `json:"seq"`
	Event  spaces.EventID      `json:"event"`
	Kind   spaces.EventKind    `json:"kind"`
	Actor  spaces.EntityID     `json:"actor,omitempty"`
	At     time.Time           `json:"at"`
	Thread spaces.ThreadID     `json:"thread,omitempty"`
	Body   spaces.EventBody    `json:"body"`
	Marks  []markRow           `json:"marks"`
	Places []spaces.MessageRef `json:"places"`
}

// A markRow is what one mind made of an event.
type markRow struct {
	Mind   string               `json:"mind"`
	State  spaces.InboxRowState `json:"state"`
	Reason string               `json:"reason"`
	Run    spaces.CycleID       `json:"run,omitempty"`
}

type mindRow struct {
	Mind   string  `json:"mind"`
	Cycles int64   `json:"cycles"`
	Tokens int     `json:"tokens_today"`
	Last   *RunRow `json:"last"` // null before the first
}

type mindsAnswer struct {
	Minds []mindRow `json:"minds"`
}

// MemoryAnswer is what a mind has of its own: a page of its memories, newest
// first, and with the first page the rest.
type MemoryAnswer struct {
	Mind     string      `json:"mind"`
	Memories []memoryRow `json:"memories"`
	Next     string      `json:"next,omitempty"` // goes into before for older memories
	Goals    []goalRow   `json:"goals"`
	Plans    []planRow   `json:"plans"`   // timers too; the next first
	Notes    []noteRow   `json:"notes"`   // the newest
	Digests  []digestRow `json:"digests"` // the newest
}

// A memoryRow is one fact that a mind chose to keep.
type memoryRow struct {
	ID        string         `json:"id"`
	Fact      string         `json:"fact"`
	What      string         `json:"kind"`
	Space     spaces.SpaceID `json:"space,omitempty"`
	Run       spaces.CycleID `json:"run,omitempty"` // that kept it
	At        time.Time      `json:"at"`
	Corrected time.Time      `json:"corrected,omitzero"` // when a person last changed the fact
	Readers   []personRow    `json:"readers"`            // who may learn it
	Of        int            `json:"of"`                 // how many events it was made of
	Sources   []FoundRow     `json:"sources"`            // the newest of them
}

// A personRow is a person, with the name if it is known.
type personRow struct {
	ID   spaces.EntityID `json:"id"`
	Name string          `json:"name,omitempty"`
}

type goalRow struct {
	Text   string    `json:"text"`
	Status string    `json:"status"`
	At     time.Time `json:"at"`
}

type noteRow struct {
	Text  string    `json:"text"`
	Label string    `json:"label"`
	At    time.Time `json:"at"`
}

// A planRow is what a mind will do later.
type planRow struct {
	ID    string         `json:"id"`
	Note  string         `json:"note"`
	Cron  string         `json:"cron,omitempty"` // when it recurs
	Space spaces.SpaceID `json:"space,omitempty"`
	Run   spaces.CycleID `json:"run,omitempty"` // that set it
	Due   time.Time      `json:"due"`
}

// A digestRow is what a model made of the accounts of old runs.
type digestRow struct {
	First   int64       `json:"first"` // numbers of the runs
	Last    int64       `json:"last"`
	Text    string      `json:"text"`
	Model   string      `json:"model"`
	At      time.Time   `json:"at"`
	Readers []personRow `json:"readers"`
	Of      int         `json:"of"`
	Sources []FoundRow  `json:"sources"`
}

// FrameAnswer is what the model was shown in one step.
type FrameAnswer struct {
	Run      spaces.CycleID  `json:"run"`
	Step     int             `json:"step"`
	Mind     string          `json:"mind"`
	Exact    bool            `json:"exact"`             // false: words were deleted since, or it is not recorded
	Expired  bool            `json:"expired,omitempty"` // what it was made of is not kept any more
	Reported int             `json:"tokens_reported"`
	Estimate int             `json:"tokens_estimated"`
	Cached   int             `json:"tokens_cached"`
	Messages []messageRow    `json:"messages"`
	Plan     json.RawMessage `json:"plan"`          // null when none was recorded
	Keyframe json.RawMessage `json:"keyframe_plan"` // null without a keyframe
}

type messageRow struct {
	Part   string            `json:"part"` // system, keyframe, log, cycle, tail
	Run    spaces.CycleID    `json:"run,omitempty"`
	Role   spaces.TurnRole   `json:"role"`
	Text   string            `json:"text"`
	Calls  []spaces.TurnCall `json:"calls,omitempty"`
	CallID string            `json:"call,omitempty"`
}

type problemsAnswer struct {
	Problems []Problem `json:"problems"`
}

type adaptersAnswer struct {
	Adapters []Adapter `json:"adapters"`
}

// jobsAnswer is a page of long work, newest first.
type jobsAnswer struct {
	Jobs []jobs.JobSnapshot `json:"jobs"`
	Next int64              `json:"next,omitempty"` // goes into before for the next page
}

type pairingsAnswer struct {
	Pairings []Pairing `json:"pairings"`
}

type configAnswer struct {
	Rows []SettingRow `json:"rows"`
}

// statusAnswer is everything the first page shows.
type statusAnswer struct {
	Health Health      `json:"health"`
	Lights []Indicator `json:"lights"`
	Tally  Totals      `json:"tally"`
}

// cancelAnswer says what became of a cancel.
type cancelAnswer struct {
	Run  spaces.CycleID    `json:"run"`
	Stop spaces.StopReason `json:"stop_reason"`
}

// A TokenRow is one token; its secret is nowhere.
type TokenRow struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used,omitzero"`
}

// A TokensAnswer lists the tokens.
type TokensAnswer struct {
	Tokens []TokenRow `json:"tokens"`
}

// A TokenRequest asks for a new token.
type TokenRequest struct {
	Name string `json:"name"`
}

// NewToken is a token with its secret, which is told this once.
type NewToken struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Secret string `json:"secret"`
}

// An ErrorAnswer is the answer to what can not be done.
type ErrorAnswer struct {
	Error string `json:"error"`
	Do    string `json:"do,omitempty"`
}

// UserError is an error in words for whoever asked.
type UserError interface {
	error
	Refusal() ErrorAnswer
}

// briefHealth is the answer of GET /health to anybody.
type briefHealth struct {
	Status string `json:"status"`
}

type nothing struct{}
