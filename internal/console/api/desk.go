package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxQuestion bounds the bytes of a request about tools.
const maxQuestion = 64 << 10

// questionOf reads the body of a request.
func questionOf[Q any](r *http.Request) (q Q, err error) {
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxQuestion)).Decode(&q); err != nil {
		return q, console.ErrParameter
	}
	return q, nil
}

// OutsideTools returns the tools from outside, the servers that have them, and their use.
func (api *API) OutsideTools(r *http.Request) (console.OutsideTools, error) {
	return api.Desk.OutsideTools(r.Context())
}

func (api *API) serveAcceptTools(r *http.Request) (console.AcceptedTools, error) {
	q, err := questionOf[console.AcceptRequest](r)
	if err != nil {
		return console.AcceptedTools{}, err
	}
	return api.Desk.AcceptTools(r.Context(), q)
}

// ListApprovals returns the calls that wait for a person, and what is always allowed.
func (api *API) ListApprovals(r *http.Request) (console.Approvals, error) {
	return api.Desk.Approvals(r.Context())
}

func (api *API) serveDecide(r *http.Request) (console.ApprovalOutcome, error) {
	q, err := questionOf[console.ApprovalDecision](r)
	if err != nil {
		return console.ApprovalOutcome{}, err
	}
	return api.Desk.DecideApproval(r.Context(), q)
}

// outsideCallOf returns what became of a call of a tool from outside; nil for another.
func outsideCallOf(run console.Run, call string) *OutsideCallRow {
	for i := range run.Tools {
		t := &run.Tools[i]
		if t.Call != call {
			continue
		}
		row := &OutsideCallRow{
			Server: t.Server, State: t.State, Code: t.Code, DecidedBy: t.DecidedBy, Attempts: t.Attempt, Proposed: t.Proposed, Started: t.Started, Ended: t.Ended,
			Result: strings.ToValidUTF8(t.Result[:min(len(t.Result), maxShownResult)], ""), Bytes: int64(len(t.Result)), Detail: t.Detail,
		}
		return row
	}
	return nil
}

// maxShownResult is how many bytes of a result are shown with its run.
const maxShownResult = 16 << 10

// toolVerbs are what can be done about a call that waits, by the words of pages.
var toolVerbs = map[string]console.ApprovalDecision{"allow": {Allow: true}, "always": {Allow: true, Always: true}, "deny": {}}

// DecideOn decides about a call by a word: allow, always or deny.
func (api *API) DecideOn(r *http.Request, code, verb string) (console.ApprovalOutcome, error) {
	d, ok := toolVerbs[verb]
	if !ok {
		return console.ApprovalOutcome{}, console.ErrUnknown
	}
	d.Code = code
	return api.Desk.DecideApproval(r.Context(), d)
}

// Revoke takes back that a tool is always allowed.
func (api *API) Revoke(r *http.Request, g spaces.ToolGrant) (console.ApprovalOutcome, error) {
	return api.Desk.DecideApproval(r.Context(), console.ApprovalDecision{Revoke: &g})
}

// AcceptTools accepts the tools of a server as they are now.
func (api *API) AcceptTools(r *http.Request, server string) (console.AcceptedTools, error) {
	return api.Desk.AcceptTools(r.Context(), console.AcceptRequest{Server: server})
}
