package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// ToolTrial asks for one call of a tool by the operator.
type ToolTrial struct {
	Agent string          `json:"agent"` // whose grants hold; empty: the first agent that has it
	Tool  string          `json:"tool"`
	Args  json.RawMessage `json:"args"`
}

// ToolTrialResult is what a tool answered to the operator.
type ToolTrialResult struct {
	Tool   string `json:"tool"`
	Failed bool   `json:"failed"`
	Text   string `json:"text"`
	Detail string `json:"detail,omitempty"` // why it failed, for the operator
	Took   string `json:"took"`
}

// A toolDesk has the tools from outside and the calls that people decide about. It implements
// [console.ToolDesk].
type toolDesk struct{ *Server }

// OutsideTools implements [console.ToolDesk].
func (ctl toolDesk) OutsideTools(ctx context.Context) (console.OutsideTools, error) {
	a := console.OutsideTools{Servers: []console.ToolServerRow{}, Granted: []console.GrantedTool{}}
	for _, s := range ctl.tools.Servers() {
		row := console.ToolServerRow{
			Name: s.Name, Status: string(s.State.Status), Since: s.State.Since, Problem: s.State.Problem, Product: strings.TrimSpace(s.State.Product + " " + s.State.ProductVersion),
			Revision: s.State.Revision, Tools: len(s.Tools), Changed: []string{}, Skipped: []string{},
		}
		for _, c := range s.Changed {
			row.Changed = append(row.Changed, c.Name)
		}
		for _, t := range s.State.Skipped {
			row.Skipped = append(row.Skipped, t.Name+": "+t.Reason)
		}
		a.Servers = append(a.Servers, row)
	}
	for _, agent := range ctl.Config().Agents {
		for _, t := range ctl.tools.Offered(spaces.AgentID(agent.ID)).Tools {
			a.Granted = append(a.Granted, console.GrantedTool{
				Agent: spaces.AgentID(agent.ID), Tool: t.Title, Name: t.Name, Server: t.Server, Tier: t.Tier, ReadOnly: t.ReadOnly, Approve: cmp.Or(string(t.Approve), "by_risk"),
			})
		}
	}
	timings, err := ctl.Store.Shell().ToolTimings(ctx, console.MaxToolTimings)
	a.Used = console.SumTimings(timings)
	return a, err
}

func (ctl controlServer) serveOutsideTools(rw http.ResponseWriter, r *http.Request) {
	a, err := toolDesk(ctl).OutsideTools(r.Context())
	if err != nil {
		control.WriteError(rw, err)
		return
	}
	control.WriteJSON(rw, http.StatusOK, a)
}

// AcceptTools implements [console.ToolDesk].
func (ctl toolDesk) AcceptTools(_ context.Context, q console.AcceptRequest) (console.AcceptedTools, error) {
	a := console.AcceptedTools{Server: q.Server, Tools: []string{}}
	changed, err := ctl.tools.Accept(q.Server)
	if err != nil {
		return a, &apperr.Error{What: err.Error(), Where: "tools accept", Remedy: "trestle tools servers lists them", Code: apperr.Failed}
	}
	for _, c := range changed {
		a.Tools = append(a.Tools, c.Name)
	}
	return a, nil
}

// tryTool calls a tool for the operator, with the grants of an agent. No person is asked.
func (ctl controlServer) tryTool(ctx context.Context, q ToolTrial) (ToolTrialResult, error) {
	for _, agent := range ctl.Config().Agents {
		if q.Agent != "" && agent.ID != q.Agent {
			continue
		}
		for _, t := range ctl.tools.Offered(spaces.AgentID(agent.ID)).Tools {
			if t.Title != q.Tool && t.Name != q.Tool {
				continue
			}
			ctl.Log.Info("tool called by the operator", "tool", t.Title)
			began := time.Now()
			got, err := ctl.tools.Use(ctx, shell.ToolUse{ID: ctl.Mint(), Tool: t.Name, Agent: spaces.AgentID(agent.ID), Args: q.Args})
			r := ToolTrialResult{Tool: t.Title, Failed: got.Failed, Text: got.Text, Took: time.Since(began).Round(time.Millisecond).String()}
			if err != nil {
				r.Failed, r.Detail = true, err.Error()
			} else if got.Input.Question != "" {
				r.Failed, r.Text = true, "It asks a person to choose: "+got.Input.Question+spaces.OptionList(got.Input.Options)
			}
			return r, nil
		}
	}
	return ToolTrialResult{}, &apperr.Error{What: fmt.Sprintf("no agent has the tool %q", q.Tool), Where: "tools call", Remedy: "trestle tools servers lists what agents are granted", Code: apperr.Failed}
}

