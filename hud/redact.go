package hud

import "strings"

// redacted stands where words stood that were deleted.
const redacted = "[deleted]"

// plainRedaction is from how many bytes on words are also replaced where they
// do not stand as a rendered message.
const plainRedaction = 12

// Redact returns text, a rendered turn, keyframe or account, without the words of
// a message that was deleted: every rendered form of it, quoted or behind a
// gutter, whole or only its beginning, becomes "[deleted]"; words of twelve bytes
// or more are replaced wherever they stand. Other messages with the very same
// words are redacted with it.
func Redact(text, words string) string {
	if strings.TrimSpace(words) == "" {
		return text
	}
	for _, limit := range append(inboxClips, historyClips...) {
		short := clip(words, limit)
		text = strings.ReplaceAll(text, ": "+Quote(short), ": "+redacted)
		text = redactGutter(text, gutter(short))
	}
	if len(words) < plainRedaction {
		return text
	}
	for _, limit := range append([]int{60}, append(inboxClips, historyClips...)...) {
		short := clip(words, limit)
		for _, form := range []string{Quote(short), gutter(short), strings.Trim(Quote(short), `"`), short} {
			text = strings.ReplaceAll(text, form, redacted)
		}
	}
	return text
}

// redactGutter replaces the words of lines that begin with the gutter.
func redactGutter(text, escaped string) string {
	if escaped == "" || !strings.Contains(text, ": "+escaped) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if head, ok := strings.CutSuffix(line, ": "+escaped); ok && strings.HasPrefix(line, "|") {
			lines[i] = head + ": " + redacted
		}
	}
	return strings.Join(lines, "\n")
}
