package cli

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// coloured reports whether an answer may have colours: never in a pipe, nor with NO_COLOR or
// --no-color.
func (env *Environment) coloured() bool {
	_, refused := env.Lookup("NO_COLOR")
	return env.onTerminal() && !refused && !env.noColor
}

var (
	// moments matches times in a column of their own, or after a word that leads to one, but
	// not in quotes, which have what people wrote.
	moments = regexp.MustCompile(`(?m)(^|  | at | since )(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)`)
	heading = regexp.MustCompile(`(?m)^[A-Z][A-Z ]*[A-Z]$|^[A-Z]+(?: [A-Z]+)*(?: {2,}[A-Z]+(?: [A-Z]+)*)+ *$`)
	bad     = regexp.MustCompile(`(?m)(^|  )(FAIL|failed|refused|denied|degraded|misconfigured|dead|unknown)( {2}|:|$)`)
	worth   = regexp.MustCompile(`(?m)(^|  )(warn|paused|expired|conflict)( {2}|:|$)`)
)

// The escapes of a terminal.
const (
	bold    = "\x1b[1m"
	red     = "\x1b[31m"
	yellow  = "\x1b[33m"
	unpaint = "\x1b[0m"
)

// forTerminal writes times as ages, in the same columns, and, with colour, highlights headings
// and states.
func forTerminal(text string, now time.Time, colour bool) string {
	text = moments.ReplaceAllStringFunc(text, func(found string) string {
		m := moments.FindStringSubmatch(found)
		at, err := time.Parse(time.RFC3339, m[2])
		if err != nil {
			return found
		}
		ago := howLongAgo(now.Sub(at))
		if m[1] == "" || m[1] == "  " {
			return m[1] + ago + strings.Repeat(" ", max(0, len(m[2])-len(ago)))
		}
		return m[1] + ago
	})
	if !colour {
		return text
	}
	text = heading.ReplaceAllString(text, bold+"$0"+unpaint)
	text = bad.ReplaceAllString(text, "$1"+red+"$2"+unpaint+"$3")
	return worth.ReplaceAllString(text, "$1"+yellow+"$2"+unpaint+"$3")
}

// howLongAgo writes a length of time in its largest unit.
func howLongAgo(d time.Duration) string {
	word := "ago"
	if d < 0 {
		d, word = -d, "from now"
	}
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s %s", int(d.Seconds()), word)
	case d < time.Hour:
		return fmt.Sprintf("%d m %s", int(d.Minutes()), word)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %s", int(d.Hours()), word)
	}
	return fmt.Sprintf("%d d %s", int(d.Hours()/24), word)
}
