package doctor

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// The columns of a printed report: part, level and words; the code of a finding
// is at codeAt, or after the words where they are longer.
const (
	levelWidth = 7
	codeAt     = 91
)

// Print writes the report for people: what is so, and below it what to do.
func (r CheckReport) Print(w io.Writer) {
	width := 11
	for _, f := range r.Findings {
		width = max(width, utf8.RuneCountInString(f.Part)+2)
	}
	before := ""
	for i, f := range r.Findings {
		part := f.Part
		if part == before {
			part = ""
		}
		before = f.Part
		fmt.Fprintf(w, "%-*s%-*s%s\n", width, part, levelWidth, shout(f.Level), f.What)
		if f.Code != "" {
			line := strings.Repeat(" ", width+levelWidth) + f.Mend
			gap := max(codeAt-utf8.RuneCountInString(line), 2)
			fmt.Fprintf(w, "%s%s%s\n", line, strings.Repeat(" ", gap), f.Code)
		}
		if i+1 == len(r.Findings) || r.Findings[i+1].Part != f.Part {
			r.printCard(w, width+levelWidth, f.Part)
		}
	}
	for _, c := range r.Changed {
		fmt.Fprintf(w, "changed: %s\n", c)
	}
	fmt.Fprintln(w, r.summary())
}

// shout is how a level is printed: what fails is loud.
func shout(l adapters.DiagnosisSeverity) string {
	if l == adapters.Failure {
		return "FAIL"
	}
	return string(l)
}

// summary returns the counts of findings in one line.
func (r CheckReport) summary() string {
	fails, warns := 0, 0
	for _, f := range r.Findings {
		switch f.Level {
		case adapters.Failure:
			fails++
		case adapters.Warning:
			warns++
		case adapters.Fine:
		}
	}
	said := "All is well."
	switch {
	case fails > 0 && warns > 0:
		said = textformat.CountNoun(fails, "finding") + " to fix, " + textformat.CountNoun(warns, "warning") + "."
	case fails > 0:
		said = textformat.CountNoun(fails, "finding") + " to fix."
	case warns > 0:
		said = textformat.CountNoun(warns, "warning") + "."
	}
	if len(r.Changed) == 0 {
		return said + " Nothing was changed."
	}
	return said
}
