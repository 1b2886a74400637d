package spaces

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The largest values that one update may add to the log.
const (
	MaxTextBytes  = 64 << 10 // text of a message
	MaxRawBytes   = 64 << 10 // raw form of an unreadable update
	MaxNameBytes  = 512      // a name, handle, title, file name or reason
	MaxEmojiBytes = 128      // one emoji
	MaxListItems  = 256      // mentions, attachments, emoji or deleted messages of one update
)

// TruncateText returns text as valid UTF-8 of at most limit bytes, plus a mark
// that tells how much is missing.
func TruncateText(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	at := limit
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return text[:at] + fmt.Sprintf(" […cut, %d of %d bytes shown]", at, len(text))
}

// TruncateList returns the first [MaxListItems] items of a list.
func TruncateList[T any](list []T) []T { return list[:min(len(list), MaxListItems)] }

// PlainText returns a name without the characters that Markdown gives a meaning.
func PlainText(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("*_`[]()<>#~|\\\n\r", r) {
			return -1
		}
		return r
	}, name)
}
