package hud

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Quote returns text as a JSON string in which nothing can break out of the
// line or be taken for markup: what begins a tag, controls,
// bidi and zero-width characters, tag characters, line separators and the
// tokens of chat templates are escaped. Joiners inside emoji stay. Any JSON
// parser gives the text back.
func Quote(text string) string {
	b := make([]byte, 0, len(text)+2)
	return string(appendQuoted(b, text))
}

func appendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, text, true)
	return append(dst, '"')
}

// gutter returns text as it is rendered after the colon of a compact line: escaped like
// [Quote], but without quotation marks around or escaped inside it, since the line ends
// where the text ends.
func gutter(text string) string {
	return string(appendEscaped(nil, text, false))
}

func appendEscaped(dst []byte, s string, quoted bool) []byte {
	var prev rune
	for i := 0; i < len(s); {
		if n := plainBytes(s[i:]); n > 0 {
			dst = append(dst, s[i:i+n]...)
			i += n
			prev = rune(s[i-1])
			continue
		}
		if c := s[i]; c < utf8.RuneSelf {
			dst = appendASCII(dst, s[i:], quoted)
			prev = rune(c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, `\ufffd`...)
		case hidden(r) && !joins(prev, r, s[i+n:]):
			dst = appendUnicode(dst, r)
		default:
			dst = append(dst, s[i:i+n]...)
		}
		prev = r
		i += n
	}
	return dst
}

// plainBytes returns how many bytes at the beginning of s are never escaped.
func plainBytes(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || special[s[i]] {
			return i
		}
	}
	return len(s)
}

// special are the ASCII bytes that are escaped somewhere.
var special = func() (special [utf8.RuneSelf]bool) {
	for c := range special {
		special[c] = c < ' ' || c == 0x7f || strings.ContainsRune(`\"<[`, rune(c))
	}
	return special
}()

// appendASCII appends the first byte of s, which is special.
func appendASCII(dst []byte, s string, quoted bool) []byte {
	switch c := s[0]; {
	case c == '\n':
		return append(dst, '\\', 'n')
	case c == '\t':
		return append(dst, '\\', 't')
	case c == '\r':
		return append(dst, '\\', 'r')
	case c == '\\', c == '"' && quoted:
		return append(dst, '\\', c)
	case c == '"', c == '[' && !templateToken(s), c == '<' && !opensTag(s[1:]):
		return append(dst, c)
	default:
		return appendUnicode(dst, rune(c))
	}
}

const hexDigits = "0123456789abcdef"

func appendUnicode(dst []byte, r rune) []byte {
	if r > 0xffff {
		hi, lo := utf16.EncodeRune(r)
		return appendUnicode(appendUnicode(dst, hi), lo)
	}
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// opensTag reports whether a less-than sign before s may begin a tag or a token of a chat
// template, such as <msg>, </msg>, <|im_start|> or <!-- -->.
func opensTag(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || strings.ContainsRune("/|!?_<", r) || r >= utf8.RuneSelf)
}

// templateToken reports whether s begins like [INST], [/INST], [TOOL_CALLS] and
// the other bracketed tokens of chat templates.
func templateToken(s string) bool {
	i := 1
	if i < len(s) && s[i] == '/' {
		i++
	}
	from := i
	for i < len(s) && i-from < 32 && (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z' || s[i] == '_') {
		i++
	}
	return i-from >= 3 && i < len(s) && s[i] == ']'
}

// FindHidden returns the first character of a text that a reader cannot see, or sees as
// something else; parts of emoji, tabs and line ends are none.
func FindHidden(text string) (r rune, found bool) {
	prev := rune(-1)
	for i, r := range text {
		control := r < 0x20 && r != '\n' && r != '\t' || r == 0x7f || r == utf8.RuneError
		if control || r >= utf8.RuneSelf && hidden(r) && !joins(prev, r, text[i+utf8.RuneLen(r):]) {
			return r, true
		}
		prev = r
	}
	return 0, false
}

// hidden reports whether a reader cannot see r, or sees it as something else.
func hidden(r rune) bool {
	switch {
	case r < 0xa0: // C1 controls; ASCII never comes here
		return true
	case r < 0xad:
		return false
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0: // fillers that look like nothing
		return true
	case r == 0x034f, r >= 0xfe00 && r <= 0xfe0f, r >= 0x180b && r <= 0x180f: // joiner, variation selectors
		return true
	case r >= 0xe0000 && r <= 0xe0fff: // tags and more selectors
		return true
	case r == 0x2028, r == 0x2029, r >= 0xfff0 && r <= 0xffff && r != utf8.RuneError:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// joins reports whether the hidden r is part of an emoji between prev and rest.
func joins(prev, r rune, rest string) bool {
	switch r {
	case 0xfe0e, 0xfe0f: // presentation of the symbol before it
		return symbol(prev) || prev >= '0' && prev <= '9' || prev == '#' || prev == '*'
	case 0x200d:
		next, _ := utf8.DecodeRuneInString(rest)
		return (symbol(prev) || prev == 0xfe0f) && symbol(next)
	}
	return false
}

func symbol(r rune) bool {
	return r >= 0x1f3fb && r <= 0x1f3ff || r >= 0xa9 && unicode.Is(unicode.So, r) || r >= 0x2190 && unicode.Is(unicode.Sm, r)
}

// maxName is how many characters of a name are shown.
const maxName = 48

// CleanName returns a name or title as it is shown outside quotation marks:
// letters, digits, spaces and harmless signs only, on one line, at most 48
// characters. Characters that could be read as the structure of a line are left out. A
// name of which nothing remains becomes "unnamed".
func CleanName(name string) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range name {
		if unicode.IsSpace(r) {
			space = true
			continue
		}
		if !nameRune(r) {
			continue
		}
		if n == maxName {
			break
		}
		if space && n > 0 {
			b.WriteByte(' ')
			n++
		}
		space = false
		b.WriteRune(r)
		n++
	}
	if b.Len() == 0 {
		return "unnamed"
	}
	return b.String()
}

func nameRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || strings.ContainsRune("-_.'!$@", r)
	}
	return r != utf8.RuneError && !hidden(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || emoji(r))
}

// emoji reports whether r is a pictograph; arrows and other signs that look
// like the marks of a line are none.
func emoji(r rune) bool {
	return r >= 0x2600 && r <= 0x27bf || r >= 0x1f300 && r <= 0x1faff
}
