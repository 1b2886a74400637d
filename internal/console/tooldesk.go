package console

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// ToolDesk has the tools from outside, and the calls of them that people decide about. What
// cannot be done is [UserError].
type ToolDesk interface {
	// OutsideTools returns the tools, with the servers that have them and how they are used.
	OutsideTools(ctx context.Context) (OutsideTools, error)
	// AcceptTools accepts the tools of a server as they are now.
	AcceptTools(ctx context.Context, q AcceptRequest) (AcceptedTools, error)
	// Approvals returns what waits for a person, and what is always allowed.
	Approvals(ctx context.Context) (Approvals, error)
	// DecideApproval decides about a call in the name of the operator.
	DecideApproval(ctx context.Context, d ApprovalDecision) (ApprovalOutcome, error)
}

// A GrantedTool is an outside tool that an agent is offered.
type GrantedTool struct {
	Agent    spaces.AgentID  `json:"agent"`
	Tool     string          `json:"tool"` // as configurations call it
	Name     string          `json:"name"` // as models call it
	Server   string          `json:"server"`
	Tier     spaces.ToolTier `json:"tier"`
	ReadOnly bool            `json:"read_only"`
	Approve  string          `json:"approve"` // never, ask, always, or by_risk
}

// A ToolServerRow is a tool server and its state.
type ToolServerRow struct {
	Name     string    `json:"name"`
	Status   string    `json:"status"` // idle, connecting, ready, failing, closed
	Since    time.Time `json:"since,omitzero"`
	Problem  string    `json:"problem,omitempty"`
	Product  string    `json:"product,omitempty"` // what it calls itself, with its version
	Revision string    `json:"revision,omitempty"`
	Tools    int       `json:"tools"`
	Changed  []string  `json:"changed"` // tools that are not offered until they are accepted
	Skipped  []string  `json:"skipped"` // tools that cannot be offered, each with the reason
}

// OutsideTools are the outside tools of an installation.
type OutsideTools struct {
	Servers []ToolServerRow `json:"servers"`
	Granted []GrantedTool   `json:"granted"`
	Used    []ToolUsage     `json:"used"` // by the newest calls, the most used first
}

// AcceptRequest names a tool server whose tools are accepted as they are now.
type AcceptRequest struct {
	Server string `json:"server"`
}

// AcceptedTools are the tools that were other than before.
type AcceptedTools struct {
	Server string   `json:"server"`
	Tools  []string `json:"tools"`
}

// An ApprovalRow is a call that a person has to decide about.
type ApprovalRow struct {
	Code    string          `json:"code"`
	Agent   spaces.AgentID  `json:"agent"`
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"`
	Space   spaces.SpaceID  `json:"space"`
	Asker   spaces.EntityID `json:"asker,omitempty"`
	Since   time.Time       `json:"since"`
	Expires time.Time       `json:"expires"`
}

// Approvals are the calls that people have to decide about and what they always allow.
type Approvals struct {
	Waiting []ApprovalRow      `json:"waiting"`
	Always  []spaces.ToolGrant `json:"always"`
}

// ApprovalDecision decides about a call, or takes back what is always allowed.
type ApprovalDecision struct {
	Code   string            `json:"code,omitempty"`
	Allow  bool              `json:"allow,omitempty"`
	Always bool              `json:"always,omitempty"`
	Revoke *spaces.ToolGrant `json:"revoke,omitempty"`
}

// ApprovalOutcome says what was decided.
type ApprovalOutcome struct {
	Says string `json:"says"`
}

// A ToolUsage says how a tool was used by the newest calls of all tools.
type ToolUsage struct {
	Tool   string    `json:"tool"` // as models call it
	Server string    `json:"server"`
	Calls  int       `json:"calls"`
	Failed int       `json:"failed"` // calls that failed, or of which it is unknown whether they did anything
	Median int64     `json:"p50_ms"` // of calls that ended
	Slow   int64     `json:"p95_ms"`
	Last   time.Time `json:"last"` // when it was called last
}

// A ToolTiming is when a call of a tool was made and how it ended.
type ToolTiming struct {
	Tool, Server   string
	State          spaces.ToolRunState
	Proposed       time.Time
	Started, Ended time.Time // zero: not yet
}

// MaxToolTimings bounds how many calls are summed up.
const MaxToolTimings = 2000

// SumTimings returns how tools were used by calls, the most used first.
func SumTimings(calls []ToolTiming) []ToolUsage {
	byTool := map[[2]string]*ToolUsage{}
	took := map[*ToolUsage][]int64{}
	all := []*ToolUsage{}
	for _, c := range calls {
		key := [2]string{c.Server, c.Tool}
		u := byTool[key]
		if u == nil {
			u = &ToolUsage{Tool: c.Tool, Server: c.Server}
			byTool[key], all = u, append(all, u)
		}
		u.Calls++
		if c.Proposed.After(u.Last) {
			u.Last = c.Proposed
		}
		if c.State == spaces.ToolFailed || c.State == spaces.ToolUnknown {
			u.Failed++
		}
		if !c.Started.IsZero() && !c.Ended.IsZero() {
			took[u] = append(took[u], max(0, c.Ended.Sub(c.Started).Milliseconds()))
		}
	}
	out := make([]ToolUsage, len(all))
	for i, u := range all {
		if t := took[u]; len(t) > 0 {
			slices.Sort(t)
			u.Median, u.Slow = t[(len(t)-1)/2], t[(len(t)*95+99)/100-1]
		}
		out[i] = *u
	}
	slices.SortStableFunc(out, func(a, b ToolUsage) int {
		return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Tool, b.Tool))
	})
	return out
}
