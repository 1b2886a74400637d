package slack

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters/emoji"
	"github.com/trestle-bridge/trestle/adapters/markup"
)

// maxStyled bounds the texts whose mrkdwn is read for its looks; Slack's own limit
// is far below.
const maxStyled = 64 << 10

// unescape resolves the three references that Slack writes.
var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace

// mrkdwn writes Slack's own markup (docs.slack.dev/messaging/formatting-message-text).
func (p *page) mrkdwn(text string) {
	if len(text) > maxStyled {
		p.inline(text, false)
		return
	}
	for text != "" {
		before, rest, found := strings.Cut(text, "```")
		code, after, closed := strings.Cut(rest, "```")
		if !found || !closed || strings.TrimSpace(code) == "" {
			p.lines(text)
			return
		}
		p.lines(strings.TrimSuffix(before, "\n"))
		p.breakLine(1)
		p.look(markup.Pre, "", func() { p.tokens(strings.Trim(code, "\n")) })
		p.breakLine(1)
		text = strings.TrimPrefix(after, "\n")
	}
}

// lines writes lines, those that begin with a > as a quote.
func (p *page) lines(text string) {
	for text != "" {
		quoted, rest := cutQuote(text)
		if quoted != "" {
			p.breakLine(1)
			p.look(markup.Quote, "", func() { p.inline(quoted, true) })
			p.breakLine(2)
			text = rest
			continue
		}
		line, rest, more := strings.Cut(text, "\n")
		p.inline(line, true)
		text = rest
		if more && p.owed == 0 {
			p.write("\n")
		}
	}
}

// cutQuote returns the words of the quoted lines that text begins with.
func cutQuote(text string) (quoted, rest string) {
	if whole, ok := strings.CutPrefix(text, "&gt;&gt;&gt;"); ok {
		return strings.TrimSpace(whole), ""
	}
	var lines []string
	for {
		line, after, more := strings.Cut(text, "\n")
		words, ok := strings.CutPrefix(line, "&gt;")
		if !ok {
			words, ok = strings.CutPrefix(line, "> ")
		}
		if !ok {
			break
		}
		lines = append(lines, strings.TrimPrefix(words, " "))
		if text = after; !more {
			break
		}
	}
	return strings.Join(lines, "\n"), text
}

// The signs of inline looks.
var signs = map[byte]markup.TextStyle{'*': markup.Bold, '_': markup.Italic, '~': markup.Strikethrough, '`': markup.Code}

// inline writes words with the looks inside them.
func (p *page) inline(text string, styled bool) {
	plain, lastToken := 0, strings.LastIndexByte(text, '>')
	var open map[byte]int // to where no look of a sign closes
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '<':
			if i > lastToken {
				continue
			}
			end := strings.IndexByte(text[i:], '>')
			p.tokens(text[plain:i])
			p.token(text[i+1 : i+end])
			i += end
			plain = i + 1
		case styled && signs[c] != "" && i >= open[c]:
			end := closing(text, i)
			if end < 0 {
				continue
			}
			if end == len(text) || text[end] == '\n' { // nor does any that begins before
				if open == nil {
					open = map[byte]int{}
				}
				open[c] = end
				continue
			}
			p.tokens(text[plain:i])
			p.look(signs[c], "", func() {
				if c == '`' {
					p.tokens(text[i+1 : end])
					return
				}
				p.inline(text[i+1:end], true)
			})
			i, plain = end, end+1
		}
	}
	p.tokens(text[plain:])
}

// closing returns the end of the style that opens at i, in the same line, or the end of
// the line; -1 when none opens. The text must begin right after the first mark and end
// right before the second, and neither mark may be inside a word.
func closing(text string, i int) int {
	sign := text[i]
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+1:])
	if i > 0 && inWord(before) || i+1 >= len(text) || unicode.IsSpace(after) || text[i+1] == sign {
		return -1
	}
	j := i + 1
	for ; j < len(text) && text[j] != '\n'; j++ {
		if text[j] != sign {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(text[:j])
		next, _ := utf8.DecodeRuneInString(text[j+1:])
		if sign != '`' && unicode.IsSpace(last) || j+1 < len(text) && inWord(next) {
			continue
		}
		return j
	}
	return j
}

// inWord reports whether r is part of a word.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// tokens writes words that may hold references, addresses and names, but no looks.
func (p *page) tokens(text string) {
	for text != "" {
		words, rest, found := strings.Cut(text, "<")
		p.write(emoji.In(unescape(words)))
		if !found {
			return
		}
		inner, after, closed := strings.Cut(rest, ">")
		if !closed {
			p.write("<" + unescape(rest))
			return
		}
		p.token(inner)
		text = after
	}
}

// token writes what is between < and >.
func (p *page) token(inner string) {
	what, label, _ := strings.Cut(inner, "|")
	label = unescape(label)
	switch {
	case strings.HasPrefix(what, "@"):
		p.name(what[1:], strings.TrimPrefix(label, "@"))
	case strings.HasPrefix(what, "#"):
		p.channel(what[1:], strings.TrimPrefix(label, "#"))
	case strings.HasPrefix(what, "!subteam^"):
		p.write("@" + strings.TrimPrefix(cmp.Or(label, what[len("!subteam^"):]), "@"))
	case strings.HasPrefix(what, "!date^"):
		p.write(cmp.Or(label, what))
	case strings.HasPrefix(what, "!"):
		p.write("@" + strings.TrimPrefix(cmp.Or(label, what[1:]), "@"))
	case strings.Contains(what, ":"):
		p.link(unescape(what), label)
	default:
		p.write("<" + unescape(inner) + ">")
	}
}
