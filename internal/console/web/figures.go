package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/spaces"
)

type figuresPage struct {
	pageLayout
	api.FiguresAnswer
	Ranges    []chip
	Spaces    []api.SpaceRow
	Names     map[string]string // of the agents, by their ids
	Charts    []figureChart
	Seconds   int64 // of a step
	Nothing   bool  // nothing at all happened
	Narrowed  bool  // to a space, an agent or a platform
	CostShown bool
}

// A figureChart is one drawing, with the table that it is drawn from.
type figureChart struct {
	Title   string
	Summary string
	Series  []string
	Rows    []figureChartRow
	Empty   string // what would be here and how it gets here; empty when there is something
}

type figureChartRow struct {
	Label  string
	Values []string
}

// figurePages are the pages of what happened over time.
type figurePages struct{ *Site }

func (site figurePages) pageFigures(r *http.Request) (view, error) {
	a, err := site.api.ListFigures(r)
	if err != nil {
		return nil, err
	}
	p := &figuresPage{
		pageLayout: pageLayout{Title: "Figures", Terminal: "trestle runs", Charts: true}, FiguresAnswer: a, Names: map[string]string{},
		Nothing: a.Total.FigureCounts == console.FigureCounts{}, Narrowed: a.Space != "" || a.Agent != "" || a.Platform != "", CostShown: a.Total.Cost > 0,
	}
	for _, f := range api.FigureRanges {
		p.Ranges = append(p.Ranges, chip{f.Name, f.Name == a.Range})
		if f.Name == a.Range {
			p.Seconds = int64(f.Length().Seconds())
		}
	}
	if p.Spaces, err = runPages(site).spaceChoices(r, a.Space); err != nil {
		return nil, err
	}
	if err := site.nameAgents(r, p); err != nil {
		return nil, err
	}
	if !p.Nothing {
		p.draw()
	}
	return p, nil
}

// nameAgents looks up what the agents are called.
func (site figurePages) nameAgents(r *http.Request, p *figuresPage) error {
	if p.Agent != "" && !hasPart(p.Agents, string(p.Agent)) {
		p.Agents = append(p.Agents, api.FigurePart{Name: string(p.Agent)})
	}
	if p.Platform != "" && !hasPart(p.Platforms, p.Platform) {
		p.Platforms = append(p.Platforms, api.FigurePart{Name: p.Platform})
	}
	var ids []spaces.EntityID
	for _, a := range p.Agents {
		ids = append(ids, spaces.AgentID(a.Name).Entity())
	}
	known, err := site.Store.Names(r.Context(), ids)
	for _, a := range p.Agents {
		p.Names[a.Name] = a.Name
		if e := known[spaces.AgentID(a.Name).Entity()]; e.Name != "" {
			p.Names[a.Name] = e.Name
		}
	}
	return err
}

func hasPart(parts []api.FigurePart, name string) bool {
	return slices.ContainsFunc(parts, func(p api.FigurePart) bool { return p.Name == name })
}

// Tokens returns how many tokens of a part there were.
func (p *figuresPage) Tokens(c api.FigurePart) int64 { return c.Prompt + c.Output }

// Money writes a cost.
func (p *figuresPage) Money(cost int64) string { return moneyText(cost) }

func moneyText(cost int64) string {
	if cost < 0 || cost >= 100_000_000 {
		return fmt.Sprintf("%.0f", float64(cost)/1e6)
	}
	return fmt.Sprintf("%.4f", float64(cost)/1e6)
}

// PlatformName writes a platform as people call it.
func (p *figuresPage) PlatformName(name string) string {
	if name == "" {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// draw lays out the charts.
func (p *figuresPage) draw() {
	t := p.Total
	count := func(n int64) string { return console.NarrowThousands(int(n)) }
	p.chart("Messages", fmt.Sprintf("%s in, %s out", count(t.Received), count(t.Sent)), t.Received+t.Sent,
		"No messages: what people say in spaces with an agent, and what agents say there, is counted here.",
		[]string{"in", "out"}, func(r api.FigureRow) []string { return []string{count(r.Received), count(r.Sent)} })
	p.chart("Time to an answer", fmt.Sprintf("seconds; half of %s within %s, 95 %% within %s", count(t.Answers), secondsText(t.P50), secondsText(t.P95)), t.Answers,
		"No answers: the time from a person's message until the platform has the agent's first message to it is shown here.",
		[]string{"p50", "p95"}, func(r api.FigureRow) []string { return []string{secondsText(r.P50), secondsText(r.P95)} })
	p.chart("Model calls", count(t.Calls), t.Calls, "No model was called: the calls of runs that have ended are counted here.",
		[]string{"calls"}, func(r api.FigureRow) []string { return []string{count(r.Calls)} })
	p.chart("Tokens", fmt.Sprintf("%s read, of these %s from the cache, %s written", count(t.Prompt), count(t.Cached), count(t.Output)), t.Prompt+t.Output,
		"No tokens: what models read and write is counted here when a run ends.",
		[]string{"read", "from the cache", "written"}, func(r api.FigureRow) []string { return []string{count(r.Prompt), count(r.Cached), count(r.Output)} })
	p.chart("Money", moneyText(t.Cost)+" "+p.Currency, t.Cost,
		"No costs: no call was priced. Prices are taken from the endpoint, or from price in the configuration of the model.",
		[]string{p.Currency}, func(r api.FigureRow) []string { return []string{moneyText(r.Cost)} })
	p.chart("Failures and denials", fmt.Sprintf("%s runs failed, %s messages not delivered, %s tool calls denied", count(t.Failed), count(t.Unsent), count(t.Denied)),
		t.Failed+t.Unsent+t.Denied, "None: runs that failed, messages that no platform took, and tool calls that were denied are counted here.",
		[]string{"runs failed", "not delivered", "denied"}, func(r api.FigureRow) []string { return []string{count(r.Failed), count(r.Unsent), count(r.Denied)} })
}

// chart adds a chart, which is empty when its total is 0.
func (p *figuresPage) chart(title, summary string, total int64, empty string, series []string, values func(api.FigureRow) []string) {
	c := figureChart{Title: title, Summary: summary, Series: series}
	if total == 0 {
		c.Empty = empty
	}
	for i := 0; total > 0 && i < len(p.Points); i++ {
		c.Rows = append(c.Rows, figureChartRow{p.label(p.Points[i].At), values(p.Points[i])})
	}
	p.Charts = append(p.Charts, c)
}

// label writes when a step began.
func (p *figuresPage) label(at time.Time) string {
	switch p.Step {
	case "hour":
		return at.UTC().Format("Mon 2 Jan 15:04")
	case "week":
		return at.UTC().Format("2 Jan 2006")
	}
	return at.UTC().Format("Mon 2 Jan")
}

// secondsText writes a time to an answer.
func secondsText(s *float64) string {
	switch {
	case s == nil:
		return "–"
	case *s < 10:
		return fmt.Sprintf("%.1f", *s)
	}
	return fmt.Sprintf("%.0f", *s)
}
