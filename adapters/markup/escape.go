package markup

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape returns plain words as CommonMark that shows exactly these words, with
// as few backslashes as that takes: a reader, or a model, should see the words.
func Escape(words string) string {
	var b strings.Builder
	escapeInto(&b, words, true)
	return b.String()
}

// Where a line begins, these would make a block of it.
var (
	bullet   = regexp.MustCompile(`^[-+*](?:[ \t]|$)`)
	numbered = regexp.MustCompile(`^[0-9]{1,9}[.)](?:[ \t]|$)`)
	heading  = regexp.MustCompile(`^#{1,6}(?:[ \t]|$)`)
	rule     = regexp.MustCompile(`^(?:=+|-[- \t]*|[-:| \t]*-[-:| \t]*)$`) // under a line: a heading or a table
	// reference is a character reference, numeric or named.
	reference = regexp.MustCompile(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);`)
)

// escapeInto writes words. lineStart tells whether a line begins with them.
func escapeInto(b *strings.Builder, words string, lineStart bool) {
	for words != "" {
		line, rest, more := strings.Cut(words, "\n")
		if lineStart {
			line = openLine(b, line)
		}
		escapeLine(b, line)
		if more {
			b.WriteByte('\n')
		}
		words, lineStart = rest, true
	}
}

// openLine writes what must stand before a line's words so that they stay a
// paragraph, and returns the words left to write.
func openLine(b *strings.Builder, line string) string {
	words := strings.TrimLeft(line, " \t")
	if space := line[:len(line)-len(words)]; len(space) >= 4 || strings.Contains(space, "\t") {
		// Indentation this deep would be code. A no-break space looks the same.
		space = strings.ReplaceAll(space, "\t", "    ")
		b.WriteString("\u00A0" + space[1:])
		line = words
	} else {
		b.WriteString(space)
		line = words
	}
	trimmed := strings.TrimRight(line, " \t")
	switch {
	case line == "":
	case rule.MatchString(trimmed), bullet.MatchString(line), heading.MatchString(line), line[0] == '>', strings.HasPrefix(line, "~~~"):
		b.WriteString(`\` + line[:1])
		return line[1:]
	case numbered.MatchString(line):
		mark := strings.IndexAny(line, ".)")
		b.WriteString(line[:mark] + `\` + line[mark:mark+1])
		return line[mark+1:]
	}
	return line
}

// escapeLine writes the words of one line.
func escapeLine(b *strings.Builder, line string) {
	for i := range len(line) {
		if strings.IndexByte("\\`*_~]<&|", line[i]) >= 0 && special(line, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(line[i])
	}
}

// special reports whether the character at position i is CommonMark markup in its
// context.
func special(line string, i int) bool {
	next := byte(0)
	if i+1 < len(line) {
		next = line[i+1]
	}
	switch line[i] {
	case '\\':
		return isPunct(next) || next == 0
	case '`':
		return true
	case ']':
		return next == '(' || next == ':' || next == '['
	case '<':
		return next == '/' || next == '!' || next == '?' || isLetter(next)
	case '&':
		return reference.MatchString(line[i:])
	case '|':
		return next == '|' || i > 0 && line[i-1] == '|' || next == 0 || i == 0
	case '_':
		return !alone(line, i) && !between(line, i, isWordRune)
	default: // * and ~
		return !alone(line, i)
	}
}

// alone reports whether white space is on both sides of position i.
func alone(line string, i int) bool { return between(line, i, unicode.IsSpace) }

// between reports whether both neighbours of the byte at i are as is says. A
// neighbour beyond the line is not.
func between(line string, i int, is func(rune) bool) bool {
	before, _ := utf8.DecodeLastRuneInString(line[:i])
	after, _ := utf8.DecodeRuneInString(line[i+1:])
	return i > 0 && i+1 < len(line) && is(before) && is(after)
}

// isWordRune reports whether r is part of a word.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// isPunct reports whether c is ASCII punctuation, which a backslash can escape.
func isPunct(c byte) bool {
	return c > ' ' && c < 0x7F && !isLetter(c) && (c < '0' || c > '9')
}

// isLetter reports whether c is an ASCII letter.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
