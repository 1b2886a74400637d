package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeLenient decodes the first JSON value of data into v. A field of an unexpected
// type is left out. Where data is no JSON, it is read once more with the control
// characters in its strings and numbers such as NaN mended.
func decodeLenient(data []byte, v any) error {
	err := withoutTypeErrors(json.Unmarshal(data, v))
	if err == nil {
		return nil
	}
	return withoutTypeErrors(json.NewDecoder(bytes.NewReader(mendJSON(data))).Decode(v))
}

// withoutTypeErrors returns err unless it says that a field has another type: the
// other fields are decoded then.
func withoutTypeErrors(err error) error {
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// mendJSON returns data with its control characters in strings escaped, and the
// numbers that JSON does not have as null.
func mendJSON(data []byte) []byte {
	out := make([]byte, 0, len(data)+16)
	text, escaped := false, false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case !text:
			if n := notJSON(data[i:]); n > 0 {
				out = append(out, "null"...)
				i += n - 1
				continue
			}
			text = c == '"'
			out = append(out, c)
		case c < ' ':
			if escaped { // an escaped line end stands for the line end
				out = out[:len(out)-1]
			}
			out, escaped = appendEscape(out, c), false
		default:
			text = c != '"' || escaped
			escaped = c == '\\' && !escaped
			out = append(out, c)
		}
	}
	return out
}

// notJSON returns the length of a number at the start of b that JSON does not have.
func notJSON(b []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return len(word)
		}
	}
	return 0
}

// A listOf is a list, or one value in place of a list of one. Other values read as
// an empty list.
type listOf[T any] []T

// UnmarshalJSON reads either form.
func (l *listOf[T]) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '[':
		return withoutTypeErrors(json.Unmarshal(b, (*[]T)(l)))
	case '{':
		*l = make([]T, 1)
		return withoutTypeErrors(json.Unmarshal(b, &(*l)[0]))
	}
	return nil
}

// A position is an index: a number, or a number as text. Other values read as none.
type position struct {
	n     int
	known bool
}

// UnmarshalJSON reads either form.
func (p *position) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `" `), 64)
	if p.known = err == nil && f >= -1<<31 && f < 1<<31; p.known {
		p.n = int(f)
	}
	return nil
}

// A plainText is a text; other values read as none.
type plainText string

// UnmarshalJSON reads a string.
func (t *plainText) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*t = plainText(decodeText(b))
	}
	return nil
}

// A contentText is a text, an object with a text, or a list of either, of which the
// parts that are no reasoning count.
type contentText string

// UnmarshalJSON reads any of the forms.
func (c *contentText) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		*c = contentText(decodeText(b))
	case '[':
		var parts []contentText
		err := json.Unmarshal(b, &parts)
		var text strings.Builder
		for _, p := range parts {
			text.WriteString(string(p))
		}
		*c = contentText(text.String())
		return err
	case '{':
		var part struct {
			Type    plainText   `json:"type"`
			Text    contentText `json:"text"`
			Content contentText `json:"content"`
			Value   contentText `json:"value"`
		}
		err := json.Unmarshal(b, &part)
		switch part.Type {
		case "thinking", "reasoning", "reasoning_text", "thought", "redacted_thinking":
		default:
			*c = part.Text + part.Content + part.Value
		}
		return err
	}
	return nil
}

// A thoughtText is the reasoning of a model: a text, or lists and objects of texts.
type thoughtText string

// UnmarshalJSON reads any of the forms.
func (t *thoughtText) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		*t = thoughtText(decodeText(b))
	case '[':
		var parts []thoughtText
		err := json.Unmarshal(b, &parts)
		for _, p := range parts {
			*t += p
		}
		return err
	case '{':
		var part struct {
			Text     thoughtText `json:"text"`
			Thinking thoughtText `json:"thinking"`
			Content  thoughtText `json:"content"`
		}
		err := json.Unmarshal(b, &part)
		*t = part.Text + part.Thinking + part.Content
		return err
	}
	return nil
}

// An argumentText is the text of a call's arguments: a string, or JSON that should
// have been one. null reads as none.
type argumentText string

// UnmarshalJSON reads any of the forms.
func (a *argumentText) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		*a = argumentText(decodeText(b))
	case !bytes.Equal(b, []byte("null")):
		*a = argumentText(b)
	}
	return nil
}

// decodeText decodes a JSON string. Unlike encoding/json it keeps bytes that are no
// UTF-8, and halves of a surrogate pair as three bytes each: the other part of the
// character may come with the next piece. See [wholeText].
func decodeText(b []byte) string {
	b = b[1 : len(b)-1]
	at := bytes.IndexByte(b, '\\')
	if at < 0 {
		return string(b)
	}
	out := append(make([]byte, 0, len(b)), b[:at]...)
	for i := at; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		switch c := b[i]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			unit, ok := codeUnit(b, i+1)
			if !ok {
				out = append(out, '\\', 'u')
				continue
			}
			i += 4
			out = appendUnit(out, unit)
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// codeUnit reads four hexadecimal digits at b[at:].
func codeUnit(b []byte, at int) (rune, bool) {
	if at+4 > len(b) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[at:at+4]), 16, 16)
	return rune(n), err == nil
}

// appendUnit appends a UTF-16 code unit. Half of a surrogate pair becomes three bytes
// of the form of UTF-8, which are no UTF-8.
func appendUnit(b []byte, unit rune) []byte {
	if utf16.IsSurrogate(unit) {
		return append(b, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0x3f, 0x80|byte(unit)&0x3f)
	}
	return utf8.AppendRune(b, unit)
}

// halfAt returns the half of a surrogate pair at the start of s, as [appendUnit]
// writes it.
func halfAt(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2] < 0x80 || s[2] > 0xbf {
		return 0, false
	}
	return rune(s[0]&0x0f)<<12 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}

// wholeText returns text that was joined from decoded pieces: two halves become one
// character, and what is no character U+FFFD. Unless the text is ended, a beginning
// of a character at its end is left out.
func wholeText(s string, ended bool) string {
	if utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r != utf8.RuneError || size > 1 {
			out.WriteString(s[:size])
			s = s[size:]
			continue
		}
		if first, half := halfAt(s); half {
			second, _ := halfAt(s[3:])
			switch pair := utf16.DecodeRune(first, second); {
			case pair != utf8.RuneError:
				out.WriteRune(pair)
				s = s[6:]
				continue
			case !ended && len(s) < 6 && first < 0xdc00:
				return out.String()
			}
			size = 3
		} else if !ended && (!utf8.FullRuneInString(s) || len(s) < 3 && s[0] == 0xed) {
			return out.String()
		}
		out.WriteRune(utf8.RuneError)
		s = s[size:]
	}
	return out.String()
}
