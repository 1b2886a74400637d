package hud

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// redacted stands where words stood that were deleted.
const redacted = "[deleted]"

// plainRedaction is from how many bytes on words are also replaced where they
// do not stand as a rendered message.
const plainRedaction = 12

// partRedaction is from how many bytes on a part of a message is replaced like the
// whole.
const partRedaction = 20

// A Redaction takes the words of deleted messages out of what was rendered. The zero
// value takes nothing.
type Redaction []redactedText

// A redactedText is one text that was deleted.
type redactedText struct {
	words string
	core  string // a part that every rendering of the words has as it is; may be empty
}

// NewRedaction returns what takes the words out, one after the other; then what may
// have been quoted of them, the parts between punctuation marks; then what is left of
// words that shared a part with others which went before.
func NewRedaction(words ...string) Redaction {
	var r Redaction
	known := map[string]bool{}
	add := func(w string) {
		if !known[w] && strings.TrimSpace(w) != "" {
			known[w], r = true, append(r, redactedText{w, core(w)})
		}
	}
	for _, w := range words {
		add(w)
	}
	var rests []string
	for _, w := range words {
		rest := w
		for part := range strings.FieldsFuncSeq(w, parts) {
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

// parts reports whether a mark stands between two parts of a message.
func parts(r rune) bool {
	return strings.ContainsRune("\n.,;:!?…()\"“”«»—–、。，；：！？", r)
}

// Distinct returns the part of r that is also found where it does not stand as a
// message.
func (r Redaction) Distinct() Redaction {
	return slices.DeleteFunc(slices.Clone(r), func(w redactedText) bool { return len(w.words) < plainRedaction })
}

// Text returns text, a rendered turn, keyframe or account or the JSON arguments
// of a call, without the words of a message that was deleted: every rendered form
// of it, quoted or behind a gutter, whole or only its beginning, becomes
// "[deleted]"; words of twelve bytes or more, and parts of twenty, are replaced
// wherever they stand. JSON stays JSON. Other messages with the very same words are
// redacted with it.
func (r Redaction) Text(text string) string {
	for _, w := range r {
		if strings.Contains(text, w.core) {
			text = redact(text, w.words)
		}
	}
	return text
}

// Traces reports whether there may be something to redact in what is stored as JSON.
// It is wrong only on the side of yes.
func (r Redaction) Traces(stored []byte) bool {
	return slices.ContainsFunc(r, func(w redactedText) bool { return bytes.Contains(stored, []byte(w.core)) })
}

// core returns the longest run of words that no form cuts and nothing escapes.
func core(words string) string {
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

func redact(text, words string) string {
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
