package hud

import (
	"encoding/json"
	"slices"
	"strings"
)

// redacted stands where words stood that were deleted.
const redacted = "[deleted]"

// plainRedaction is from how many bytes on words are also replaced where they
// do not stand as a rendered message.
const plainRedaction = 12

// Distinct reports whether words are long enough to be recognised wherever they
// stand: [Redact] replaces them also where they do not stand as a message.
func Distinct(words string) bool { return len(words) >= plainRedaction }

// Redact returns text, a rendered turn, keyframe or account or the JSON arguments
// of a call, without the words of a message that was deleted: every rendered form
// of it, quoted or behind a gutter, whole or only its beginning, becomes
// "[deleted]"; words of twelve bytes or more are replaced wherever they stand.
// JSON stays JSON. Other messages with the very same words are redacted with it.
func Redact(text, words string) string {
	if strings.TrimSpace(words) == "" {
		return text
	}
	shorts := []string{clip(words, 60)}
	for _, limit := range append(slices.Clone(inboxClips), historyClips[:]...) {
		if short := clip(words, limit); !slices.Contains(shorts, short) {
			shorts = append(shorts, short)
		}
	}
	for _, short := range shorts {
		text = redactLines(text, Quote(short), gutter(short))
	}
	if !Distinct(words) {
		return text
	}
	for _, short := range shorts {
		quoted, plain := Quote(short), jsonString(short)
		for _, form := range []string{quoted[1 : len(quoted)-1], gutter(short), plain[1 : len(plain)-1], short} {
			text = strings.ReplaceAll(text, form, redacted)
		}
	}
	return text
}

// jsonString returns text as a model writes it in arguments.
func jsonString(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil {
		panic("hud: a string that is no JSON")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// redactLines replaces the words of whole lines: quoted ones of an inbox, and
// those behind a blank, or the bar that stood in its place when older frames
// were stored.
func redactLines(text, quoted, escaped string) string {
	if !strings.Contains(text, ": "+escaped) && !strings.Contains(text, quoted) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "#"):
			body, mark := strings.CutSuffix(line, triggerMark)
			if head, ok := strings.CutSuffix(body, ": "+quoted); ok {
				lines[i] = head + ": " + redacted
				if mark {
					lines[i] += triggerMark
				}
			}
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "|"):
			if head, ok := strings.CutSuffix(line, ": "+escaped); ok && escaped != "" {
				lines[i] = head + ": " + redacted
			}
			if head, rest, ok := strings.Cut(lines[i], " "+quoted); ok && strings.Contains(head, "↩#") && !strings.Contains(head, ": ") {
				lines[i] = head + " " + redacted + rest // what the line answers
			}
		}
	}
	return strings.Join(lines, "\n")
}
