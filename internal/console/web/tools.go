package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

type toolsPage struct {
	pageLayout
	Servers []console.ToolServerRow
	Tools   []outsideTool
	Newest  string // how many calls the numbers are of
}

// An outsideTool is a tool with those who have it and how it was used.
type outsideTool struct {
	console.GrantedTool
	Agents string
	Use    console.ToolUsage
	Gone   bool // it was called, and no agent has it any longer
}

// deskPages are the pages of tools from outside and of what people decide about them.
type deskPages struct{ *Site }

func (site deskPages) pageTools(r *http.Request) (view, error) {
	a, err := site.api.OutsideTools(r)
	p := &toolsPage{pageLayout: pageLayout{Title: "Tools", Terminal: "trestle tools servers"}, Servers: a.Servers, Newest: console.NarrowThousands(console.MaxToolTimings)}
	used := slices.Clone(a.Used)
	for _, g := range a.Granted {
		if i := slices.IndexFunc(p.Tools, func(t outsideTool) bool { return t.Name == g.Name && t.Server == g.Server }); i >= 0 {
			p.Tools[i].Agents += ", " + string(g.Agent)
			continue
		}
		t := outsideTool{GrantedTool: g, Agents: string(g.Agent)}
		if i := slices.IndexFunc(used, func(u console.ToolUsage) bool { return u.Tool == g.Name && u.Server == g.Server }); i >= 0 {
			t.Use = used[i]
			used = slices.Delete(used, i, i+1)
		}
		p.Tools = append(p.Tools, t)
	}
	for _, u := range used {
		p.Tools = append(p.Tools, outsideTool{GrantedTool: console.GrantedTool{Tool: u.Tool, Name: u.Tool, Server: u.Server}, Use: u, Gone: true})
	}
	return p, err
}

// pageAcceptTools accepts the tools of a server as they are now, and shows all.
func (site deskPages) pageAcceptTools(w http.ResponseWriter, r *http.Request) {
	_, err := site.api.AcceptTools(r, r.PathValue("server"))
	site.goOn(w, r, "/tools", err)
}

type approvalsPage struct {
	pageLayout
	Waiting []waitingCall
	Always  []alwaysAllowed
}

// A waitingCall is a call that a person has to decide about.
type waitingCall struct {
	console.ApprovalRow
	Who  string // asked for it
	Left string // until it is too late to decide; empty: it is
}

// An alwaysAllowed is a tool that people always allow, with the name of who said so.
type alwaysAllowed struct {
	spaces.ToolGrant
	Who string
}

func (site deskPages) pageApprovals(r *http.Request) (view, error) {
	a, err := site.api.ListApprovals(r)
	if err != nil {
		return nil, err
	}
	var people []spaces.EntityID
	for _, c := range a.Waiting {
		people = append(people, c.Asker)
	}
	for _, g := range a.Always {
		people = append(people, g.By)
	}
	names, err := site.Store.Names(r.Context(), people)
	p := &approvalsPage{pageLayout: pageLayout{Title: "Approvals", Terminal: "trestle approvals"}}
	for _, c := range a.Waiting {
		call := waitingCall{ApprovalRow: c, Who: nameUnlessEmpty(c.Asker, names)}
		if left := time.Until(c.Expires); left > 0 {
			call.Left = console.Span(left)
		}
		p.Waiting = append(p.Waiting, call)
	}
	for _, g := range a.Always {
		p.Always = append(p.Always, alwaysAllowed{g, nameUnlessEmpty(g.By, names)})
	}
	return p, err
}

func nameUnlessEmpty(id spaces.EntityID, names map[spaces.EntityID]spaces.Entity) string {
	if id == "" {
		return ""
	}
	return console.NameOf(id, names)
}

// pageDecide decides about a call, and shows what else waits.
func (site deskPages) pageDecide(w http.ResponseWriter, r *http.Request) {
	_, err := site.api.DecideOn(r, r.PathValue("code"), r.PathValue("verb"))
	site.goOn(w, r, "/approvals", err)
}

// pageRevoke takes back that a tool is always allowed.
func (site deskPages) pageRevoke(w http.ResponseWriter, r *http.Request) {
	_, err := site.api.Revoke(r, spaces.ToolGrant{
		Agent: spaces.AgentID(r.PostFormValue("agent")), Space: spaces.SpaceID(r.PostFormValue("space")), Tool: r.PostFormValue("tool"),
	})
	site.goOn(w, r, "/approvals", err)
}

// goOn leads to a page after a change, or says why nothing was changed.
func (site deskPages) goOn(w http.ResponseWriter, r *http.Request, to string, err error) {
	no, refused := errors.AsType[console.UserError](err)
	switch {
	case err == nil:
		http.Redirect(w, r, to, http.StatusSeeOther)
	case refused:
		said := no.Refusal()
		site.respond.Fail(w, r, http.StatusBadRequest, strings.TrimSpace(said.Error+"\n"+said.Do))
	default:
		site.respond.FailInternal(w, r, err)
	}
}
