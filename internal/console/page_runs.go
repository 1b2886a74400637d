package console

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

type runsPage struct {
	pageLayout
	Runs   runsAnswer
	Stops  []spaces.StopReason
	Stop   spaces.StopReason
	Agent  string
	Space  string
	Since  string
	Spaces []SpaceRow
	Older  string
	Wrong  string
}

func (c *Console) pageRuns(r *http.Request) (view, error) {
	q := r.URL.Query()
	p := &runsPage{
		pageLayout: pageLayout{Title: "Runs"}, Stops: spaces.StopReasons(), Stop: spaces.StopReason(q.Get("stop")), Agent: q.Get("agent"),
		Space: q.Get("space"), Since: q.Get("since"),
	}
	f, err := filterOf(r)
	if err != nil {
		p.Wrong, f = wrongSince, Filter{Limit: pageSize}
	}
	if p.Runs, err = c.runs(r, f); err != nil {
		return nil, err
	}
	p.Spaces, err = c.spacesToChoose(r, spaces.SpaceID(p.Space))
	if p.Runs.Next != "" {
		p.Older = merged(r, map[string]string{"before": string(p.Runs.Next)})
	}
	p.Terminal = "trestle runs" + flags(q.Get, "space", "agent", "stop", "since")
	return p, err
}

// spacesToChoose returns the liveliest spaces, and the one that is chosen.
func (c *Console) spacesToChoose(r *http.Request, chosen spaces.SpaceID) ([]SpaceRow, error) {
	found, err := c.Record.LatestRooms(r.Context(), Cursor{}, rowsOfPage)
	if err != nil {
		return nil, err
	}
	var rows []SpaceRow
	for _, o := range found {
		rows = append(rows, spaceRowOf(o))
	}
	here := func(o SpaceRow) bool { return o.Space == chosen }
	if chosen != "" && !slices.ContainsFunc(rows, here) {
		rows = append(rows, SpaceRow{Space: chosen})
	}
	return rows, nil
}

// flags writes the parameters that are set as the command has them.
func flags(get func(string) string, names ...string) string {
	var out strings.Builder
	for _, name := range names {
		if v := get(name); v != "" {
			fmt.Fprintf(&out, " --%s %s", name, v)
		}
	}
	return out.String()
}

type runPage struct {
	pageLayout
	Run    RunAnswer
	Shown  []spokenRow
	Bars   []stepBar
	Height int
}

// A spokenRow is one event a run was shown, in words.
type spokenRow struct {
	shownRow
	Next int64 // the page of the space that has it begins before this
	Who  string
	What string
}

// A stepBar is one step in the waterfall: from the commit before it to its own.
type stepBar struct {
	N         int
	Phase     spaces.Phase
	X, W, End int
	Y, Text   int
	Took      string
	Title     string
}

func (c *Console) pageRun(r *http.Request) (view, error) {
	run, err := c.Record.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	names, err := c.Record.Names(r.Context(), Actors(run.Events))
	if err != nil {
		return nil, err
	}
	p := &runPage{
		pageLayout: pageLayout{Title: "Run " + string(run.Cycle.ID), Terminal: "trestle explain " + string(run.Cycle.ID)},
		Run:        c.answer(run),
	}
	for i, s := range p.Run.Shown {
		e := run.Events[i]
		p.Shown = append(p.Shown, spokenRow{s, e.Seq + 10, nameOf(e.Actor, names), tellingOf(e.Body)})
	}
	p.Bars = waterfall(run)
	p.Height = len(p.Bars) * 20
	return p, nil
}

// waterfall lays the steps of a run out over its time.
func waterfall(run Run) []stepBar {
	const left, right = 170, 900
	var bars []stepBar
	from := run.Cycle.Started
	last := from
	for _, s := range run.Steps {
		if s.State == spaces.StepDone && s.At.After(last) {
			last = s.At
		}
	}
	whole := max(last.Sub(from), time.Millisecond)
	place := func(t time.Time) int { return left + int(int64(right-left)*int64(t.Sub(from))/int64(whole)) }
	at := from
	for i, s := range run.Steps {
		if s.State != spaces.StepDone {
			continue
		}
		b := stepBar{N: s.N, Phase: s.Phase, X: place(at), Y: i*20 + 4, Text: i*20 + 14, Took: span(s.At.Sub(at))}
		b.W = max(place(s.At)-b.X, 2)
		b.End = b.X + b.W + 6
		b.Title = fmt.Sprintf("step %d, %s: %s, %d tokens in, %d out", s.N, s.Phase, b.Took, s.Usage.Prompt, s.Usage.Output)
		bars = append(bars, b)
		at = s.At
	}
	return bars
}

// pageCancel ends a run and shows it.
func (c *Console) pageCancel(w http.ResponseWriter, r *http.Request) {
	id := spaces.CycleID(r.PathValue("id"))
	if _, err := c.cancel(r, id); err != nil {
		c.broken(w, r, err)
		return
	}
	http.Redirect(w, r, "/runs/"+string(id), http.StatusSeeOther)
}
