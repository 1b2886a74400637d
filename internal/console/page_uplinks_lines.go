package console

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// freshLine is how long ago a line was last seen, at most, that stands so still.
	freshLine = 2 * time.Minute
	// linesBelow is the room between the rows of minds and those of accounts.
	linesBelow = 10
)

// drawLines lays out how accounts stood, one row an account, by name, below the
// rows of minds. Where nothing is drawn, no process served the account.
func (p *uplinksPage) drawLines(stood []LineSpan, now time.Time) {
	rows := map[string]*uplinkRow{}
	for i, s := range stood {
		if rows[s.Line] == nil {
			rows[s.Line] = &uplinkRow{Name: s.Line}
		}
		if s.Newest && now.Sub(s.To) < freshLine {
			stood[i].To = now
		}
	}
	if len(rows) == 0 {
		return
	}
	for i, name := range slices.Sorted(maps.Keys(rows)) {
		rows[name].Text = p.Height + linesBelow + 20 + i*rowHeight + 10
	}
	for _, s := range stood {
		p.bar(rows[s.Line], s.class(now), s.title(now), "", s.From, s.To)
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		p.Lines = append(p.Lines, *rows[name])
	}
	p.Stood = stood
	p.Height += linesBelow + len(rows)*rowHeight
}

// class is how a span of a line is drawn: connected, trying, or in need of
// a person.
func (s LineSpan) class(now time.Time) string {
	switch {
	case s.State == "connected" && s.To.Equal(now):
		return "open"
	case s.State == "connected":
		return "span"
	case s.State == "connecting" || s.State == "degraded":
		return "retry"
	}
	return "stopped"
}

func (s LineSpan) title(now time.Time) string {
	until := " to " + clock(s.To)
	if s.To.Equal(now) {
		until = " until now"
	}
	title := fmt.Sprintf("%s %s%s, %s", s.State, clock(s.From), until, span(s.To.Sub(s.From)))
	if s.Reason != "" {
		title += ": " + clipLine(Plain(s.Reason), 300)
	}
	return title
}
