package markup

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The readers of all that any platform may show of a text: one with tables as Markdown
// writes them, one with tables as they are drawn in code blocks.
var (
	tableReader = New(Options{Headings: 6, Lists: true, Tables: true, Reach: linked})
	drawnReader = New(Options{Headings: 6, Lists: true, Reach: linked})
)

func linked(address string) (string, LinkPolicy) { return address, Linked }

// Visible returns what people can see of md on any platform: its words without markup and
// hidden characters and, each on a line of its own, the addresses that its links lead to.
func Visible(md string) string {
	t := drawnReader.Read(md)
	var b strings.Builder
	b.WriteString(fold(t.Words).words)
	for _, s := range t.Spans {
		if s.Look != Link {
			continue
		}
		to := s.Arg
		if plain, err := url.PathUnescape(to); err == nil {
			to = plain
		}
		b.WriteString("\n" + fold(Legible(to)).words)
	}
	return b.String()
}

// Guard returns md as it may leave. Mentions of everybody in a room become plain words.
// An address for which allow is false, in the words or behind them, is shown whole as code,
// which no platform links; asCode names these. Words that look like one address never hide
// another. All is judged on what people see of md, whatever its markup; where nothing is to
// be changed md is returned as it is. allow may be nil: every address is allowed.
func Guard(md string, allow func(address string) bool) (guarded string, asCode []string) {
	if allow == nil {
		allow = func(string) bool { return true }
	}
	g := guard(md, allow)
	if !g.changed {
		return md, nil
	}
	slices.Sort(g.asCode)
	asCode = slices.Compact(g.asCode)
	isText := func(s TextSpan) bool { return s.Look != Code && s.Look != Pre }
	for _, spans := range [][]TextSpan{g.spans, slices.DeleteFunc(slices.Clone(g.spans), isText)} {
		if out := tableReader.CommonMark(g.words, spans); !guard(out, allow).changed {
			return out, asCode
		}
	}
	w := marksWriter{text: g.words}
	w.fence(TextSpan{To: len(g.words), Look: Pre})
	return strings.TrimRight(w.out.String(), "\n"), asCode
}

// guardedText is a text while what may not leave is changed in it.
type guardedText struct {
	words   string
	spans   []TextSpan
	allow   func(string) bool
	asCode  []string
	changed bool
}

// guard returns what is left of md.
func guard(md string, allow func(string) bool) *guardedText {
	t := tableReader.Read(md)
	g := &guardedText{words: t.Words, spans: t.Spans, allow: allow}
	if tabled := g.inTables(); tabled != nil { // no platform shows code in a table
		t = drawnReader.Read(md)
		g = &guardedText{words: t.Words, spans: t.Spans, allow: allow, asCode: tabled, changed: true}
	}
	g.quiet()
	g.unlink()
	g.encode()
	return g
}

// inTables returns the addresses in tables that are not allowed.
func (g *guardedText) inTables() []string {
	var found []string
	for _, s := range g.spans {
		if s.Look != Mark || g.words[s.From] != '|' {
			continue
		}
		for _, address := range Addresses(resolve([]byte(g.words[s.From:s.To]))) {
			if !g.allow(address) {
				found = append(found, address)
			}
		}
	}
	return found
}

// massCalls match mentions of everybody in a room, in any platform's form, and what begins
// like one.
var massCalls = regexp.MustCompile(`(?i)(<!)(?:everyone|here|channel)\b((?:\|[^>]*)?>)?|([@＠]+)(?:everyone|here|channel)`)

// mailHosts match the rest of a host.
var mailHosts = regexp.MustCompile(`^\.\p{L}`)

// calls reports whether what is between from and to, which begins like a mention, is one: it
// is not in the middle of a longer name, such as @channel_news, or in a mail address.
func calls(words string, from, to int) bool {
	before, _ := utf8.DecodeLastRuneInString(words[:from])
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(words[to:], "_"))
	mail := before < utf8.RuneSelf && isWordRune(before) && words[from+1] != '@' && mailHosts.MatchString(words[to:])
	return !isWordRune(next) && !mail
}

// mostNested is how often mass mentions are taken out of a text before all signs of a
// mention are: they are not nested by mistake.
const mostNested = 8

// quiet takes the signs away that make a word a mention of everybody.
func (g *guardedText) quiet() {
	for range mostNested {
		f := fold(g.words)
		if !strings.ContainsAny(f.words, "@＠!") {
			return
		}
		var gone []byteRange
		for _, m := range massCalls.FindAllStringSubmatchIndex(f.words, -1) {
			for _, sign := range [][]int{m[2:4], m[4:6], m[6:8]} {
				if sign[0] >= 0 && (m[6] < 0 || calls(f.words, m[0], m[1])) {
					gone = append(gone, placed(f, sign[0], sign[1]))
				}
			}
		}
		if gone == nil {
			return
		}
		g.cut(gone)
	}
	var gone []byteRange
	for i, r := range g.words {
		if r == '<' || r == '@' || r == '＠' {
			gone = append(gone, byteRange{i, i + len(string(r))})
		}
	}
	g.cut(gone)
}

