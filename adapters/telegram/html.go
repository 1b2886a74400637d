package telegram

import (
	"strings"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// markdown is CommonMark as Telegram shows it.
type markdown struct{ *markup.Reader }

func newMarkdown() markdown { return markdown{markup.New(markup.Options{Reach: reach})} }

const (
	// maxUnits is Telegram's limit for one message after parsing. Its server
	// counts code points; UTF-16 units are never fewer.
	maxUnits = 4096
	// maxMarkup keeps the request small however much markup the words carry.
	maxMarkup = 16 << 10
)

// Split cuts CommonMark into parts of Telegram HTML that one message each can
// hold. What a cut goes through, such as a code block, is closed before it and
// opened again behind it.
func (c *Client) Split(text string) []string { return c.markdown.split(text, maxUnits) }

// split is Split with the limit as a parameter.
func (m markdown) split(md string, limit int) []string {
	t := m.Read(md)
	return t.Parts(markup.Limit{Units: limit, Markup: maxMarkup}, func(from, to int) string {
		return t.Write(from, to, htmlWriter{})
	})
}

// htmlWriter writes Telegram's HTML.
type htmlWriter struct{}

var _ markup.Writer = htmlWriter{}

// Open returns the opening markup of s.
func (htmlWriter) Open(_ []byte, s markup.Span) string {
	switch {
	case s.Look == markup.Link:
		return `<a href="` + escapeAttr(s.Arg) + `">`
	case s.Look == markup.Pre && s.Arg != "":
		return `<pre><code class="language-` + escapeAttr(s.Arg) + `">`
	default:
		return "<" + tags[s.Look] + ">"
	}
}

// Close returns the closing markup of s.
func (htmlWriter) Close(_ []byte, s markup.Span) string {
	if s.Look == markup.Pre && s.Arg != "" {
		return "</code></pre>"
	}
	return "</" + tags[s.Look] + ">"
}

// Escape returns words that hold no markup.
func (htmlWriter) Escape(_ []byte, words string, _ []markup.Span) string { return escapeHTML(words) }

// tags are Telegram's names of the looks that our reader gives.
var tags = map[markup.Style]string{
	markup.Bold: "b", markup.Italic: "i", markup.Strikethrough: "s", markup.Spoiler: "tg-spoiler", markup.Link: "a",
	markup.Code: "code", markup.Pre: "pre", markup.Quote: "blockquote",
}

// Telegram decodes these four and numeric references, nothing else.
var (
	escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	escapeAttr = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace
)
