package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/spaces"
)

type runsPage struct {
	pageLayout
	Runs   api.RunsAnswer
	Stops  []spaces.StopReason
	Stop   spaces.StopReason
	Agent  string
	Space  string
	Since  string
	Spaces []api.SpaceRow
	Older  string
	Wrong  string
	Chips  []filterChip
}

// A filterChip is a link that narrows a list to what it is called, or takes that back.
type filterChip struct {
	Name, Path string
	Here       bool // the list is narrowed so
}

// chips returns what the list can be narrowed to: times, and the agents and ends of the runs on
// the page with those that are chosen.
func (p *runsPage) chips(r *http.Request) []filterChip {
	var all []filterChip
	add := func(parameter, name, value string) {
		c := filterChip{Name: name, Here: r.URL.Query().Get(parameter) == value}
		if c.Here {
			value = ""
		}
		c.Path = merged(r, map[string]string{parameter: value, "before": ""})
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	for _, since := range []string{"1h", "24h", "7d"} {
		add("since", "last "+since, since)
	}
	if p.Agent != "" {
		add("agent", p.Agent, p.Agent)
	}
	if p.Stop != "" {
		add("stop", string(p.Stop), string(p.Stop))
	}
	for _, row := range p.Runs.Runs {
		m, _ := spaces.ParseMind(row.Mind)
		add("agent", string(m.Agent), string(m.Agent))
		if row.Stop != "" {
			add("stop", string(row.Stop), string(row.Stop))
		}
	}
	return all
}

// runPages are the pages of runs, of their frames and of denied tool calls.
type runPages struct{ *Site }

func (site runPages) pageRuns(r *http.Request) (view, error) {
	q := r.URL.Query()
	p := &runsPage{
		pageLayout: pageLayout{Title: "Runs"}, Stops: spaces.StopReasons(), Stop: spaces.StopReason(q.Get("stop")), Agent: q.Get("agent"),
		Space: q.Get("space"), Since: q.Get("since"),
	}
	f, err := api.RunFilterOf(r)
	if err != nil {
		p.Wrong, f = wrongSince, console.Filter{Limit: console.DefaultLimit}
	}
	if p.Runs, err = site.api.Runs.ListRuns(r, f); err != nil {
		return nil, err
	}
	p.Chips = p.chips(r)
	p.Spaces, err = site.spaceChoices(r, spaces.SpaceID(p.Space))
	if p.Runs.Next != "" {
		p.Older = merged(r, map[string]string{"before": string(p.Runs.Next)})
	}
	p.Terminal = "trestle runs" + flags(q.Get, "space", "agent", "stop", "since")
	return p, err
}

// spaceChoices returns the liveliest spaces, and the one that is chosen.
func (site runPages) spaceChoices(r *http.Request, chosen spaces.SpaceID) ([]api.SpaceRow, error) {
	found, err := site.Store.LatestRooms(r.Context(), console.Cursor{}, rowsOfPage)
	if err != nil {
		return nil, err
	}
	var rows []api.SpaceRow
	for _, o := range found {
		rows = append(rows, api.SpaceRowOf(o))
	}
	here := func(o api.SpaceRow) bool { return o.Space == chosen }
	if chosen != "" && !slices.ContainsFunc(rows, here) {
		rows = append(rows, api.SpaceRow{Space: chosen})
	}
	return rows, nil
}

type runPage struct {
	pageLayout
	Run    api.RunAnswer
	Shown  []spokenRow
	Bars   []timeBar
	Height int
	Again  bool // it can be rehearsed
}

// A spokenRow is one event a run was shown, in words.
type spokenRow struct {
	api.ShownRow
	Next int64 // the page of the space that has it begins before this
	Who  string
	What string
}

// A timeBar is one row of the waterfall: what took how long.
type timeBar struct {
	Label     string
	Class     string // of its colour
	Href      string // what it leads to; empty: nothing
	X, W, End int
	Y, Text   int
	Took      string
	Title     string
}

func (site runPages) pageRun(r *http.Request) (view, error) {
	run, err := site.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	names, err := site.Store.Names(r.Context(), console.Actors(run.Events))
	if err != nil {
		return nil, err
	}
	p := &runPage{
		pageLayout: pageLayout{Title: "Run " + string(run.Cycle.ID), Terminal: "trestle explain " + string(run.Cycle.ID)},
		Run:        site.api.Runs.DescribeRun(run),
	}
	for i, s := range p.Run.Shown {
		e := run.Events[i]
		p.Shown = append(p.Shown, spokenRow{s, e.Seq + 10, console.NameOf(e.Actor, names), console.DescribeEvent(e.Body)})
	}
	p.Bars = waterfall(run, time.Now())
	p.Height = len(p.Bars) * 20
	p.Again = run.Cycle.Stop != "" && len(run.Steps) > 0 && !slices.ContainsFunc(run.Steps, func(s spaces.Step) bool { return s.Expired })
	return p, nil
}

// A timeRow is what a row of the waterfall is made of. Its end is zero as long as it lasts.
type timeRow struct {
	label, class, href, title string
	from, to                  time.Time
}

// waterfall lays out over its time what a run waited for, its steps, the calls of tools from outside that it made
// in them, and what it sent. Of what woke it long before it began only the end of the wait is drawn.
func waterfall(run console.Run, now time.Time) []timeBar {
	const left, right, rowHeight = 170, 900, 20
	rows := timeRows(run)
	from, last := run.Cycle.Started, run.Cycle.Started.Add(time.Millisecond)
	for i := range rows {
		if rows[i].to.IsZero() {
			rows[i].to = now
		}
		if rows[i].to.After(last) {
			last = rows[i].to
		}
	}
	whole := last.Sub(from)
	if len(rows) > 0 && rows[0].from.Before(from) {
		waited := min(from.Sub(rows[0].from), whole/2)
		from, whole = from.Add(-waited), whole+waited
	}
	place := func(t time.Time) int { return left + int(int64(right-left)*int64(max(t.Sub(from), 0))/int64(whole)) }
	var bars []timeBar
	for i, r := range rows {
		b := timeBar{Label: r.label, Class: r.class, Href: r.href, X: place(r.from), Y: i*rowHeight + 4, Text: i*rowHeight + 14, Took: console.Span(r.to.Sub(r.from))}
		b.W = max(place(r.to)-b.X, 2)
		b.End = b.X + b.W + 6
		b.Title = r.label + r.title + ": " + b.Took
		bars = append(bars, b)
	}
	return bars
}

// timeRows lists what took time in a run, in the order of the waterfall.
func timeRows(run console.Run) []timeRow {
	var rows []timeRow
	for _, e := range run.Events {
		if began := run.Cycle.Started; !e.RecvAt.IsZero() && e.RecvAt.Before(began) && (len(rows) == 0 || e.RecvAt.Before(rows[0].from)) {
			rows = []timeRow{{label: "waited", class: "waited", title: " from the message until the run began", from: e.RecvAt, to: began}}
		}
	}
	at := run.Cycle.Started // the next step begins when the calls of the one before are over
	for _, s := range run.Steps {
		if s.State != spaces.StepDone {
			continue
		}
		var called time.Time
		if at.After(s.At) {
			at = s.At
		}
		rows = append(rows, timeRow{
			label: fmt.Sprintf("step %d %s", s.N, s.Phase), class: string(s.Phase), href: fmt.Sprintf("/runs/%s/steps/%d", run.Cycle.ID, s.N),
			title: fmt.Sprintf(", %d tokens in, %d out", s.Usage.Prompt, s.Usage.Output), from: at, to: s.At,
		})
		for _, t := range run.Tools {
			if t.Step == s.N && !t.Started.IsZero() {
				rows = append(rows, timeRow{label: console.ClipLine(console.Plain(t.Tool), 24), class: "tool", title: ", " + string(t.State), from: t.Started, to: t.Ended})
				called = maxTime(called, t.Ended)
			}
		}
		at = maxTime(s.At, called)
	}
	for i, a := range run.Actions {
		if i < len(run.Settled) {
			platform, _, _ := strings.Cut(a.Account, ":")
			rows = append(rows, timeRow{label: string(a.Kind) + " " + console.Plain(platform), class: "sending", href: "#receipts", title: " to " + console.Plain(a.Chat) + ", " + string(a.State), from: a.Created, to: run.Settled[i]})
		}
	}
	return rows
}

func maxTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// pageCancelRun ends a run and shows it.
func (site runPages) pageCancelRun(w http.ResponseWriter, r *http.Request) {
	id := spaces.CycleID(r.PathValue("id"))
	if _, err := site.api.Runs.CancelRun(r, id); err != nil {
		site.respond.FailInternal(w, r, err)
		return
	}
	http.Redirect(w, r, "/runs/"+string(id), http.StatusSeeOther)
}

type denialsPage struct {
	pageLayout
	Denials      api.DenialsAnswer
	Agent, Since string
	Older        string
	Wrong        string
}

func (site runPages) pageDenials(r *http.Request) (view, error) {
	q := r.URL.Query()
	p := &denialsPage{
		pageLayout: pageLayout{Title: "Denials", Terminal: "trestle denials" + flags(q.Get, "agent", "since")},
		Agent:      q.Get("agent"), Since: q.Get("since"),
	}
	var err error
	switch p.Denials, err = site.api.ListDenials(r); {
	case errors.Is(err, console.ErrParameter):
		p.Wrong = wrongSince
		return p, nil
	case p.Denials.Next > 0:
		p.Older = merged(r, map[string]string{"before": console.FormatInt(p.Denials.Next)})
	}
	return p, err
}

// wrongSince is shown for a time that cannot be parsed.
const wrongSince = "Since is a time such as 2h, 7d or 2026-01-31T00:00:00Z."
