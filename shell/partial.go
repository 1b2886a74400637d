package shell

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A partialCall is the first act of an answer that may still be coming.
type partialCall struct {
	name  string
	text  string                     // what is there of the member of that name
	other map[string]json.RawMessage // members that are whole
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
	b.name, b.other = acts[0].Name, map[string]json.RawMessage{}
	if json.Unmarshal([]byte(acts[0].Args), &b.other) != nil || json.Unmarshal(b.other["text"], &b.text) != nil {
		return b, false
	}
	delete(b.other, "text")
	return b, true
}

// begunArgs reads arguments up to what is there of their text: for every beginning
// of valid arguments the words are a beginning of theirs. It returns false when the
// text has not begun, or cannot be read.
func begunArgs(args string) (other map[string]json.RawMessage, words string, ok bool) {
	d := json.NewDecoder(strings.NewReader(args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, "", false
	}
	other = map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return nil, "", false
		}
		if name == "text" {
			rest, isText := strings.CutPrefix(strings.TrimLeft(args[d.InputOffset():], ": \t\r\n"), `"`)
			words, read := begunString(rest)
			return other, words, isText && read
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, "", false
		}
		other[name] = value
	}
	return nil, "", false
}

// begunString reads what is there of a JSON string behind its first quote.
func begunString(s string) (words string, ok bool) {
	end := 0
scan:
	for end < len(s) && s[end] != '"' {
		n := 1
		switch {
		case strings.HasPrefix(s[end:], `\u`) && surrogate(s[end:]): // half a character, or two of them
			n = len(`\ud83d\ude00`)
		case strings.HasPrefix(s[end:], `\u`):
			n = len(`\u0000`)
		case s[end] == '\\':
			n = len(`\n`)
		case !utf8.FullRuneInString(s[end:]):
			break scan
		}
		if end+n > len(s) {
			break
		}
		end += n
	}
	err := json.Unmarshal([]byte(`"`+s[:end]+`"`), &words)
	return words, err == nil
}

// surrogate reports whether an escape begins a pair of them, as far as it is there.
func surrogate(escape string) bool {
	const first = `\ud8`
	n := min(len(escape), len(first))
	if strings.EqualFold(escape[:n], first[:n]) {
		return true
	}
	return n == len(first) && strings.EqualFold(escape[:3], first[:3]) && strings.ContainsRune("9aAbB", rune(escape[3]))
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