func placed(f foldedText, from, to int) byteRange {
	from, to = f.place(from, to)
	return byteRange{from, to}
}

// cut takes bytes out of the words.
func (g *guardedText) cut(gone []byteRange) {
	if len(gone) == 0 {
		return
	}
	edits := make([]wordEdit, len(gone))
	for i, r := range gone {
		edits[i] = wordEdit{byteRange: r}
	}
	g.edit(edits)
}

// wordEdit replaces bytes by text. It is outside of a span that ends where the edit
// begins.
type wordEdit struct {
	byteRange
	text string
}

// edit makes changes to the words, which are in order and do not overlap, and moves the
// spans with them.
func (g *guardedText) edit(edits []wordEdit) {
	g.changed = true
	var b strings.Builder
	last := 0
	begins := make([]int, len(g.words)+1) // where what begins at a byte begins now
	ends := make([]int, len(g.words)+1)
	for _, e := range append(edits, wordEdit{byteRange: byteRange{len(g.words), len(g.words)}}) {
		for i := last; i <= e.from; i++ {
			at := b.Len() + i - last
			if i > last || last == 0 {
				ends[i] = at
			}
			begins[i] = at
		}
		b.WriteString(g.words[last:e.from])
		for i := e.from + 1; i <= e.to; i++ {
			ends[i] = b.Len()
		}
		b.WriteString(e.text)
		for i := e.from; i <= e.to; i++ {
			begins[i] = b.Len()
		}
		last = e.to
	}
	g.words = b.String()
	kept := g.spans[:0:0]
	for _, s := range g.spans {
		if s.From, s.To = begins[s.From], ends[s.To]; s.From < s.To {
			kept = append(kept, s)
		}
	}
	g.spans = kept
}

// unlink writes the address of a link behind its words where it is not allowed, or where
// the words look like another address.
func (g *guardedText) unlink() {
	var edits []wordEdit
	kept := g.spans[:0:0]
	type shown struct {
		at      int
		address string
		as      TextStyle
	}
	var behind []shown
	for _, s := range g.spans {
		if s.Look != Link || !leads(s.Arg) {
			kept = append(kept, s)
			continue
		}
		words := Addresses(g.words[s.From:s.To])
		deceives := slices.ContainsFunc(words, func(a string) bool { return !sameHost(a, s.Arg) })
		allowed := g.allow(s.Arg)
		if allowed && !deceives {
			kept = append(kept, s)
			continue
		}
		g.changed = true
		if slices.Contains(words, s.Arg) {
			continue // the words show it; encode judges them
		}
		as := Address
		if !allowed {
			as = Code
			g.asCode = append(g.asCode, s.Arg)
		}
		behind = append(behind, shown{s.To, s.Arg, as})
	}
	if !g.changed || len(kept) == len(g.spans) {
		return
	}
	g.spans = kept
	slices.SortStableFunc(behind, func(a, b shown) int { return a.at - b.at })
	for _, s := range behind {
		edits = append(edits, wordEdit{byteRange{s.at, s.at}, " (" + s.address + ")"})
	}
	if len(edits) == 0 {
		return
	}
	moved := 0
	g.edit(edits)
	for _, s := range behind {
		from := s.at + moved + len(" (")
		g.look(TextSpan{From: from, To: from + len(s.address), Look: s.as})
		moved += len(" ()") + len(s.address)
	}
}

// encode gives the addresses in the words that are not allowed the look of code. A platform
// may see words beside code as words of their own, or not.
func (g *guardedText) encode() {
	apart := []byte(g.words)
	for _, s := range g.spans {
		if s.Look == Code || s.Look == Pre {
			for i := s.From; i < s.To; i++ {
				apart[i] = ' '
			}
		}
	}
	for _, words := range []string{g.words, string(apart)} {
		f := fold(words)
		for _, r := range linkable(f.words) {
			address := f.words[r.from:r.to]
			from, to := f.place(r.from, r.to)
			if g.inCode(from, to) || g.allow(address) {
				continue
			}
			g.changed = true
			g.asCode = append(g.asCode, address)
			g.look(TextSpan{From: from, To: to, Look: Code})
		}
	}
}

// inCode reports whether the bytes are all in one stretch of code.
func (g *guardedText) inCode(from, to int) bool {
	return slices.ContainsFunc(g.spans, func(s TextSpan) bool {
		return (s.Look == Code || s.Look == Pre) && s.From <= from && to <= s.To
	})
}

// look gives bytes a look in place of those that begin or end among them.
func (g *guardedText) look(in TextSpan) {
	var kept []TextSpan
	for _, s := range g.spans {
		switch {
		case s.To <= in.From || in.To <= s.From, s.From <= in.From && in.To <= s.To && s.Look != Code && s.Look != Link:
			kept = append(kept, s) // beside it, or around it
			continue
		}
		left, right := s, s
		left.To, right.From = min(s.To, in.From), max(s.From, in.To)
		for _, part := range []TextSpan{left, right} {
			if part.From < part.To {
				kept = append(kept, part)
			}
		}
	}
	g.spans = append(kept, in)
	sortSpans(g.spans)
}
