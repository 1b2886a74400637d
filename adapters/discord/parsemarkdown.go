package discord

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// maxStyled bounds the texts whose looks are read; Discord's own limit is far
// below. The rules look ahead, so time grows with the square.
const maxStyled = 16 << 10

// parseState reads Discord's Markdown, which is not CommonMark: rules are tried in
// turn where they may begin, with __ for underline, no tables, no HTML, headings
// of three levels, and signs for people, channels, times and emoji
// (support.discord.com/hc/articles/210298617, docs.discord.com/reference#message-formatting).
type parseState struct {
	names  mentionNames
	words  strings.Builder
	spans  []markup.TextSpan
	number int // of the ordered list's item before this line; 0: there was none
	indent int // of that item
}

// styleScope is what is around a text.
type styleScope struct {
	quote bool
	link  bool
	depth int
}

// maxDepth bounds how deep looks nest.
const maxDepth = 16

// readMarkdown returns the words of text and their looks. Underline, for which
// CommonMark has no sign, is read as italic.
func readMarkdown(text string, n mentionNames) (words string, spans []markup.TextSpan) {
	r := &parseState{names: n}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if len(text) > maxStyled {
		return markup.Legible(r.signs(text)), nil
	}
	r.text(markup.Legible(text), styleScope{}, true)
	return r.words.String(), r.spans
}

// look gives what fill writes a look.
func (r *parseState) look(l markup.TextStyle, arg string, fill func()) {
	from, i := r.words.Len(), len(r.spans)
	r.spans = append(r.spans, markup.TextSpan{From: from, Look: l, Arg: arg})
	fill()
	r.spans[i].To = r.words.Len()
}

// text reads s, which begins a line if fresh.
func (r *parseState) text(s string, in styleScope, fresh bool) {
	in.depth++
	for s != "" {
		if in.depth > maxDepth {
			r.words.WriteString(s)
			return
		}
		if fresh {
			if n := r.line(s, in); n > 0 {
				s, fresh = s[n:], s[n-1] == '\n'
				continue
			}
		}
		if n := r.rule(s, in); n > 0 {
			s, fresh = s[n:], false
			continue
		}
		c, n := utf8.DecodeRuneInString(s)
		r.words.WriteString(s[:n])
		s, fresh = s[n:], c == '\n'
	}
}

var (
	headingRule = regexp.MustCompile(`^(#{1,3})[ \t]+([^\n]*[^\n \t])`)
	subtextRule = regexp.MustCompile(`^-#[ \t]+`)
	itemRule    = regexp.MustCompile(`^( *)(?:([-*])|(\d{1,9})\.)[ \t]+`)
	quoteRule   = regexp.MustCompile(`^ *> [^\n]*(?:\n *> [^\n]*)*\n?`)
	quoteSign   = regexp.MustCompile(`(?m)^ *> `)
	wholeQuote  = regexp.MustCompile(`^ *>>> `)
)

// line reads what only the beginning of a line can be, and returns how much.
func (r *parseState) line(s string, in styleScope) int {
	if sign := wholeQuote.FindString(s); sign != "" && !in.quote && len(s) > len(sign) {
		in.quote = true
		r.look(markup.Quote, "", func() { r.text(s[len(sign):], in, true) })
		return len(s)
	}
	if lines := quoteRule.FindString(s); lines != "" && !in.quote {
		in.quote = true
		inner := strings.TrimSuffix(quoteSign.ReplaceAllString(lines, ""), "\n")
		r.look(markup.Quote, "", func() { r.text(inner, in, true) })
		if strings.HasSuffix(lines, "\n") {
			r.words.WriteByte('\n')
		}
		return len(lines)
	}
	if m := headingRule.FindStringSubmatch(s); m != nil {
		r.look(markup.Heading, strconv.Itoa(len(m[1])), func() { r.text(m[2], in, false) })
		return len(m[0])
	}
	if sign := subtextRule.FindString(s); sign != "" {
		return len(sign)
	}
	return r.item(s)
}

// item reads the sign of a list's item. Discord counts ordered items itself.
func (r *parseState) item(s string) int {
	m := itemRule.FindStringSubmatch(s)
	if m == nil || len(m[0]) == len(s) || s[len(m[0])] == '\n' {
		if !strings.HasPrefix(s, "\n") {
			r.number = 0
		}
		return 0
	}
	mark := "- "
	if m[3] != "" {
		n, _ := strconv.Atoi(m[3]) // digits, by the rule
		if r.number > 0 && r.indent == len(m[1]) {
			n = r.number + 1
		}
		r.number, r.indent = n, len(m[1])
		mark = strconv.Itoa(n) + ". "
	}
	r.words.WriteString(m[1])
	r.look(markup.Mark, "", func() { r.words.WriteString(mark) })
	return len(m[0])
}

