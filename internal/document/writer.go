package document

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// A textWriter collects the text of one file, within its limits. Once it is full it
// drops what comes, and full reports it so that an extractor can stop.
type textWriter struct {
	limits   ExtractLimits
	b        strings.Builder
	title    string
	parts    []TextPart
	pages    int
	cells    int
	unpacked int64
	said     bool // something other than markers was written
	cut      bool
}

// full reports whether nothing more is taken.
func (w *textWriter) full() bool { return w.cut }

// write adds cleaned text of the file.
func (w *textWriter) write(text string) {
	w.said = w.said || strings.TrimSpace(text) != ""
	w.add(text)
}

// add adds cleaned text, which may be a remark of ours.
func (w *textWriter) add(text string) {
	if w.cut {
		return
	}
	text = cleanText(text)
	if room := w.limits.Output - w.b.Len(); len(text) > room {
		text, w.cut = clipText(text, room), true
	}
	w.b.WriteString(text)
}

// writeBlock adds a paragraph, separated from what comes before by an empty line.
func (w *textWriter) writeBlock(text string) {
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	w.separate("\n\n")
	w.write(text)
}

// writeLine adds a line that belongs to the one before it, such as an item of a list.
func (w *textWriter) writeLine(text string) {
	w.separate("\n")
	w.write(text)
}

// separate makes the text end with gap unless it is empty.
func (w *textWriter) separate(gap string) {
	have := w.b.String()
	if have == "" {
		return
	}
	for n := len(gap); n > 0; n-- {
		if strings.HasSuffix(have, gap[:n]) {
			w.write(gap[n:])
			return
		}
	}
	w.write(gap)
}

// beginPart writes the marker of a page, slide, sheet or chapter. It returns false
// when there may be no more of them, and the text is cut.
func (w *textWriter) beginPart(label string) bool {
	if len(w.parts) >= w.limits.Pages {
		w.cut = true
	}
	if w.cut {
		return false
	}
	w.separate("\n\n")
	label = clipText(strings.Join(strings.Fields(cleanText(label)), " "), 100)
	w.parts = append(w.parts, TextPart{Label: label, Offset: w.b.Len()})
	w.add("[" + label + "]\n\n")
	return !w.cut
}

// takeCells counts cells of a table, and returns false when there are too many.
func (w *textWriter) takeCells(n int) bool {
	if w.cells += n; w.cells > w.limits.Cells {
		w.cut = true
	}
	return !w.cut
}

// takeUnpacked counts decompressed bytes, and fails when there are too many.
func (w *textWriter) takeUnpacked(n int64) error {
	if w.unpacked += n; w.unpacked > w.limits.Unpacked {
		return fmt.Errorf("%w: %d bytes unpacked", ErrTooLarge, w.unpacked)
	}
	return nil
}

// setTitle keeps the first title that says something.
func (w *textWriter) setTitle(title string) {
	if w.title == "" {
		w.title = clipText(strings.Join(strings.Fields(cleanText(title)), " "), 300)
	}
}

// finish returns what was collected.
func (w *textWriter) finish(kind FileKind) ExtractedText {
	text := strings.TrimRight(w.b.String(), " \t\n")
	return ExtractedText{
		Kind: kind, Title: w.title, Markdown: text, Parts: w.parts,
		Pages: max(w.pages, len(w.parts)), Cut: w.cut,
	}
}

// cleanText returns text as valid UTF-8 with line feeds, and without control
// characters. Text that is clean already is returned as it is.
func cleanText(text string) string {
	if !strings.ContainsFunc(text, isDirty) && utf8.ValidString(text) {
		return text
	}
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r', r == '\u2028', r == '\u2029', r == '\v', r == '\f', r == '\u0085':
			return '\n'
		case isDirty(r):
			return -1
		}
		return r
	}, text)
}

func isDirty(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\ufeff' || r == '\u2028' || r == '\u2029'
}

// clipText returns at most n bytes of text, not within a character.
func clipText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:max(n, 0)]
}

// writeRow adds a row of a Markdown table. The first row of a table is its head.
func (w *textWriter) writeRow(cells []string, first bool) bool {
	if !w.takeCells(max(1, len(cells))) {
		return false
	}
	if first {
		w.separate("\n\n")
	}
	var b strings.Builder
	b.WriteString("|")
	for _, c := range cells {
		b.WriteString(" " + strings.ReplaceAll(strings.Join(strings.Fields(c), " "), "|", `\|`) + " |")
	}
	if first {
		b.WriteString("\n|" + strings.Repeat(" --- |", len(cells)))
	}
	w.write(b.String() + "\n")
	return !w.full()
}
