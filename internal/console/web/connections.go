package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxSpans is how many connections a page draws.
const maxSpans = 2000

type uplinksPage struct {
	pageLayout
	From, To time.Time
	Windows  []window
	Rows     []uplinkRow
	Lines    []uplinkRow // of accounts, below those of minds
	Ticks    []tick
	Height   int
	Spans    []spanRow
	Stood    []console.LineSpan // what Lines draws
	Shown    int
	More     bool // there are more than Shown
}

type window struct {
	Name, Path string
	Here       bool
}

// An uplinkRow is one mind's connection to one space over a time, or one account's
// to its platform.
type uplinkRow struct {
	Space spaces.SpaceID // empty for an account
	Name  string
	Text  int
	Bars  []uplinkBar
}

// An uplinkBar is a time of being connected, or away.
type uplinkBar struct {
	Class        string // span, open, gap, retry, stopped
	X, Y, W      int
	Mid, Base    int
	Title, Label string
}

type tick struct {
	X    int
	Name string
}

// A spanRow is one connection in the table.
type spanRow struct {
	Mind           string
	Space          spaces.SpaceID
	Opened, Closed time.Time
	Opener, Closer spaces.SpanReason
	First, Covered int64
	Missed         int64 // events between the span before and this one
}

// windows are the times that can be looked at.
var windows = []struct {
	name string
	long time.Duration
}{{"1h", time.Hour}, {"6h", 6 * time.Hour}, {"24h", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}}

func (site *Site) pageConnections(r *http.Request) (view, error) {
	now := time.Now()
	p := &uplinksPage{pageLayout: pageLayout{Title: "Uplinks", Terminal: "trestle status"}, To: now, From: now.Add(-24 * time.Hour)}
	q := r.URL.Query()
	name := q.Get("window")
	from, errFrom := strconv.ParseInt(q.Get("from"), 10, 64)
	to, errTo := strconv.ParseInt(q.Get("to"), 10, 64)
	if errFrom == nil && errTo == nil && from > 0 && to-from >= 1000 {
		p.From, p.To, name = time.UnixMilli(from), time.UnixMilli(to), "chosen"
	} else if name == "" {
		name = "24h"
	}
	for _, x := range windows {
		here := x.name == name
		if here {
			p.From = now.Add(-x.long)
		}
		p.Windows = append(p.Windows, window{x.name, "/uplinks?window=" + x.name + param("space", q.Get("space")), here})
	}
	found, err := site.Store.Connections(r.Context(), p.From, p.To, maxSpans+1)
	if err != nil {
		return nil, err
	}
	if p.More = len(found) > maxSpans; p.More {
		found = found[:maxSpans]
	}
	p.Shown = len(found)
	stood, err := site.Store.Lines(r.Context(), p.From, p.To, maxSpans)
	if err != nil {
		return nil, err
	}
	if err := site.names.refresh(r.Context()); err != nil {
		return nil, err
	}
	p.draw(only(found, spaces.SpaceID(q.Get("space"))), now, site.names.ofSpace)
	p.drawLines(stood, now)
	p.Height += 24
	p.tick()
	return p, nil
}

// only keeps the spans of one space; of all when none is named.
func only(all []spaces.ConnectionSpan, space spaces.SpaceID) []spaces.ConnectionSpan {
	if space == "" {
		return all
	}
	return slices.DeleteFunc(all, func(s spaces.ConnectionSpan) bool { return s.Space != space })
}

// The measures of the drawing.
const (
	nameWidth = 190
	drawWidth = 1000
	rowHeight = 22
)

// draw lays the spans out, one row an uplink, in the order in which they first
// connected; what lies between two spans of a row is a gap.
func (p *uplinksPage) draw(found []spaces.ConnectionSpan, now time.Time, name func(spaces.SpaceID) string) {
	type key struct {
		mind  spaces.Mind
		space spaces.SpaceID
	}
	rows, last := map[key]int{}, map[key]spaces.ConnectionSpan{}
	for _, s := range found {
		k := key{s.Mind, s.Space}
		i, known := rows[k]
		if !known {
			i = len(p.Rows)
			rows[k] = i
			p.Rows = append(p.Rows, uplinkRow{
				Space: s.Space, Name: string(s.Mind.Agent) + " in " + name(s.Space), Text: 20 + i*rowHeight + 10,
			})
		}
		row := spanRow{Mind: s.Mind.String(), Space: s.Space, Opened: s.Opened, Closed: s.Closed, Opener: s.Opener, Closer: s.Closer, First: s.From}
		if !s.Active() {
			row.Covered = max(s.To-s.From+1, 0)
		}
		if known {
			row.Missed = max(s.From-last[k].To-1, 0)
			p.gap(i, last[k], s, row.Missed)
		}
		p.span(i, s, now, row)
		p.Spans = append(p.Spans, row)
		last[k] = s
	}
	p.Height = len(p.Rows) * rowHeight
}

