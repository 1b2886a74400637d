package hud

import (
	"cmp"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// The lines of a room that a keyframe leaves out are summarised by stretches of talk: a
// thread, a day, a week, a month or a year. A summary is made of the lines themselves,
// without a model: how many of the stretch they are, who wrote it, how many decisions, open
// questions, links and files are in it, and the lines that tell most, whole.
//
//	… 190 of 212 lines of 3–9 Mar 2026, by Kai, Nova: 3 decisions, 1 open question
//	Tue 3 Mar 2026
//	 Kai: we take the 9:14 train
//	Fri 6 Mar
//	 Nova: who books the seats?

// The tokens that summaries may take from the lines of a keyframe: a sixteenth, in a small one
// an eighth up to what one summary takes.
const (
	summaryShare      = 16
	smallSummaryShare = 8
	summaryTokens     = 64
)

const (
	leastStretch   = 8   // left out lines that are summarised
	mostStretches  = 12  // of a room, by a unit of time
	mostThreads    = 12  // of a room that are summarised on their own, those with the newest lines
	tellingChars   = 250 // bytes of the longest line that a summary shows
	speakersTold   = 3
	valueLeftOut   = 0.03 // for each time that the left out lines double, against 1 for a decision
	stretchesHalve = 12
)

// summaryForms are the forms of a summary, by how many telling lines they show.
var summaryForms = []struct {
	name    FormName
	telling int
}{{Full, 6}, {Essential, 3}, {OneLine, 1}, {CountOnly, 0}}

// A talkStretch is a run of talk whose left out lines are summarised together.
type talkStretch struct {
	thread spaces.ThreadID // empty: of any
	lines  []int           // that a history may show, in order
	gist   recall.TalkGist
}

// leftOut returns how many lines of the stretch are not among those shown, and the first of
// them.
func (s *talkStretch) leftOut(shown []int) (n, first int) {
	first = -1
	for _, i := range s.lines {
		for len(shown) > 0 && shown[0] < i {
			shown = shown[1:]
		}
		if len(shown) > 0 && shown[0] == i {
			continue
		}
		if n++; first < 0 {
			first = i
		}
	}
	return n, first
}

// summarise chooses forms for the elements once more, with a little room left for summaries of
// the lines that are left out, and fills that room, by delegate.
func (b *keyframeBuilder) summarise(ds []Delegate, starts []int, all []Element, chosen []int, tokens int) ([]int, map[Delegate][]ChosenElement) {
	if _, es := b.summaries(ds, starts, all, chosen); len(es) == 0 {
		return chosen, nil
	}
	chosen = FitForms(all, tokens-max(tokens/summaryShare, min(tokens/smallSummaryShare, summaryTokens)))
	for i, form := range chosen {
		if form >= 0 {
			tokens -= all[i].Forms[form].Tokens
		}
	}
	of, es := b.summaries(ds, starts, all, chosen)
	summaries := map[Delegate][]ChosenElement{}
	for i, form := range FitForms(es, tokens) {
		c := ChosenElement{Element: &es[i]}
		if form >= 0 {
			c.Form = &es[i].Forms[form]
		}
		summaries[of[i]] = append(summaries[of[i]], c)
	}
	return chosen, summaries
}

// summaries returns elements for what the chosen forms leave out, each with its delegate.
func (b *keyframeBuilder) summaries(ds []Delegate, starts []int, all []Element, chosen []int) (of []Delegate, es []Element) {
	l := b.v.Limits.withDefaults()
	for i, d := range ds {
		if h, ok := d.(*history); ok {
			for _, e := range h.summaries(shownOf(all[starts[i]:starts[i+1]], chosen[starts[i]:starts[i+1]])) {
				e.restrictLevels(l.LevelStart, l.LevelMax)
				of, es = append(of, d), append(es, e)
			}
		}
	}
	return of, es
}

// summaryItem returns what a plan says about a summary.
func summaryItem(c ChosenElement) PlanItem {
	e := c.Element
	item := PlanItem{Area: e.Area, What: e.What, Form: Nothing, Score: roundScore(e.Value), Why: e.Why}
	if c.Form != nil {
		item.Form, item.Tokens = c.Form.Name, c.Form.Tokens
	}
	return item
}

// shownOf returns the lines of the elements that are shown, in order.
func shownOf(es []Element, chosen []int) []int {
	var lines []int
	for i := range es {
		if chosen[i] >= 0 {
			lines = append(lines, es[i].lines...)
		}
	}
	slices.Sort(lines)
	return lines
}

// summaries returns an element for each stretch of which the history, showing those lines,
// leaves out more than a few; the oldest first.
func (h *history) summaries(shown []int) []Element {
	if h.talk == nil {
		h.talk = h.stretches()
	}
	var es []Element
	for k := range h.talk {
		s := &h.talk[k]
		n, first := s.leftOut(shown)
		if n < leastStretch {
			continue
		}
		telling := slices.DeleteFunc(slices.Clone(s.gist.Telling), func(t recall.TellingLine) bool {
			_, found := slices.BinarySearch(shown, t.Line)
			return found
		})
		telling = telling[:min(summaryForms[0].telling, len(telling))]
		e := h.summaryElement(s, n, telling)
		rank := len(h.talk) - 1 - k
		e.above, e.Why = first, "rank "+strconv.Itoa(rank)
		e.Value *= recency(rank, stretchesHalve) * h.v.focus(h.seat)
		es = append(es, e)
	}
	return es
}

// summaryElement returns an element for a stretch of which n lines are left out, those that
// tell most among them. Its value is in the number of lines and in what the telling ones say.
func (h *history) summaryElement(s *talkStretch, n int, telling []recall.TellingLine) Element {
	head := textformat.CountNoun(len(s.lines), "line") + " of " + h.periodOf(s.lines)
	e := Element{Area: "left out " + h.seat.Short, What: head, Value: valueLeftOut * float64(bits.Len(uint(n)))}
	if n < len(s.lines) {
		head = strconv.Itoa(n) + " of " + head
	}
	values := []float64{e.Value} // by how many telling lines are shown
	for _, t := range telling {
		e.Value += t.Worth
		values = append(values, e.Value)
	}
	for _, f := range summaryForms {
		if len(e.Forms) > 0 && len(telling) <= f.telling {
			continue // the form before shows no more
		}
		var quotes []int
		for _, t := range telling[:min(f.telling, len(telling))] {
			quotes = append(quotes, t.Line)
		}
		slices.Sort(quotes)
		text := h.summary(s, head, quotes)
		e.Forms = append(e.Forms, Form{Name: f.name, Text: text, Tokens: h.b.count(text), Fidelity: values[len(quotes)] / e.Value, quotes: quotes})
	}
	return e
}

// summary renders the summary of a stretch under its head, with those of its lines.
func (h *history) summary(s *talkStretch, head string, quotes []int) string {
	r, c := h.seat.Room, newCompact(h.v, h.seat)
	c.b = append(append(c.b, "… "...), head...)
	if s.thread != "" {
		c.b = append(r.appendThread(append(c.b, " in ["...), s.thread), ']')
	}
	c.b = append(appendGist(c.b, r, s.gist), '\n')
	if first, last := s.lines[0], s.lines[len(s.lines)-1]; len(quotes) > 0 && c.sameDay(&r.Chat.Messages[first], &r.Chat.Messages[last]) {
		c.last = quotes[0] // the head has the day
	}
	c.excerpt = true
	for _, i := range quotes {
		c.line(i, noLimit)
	}
	return string(c.b)
}

// appendGist appends who wrote lines, and what is among them.
func appendGist(dst []byte, r *SharedRoom, g recall.TalkGist) []byte {
	for k, s := range g.Speakers {
		switch {
		case k == speakersTold:
			dst = append(append(append(dst, " and "...), strconv.Itoa(len(g.Speakers)-k)...), " more"...)
		case k > speakersTold:
		case k == 0:
			dst = append(append(dst, ", by "...), r.speakers.find(s.Who).label...)
		default:
			dst = append(append(dst, ", "...), r.speakers.find(s.Who).label...)
		}
	}
	mark := ": "
	for _, c := range []struct {
		n    int
		noun string
	}{{g.Decisions, "decision"}, {g.Questions, "open question"}, {g.Links, "link"}, {g.Files, "file"}} {
		if c.n > 0 {
			dst = append(append(dst, mark...), textformat.CountNoun(c.n, c.noun)...)
			mark = ", "
		}
	}
	return dst
}

// stretches divides the lines that the history may show into stretches, in the order in which
// they begin. Few lines are none.
func (h *history) stretches() []talkStretch {
	ms := h.seat.Room.Chat.Messages
	threads := map[spaces.ThreadID][]int{}
	lines := make([]int, 0, h.total)
	for i := range h.total {
		if h.shows(i) {
			lines = append(lines, i)
			if t := ms[i].Thread; t != "" {
				threads[t] = append(threads[t], i)
			}
		}
	}
	all := ownThreads(threads)
	lines = slices.DeleteFunc(lines, func(i int) bool { return ms[i].Thread != "" && threads[ms[i].Thread] != nil })
	all = append(all, h.byTime(lines)...)
	all = slices.DeleteFunc(all, func(s talkStretch) bool { return len(s.lines) < leastStretch })
	slices.SortFunc(all, func(a, b talkStretch) int { return a.lines[0] - b.lines[0] })
	for k := range all {
		all[k].gist = h.seat.Room.index.Gist(all[k].lines, 2*summaryForms[0].telling, tellingChars)
	}
	return all
}

// ownThreads returns a stretch for each thread that is summarised on its own, and removes the
// others from threads.
func ownThreads(threads map[spaces.ThreadID][]int) []talkStretch {
	var all []talkStretch
	for t, lines := range threads {
		if len(lines) < leastStretch {
			delete(threads, t)
			continue
		}
		all = append(all, talkStretch{thread: t, lines: lines})
	}
	newest := func(s talkStretch) int { return s.lines[len(s.lines)-1] }
	slices.SortFunc(all, func(a, b talkStretch) int { return cmp.Compare(newest(b), newest(a)) })
	for _, s := range all[min(len(all), mostThreads):] {
		delete(threads, s.thread)
	}
	return all[:min(len(all), mostThreads)]
}

// byTime divides lines by the connection spans and by days, or by the finest longer unit of
// time of which few pass between the first and the last.
func (h *history) byTime(lines []int) []talkStretch {
	if len(lines) == 0 {
		return nil
	}
	at := func(i int) time.Time { return h.seat.local(h.seat.Room.Chat.Messages[i].At) }
	unit := dayOf
	for _, longer := range []func(time.Time) int{weekOf, monthOf, time.Time.Year} {
		if unit(at(lines[len(lines)-1]))-unit(at(lines[0])) < mostStretches {
			break
		}
		unit = longer
	}
	var all []talkStretch
	bundles := h.bundles()
	begun, last := 0, 0 // line of the current stretch, unit of time
	for k, i := range lines {
		for len(bundles) > 1 && i >= bundles[0].to {
			bundles = bundles[1:]
		}
		if now := unit(at(i)); k == 0 || now != last || begun < bundles[0].from {
			all, begun, last = append(all, talkStretch{}), i, now
		}
		s := &all[len(all)-1]
		s.lines = append(s.lines, i)
	}
	return all
}

const dayTime = 24 * time.Hour

// dayOf returns the number of the day of a time in its location.
func dayOf(t time.Time) int {
	y, m, d := t.Date()
	return int(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / int64(dayTime/time.Second))
}

// weekOf returns the number of the week; weeks begin on Monday.
func weekOf(t time.Time) int { return (dayOf(t) + 3) / 7 } // the first day was a Thursday

func monthOf(t time.Time) int { return 12*t.Year() + int(t.Month()) }

// periodOf renders the days from the first to the last of the lines: "3 Mar 2026",
// "3–9 Mar 2026", "28 Feb – 2 Mar 2026".
func (h *history) periodOf(lines []int) string {
	ms := h.seat.Room.Chat.Messages
	from, to := h.seat.local(ms[lines[0]].At), h.seat.local(ms[lines[len(lines)-1]].At)
	end := to.Format("2 Jan 2006")
	switch {
	case onOneDay(from, to):
		return end
	case monthOf(from) == monthOf(to):
		return from.Format("2") + "–" + end
	case from.Year() == to.Year():
		return from.Format("2 Jan") + " – " + end
	}
	return from.Format("2 Jan 2006") + " – " + end
}

// summariesOf returns the chosen summaries of a history.
func summariesOf(chosen []ChosenElement) []ChosenElement {
	return slices.DeleteFunc(slices.Clone(chosen), func(c ChosenElement) bool { return c.Form == nil || c.Form.Text == "" })
}

// summaries appends the first of the summaries, those of stretches that begin before a line,
// and returns the others.
func (c *compactRenderer) summaries(of []ChosenElement, line int) []ChosenElement {
	for len(of) > 0 && of[0].Element.above < line {
		c.b = append(c.b, of[0].Form.Text...)
		for _, i := range of[0].Form.quotes {
			c.refs = append(c.refs, c.seat.Room.Chat.Messages[i].ID)
		}
		of, c.last, c.sender = of[1:], -1, ""
	}
	return of
}
