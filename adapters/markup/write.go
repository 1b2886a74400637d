package markup

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// writeMarks returns text as CommonMark with its marks, which come outer first.
func writeMarks(text string, marks []TextSpan) string {
	w := marksWriter{text: text, marks: marks}
	w.write(0, len(text), nil)
	return strings.TrimRight(w.out.String(), "\n")
}

// marksWriter writes text from left to right and takes each mark where it begins.
type marksWriter struct {
	text  string
	marks []TextSpan // those not yet begun
	out   strings.Builder
}

// write writes text[from:to] and the marks that begin in it.
func (w *marksWriter) write(from, to int, inside []TextStyle) {
	for len(w.marks) > 0 && w.marks[0].From < to {
		m := w.marks[0]
		w.marks = w.marks[1:]
		m.To = min(m.To, to) // marks nest; what claims otherwise is cut
		if m.From < from || m.From >= m.To {
			continue
		}
		w.plain(from, m.From)
		w.mark(m, inside)
		from = m.To
	}
	w.plain(from, to)
}

// plain writes words that have no mark.
func (w *marksWriter) plain(from, to int) {
	if from < to {
		escapeInto(&w.out, w.text[from:to], w.atLineStart())
	}
}

// atLineStart reports whether a line begins here, as far as CommonMark sees.
func (w *marksWriter) atLineStart() bool {
	out := w.out.String()
	return out == "" || strings.HasSuffix(out, "\n") || strings.HasSuffix(out, "> ")
}

// mark writes one mark and what is in it. inside names the marks around it.
func (w *marksWriter) mark(m TextSpan, inside []TextStyle) {
	words := w.text[m.From:m.To]
	sign, within := "", append(slices.Clip(inside), m.Look)
	switch m.Look {
	case Bold:
		sign = "**"
	case Italic:
		sign = w.italic(m)
	case Strikethrough:
		sign = "~~"
	case Spoiler:
		sign = "||"
	case Code:
		w.skipInner(m.To)
		w.out.WriteString(codeSpan(words))
		return
	case Pre:
		w.skipInner(m.To)
		w.fence(m)
		return
	case Address:
		w.skipInner(m.To)
		w.url(words)
		return
	case Link:
		w.link(m, within)
		return
	case Quote:
		w.quote(m, within)
		return
	case Heading:
		w.heading(m, within)
		return
	case Mark:
		w.skipInner(m.To)
		w.out.WriteString(words)
		return
	}
	if slices.Contains(inside, m.Look) {
		sign = "" // a mark inside itself changes nothing
	}
	w.out.WriteString(sign)
	w.write(m.From, m.To, within)
	w.out.WriteString(sign)
}

// skipInner drops the marks that begin before to: there are none inside code.
func (w *marksWriter) skipInner(to int) {
	for len(w.marks) > 0 && w.marks[0].From < to {
		w.marks = w.marks[1:]
	}
}

// italic returns the sign for m: an underscore, but inside a word a star.
func (w *marksWriter) italic(m TextSpan) string {
	before, _ := utf8.DecodeLastRuneInString(w.text[:m.From])
	after, _ := utf8.DecodeRuneInString(w.text[m.To:])
	if isWordRune(before) || isWordRune(after) {
		return "*"
	}
	return "_"
}

func codeSpan(words string) string {
	fence := strings.Repeat("`", longestRun(words)+1)
	pad := ""
	if words[0] == '`' || words[len(words)-1] == '`' || (words[0] == ' ' && words[len(words)-1] == ' ') {
		pad = " "
	}
	return fence + pad + words + pad + fence
}

// longestRun returns the length of the longest run of backticks in words.
func longestRun(words string) int {
	longest, run := 0, 0
	for i := range len(words) {
		if run++; words[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// fence writes a code block on lines of its own.
func (w *marksWriter) fence(m TextSpan) {
	code, language := w.text[m.From:m.To], m.Arg
	if !w.atLineStart() {
		w.out.WriteByte('\n')
	}
	fence := strings.Repeat("`", max(3, longestRun(code)+1))
	if strings.ContainsAny(language, "` \t\n") {
		language = ""
	}
	w.out.WriteString(fence + language + "\n" + strings.TrimSuffix(code, "\n") + "\n" + fence)
	w.end(m.To, 1)
}

// url writes an address whose signs would need escaping, so that it stays whole.
func (w *marksWriter) url(address string) {
	if strings.Contains(address, "://") && !strings.ContainsAny(address, "<> \t\n") {
		w.out.WriteString("<" + address + ">")
		return
	}
	escapeInto(&w.out, address, w.atLineStart())
}

// link writes words that lead to an address.
func (w *marksWriter) link(m TextSpan, within []TextStyle) {
	inner := marksWriter{text: w.text, marks: w.marks}
	inner.write(m.From, m.To, within)
	w.marks = inner.marks
	words := strings.NewReplacer(`\[`, `\[`, `\]`, `\]`, "[", `\[`, "]", `\]`).Replace(inner.out.String())
	switch {
	case m.Arg == "" || strings.ContainsAny(m.Arg, "<>\n"):
		w.out.WriteString(words)
	case strings.ContainsAny(m.Arg, " \t()\\"):
		w.out.WriteString("[" + words + "](<" + strings.ReplaceAll(m.Arg, `\`, `\\`) + ">)")
	default:
		w.out.WriteString("[" + words + "](" + m.Arg + ")")
	}
}

// quote writes a block quote and the blank line that ends it.
func (w *marksWriter) quote(m TextSpan, within []TextStyle) {
	inner := marksWriter{text: w.text, marks: w.marks}
	inner.write(m.From, m.To, within)
	w.marks = inner.marks
	if !w.atLineStart() {
		w.out.WriteByte('\n')
	}
	words := strings.TrimRight(inner.out.String(), "\n")
	w.out.WriteString("> " + strings.ReplaceAll(words, "\n", "\n> "))
	w.end(m.To, 2)
}

// heading writes a heading, which may not break its line, and its line's end.
func (w *marksWriter) heading(m TextSpan, within []TextStyle) {
	if !w.atLineStart() {
		w.out.WriteByte('\n')
	}
	level, _ := strconv.Atoi(m.Arg) // no number is a level of 1
	w.out.WriteString(strings.Repeat("#", min(max(level, 1), 6)) + " ")
	w.write(m.From, m.To, within)
	w.end(m.To, 1)
}

// end writes what is missing of the line breaks that must follow a block which
// ends at to.
func (w *marksWriter) end(to, breaks int) {
	rest := w.text[to:]
	for range breaks {
		if strings.HasPrefix(rest, "\n") {
			rest = rest[1:]
			continue
		}
		w.out.WriteByte('\n')
	}
}
