package telegram

import (
	"html"
	"iter"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// markdown is CommonMark as Telegram shows it.
type markdown struct{ *markup.MarkdownReader }

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
	return t.Parts(markup.PartLimit{Units: limit, Markup: maxMarkup}, func(from, to int) string {
		return t.Write(from, to, htmlWriter{})
	})
}

// htmlWriter writes Telegram's HTML.
type htmlWriter struct{}

var _ markup.StyleWriter = htmlWriter{}

// Open returns the opening markup of s.
func (htmlWriter) Open(_ []byte, s markup.TextSpan) string {
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
func (htmlWriter) Close(_ []byte, s markup.TextSpan) string {
	if s.Look == markup.Pre && s.Arg != "" {
		return "</code></pre>"
	}
	return "</" + tags[s.Look] + ">"
}

// Escape returns words that hold no markup.
func (htmlWriter) Escape(_ []byte, words string, _ []markup.TextSpan) string {
	return escapeHTML(words)
}

// tags are Telegram's names of the looks that our reader gives.
var tags = map[markup.TextStyle]string{
	markup.Bold: "b", markup.Italic: "i", markup.Strikethrough: "s", markup.Spoiler: "tg-spoiler", markup.Link: "a",
	markup.Code: "code", markup.Pre: "pre", markup.Quote: "blockquote",
}

// Telegram decodes these four and numeric references, nothing else.
var (
	escapeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	escapeAttr = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace
)

// pieces returns the tags and the words of markup in order. Our own markup has a
// bare < nowhere but at a tag.
func pieces(markup string) iter.Seq2[string, bool] {
	return func(yield func(piece string, isTag bool) bool) {
		for markup != "" {
			words, rest, found := strings.Cut(markup, "<")
			if words != "" && !yield(words, false) {
				return
			}
			if !found {
				return
			}
			name, after, closed := strings.Cut(rest, ">")
			if !closed {
				yield("<"+rest, false)
				return
			}
			if !yield("<"+name+">", true) {
				return
			}
			markup = after
		}
	}
}

// stripHTML returns the words of markup without their looks.
func stripHTML(markup string) string {
	var b strings.Builder
	for piece, isTag := range pieces(markup) {
		if !isTag {
			b.WriteString(html.UnescapeString(piece))
		}
	}
	return b.String()
}

// reach returns what Telegram can do with address. Its parser takes http, https
// and tg, the first two only with a host that has a dot or is an IP address; it
// makes a false link of mailto and drops tel. tg://user would call anybody, so
// only [adapters.Post.Mentions] may make one.
func reach(address string) (string, markup.LinkPolicy) {
	u, err := url.Parse(address)
	if err != nil {
		return "", markup.Hidden
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if !reachable(u) {
			return address, markup.Shown
		}
		return address, markup.Linked
	case "tg":
		if strings.EqualFold(u.Host, "user") || strings.EqualFold(u.Opaque, "user") {
			return "", markup.Hidden
		}
		return address, markup.Linked
	case "mailto", "tel":
		bare, _, _ := strings.Cut(u.Opaque, "?")
		return bare, markup.Shown
	default:
		return "", markup.Hidden
	}
}

// reachable reports whether Telegram takes u's host and port, and whether the
// host is what it seems: a user's name before it makes it look like another.
func reachable(u *url.URL) bool {
	if u.User != nil {
		return false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	_, err := netip.ParseAddr(u.Hostname())
	return err == nil || strings.Contains(strings.Trim(u.Hostname(), "."), ".")
}
