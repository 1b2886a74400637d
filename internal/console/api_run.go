package console

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/trestle-bridge/trestle/spaces"
)

// answer tells everything about a run.
func (c *Console) answer(run Run) RunAnswer {
	y := run.Cycle
	a := RunAnswer{
		RunRow: RowOf(y), Active: y.Active, Rest: y.Rest, Ended: y.Ended, Usage: y.Usage, Manifest: y.Manifest, Plan: y.Plan,
		Budget: c.Settings.Budget(y.Mind.Agent, y.Space), Cost: c.cost(y.Mind.Agent, y.Usage),
		Denials: []DenialRow{}, Shown: []shownRow{}, Steps: []stepRow{}, Deliveries: []deliveryRow{}, Lost: []lostRow{}, Waits: []waitRow{},
	}
	for i, row := range run.Rows {
		e := run.Events[i]
		a.Shown = append(a.Shown, shownRow{e.ID, row.Seq, e.Actor, e.Body.Kind(), row.State, row.Reason})
	}
	for _, s := range run.Steps {
		a.Steps = append(a.Steps, stepRow{
			N: s.N, Phase: s.Phase, State: s.State, Finish: s.Finish, Thought: thoughtIn(run.Inner, s), Usage: s.Usage, At: s.At, Acts: c.actsOf(y.Mind.Agent, run.Inner, s.N),
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
		a.Waits = append(a.Waits, waitRow{x.Cycle, x.Space, x.Message, x.Seq, x.Call, some(x.Who), x.Due, x.Outcome, some(x.Answers)})
	}
	for _, x := range run.Actions {
		a.Deliveries = append(a.Deliveries, deliveryRow{
			x.ID, x.Kind, x.Space, x.Event, x.Account, x.Chat, x.State, x.Attempts, x.Code, x.Problem, some(x.Refs),
		})
	}
	return a
}

// thoughtIn returns what the agent wrote in a contemplation, of which a run has one.
func thoughtIn(inner []spaces.Event, s spaces.Step) string {
	for _, e := range inner {
		if t, ok := e.Body.(spaces.ThoughtRecorded); ok && s.Phase == spaces.Contemplation {
			return t.Text
		}
	}
	return ""
}

// actsOf returns the acts of one step with their results, and what they cost.
func (c *Console) actsOf(agent spaces.AgentID, inner []spaces.Event, step int) []actRow {
	acts := []actRow{}
	for _, e := range inner {
		if a, ok := e.Body.(spaces.ToolCalled); ok && a.Step == step {
			args := json.RawMessage(a.Args)
			if !json.Valid(args) {
				args = json.RawMessage("{}")
			}
			acts = append(acts, actRow{Call: a.CallID, Name: a.Name, Args: args})
		}
		if r, ok := e.Body.(spaces.ToolReturned); ok && r.Step == step {
			for i := range acts {
				if acts[i].Call == r.CallID {
					a := &acts[i]
					a.OK, a.Note, a.Refs, a.ExecutionMS, a.Usage = r.OK, r.Note, r.Refs, r.Took, r.Usage
					if r.Usage.Calls > 0 {
						a.Cost = c.cost(agent, r.Usage)
					}
				}
			}
		}
	}
	return acts
}

// cost returns what an agent's calls of its model cost, or nil when nobody said what
// tokens cost.
func (c *Console) cost(agent spaces.AgentID, u spaces.TokenUsage) *float64 {
	p, known := c.Settings.Price(agent)
	if !known {
		return nil
	}
	return new(p.Of(u.Prompt, u.Cached, u.Output))
}

func (c *Console) apiRun(r *http.Request) (RunAnswer, error) {
	run, err := c.Record.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return RunAnswer{}, err
	}
	return c.answer(run), nil
}

// frame reads the frame that a request names.
func (c *Console) frame(r *http.Request) (Frame, error) {
	step, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || step < 0 {
		return Frame{}, ErrUnknown
	}
	return c.Record.Frame(r.Context(), spaces.CycleID(r.PathValue("id")), step)
}

func (c *Console) apiFrame(r *http.Request) (FrameAnswer, error) {
	f, err := c.frame(r)
	return frameAnswerOf(f), err
}

func frameAnswerOf(f Frame) FrameAnswer {
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
