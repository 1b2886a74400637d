package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/alerts"
	"github.com/trestle-bridge/trestle/internal/console"
)

// row writes two texts in columns beside each other, with a mark when they differ.
func row(w io.Writer, what, was, now string) {
	mark := " "
	was, now = console.WithoutMintedIDs(was), console.WithoutMintedIDs(now)
	if what != "" && was != now {
		mark = "≠"
	}
	left, right := folded(was), folded(now)
	for n := range max(len(left), len(right), 1) {
		at := func(lines []string) string {
			if n < len(lines) {
				return lines[n]
			}
			return ""
		}
		cell := at(left)
		cell += strings.Repeat(" ", max(0, columnWidth-utf8.RuneCountInString(cell)))
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%s %-6s %s │ %s", mark, what, cell, at(right)), " "))
		mark, what = " ", ""
	}
}

// folded returns a text in lines no longer than a column.
func folded(text string) []string {
	var lines []string
	for line := range strings.Lines(textout.EscapeControls(text)) {
		runes := []rune(strings.TrimRight(line, "\n"))
		for len(runes) > columnWidth {
			at := columnWidth
			for k := at; k > columnWidth/2; k-- {
				if runes[k] == ' ' {
					at = k
					break
				}
			}
			lines = append(lines, string(runes[:at]))
			runes = runes[at:]
			if runes[0] == ' ' {
				runes = runes[1:]
			}
		}
		lines = append(lines, string(runes))
	}
	return lines
}

// A timeFormat writes times: as ages for a person at a terminal, else in full.
type timeFormat struct {
	now      time.Time
	relative bool
}

func (env *Environment) clock() timeFormat { return timeFormat{time.Now(), env.onTerminal()} }

// ago writes the age of a time, or the time; a dash for none.
func (c timeFormat) ago(t time.Time) string {
	if !c.relative || t.IsZero() {
		return textout.FormatTime(t)
	}
	return alerts.Span(c.now.Sub(t))
}

// past writes the age of a time with "ago", or the time.
func (c timeFormat) past(t time.Time) string {
	if !c.relative || t.IsZero() {
		return textout.FormatTime(t)
	}
	return c.ago(t) + " ago"
}

// moment calls ago for a time that may be nil.
func (c timeFormat) moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return c.ago(*t)
}
