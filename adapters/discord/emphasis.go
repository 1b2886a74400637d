package discord

import (
	"strings"

	"github.com/trestle-bridge/trestle/adapters/markup"
)

// emphasis reads bold, italic and underlined words. Where two rules fit, the
// longer one wins, and italic between equals.
func (r *parseState) emphasis(s string, in styleScope) int {
	var italic, double int
	look := markup.Bold
	if s[0] == '*' {
		italic, double = starEnd(s), closing(s, "**", '*')
	} else {
		italic, double = scoreEnd(s), closing(s, "__", '_')
		look = markup.Italic
	}
	switch {
	case italic == 0 && double == 0:
		return 0
	case italic >= double:
		r.look(markup.Italic, "", func() { r.text(s[1:italic-1], in, false) })
		return italic
	default:
		r.look(look, "", func() { r.text(s[2:double-2], in, false) })
		return double
	}
}

// starEnd returns where *words* end: pairs of stars belong to the words, and so
// does white space that no star follows.
func starEnd(s string) int {
	if len(s) < 3 || s[1] == ' ' || s[1] == '\n' || s[1] == '\t' {
		return 0
	}
	for i := 1; i < len(s); {
		switch {
		case s[i] == '\\', strings.HasPrefix(s[i:], "**"):
			i += 2
		case s[i] == '*' && i > 1:
			return i + 1
		case s[i] == '*':
			return 0
		case s[i] == ' ' || s[i] == '\n' || s[i] == '\t':
			for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t') {
				i++
			}
			if i < len(s) && s[i] == '*' && !strings.HasPrefix(s[i:], "**") {
				return 0
			}
		default:
			i++
		}
	}
	return 0
}

// scoreEnd returns where _words_ end: not before a letter.
func scoreEnd(s string) int {
	for i := 1; i < len(s); {
		switch {
		case s[i] == '\\':
			i += 2
		case s[i] == '_' && i > 1 && (i+1 == len(s) || s[i+1] != '_' && !isWord(rune(s[i+1]))):
			return i + 1
		case strings.HasPrefix(s[i:], "__"):
			i += 2
		case s[i] == '_':
			return 0
		default:
			i++
		}
	}
	return 0
}

// closing returns where the words between two signs end; the sign may not be
// followed by one more of its letter.
func closing(s, sign string, letter byte) int {
	if !strings.HasPrefix(s, sign) {
		return 0
	}
	for i := len(sign); i < len(s); {
		switch {
		case s[i] == '\\':
			i += 2
		case i > len(sign) && strings.HasPrefix(s[i:], sign) && (i+len(sign) == len(s) || s[i+len(sign)] != letter):
			return i + len(sign)
		default:
			i++
		}
	}
	return 0
}

// between reads words between two equal signs.
func (r *parseState) between(s, sign string, look markup.TextStyle, in styleScope) int {
	if !strings.HasPrefix(s, sign) || len(s) <= 2*len(sign) {
		return 0
	}
	i := strings.Index(s[len(sign)+1:], sign)
	if i < 0 {
		return 0
	}
	end := len(sign) + 1 + i
	r.look(look, "", func() { r.text(s[len(sign):end], in, false) })
	return end + len(sign)
}
