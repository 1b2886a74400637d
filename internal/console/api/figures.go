package api

import (
	"net/http"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// A FigureRange is a time that figures are shown for.
type FigureRange struct {
	Name  string
	Step  string // hour, day or week
	steps int
	span  time.Duration // that is read; a week is made of days
}

// FigureRanges are the times that figures are shown for, the shortest first.
var FigureRanges = []FigureRange{
	{"day", "hour", 24, console.FigureHour},
	{"week", "hour", 7 * 24, console.FigureHour},
	{"month", "day", 30, console.FigureDay},
	{"year", "week", 53, console.FigureDay},
}

// Length returns the length of a step.
func (f FigureRange) Length() time.Duration {
	if f.Step == "week" {
		return 7 * console.FigureDay
	}
	return f.span
}

// end returns the end of the step that now is in: steps begin at full hours and days of UTC,
// weeks on Mondays.
func (f FigureRange) end(now time.Time) time.Time {
	now = now.UTC().Truncate(f.span)
	if f.Step == "week" {
		now = now.AddDate(0, 0, -(int(now.Weekday())+6)%7)
	}
	return now.Add(f.Length())
}

// A FigureRow is what happened in one step of time.
type FigureRow struct {
	At time.Time `json:"at"` // when the step began
	console.FigureCounts
	Answers int64    `json:"answers"` // first messages of runs that a person's message woke
	P50     *float64 `json:"p50"`     // seconds from the message until the platform had the answer; null without answers
	P95     *float64 `json:"p95"`
}

// A FigurePart is what an agent did, or what happened on a platform, in the whole time.
type FigurePart struct {
	Name string `json:"name"`
	console.FigureCounts
}

// A FiguresAnswer is what happened over time, up to about a minute ago.
type FiguresAnswer struct {
	Range     string         `json:"range"`
	Step      string         `json:"step"` // hour, day or week
	From      time.Time      `json:"from"`
	To        time.Time      `json:"to"`
	Space     spaces.SpaceID `json:"space,omitempty"`
	Agent     spaces.AgentID `json:"agent,omitempty"`
	Platform  string         `json:"platform,omitempty"`
	Currency  string         `json:"currency"`
	Points    []FigureRow    `json:"points"` // every step, oldest first
	Total     FigureRow      `json:"total"`
	Agents    []FigurePart   `json:"agents"` // in the space, by name
	Platforms []FigurePart   `json:"platforms"`
}

// fill reads the figures of a range that ends now.
func (a *FiguresAnswer) fill(r *http.Request, figures console.FigureReader, f FigureRange, now time.Time) error {
	a.Step, a.To = f.Step, f.end(now)
	a.From = a.To.Add(-time.Duration(f.steps) * f.Length())
	q := console.FigureQuery{FigureScope: console.FigureScope{Space: a.Space, Agent: a.Agent, Platform: a.Platform}, Span: f.span, From: a.From, To: a.To}
	found, err := figures.Points(r.Context(), q)
	if err != nil {
		return err
	}
	whole := console.FigurePoint{At: a.From, Times: console.AnswerTimes{}}
	for n := range f.steps {
		p := console.FigurePoint{At: a.From.Add(time.Duration(n) * f.Length()), Times: console.AnswerTimes{}}
		for ; len(found) > 0 && found[0].At.Before(p.At.Add(f.Length())); found = found[1:] {
			p.Add(found[0].FigureCounts)
			p.Times.Add(found[0].Times)
		}
		whole.Add(p.FigureCounts)
		whole.Times.Add(p.Times)
		a.Points = append(a.Points, figureRowOf(p))
	}
	a.Total = figureRowOf(whole)
	parts, err := figures.Parts(r.Context(), q)
	for _, p := range parts {
		if p.Agent != "" {
			a.Agents = append(a.Agents, FigurePart{string(p.Agent), p.FigureCounts})
		} else {
			a.Platforms = append(a.Platforms, FigurePart{p.Platform, p.FigureCounts})
		}
	}
	return err
}

func figureRowOf(p console.FigurePoint) FigureRow {
	row := FigureRow{At: p.At, FigureCounts: p.FigureCounts, Answers: p.Times.Answers()}
	for share, to := range map[float64]**float64{0.5: &row.P50, 0.95: &row.P95} {
		if seconds, ok := p.Times.Quantile(share); ok {
			*to = &seconds
		}
	}
	return row
}
