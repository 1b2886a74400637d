package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/money"
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
	Asker   *personRow        `json:"asker,omitempty"`  // of the message that woke it; in lists alone, like the words
	Asked   string            `json:"asked,omitempty"`  // its words as the agent was shown them
	Answer  string            `json:"answer,omitempty"` // the first message that it sent
	Sends   int               `json:"sends,omitempty"`  // messages that it decided to send
	Model   string            `json:"model,omitempty"`  // of the agent, by the configuration of now; in lists alone
	Price   *float64          `json:"price,omitempty"`  // what it cost, in the currency of the figures; in lists alone
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

// A RunsAnswer is a page of runs, newest first.
type RunsAnswer struct {
	Runs []RunRow       `json:"runs"`
	Next spaces.CycleID `json:"next,omitempty"` // goes into before for the next page; empty at the end
}

// RunAnswer is one run with everything that explains it.
type RunAnswer struct {
	RunRow
	Active     spaces.SpaceID    `json:"active_space,omitempty"` // where plain messages of the run go; empty before it entered one
	Rest       string            `json:"rest,omitempty"`
	Ended      time.Time         `json:"ended,omitzero"`
	Usage      spaces.TokenUsage `json:"usage"`
	Budget     int               `json:"token_budget_estimate"` // 0: no limit
	Cost       *float64          `json:"cost"`                  // null when no price was known
	Currency   string            `json:"currency"`              // of the cost: a code such as USD
	Manifest   string            `json:"tool_manifest,omitempty"`
	Prompts    string            `json:"prompts,omitempty"` // versions of sections that it was told and are not built in, such as "identity@2 tools@3"
	Denials    []DenialRow       `json:"permission_denials"`
	Shown      []ShownRow        `json:"shown"`
	Steps      []stepRow         `json:"steps"`
	Deliveries []deliveryRow     `json:"deliveries"`
	Lost       []lostRow         `json:"lost_beginnings"`
	Waits      []waitRow         `json:"waits"`
	Feedback   []FeedbackRow     `json:"feedback"`   // ratings of what it said, oldest first
	Plan       json.RawMessage   `json:"frame_plan"` // of its last step; null without one
}

// A FeedbackRow is what a person thinks of a message of the run.
type FeedbackRow struct {
	Event  spaces.EventID      `json:"event"` // the message
	Who    personRow           `json:"who"`
	Rating spaces.AnswerRating `json:"rating"`
	Why    string              `json:"why,omitempty"` // in their words
	At     time.Time           `json:"at"`
}

// A ShownRow is one event that the run was shown.
type ShownRow struct {
	Event  spaces.EventID       `json:"event"`
	Seq    int64                `json:"seq"`
	Actor  spaces.EntityID      `json:"actor,omitempty"`
	Kind   spaces.EventKind     `json:"kind"`
	State  spaces.InboxRowState `json:"state"`
	Reason string               `json:"reason"`
}

// A waitRow is a question whose answer a run waits for: its own, or one whose end
// woke it.
type waitRow struct {
	Run     spaces.CycleID      `json:"run"` // that asked
	Space   spaces.SpaceID      `json:"space"`
	Event   spaces.EventID      `json:"event"` // the question
	Seq     int64               `json:"seq"`
	Call    string              `json:"call"`
	Who     []spaces.EntityID   `json:"waitingFor"` // empty: anyone, or any person
	Need    int                 `json:"need"`       // how many of them must answer
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
	Model   string            `json:"model,omitempty"`   // that answered in place of the agent's own
	Thought string            `json:"thought,omitempty"` // what it wrote in contemplation, or the reasoning that the endpoint told of; in no chat
	Usage   spaces.TokenUsage `json:"usage"`
	At      time.Time         `json:"at"`
	Acts    []ToolCallRow     `json:"acts"`
}

// A ToolCallRow is one tool call with its result.
type ToolCallRow struct {
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
	Outside     *OutsideCallRow   `json:"outside,omitempty"`        // of a tool from outside
}

