package hud

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// redacted replaces the words of deleted messages.
const redacted = "[deleted]"

// plainRedaction is the number of bytes from which on words are also replaced outside
// of rendered messages.
const plainRedaction = 12

// partRedaction is the number of bytes from which on a part of a message is replaced
// like the whole.
const partRedaction = 20

// A TextRedaction removes the words of deleted messages from rendered text. The zero value
// removes nothing.
type TextRedaction []redactedText

// A redactedText is one text that was deleted.
type redactedText struct {
	words string
	core  string // a part that every rendering of the words contains unchanged; may be empty
}

// NewRedaction returns a redaction that removes the texts one after the other; then
// the parts between their punctuation marks, which may have been quoted; then the rest
// of texts that shared a part with others, which was removed before.
func NewRedaction(words ...string) TextRedaction {
	var r TextRedaction
	known := map[string]bool{}
	add := func(w string) {
		if !known[w] && strings.TrimSpace(w) != "" {
			known[w], r = true, append(r, redactedText{w, unescapedCore(w)})
		}
	}
	for _, w := range words {
		add(w)
	}
	var rests []string
	for _, w := range words {
		rest := w
		for part := range strings.FieldsFuncSeq(w, isPartMark) {
			if part = strings.TrimSpace(part); len(part) >= partRedaction && part != strings.TrimSpace(w) {
				add(part)
				rest = strings.ReplaceAll(rest, part, redacted)
			}
		}
		rests = append(rests, rest)
	}
	for _, rest := range rests {
		add(rest)
	}
	return r
}

// isPartMark reports whether r separates two parts of a message.
func isPartMark(r rune) bool {
	return strings.ContainsRune("\n.,;:!?…()\"“”«»—–、。，；：！？", r)
}

// Distinct returns the texts of r that are also replaced outside of rendered messages.
func (r TextRedaction) Distinct() TextRedaction {
	return slices.DeleteFunc(slices.Clone(r), func(w redactedText) bool { return len(w.words) < plainRedaction })
}

// Text returns text (a rendered turn, keyframe or summary, or the JSON arguments of a
// call) without the words of deleted messages: every rendered form, quoted or in a
// compact line, whole or clipped, becomes "[deleted]"; words of twelve bytes or more,
// and parts of twenty, are replaced everywhere. JSON stays valid. Other messages with
// the same words are redacted too.
func (r TextRedaction) Text(text string) string {
	for _, w := range r {
		if strings.HasPrefix(w.words, FileTextHead+" ~") {
			text = withoutFile(text, w.words)
		} else if strings.Contains(text, w.core) {
			text = redactWords(text, w.words)
		}
	}
	return text
}

// Traces reports whether stored JSON may hold text to redact. It may return true
// without need, never false.
func (r TextRedaction) Traces(stored []byte) bool {
	return slices.ContainsFunc(r, func(w redactedText) bool { return bytes.Contains(stored, []byte(w.core)) })
}

// unescapedCore returns the longest run of words that no form clips or escapes.
func unescapedCore(words string) string {
	head, _ := strings.CutSuffix(textformat.ClipRunes(words, stubChars), "…")
	best := ""
	for run := range strings.FieldsFuncSeq(head, func(r rune) bool {
		return r != ' ' && (hidden(r) && r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}) {
		if len(run) > len(best) {
			best = run
		}
	}
	return best
}

// redactWords replaces every rendered form of words.
func redactWords(text, words string) string {
	shorts := []string{textformat.ClipRunes(words, stubChars)}
	for _, limit := range append(slices.Clone(inboxClips), historyClips[:]...) {
		if short := textformat.ClipRunes(words, limit); !slices.Contains(shorts, short) {
			shorts = append(shorts, short)
		}
	}
	for _, short := range shorts {
		text = redactLines(text, Quote(short), gutter(short))
	}
	if len(words) < plainRedaction {
		return text
	}
	for _, short := range shorts {
		quoted, plain := Quote(short), jsonString(short, false)
		escaped := jsonString(short, true)
		for _, form := range []string{quoted[1 : len(quoted)-1], gutter(short), plain[1 : len(plain)-1], escaped[1 : len(escaped)-1], short} {
			text = strings.ReplaceAll(text, form, redacted)
		}
	}
	return text
}

// jsonString returns text as a JSON string, with HTML escapes as Go's encoder writes it,
// or without, as models do.
func jsonString(text string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if enc.Encode(text) != nil {
		panic("hud: a string that cannot be encoded as JSON")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var (
	// ageMark is what may be behind the words of a new line, with the quotation mark.
	ageMark = regexp.MustCompile(`"( UNANSWERED)?( \(\d+ (hours?|days?) ago\))?$`)
	// answerMark is before the beginning of a message that a new line is about.
	answerMark = regexp.MustCompile(`↩ (your )?[#~]|reacted to your ~`)
)

// redactLines replaces the words of whole lines: the quoted ones of an inbox, and
// those of compact lines, which begin with a blank.
func redactLines(text, quoted, escaped string) string {
	if !strings.Contains(text, ": "+escaped) && !strings.Contains(text, quoted) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "#"):
			body, mark := strings.CutSuffix(line, triggerMark)
			age := strings.TrimPrefix(ageMark.FindString(body), `"`)
			body = strings.TrimSuffix(body, age)
			if head, ok := strings.CutSuffix(body, ": "+quoted); ok {
				body = head + ": " + redacted
			}
			if head, _, _ := strings.Cut(body, `: "`); strings.Contains(head, " "+quoted) && answerMark.MatchString(head) {
				body = strings.Replace(head, " "+quoted, " "+redacted, 1) + strings.TrimPrefix(body, head)
			}
			if lines[i] = body + age; mark {
				lines[i] += triggerMark
			}
		case strings.HasPrefix(line, " "):
			if head, ok := strings.CutSuffix(line, ": "+escaped); ok && escaped != "" {
				lines[i] = head + ": " + redacted
			}
			if head, rest, ok := strings.Cut(lines[i], " "+quoted); ok && strings.Contains(head, "↩") && !strings.Contains(head, ": ") {
				lines[i] = head + " " + redacted + rest // the beginning of the answered message
			}
		}
	}
	return strings.Join(lines, "\n")
}
