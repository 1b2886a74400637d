package hud

import (
	"strings"

	"github.com/trestle-bridge/trestle/spaces"
)

// ToolResultHead is how the text of a turn begins that shows the result of an outside tool.
const ToolResultHead = "TOOL RESULT"

// linePrefix marks each line of a result of a tool.
const linePrefix = "| "

// QuoteLines returns a text of several lines as it is shown of an outside tool: each line
// behind a bar and escaped like [Quote], so that no line of it can be taken for one of the
// screen.
func QuoteLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")
		b.WriteString(linePrefix)
		b.Write(appendEscaped(nil, line, false))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// FileTextHead is how the text of a turn begins that shows what a file says.
const FileTextHead = "FILE TEXT"

// FileMark returns how the text of a turn begins that shows what a file of a message says.
// A redaction of the mark removes the whole text.
func FileMark(message spaces.EventID) string { return FileTextHead + " " + Handle(message) }

// withoutFile returns text without what it shows of the file with the mark.
func withoutFile(text, mark string) string {
	i := strings.Index(text, mark+" ")
	if i < 0 {
		return text
	}
	return text[:i] + FileTextHead + ": " + redacted
}
