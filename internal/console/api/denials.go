package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

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

// A Grant is the setting that decides about a denial.
type Grant struct {
	YAML string `json:"yaml,omitempty"` // what to write; empty when no setting allows such an act
	Says string `json:"says"`
}

// A DenialsAnswer is a page of denials, newest first.
type DenialsAnswer struct {
	Denials []DenialRow `json:"denials"`
	Next    int64       `json:"next,omitempty"`
}

// ListDenials returns a page of denials.
func (api *API) ListDenials(r *http.Request) (DenialsAnswer, error) {
	f := console.DenialFilter{Agent: spaces.AgentID(r.URL.Query().Get("agent"))}
	var err error
	if f.Since, err = console.QuerySince(r, time.Now()); err != nil {
		return DenialsAnswer{}, err
	}
	if f.Limit, err = console.QueryLimit(r); err != nil {
		return DenialsAnswer{}, err
	}
	if f.Before, err = console.QueryNumber(r, "before"); err != nil {
		return DenialsAnswer{}, err
	}
	limit := f.Limit
	f.Limit++
	found, err := api.Store.Denials(r.Context(), f)
	if err != nil {
		return DenialsAnswer{}, err
	}
	a := DenialsAnswer{Denials: []DenialRow{}}
	if len(found) > limit {
		found = found[:limit]
		a.Next = found[limit-1].N
	}
	for _, d := range found {
		row := DenialRow{N: d.N, Denial: d.Denial, Grant: grantFor(d.Denial)}
		if row.Because, err = api.causeChain(r.Context(), d.Cycle); err != nil {
			return DenialsAnswer{}, err
		}
		a.Denials = append(a.Denials, row)
	}
	return a, nil
}

// causeChain names the links of the chain that led to a run.
func (api *API) causeChain(ctx context.Context, run spaces.CycleID) ([]CauseRow, error) {
	if run == "" {
		return nil, nil
	}
	events, err := api.Store.Because(ctx, run)
	if err != nil {
		return nil, err
	}
	names, err := api.Store.Names(ctx, console.Actors(events))
	if err != nil {
		return nil, err
	}
	var chain []CauseRow
	for _, e := range events {
		chain = append(chain, CauseRow{e.ID, e.Space, e.Seq, e.Actor, names[e.Actor].Name, e.Body.Kind(), e.At})
	}
	return chain, nil
}

// grantFor returns the setting that decides about a denial. The
// denial is data: nothing an agent wrote becomes a key or a value of the grant.
// It is printed and never applied: only the operator writes the file.
func grantFor(d spaces.Denial) *Grant {
	switch d.Code {
	case "authority":
		return &Grant{
			Says: "whoever woke it may not ask for this; make that person an admin, by the id that the platform minted",
			YAML: "admins: [\"telegram:123456\"]   # adapter:user\n",
		}
	case "not_a_member", "unknown_space":
		return &Grant{
			Says: "it is in no space of that name; let it join one that you mean it to read",
			YAML: fmt.Sprintf("spaces:\n  NAME: {agents: [%s]}   # beside those who are there\n", d.Agent),
		}
	case "one_space_act":
		return &Grant{Says: "a step holds so many acts in rooms; more are asked for in the next step, or allowed at once", YAML: "max_space_acts: 2\n"}
	case "tier_policy":
		return grantOfAct(d.Act)
	case "greeting":
		return &Grant{Says: "nothing is looked up when only greetings woke it, unless you say so", YAML: "greeting: {look_up: true}\n"}
	}
	says := "no setting allows this"
	if d.Hint != "" {
		says += ": " + d.Hint
	}
	return &Grant{Says: says}
}

// grantOfAct returns the setting that allows an act again.
func grantOfAct(act string) *Grant {
	g := &Grant{Says: "the file has taken this act from it, at the top, in its entry or in that of the space"}
	switch act {
	case "send_message", "send_reply", "ask", "set_up":
		g.YAML = "acts: {send_message: true}\n"
	case "send_file", "react", "edit_message", "delete_message", "read_messages", "search":
		g.YAML = "acts: {" + act + ": true}\n"
	case "checklist", "check":
		g.YAML = "acts: {edit_message: true}\n"
	case "propose_mission", "mission", "submit_task", "return_task", "verify_task":
		g.YAML = "acts: {missions: true}\n"
	}
	return g
}
