package terminal

import (
	"strings"

	"github.com/trestle-bridge/trestle/adapters/markup"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
)

// screenMarkdown reads what agents write. Lists are drawn with dots, tables in columns, and the
// address of a link follows its words.
var screenMarkdown = markup.New(markup.Options{})

// renderMarkdown returns CommonMark as a terminal shows it. Whatever else could steer the terminal
// is shown as an escape, also what only the Markdown makes of it, such as &#27;.
func renderMarkdown(md string) string {
	t := screenMarkdown.Read(textout.EscapeControls(md))
	return t.Write(0, len(t.Words), screenStyle{})
}

// screenStyle writes styles with the escape sequences of terminals.
type screenStyle struct{}

var _ markup.StyleWriter = screenStyle{}

// around has what is written before and after the words of a style.
var around = map[markup.TextStyle][2]string{
	markup.Bold:          {"\x1b[1m", "\x1b[22m"},
	markup.Italic:        {"\x1b[3m", "\x1b[23m"},
	markup.Strikethrough: {"\x1b[9m", "\x1b[29m"},
	markup.Code:          {"\x1b[36m", "\x1b[39m"},
	markup.Spoiler:       {"||", "||"},
}

// margin has what every line of a block begins with.
var margin = map[markup.TextStyle]string{markup.Quote: "│ ", markup.Pre: "  "}

// Open implements [markup.StyleWriter].
func (screenStyle) Open(_ []byte, s markup.TextSpan) string {
	return around[s.Look][0] + margin[s.Look]
}

// Close implements [markup.StyleWriter].
func (screenStyle) Close(_ []byte, s markup.TextSpan) string { return around[s.Look][1] }

// Escape implements [markup.StyleWriter].
func (screenStyle) Escape(_ []byte, words string, in []markup.TextSpan) string {
	var start strings.Builder
	start.WriteByte('\n')
	for _, s := range in {
		start.WriteString(margin[s.Look])
	}
	return strings.ReplaceAll(textout.EscapeControls(words), "\n", start.String())
}
