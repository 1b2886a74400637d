package hud

import (
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// A section is a section of one-line entries under a header. It is the delegate
// of everything but chat history.
type section struct {
	header   string // "GOALS"
	elements []Element
}

// Elements returns the entries.
func (l *section) Elements() []Element { return l.elements }

// Overhead returns the tokens of the header line.
func (l *section) Overhead() int { return 24 }

// Section renders the header, with how many entries are left out, and the entries.
func (l *section) Section(chosen []ChosenElement) (string, []spaces.EventID) {
	shown := 0
	var b strings.Builder
	for _, c := range chosen {
		if c.Form != nil {
			shown++
			b.WriteByte('\n')
			b.WriteString(c.Form.Text)
		}
	}
	if len(chosen) == 0 {
		return "", nil
	}
	head := l.header
	if shown < len(chosen) {
		head += " (" + strconv.Itoa(shown) + " of " + strconv.Itoa(len(chosen)) + ")"
	}
	return head + ":" + b.String(), nil
}

// form makes a form from its text.
func (b *keyframeBuilder) form(name FormName, text string, fidelity float64) Form {
	return Form{Name: name, Text: text, Tokens: 1 + b.count(text), Fidelity: fidelity}
}

// count returns the tokens of text, or their bound while that is enough.
func (b *keyframeBuilder) count(text string) int {
	if b.bounded {
		return Bound(text)
	}
	return b.v.Counter.Count(text)
}

// The values of what is no chat history, against 1 for a line that fits the
// newest words perfectly.
const (
	valueSpace    = 400.0
	valueGoal     = 60.0
	valueMemory   = 12.0
	valuePlan     = 20.0
	valueNote     = 6.0
	valueBookmark = 3.0
	valueFiles    = 3.0
	valueSummary  = 10.0
	valueGroup    = 40.0 // a group of many cycles
)

// spaceList lists the mind's rooms. The tail names the active one.
func (b *keyframeBuilder) spaceList() *section {
	l := &section{header: "YOUR SPACES"}
	for i := range b.v.Seats {
		s := &b.v.Seats[i]
		if !s.Uplink.Live {
			continue
		}
		e := Element{Area: "spaces", What: s.Short, Value: valueSpace * b.v.focus(s), Why: "navigation"}
		for _, f := range []struct {
			name     FormName
			members  int
			fidelity float64
		}{{Full, membersShown, 1}, {Trimmed, 4, 0.8}, {CountOnly, 0, 0.6}} {
			e.Forms = append(e.Forms, b.form(f.name, string(appendCard(nil, b.v, s, f.members)), f.fidelity))
		}
		l.elements = append(l.elements, e)
	}
	return l
}

func (b *keyframeBuilder) goalList() *section {
	l := &section{header: "GOALS"}
	if b.v.Self == nil {
		return l
	}
	for _, g := range b.v.Self.Goals.Open() {
		l.elements = append(l.elements, b.entry("goals", goalLine(g), valueGoal, "open"))
	}
	return l
}

func goalLine(g spaces.GoalItem) string {
	return "- " + word(strings.ReplaceAll(g.Status, "-", "_")) + " " + Quote(g.Text)
}

// entry makes an element of one line, to be shown in full.
func (b *keyframeBuilder) entry(area, line string, value float64, why string) Element {
	return Element{Area: area, What: textformat.ClipRunes(line, 40), Value: value, Why: why, Forms: []Form{b.form(Full, line, 1)}}
}

func (b *keyframeBuilder) memoryList(terms []string) *section {
	l := &section{header: "MEMORIES"}
	if b.v.Self == nil {
		return l
	}
	for i, m := range b.v.Self.Memories.All {
		rel := recall.Overlap(m.Fact, terms)
		value := valueMemory * (0.5 + rel) * recency(len(b.v.Self.Memories.All)-1-i, 100)
		l.elements = append(l.elements, b.entry("memories", memoryLine(m), value, reason(rel, len(b.v.Self.Memories.All)-1-i)))
	}
	return l
}

func memoryLine(m spaces.Memory) string {
	return "- " + word(m.What) + " " + Handle(m.ID) + ": " + Quote(m.Fact)
}

// planList lists what the mind has planned, with its next time.
func (b *keyframeBuilder) planList() *section {
	l := &section{header: "PLANS"}
	for i := range b.v.Plans {
		l.elements = append(l.elements, b.entry("plans", planLine(b.v, &b.v.Plans[i]), valuePlan*recency(i, 10), "set"))
	}
	return l
}

func planLine(v *MindView, t *spaces.WakeTimer) string {
	line := "- " + string(t.Kind) + " " + Handle(t.Name()) + ": next " + ClockIn(t.Due)
	if t.Cron != "" {
		line += ", cron " + Quote(t.Cron)
	}
	if s := v.Seat(t.Space); s != nil {
		line += ", for " + s.Short
	}
	if t.Look.Wanted() {
		line += ", looks first at " + Quote(t.Look.String())
	}
	return line + ": " + Quote(t.Note)
}

// ClockIn formats a time by the clocks of its own location, with the name of that where it
// is known.
func ClockIn(t time.Time) string {
	text := t.Format(clockFormat)
	if zone := t.Location(); zone != time.UTC && zone != time.Local && zone.String() != "" {
		text += " (" + zone.String() + ")"
	}
	return text
}

func (b *keyframeBuilder) noteList(terms []string) *section {
	l := &section{header: "NOTES"}
	if b.v.Self == nil {
		return l
	}
	all := b.v.Self.Notes.All
	for i, n := range all {
		rel := recall.Overlap(n.Text, terms)
		value := valueNote * (0.3 + rel) * recency(len(all)-1-i, 20)
		e := b.entry("notes", noteLine(n, noLimit), value, reason(rel, len(all)-1-i))
		if short := noteLine(n, 120); short != e.Forms[0].Text {
			e.Forms = append(e.Forms, b.form(OneLine, short, 0.5))
		}
		l.elements = append(l.elements, e)
	}
	return l
}

func noteLine(n spaces.Note, limit int) string {
	return "- " + n.At.UTC().Format("2006-01-02") + " " + word(n.Label) + " " + Quote(textformat.ClipRunes(n.Text, limit))
}

func (b *keyframeBuilder) bookmarkList() *section {
	l := &section{header: "BOOKMARKS"}
	if b.v.Self == nil {
		return l
	}
	all := b.v.Self.Bookmarks.Bookmarks
	for i := range all {
		l.elements = append(l.elements, b.entry("bookmarks", bookmarkLine(b.v, &all[i]), valueBookmark*recency(len(all)-1-i, 20), "recency"))
	}
	return l
}

func bookmarkLine(v *MindView, b *spaces.Bookmark) string {
	line := "- " + b.At.UTC().Format("2006-01-02") + " " + Quote(b.Label)
	if s := v.Seat(b.Space); s != nil && len(b.Events) > 0 {
		if m := s.Room.Chat.Find(b.Events[len(b.Events)-1]); m != nil {
			line += " at " + ShortID(m.Seq) + " in " + s.Short
		}
	}
	return line
}
