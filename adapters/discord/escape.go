package discord

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// escape returns words with a backslash before each sign that would mean
// something. fresh tells that a line begins with them. Addresses stay as they are.
func escape(words string, fresh bool) string {
	var b strings.Builder
	for i := 0; i < len(words); {
		if fresh {
			n := openLine(&b, words[i:])
			i += n
			fresh = false
			if n > 0 {
				continue
			}
		}
		if words[i]|0x20 == 'h' {
			if n := addressAt(words[i:]); n > 0 {
				b.WriteString(words[i : i+n])
				i += n
				continue
			}
		}
		if words[i] < utf8.RuneSelf && special(words, i) {
			b.WriteByte('\\')
		}
		fresh = words[i] == '\n'
		b.WriteByte(words[i])
		i++
	}
	return b.String()
}

// Where a line begins, these would make more of it than words.
var (
	lineSign   = regexp.MustCompile(`^ *(?:#{1,3}[ \t]|-#[ \t]|[-*][ \t]|>(?:>>)? )`)
	numberSign = regexp.MustCompile(`^ *\d+\.[ \t]`)
)

// openLine writes the sign that a line begins with, if it would mean something,
// and returns its length.
func openLine(b *strings.Builder, words string) int {
	sign := lineSign.FindString(words)
	if sign == "" {
		if sign = numberSign.FindString(words); sign == "" {
			return 0
		}
		b.WriteString(strings.Replace(sign, ".", `\.`, 1))
		return len(sign)
	}
	blank := len(sign) - len(strings.TrimLeft(sign, " "))
	b.WriteString(sign[:blank] + `\` + sign[blank:blank+1])
	return blank + 1
}

// special reports whether the character at position i is markup in its context.
func special(words string, i int) bool {
	next, last := byte(0), byte(0)
	if i+1 < len(words) {
		next = words[i+1]
	}
	if i > 0 {
		last = words[i-1]
	}
	switch words[i] {
	case '\\', '`':
		return true
	case '*':
		return next != ' ' && next != '\n' || last != ' ' && last != 0
	case '_':
		return !isWord(rune(next)) || !isWord(rune(last))
	case '~', '|':
		return next == words[i] || last == words[i] || next == 0 || last == 0
	case '[':
		return strings.Contains(words[i:], "](") || !strings.Contains(words[i:], "]")
	case '<':
		return next == '@' || next == '#' || next == ':' || next == '/' || isWord(rune(next))
	default:
		return false
	}
}