// shrug is the one face whose signs stay as they are.
const shrug = `¯\_(ツ)_/¯`

// rule reads what may begin anywhere, and returns how much.
func (r *parseState) rule(s string, in styleScope) int {
	switch s[0] {
	case '\\':
		return r.escaped(s)
	case '`':
		return r.code(s)
	case '<':
		return r.sign(s)
	case '[':
		return r.masked(s, in)
	case '*', '_':
		return r.emphasis(s, in)
	case '~':
		return r.between(s, "~~", markup.Strikethrough, in)
	case '|':
		return r.between(s, "||", markup.Spoiler, in)
	case 'h', 'H':
		if n := addressAt(s); n > 0 {
			r.look(markup.Address, "", func() { r.words.WriteString(s[:n]) })
			return n
		}
	case "¯"[0]:
		if strings.HasPrefix(s, shrug) {
			r.words.WriteString(shrug)
			return len(shrug)
		}
	}
	return 0
}

// escaped reads a backslash before a sign.
func (r *parseState) escaped(s string) int {
	c, n := utf8.DecodeRuneInString(s[1:])
	if n == 0 || isWord(c) || c == ' ' || c == '\n' || c == '\t' {
		return 0
	}
	r.words.WriteString(s[1 : 1+n])
	return 1 + n
}

// isWord reports whether c is a letter or digit as Discord's rules see it.
func isWord(c rune) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

var (
	blockRule  = regexp.MustCompile("^```(?:([A-Za-z0-9_+\\-.#]+?)\n)?\n*([^\n](?s:.*?))\n*```")
	inlineRule = regexp.MustCompile("^`+")
)

// code reads a code block or code in a line.
func (r *parseState) code(s string) int {
	if m := blockRule.FindStringSubmatch(s); m != nil {
		r.look(markup.Pre, m[1], func() { r.words.WriteString(m[2]) })
		return len(m[0])
	}
	fence := inlineRule.FindString(s)
	for at := len(fence); ; {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return 0
		}
		at += i
		run := inlineRule.FindString(s[at:])
		if len(run) == len(fence) && at > len(fence) {
			words := s[len(fence):at]
			if bare := strings.Trim(words, " "); bare != "" && len(words) > 2 && (bare[0] == '`' || bare[len(bare)-1] == '`') {
				words = strings.TrimSuffix(strings.TrimPrefix(words, " "), " ")
			}
			r.look(markup.Code, "", func() { r.words.WriteString(words) })
			return at + len(run)
		}
		at += len(run)
	}
}

var addressRule = regexp.MustCompile(`^(?i:https?)://[^\s<]+[^<.,:;"'\]\s]`)

// addressAt returns the length of the address that s begins with.
func addressAt(s string) int {
	if len(s) < 8 || s[4] != ':' && s[5] != ':' {
		return 0
	}
	address := addressRule.FindString(s)
	// A bracket that was not opened inside closes something around the address.
	for strings.HasSuffix(address, ")") && strings.Count(address, ")") > strings.Count(address, "(") {
		address = address[:len(address)-1]
	}
	return len(address)
}

var maskedRule = regexp.MustCompile(`^\[((?:\[[^\[\]]*\]|[^\[\]])+)\]\([ \n]*<?((?i:https?)://[^\s<>]+?)>?(?:[ \n]+"[^"]*")?[ \n]*\)`)

// masked reads a link with words of its own.
func (r *parseState) masked(s string, in styleScope) int {
	m := maskedRule.FindStringSubmatch(s)
	if m == nil || in.link || strings.Contains(m[1], "://") {
		return 0
	}
	for open := strings.Count(m[2], "("); open > strings.Count(m[2], ")"); { // the address has brackets of its own
		if rest := s[len(m[0]):]; strings.HasPrefix(rest, ")") {
			m[0], m[2] = m[0]+")", m[2]+")"
			continue
		}
		return 0
	}
	in.link = true
	r.look(markup.Link, m[2], func() { r.text(m[1], in, false) })
	return len(m[0])
}
