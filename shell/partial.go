package shell

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A partialCall is the first act of an answer that may still be coming.
type partialCall struct {
	name  string
	text  string         // what is there of the member of that name
	other map[string]any // members that are whole
}

// begun returns the first act of an answer so far, and false as long as there is
// none with a text.
func begun(soFar llm.ModelResponse, tags bool, nonce string) (b partialCall, ok bool) {
	if tags {
		return begunTag(soFar.Text, nonce)
	}
	if len(soFar.Calls) == 0 {
		return b, false
	}
	b.name = soFar.Calls[0].Name
	b.other, b.text, ok = begunArgs(soFar.Calls[0].Args)
	return b, ok
}

// begunTag reads the tags dialect. A tag in which a code span may end that began
// before it is none yet.
func begunTag(text, nonce string) (b partialCall, ok bool) {
	before, _, found := strings.Cut(text, nonce)
	if !found || strings.Contains(before, "`") {
		return b, false
	}
	acts, _ := fromTags(text, nonce, 0)
	if len(acts) == 0 {
		return b, false
	}
	b.name, b.other = acts[0].Name, map[string]any{}
	if json.Unmarshal([]byte(acts[0].Args), &b.other) != nil {
		return b, false
	}
	if b.text, ok = b.other["text"].(string); !ok {
		return b, false
	}
	delete(b.other, "text")
	return b, true
}

// begunArgs reads arguments up to what is there of their text, as [readArguments] will
// read them whole: for every beginning of arguments the words are a beginning of
// theirs. It returns false when the text has not begun, or cannot be read.
func begunArgs(args string) (other map[string]any, words string, ok bool) {
	start := strings.IndexByte(args, '{')
	if start < 0 {
		return nil, "", false
	}
	r := looseReader{text: args, at: start, member: func(name string) bool {
		plain := plainName(name)
		return plain != "text" && !slices.Contains(argumentNames["text"], plain)
	}}
	read, err := r.value(0)
	other, ok = read.(map[string]any)
	if r.space(); !ok || !errors.Is(err, errStopped) || quoteEnd(r.peek()) == 0 {
		return nil, "", false
	}
	return other, r.quoted(), true
}

// sentences returns the beginning of a text that ends with a whole sentence or
// line, outside all markup of CommonMark that is still to be closed. So no word, no
// address and no look is judged or shown by half.
func sentences(text string) string {
	closed := closings(text)
	for end := len(text); end > 0; {
		if end = sentenceEnd(text[:end]); closed[end] {
			return strings.TrimSpace(text[:end])
		}
		_, size := utf8.DecodeLastRuneInString(text[:end])
		end -= size
	}
	return ""
}

// sentenceEnd returns where the last sentence of a text that is known to be whole
// ends, before the blank or line break behind it; 0 when there is none.
func sentenceEnd(text string) int {
	for i := len(text); i > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:i])
		if i -= size; r == '\n' || unicode.IsSpace(r) && endsSentence(text[:i]) {
			return i
		}
	}
	return 0
}

// endsSentence reports whether s ends with the mark of an end, and what may stand
// behind one.
func endsSentence(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "\"'”’»)]*_`~|"))
	return strings.ContainsRune(".!?…。！？", r) && !isNumber(s)
}

// isNumber reports whether the last line of s is the number of an item.
func isNumber(s string) bool {
	for dots := 0; ; s = s[:len(s)-1] {
		switch {
		case s == "" || s[len(s)-1] == '\n':
			return dots == 1
		case s[len(s)-1] == '.':
			if dots++; dots > 1 {
				return false
			}
		case !strings.ContainsRune(" \t0123456789", rune(s[len(s)-1])):
			return false
		}
	}
}
