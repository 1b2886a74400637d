// Package textout writes times, tables and text of others for a terminal.
package textout

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
)

// oneLine escapes characters that would break a cell into rows or columns.
var oneLine = strings.NewReplacer("\n", `\n`, "\t", `\t`)

// WriteTable writes rows in aligned columns.
func WriteTable(w io.Writer, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, cell := range r {
			cells[i] = oneLine.Replace(cell)
		}
		fmt.Fprintln(t, EscapeControls(strings.TrimRight(strings.Join(cells, "\t"), "\t")))
	}
	_ = t.Flush() // w is the text of an answer
}

// FormatTime writes a moment as ISO time; a dash for none.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// OrDash returns a dash for an empty cell.
func OrDash(text string) string { return cmp.Or(text, "-") }

// EscapeControls shows control characters, except line breaks and tabs, as escapes.
func EscapeControls(text string) string { return console.Plain(text) }

// JoinOr lists words, the last behind "or".
func JoinOr(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