// An OutsideCallRow is what became of a call of a tool from outside.
type OutsideCallRow struct {
	Server    string              `json:"server"`
	State     spaces.ToolRunState `json:"state"`
	Code      string              `json:"code,omitempty"` // by which people decided about it
	DecidedBy spaces.EntityID     `json:"decided_by,omitempty"`
	Attempts  int                 `json:"attempts"`
	Proposed  time.Time           `json:"proposed"`
	Started   time.Time           `json:"started,omitzero"`
	Ended     time.Time           `json:"ended,omitzero"`
	Result    string              `json:"result,omitempty"` // its beginning
	Bytes     int64               `json:"result_bytes"`     // of the whole result
	Detail    string              `json:"detail,omitempty"` // why it failed
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

// cancelAnswer is the result of a cancel.
type cancelAnswer struct {
	Run  spaces.CycleID    `json:"run"`
	Stop spaces.StopReason `json:"stop_reason"`
}

// RunFilterOf reads which runs are asked for.
func RunFilterOf(r *http.Request) (console.Filter, error) {
	q := r.URL.Query()
	f := console.Filter{
		Space: spaces.SpaceID(q.Get("space")), Agent: spaces.AgentID(q.Get("agent")), Stop: spaces.StopReason(q.Get("stop")),
		Rating: spaces.AnswerRating(q.Get("feedback")),
		Before: spaces.CycleID(q.Get("before")),
	}
	var err error
	if f.Since, err = console.QuerySince(r, time.Now()); err != nil {
		return f, err
	}
	f.Limit, err = console.QueryLimit(r)
	return f, err
}

// A RunAPI reads runs and cancels them.
type RunAPI struct{ backend }

// ListRuns returns a page of runs.
func (api *RunAPI) ListRuns(r *http.Request, f console.Filter) (RunsAnswer, error) {
	limit := f.Limit
	f.Limit++
	f.Words = true
	found, err := api.Store.Runs(r.Context(), f)
	if errors.Is(err, console.ErrUnknown) {
		err = console.ErrParameter
	}
	if err != nil {
		return RunsAnswer{}, err
	}
	a := RunsAnswer{Runs: []RunRow{}}
	if len(found) > limit {
		found = found[:limit]
		a.Next = found[limit-1].ID
	}
	people := make([]spaces.EntityID, len(found))
	for i, y := range found {
		people[i] = y.Asker
	}
	slices.Sort(people)
	names, err := api.Store.Names(r.Context(), slices.Compact(people))
	if err != nil {
		return RunsAnswer{}, err
	}
	for _, y := range found {
		row := RowOf(y.Cycle)
		row.Asked, row.Answer, row.Sends, row.Model, row.Price = y.Asked, y.Answer, y.Sends, api.Settings.Model(y.Mind.Agent).Name, CostOf(y.Usage.Cost)
		if y.Asker != "" {
			row.Asker = &personRow{y.Asker, console.NameOf(y.Asker, names)}
		}
		a.Runs = append(a.Runs, row)
	}
	return a, nil
}

func (api *RunAPI) serveRuns(r *http.Request) (RunsAnswer, error) {
	f, err := RunFilterOf(r)
	if err != nil {
		return RunsAnswer{}, err
	}
	return api.ListRuns(r, f)
}

// DescribeRun tells everything about a run.
func (api *RunAPI) DescribeRun(run console.Run) RunAnswer {
	y := run.Cycle
	a := RunAnswer{
		RunRow: RowOf(y), Active: y.Active, Rest: y.Rest, Ended: y.Ended, Usage: y.Usage, Manifest: y.Manifest, Prompts: y.Prompts, Plan: y.Plan,
		Budget: api.Settings.Budget(y.Mind.Agent, y.Space).Tokens, Cost: CostOf(y.Usage.Cost), Currency: api.Settings.Currency(),
		Denials: []DenialRow{}, Shown: []ShownRow{}, Steps: []stepRow{}, Deliveries: []deliveryRow{}, Lost: []lostRow{}, Waits: []waitRow{}, Feedback: []FeedbackRow{},
	}
	for i, row := range run.Rows {
		e := run.Events[i]
		a.Shown = append(a.Shown, ShownRow{e.ID, row.Seq, e.Actor, e.Body.Kind(), row.State, row.Reason})
	}
	for _, s := range run.Steps {
		a.Steps = append(a.Steps, stepRow{
			N: s.N, Phase: s.Phase, State: s.State, Finish: s.Finish, Model: s.Model, Thought: thoughtIn(run.Inner, s), Usage: s.Usage, At: s.At, Acts: api.toolCallsOf(run, s.N),
		})
	}
	for _, e := range run.Inner {
		if d, ok := e.Body.(spaces.CallDenied); ok {
			a.Denials = append(a.Denials, DenialRow{Denial: d.Denial})
		}
	}
	for _, x := range run.Lost {
		a.Lost = append(a.Lost, lostRow{x.Account, x.Chat})
	}
	for _, x := range run.Waits {
		a.Waits = append(a.Waits, waitRow{x.Cycle, x.Space, x.Message, x.Seq, x.Call, console.NonNil(x.Who), x.Needed(), x.Due, x.Outcome, console.NonNil(x.Answers)})
	}
	for _, x := range run.Rated {
		a.Feedback = append(a.Feedback, FeedbackRow{x.Event, personRow{x.Who, x.Name}, x.Rating, x.Why, x.At})
	}
	for _, x := range run.Actions {
		a.Deliveries = append(a.Deliveries, deliveryRow{
			x.ID, x.Kind, x.Space, x.Event, x.Account, x.Chat, x.State, x.Attempts, x.Code, x.Problem, console.NonNil(x.Refs),
		})
	}
	return a
}

// thoughtIn returns what the agent thought in a step.
func thoughtIn(inner []spaces.Event, s spaces.Step) string {
	for _, e := range inner {
		if t, ok := e.Body.(spaces.ThoughtRecorded); ok && t.Step == s.N {
			return t.Text
		}
	}
	return ""
}

// toolCallsOf returns the tool calls of a step with their results and costs.
func (api *RunAPI) toolCallsOf(run console.Run, step int) []ToolCallRow {
	inner := run.Inner
	results := map[string]spaces.ToolReturned{}
	for _, e := range inner {
		if r, ok := e.Body.(spaces.ToolReturned); ok && r.Step == step {
			results[r.CallID] = r
		}
	}
	calls := []ToolCallRow{}
	for _, e := range inner {
		called, ok := e.Body.(spaces.ToolCalled)
		if !ok || called.Step != step {
			continue
		}
		row := ToolCallRow{Call: called.CallID, Name: called.Name, Args: json.RawMessage(called.Args), Outside: outsideCallOf(run, called.CallID)}
		if !json.Valid(row.Args) {
			row.Args = json.RawMessage("{}")
		}
		if r, returned := results[called.CallID]; returned {
			row.OK, row.Note, row.Refs, row.ExecutionMS, row.Usage = r.OK, r.Note, r.Refs, r.Took, r.Usage
			if r.Usage.Calls > 0 {
				row.Cost = CostOf(r.Usage.Cost)
			}
		}
		calls = append(calls, row)
	}
	return calls
}

// CostOf returns a cost in whole units of its currency, or nil when no price was known.
func CostOf(micros int64) *float64 {
	if micros == 0 {
		return nil
	}
	return new(money.Amount{Micros: micros}.Float())
}

func (api *RunAPI) serveRun(r *http.Request) (RunAnswer, error) {
	run, err := api.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return RunAnswer{}, err
	}
	return api.DescribeRun(run), nil
}