func (ctl controlServer) serveApprovals(rw http.ResponseWriter, r *http.Request) {
	a, err := toolDesk(ctl).Approvals(r.Context())
	if err != nil {
		control.WriteError(rw, err)
		return
	}
	control.WriteJSON(rw, http.StatusOK, a)
}

// Approvals implements [console.ToolDesk].
func (ctl toolDesk) Approvals(ctx context.Context) (console.Approvals, error) {
	a := console.Approvals{Waiting: []console.ApprovalRow{}, Always: []spaces.ToolGrant{}}
	waiting, err := ctl.Store.Shell().RunsToDecide(ctx)
	if err != nil {
		return a, err
	}
	for _, run := range waiting {
		a.Waiting = append(a.Waiting, console.ApprovalRow{Code: run.Code, Agent: run.Mind.Agent, Tool: run.Tool, Args: json.RawMessage(run.Args), Space: run.Space, Asker: run.Asker, Since: run.Proposed, Expires: run.Expires})
	}
	always, err := ctl.Store.Shell().ToolGrants(ctx)
	a.Always = append(a.Always, always...)
	return a, err
}

// DecideApproval implements [console.ToolDesk]. The room is told.
func (ctl toolDesk) DecideApproval(ctx context.Context, q console.ApprovalDecision) (console.ApprovalOutcome, error) {
	store := ctl.Store.Shell()
	if q.Revoke != nil {
		revoked, err := store.RevokeToolGrant(ctx, *q.Revoke)
		if err == nil && !revoked {
			err = &apperr.Error{What: "that is not always allowed", Where: "approvals revoke", Remedy: "trestle approvals lists what is", Code: apperr.Failed}
		}
		return console.ApprovalOutcome{Says: fmt.Sprintf("%s is asked about again", q.Revoke.Tool)}, err
	}
	d := spaces.ToolDecision{Code: strings.ToUpper(q.Code), Allow: q.Allow, Always: q.Always, At: time.Now(), Outcome: "The operator said no: the tool is not called.", Say: true}
	if q.Allow {
		d.Outcome = "The operator allowed it."
	}
	run, decided, err := store.DecideRun(ctx, d)
	switch {
	case err != nil:
		return console.ApprovalOutcome{}, err
	case run == nil:
		return console.ApprovalOutcome{}, &apperr.Error{What: fmt.Sprintf("there is no request %s", d.Code), Where: "approvals", Remedy: "trestle approvals lists them", Code: apperr.Failed}
	case !decided && run.State == spaces.ToolAsked:
		return console.ApprovalOutcome{}, &apperr.Error{What: d.Code + " waits for what a person chooses: " + run.Input.Question, Where: "approvals", Remedy: "trestle approvals deny " + d.Code + " gives it up", Code: apperr.Failed}
	case !decided:
		return console.ApprovalOutcome{}, &apperr.Error{What: fmt.Sprintf("%s is %s already", d.Code, run.State), Where: "approvals", Code: apperr.Failed}
	case q.Allow:
		return console.ApprovalOutcome{Says: fmt.Sprintf("%s is called now", run.Tool)}, nil
	}
	return console.ApprovalOutcome{Says: fmt.Sprintf("%s is not called", run.Tool)}, nil
}
