package mcpclient

import (
	"strings"
	"unicode"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// cleanText returns a text of a server as people and models may be shown it, at most n
// bytes: valid UTF-8 without control characters, and without characters that are not
// seen (Unicode category Cf: zero-width and directional marks, tags), in which orders
// can be hidden.
func cleanText(text string, n int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.Is(unicode.Cf, r) && r != '\u200d', unicode.IsControl(r), unicode.Is(unicode.Co, r):
			return -1
		}
		return r
	}, text)
	return textformat.ClipBytes(text, n)
}

// cleanLine returns a text of a server in one line of at most n bytes.
func cleanLine(text string, n int) string {
	return cleanText(strings.Join(strings.Fields(text), " "), n)
}