// ReadFrame reads the frame that a request names.
func (api *RunAPI) ReadFrame(r *http.Request) (console.Frame, error) {
	if r.PathValue("n") == "last" {
		run, err := api.Store.Run(r.Context(), r.PathValue("id"))
		if err != nil || len(run.Steps) == 0 {
			return console.Frame{}, cmp.Or(err, console.ErrUnknown)
		}
		return api.Store.Frame(r.Context(), run.Cycle.ID, run.Steps[len(run.Steps)-1].N)
	}
	step, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || step < 0 {
		return console.Frame{}, console.ErrUnknown
	}
	return api.Store.Frame(r.Context(), spaces.CycleID(r.PathValue("id")), step)
}

func (api *RunAPI) serveFrame(r *http.Request) (FrameAnswer, error) {
	f, err := api.ReadFrame(r)
	return FrameAnswerOf(f), err
}

// FrameAnswerOf returns a frame as the API shows it.
func FrameAnswerOf(f console.Frame) FrameAnswer {
	a := FrameAnswer{
		Run: f.Run.ID, Step: f.Step.N, Mind: f.Run.Mind.String(), Exact: f.Exact, Expired: f.Step.Expired, Plan: f.Step.Frame,
		Reported: f.Step.Usage.Prompt, Estimate: f.Step.Usage.Estimated, Cached: f.Step.Usage.Cached, Messages: []messageRow{},
	}
	if f.Keyframe != nil {
		a.Keyframe = f.Keyframe.Plan
	}
	for _, m := range f.Messages {
		a.Messages = append(a.Messages, messageRow{m.Part, m.Run, m.Role, m.Text, m.Calls, m.CallID})
	}
	return a
}