func (p *uplinksPage) x(t time.Time) int {
	at := min(max(t.Sub(p.From), 0), p.To.Sub(p.From))
	return nameWidth + int(int64(drawWidth-nameWidth)*int64(at)/int64(p.To.Sub(p.From)))
}

func (p *uplinksPage) bar(r *uplinkRow, class, title, label string, from, to time.Time) {
	b := uplinkBar{Class: class, X: p.x(from), Y: r.Text - 10, Title: title, Base: r.Text}
	b.W = max(p.x(to)-b.X, 2)
	b.Mid = b.X + b.W/2
	if b.W >= len([]rune(label))*6+8 {
		b.Label = label
	}
	r.Bars = append(r.Bars, b)
}

func (p *uplinksPage) span(i int, s spaces.ConnectionSpan, now time.Time, row spanRow) {
	if s.Active() {
		p.bar(&p.Rows[i], "open", fmt.Sprintf("connected since %s (%s), from event #%d", clock(s.Opened), s.Opener, s.From), "", s.Opened, minTime(now, p.To))
		return
	}
	p.bar(&p.Rows[i], "span", fmt.Sprintf("connected %s (%s) to %s (%s), %s", clock(s.Opened), s.Opener, clock(s.Closed), s.Closer, textformat.CountNoun(int(row.Covered), "event")),
		"", s.Opened, s.Closed)
}

// gap draws the time between two spans. One that closes in the moment in which
// the next opens leaves none.
func (p *uplinksPage) gap(i int, before, after spaces.ConnectionSpan, missed int64) {
	long := after.Opened.Sub(before.Closed)
	if long < time.Second && missed == 0 {
		return
	}
	what := console.Span(long) + " away"
	if missed > 0 {
		what += ", " + textformat.CountNoun(int(missed), "event")
	}
	p.bar(&p.Rows[i], "gap", what+" ("+string(before.Closer)+")", what, before.Closed, after.Opened)
}

// tick marks about six moments on the axis.
func (p *uplinksPage) tick() {
	long := p.To.Sub(p.From)
	step := time.Minute
	for _, s := range []time.Duration{
		time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 4 * time.Hour, 12 * time.Hour,
		24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour,
	} {
		if step = s; long/s <= 8 {
			break
		}
	}
	form := "15:04"
	switch {
	case step >= 12*time.Hour:
		form = "Jan 2 15:04"
	case step < time.Minute:
		form = "15:04:05"
	}
	for at := p.From.UTC().Truncate(step).Add(step); at.Before(p.To); at = at.Add(step) {
		p.Ticks = append(p.Ticks, tick{p.x(at), at.Format(form)})
	}
}

const (
	// freshLine is the age up to which the last observation of a line counts as its present state.
	freshLine = 2 * time.Minute
	// linesBelow is the room between the rows of minds and those of accounts.
	linesBelow = 10
)

// drawLines lays out how accounts stood, one row an account, by name, below the
// rows of minds. Where nothing is drawn, no process served the account.
func (p *uplinksPage) drawLines(stood []console.LineSpan, now time.Time) {
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
		p.bar(rows[s.Line], barClass(s, now), barTitle(s, now), "", s.From, s.To)
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		p.Lines = append(p.Lines, *rows[name])
	}
	p.Stood = stood
	p.Height += linesBelow + len(rows)*rowHeight
}

// barClass is how a span of a line is drawn: connected, trying, or in need of
// a person.
func barClass(s console.LineSpan, now time.Time) string {
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

func barTitle(s console.LineSpan, now time.Time) string {
	until := " to " + clock(s.To)
	if s.To.Equal(now) {
		until = " until now"
	}
	title := fmt.Sprintf("%s %s%s, %s", s.State, clock(s.From), until, console.Span(s.To.Sub(s.From)))
	if s.Reason != "" {
		title += ": " + console.ClipLine(console.Plain(s.Reason), 300)
	}
	return title
}
