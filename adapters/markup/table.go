package markup

import (
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// table writes a table: as it is where the platform shows them, else as aligned
// text in a fixed-width block.
func (w *walk) table(n *east.Table) {
	if w.options.Tables && w.affords(len(n.Alignments)*n.ChildCount()*len("|  ")) {
		if !w.fresh {
			w.breakLine(1)
		}
		w.span(TextSpan{Look: Mark}, func() { w.lines(w.asTable(n)) })
		return
	}
	var rows [][]string
	var widths []int
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			words := w.flat(cell)
			if i := len(cells); i == len(widths) {
				widths = append(widths, 0)
			}
			widths[len(cells)] = max(widths[len(cells)], min(columns(words), maxColumn))
			cells = append(cells, words)
		}
		rows = append(rows, cells)
	}
	if !w.affords(drawn(widths) * (len(rows) + 1)) { // too little is said in it for so much of it
		widths = nil
		for i := range rows {
			rows[i] = said(rows[i])
		}
	}
	if !w.fresh {
		w.breakLine(1)
	}
	w.span(TextSpan{Look: Pre}, func() { w.lines(drawTable(rows, widths, n.Alignments)) })
}

// maxColumn is how wide a column is drawn. What is longer moves the rest of its row
// alone: beside one long cell the others would be lost among blanks.
const maxColumn = 40

// drawn returns how much is drawn for a row of columns.
func drawn(widths []int) int {
	all := 0
	for _, width := range widths {
		all += width + len(" | ")
	}
	return all
}

// said returns a row without the cells at its end that say nothing.
func said(row []string) []string {
	for len(row) > 0 && row[len(row)-1] == "" {
		row = row[:len(row)-1]
	}
	return row
}

// asTable returns a table as it is written, without the looks inside its cells.
func (w *walk) asTable(n *east.Table) string {
	var b strings.Builder
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			words := strings.ReplaceAll(Escape(strings.TrimSpace(w.flat(cell))), `\|`, "|")
			b.WriteString("| " + strings.ReplaceAll(words, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
		if row == n.FirstChild() {
			for _, align := range n.Alignments {
				b.WriteString(map[east.Alignment]string{east.AlignLeft: "| :-- ", east.AlignRight: "| --: ", east.AlignCenter: "| :-: "}[align])
				if align == east.AlignNone {
					b.WriteString("| --- ")
				}
			}
			b.WriteString("|\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// flat returns the words of a cell without their looks, and the addresses of its links.
func (w *walk) flat(cell ast.Node) string {
	inner := walk{draft: newDraft(0), source: w.source, options: w.options}
	inner.options.Reach = func(address string) (string, LinkPolicy) {
		to, how := w.options.Reach(address)
		if how == Linked {
			how = Shown
		}
		return to, how
	}
	inner.spare = w.spare
	inner.inlines(cell)
	w.spare = inner.spare
	return strings.ReplaceAll(inner.finish().Words, "\n", " ")
}

// drawTable returns the rows with a line under the first. Without widths the columns
// are not aligned.
func drawTable(rows [][]string, widths []int, align []east.Alignment) string {
	var b strings.Builder
	for i, row := range rows {
		var line strings.Builder
		for j := range max(len(row), len(widths)) {
			if j > 0 {
				line.WriteString(" | ")
			}
			var cell string
			if j < len(row) {
				cell = row[j]
			}
			room := 0
			if j < len(widths) {
				room = max(0, widths[j]-columns(cell))
			}
			left := 0
			switch {
			case j < len(align) && align[j] == east.AlignRight:
				left = room
			case j < len(align) && align[j] == east.AlignCenter:
				left = room / 2
			}
			line.WriteString(strings.Repeat(" ", left) + cell + strings.Repeat(" ", room-left))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
		if i == 0 && len(widths) > 0 {
			rules := make([]string, len(widths))
			for j, width := range widths {
				rules[j] = strings.Repeat("-", width)
			}
			b.WriteString(strings.Join(rules, "-+-") + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// columns returns how wide a fixed-width font draws s, near enough to align a
// table: two columns for East Asian letters and emoji, none for marks.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case r >= 0x1F300 && r <= 0x1FAFF, r >= 0xFF01 && r <= 0xFF60,
			unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 2
		default:
			n++
		}
	}
	return n
}