// A SendChange is what was done about a message.
type SendChange struct {
	Action spaces.ActionID  `json:"action"`
	Verb   console.SendVerb `json:"verb"`
}

// ChangeDelivery has the message that a path names be sent again, or drops it.
func (api *RunAPI) ChangeDelivery(r *http.Request) (SendChange, error) {
	run, err := api.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return SendChange{}, err
	}
	c := SendChange{spaces.ActionID(r.PathValue("action")), console.SendVerb(r.PathValue("verb"))}
	i := slices.IndexFunc(run.Actions, func(a spaces.Action) bool { return a.ID == c.Action })
	if i < 0 || c.Verb != console.SendAgain && c.Verb != console.SendDrop {
		return SendChange{}, console.ErrUnknown
	}
	if err := api.ChangeSend(r.Context(), run.Actions[i], c.Verb); err != nil {
		return SendChange{}, err
	}
	api.Logger.Info("send changed", "action", string(c.Action), "verb", string(c.Verb))
	return c, nil
}

// May reports whether an operator may do that about the message: resend or drop.
func (d deliveryRow) May(verb string) bool {
	return d.Kind == spaces.ActSend && console.SendVerb(verb).MayChange(d.State)
}

// serveCancel ends a run at once.
func (api *RunAPI) serveCancel(w http.ResponseWriter, r *http.Request) {
	id := spaces.CycleID(r.PathValue("id"))
	switch under, err := api.CancelRun(r, id); {
	case err != nil:
		api.respond.FailInternal(w, r, err)
	case !under:
		console.WriteJSON(w, http.StatusConflict, console.ErrorAnswer{Error: "the run is not under way"})
	default:
		console.WriteJSON(w, http.StatusAccepted, cancelAnswer{id, spaces.StopCancelled})
	}
}

// CancelRun asks for the end of a run and reports whether it was under way.
func (api *RunAPI) CancelRun(r *http.Request, id spaces.CycleID) (bool, error) {
	run, err := api.Store.Run(r.Context(), string(id))
	if err != nil {
		return false, err
	}
	if y := run.Cycle; y.ID != id || y.State != spaces.CycleOpen {
		return false, nil
	}
	under, err := api.Process.Cancel(r.Context(), id)
	if under {
		api.Logger.Info("run cancelled", "run", id)
	}
	return under, err
}
