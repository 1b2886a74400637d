package modelhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// DecodeLenient decodes the first JSON value of data into v. A field of an unexpected
// type is left out. Where data is no JSON, it is read once more with the control
// characters in its strings and numbers such as NaN mended.
func DecodeLenient(data []byte, v any) error {
	err := WithoutTypeErrors(json.Unmarshal(data, v))
	if err == nil {
		return nil
	}
	return WithoutTypeErrors(json.NewDecoder(bytes.NewReader(mendJSON(data))).Decode(v))
}

// WithoutTypeErrors returns err unless it says that a field has another type: the
// other fields are decoded then.
func WithoutTypeErrors(err error) error {
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// CamelKeys returns a JSON object with the keys of its first level in camelCase, as
// finishReason for finish_reason: gateways that use Google's library for Python send the
// latter. What is no object is returned as it is.
func CamelKeys(object []byte) []byte {
	var members map[string]json.RawMessage
	if !hasSnakeKey(object) || json.Unmarshal(object, &members) != nil {
		return object
	}
	changed := false
	for key, value := range members {
		words := strings.Split(key, "_")
		for i := range words[1:] {
			words[i+1] = strings.ToUpper(words[i+1][:min(1, len(words[i+1]))]) + words[i+1][min(1, len(words[i+1])):]
		}
		if camel := strings.Join(words, ""); members[camel] == nil {
			members[camel], changed = value, true
		}
	}
	if !changed {
		return object
	}
	text, err := json.Marshal(members)
	if err != nil {
		return object
	}
	return text
}

// hasSnakeKey reports whether a key at any level, or a text that looks like one, has an
// underscore.
func hasSnakeKey(object []byte) bool {
	for {
		key, rest, found := bytes.Cut(object, []byte(`":`))
		if !found {
			return false
		}
		if bytes.IndexByte(key[bytes.LastIndexByte(key, '"')+1:], '_') >= 0 {
			return true
		}
		object = rest
	}
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
			if escaped { // an escaped line end means the line end
				out = out[:len(out)-1]
			}
			out, escaped = AppendEscape(out, c), false
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

// DecodeText decodes a JSON string. Unlike encoding/json it keeps bytes that are no
// UTF-8, and halves of a surrogate pair as three bytes each: the other part of the
// character may come with the next piece. See [wholeText].
func DecodeText(b []byte) string {
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

// WholeText returns text that was joined from decoded pieces: two halves become one
// character, and what is no character U+FFFD. Unless the text is ended, a beginning
// of a character at its end is left out.
func WholeText(s string, ended bool) string {
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

const hex = "0123456789abcdef"

// AppendEscape appends a byte in a JSON string by its escape; one that is no ASCII
// becomes U+FFFD.
func AppendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	if c >= utf8.RuneSelf {
		return utf8.AppendRune(b, utf8.RuneError)
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
