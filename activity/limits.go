package activity

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// The bounds of what enters the record (SECURITY S20).
const (
	maxText  = 64 << 10 // bytes of a message's words
	maxRaw   = 64 << 10 // bytes kept of what could not be read
	maxName  = 512      // bytes of a name, handle, title, file name, reason
	maxEmoji = 128      // bytes of one emoji
	maxList  = 256      // mentions, attachments, emoji, deleted messages of one update
)

// cutText returns text as valid UTF-8 of at most limit bytes plus a mark that
// says how much is missing.
func cutText(text string, limit int) string {
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

// cutList returns the first items of a list, as many as the record takes.
func cutList[T any](list []T) []T { return list[:min(len(list), maxList)] }

// plausible returns t, or at when t is no time that can be stored.
func plausible(t, at time.Time) time.Time {
	if t.IsZero() || t.Year() < 1970 || t.Year() > 9999 {
		return at
	}
	return t
}
