package shell

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// errArguments is the error of arguments in which no object can be made out.
var errArguments = errors.New("no JSON object")

// errTwoObjects is the error of arguments that hold two different objects.
var errTwoObjects = errors.New("two different JSON objects")

// maxArgumentDepth bounds how deep values of arguments may be nested.
const maxArgumentDepth = 64

// readArguments reads the arguments of a tool call as a model meant them. Beside JSON
// it takes what models are known to write: text around the object, code fences, the
// same object twice, an object encoded as a string, line ends in strings, escapes
// between tokens, other quotes, comments, words of Python, and missing closing
// brackets. A string that does not end is an error: half a text is not sent. Numbers
// are [json.Number]. exact reports whether the text was one JSON object.
func readArguments(text string) (args map[string]any, exact bool, err error) {
	if strings.TrimSpace(text) == "" {
		return map[string]any{}, true, nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&args); err == nil && args != nil && strings.TrimSpace(text[d.InputOffset():]) == "" {
		return args, true, nil
	}
	args, err = looseObject(text, 3)
	return args, false, err
}

// looseObject returns the object in a text; strings are decoded at most encoded times
// to find it.
func looseObject(text string, encoded int) (map[string]any, error) {
	text = strings.TrimSpace(text)
	if encoded > 0 && strings.HasPrefix(text, `"`) {
		r := looseReader{text: text}
		if s, err := r.value(0); err == nil && !r.open {
			if s, ok := s.(string); ok && strings.Contains(s, "{") {
				return looseObject(s, encoded-1)
			}
		}
	}
	start := strings.IndexByte(text, '{')
	if start < 0 {
		return nil, errArguments
	}
	r := looseReader{text: text, at: start}
	v, err := r.value(0)
	if err != nil || r.open {
		return nil, errArguments
	}
	args, ok := v.(map[string]any)
	if !ok {
		return nil, errArguments
	}
	return args, r.noOther(args)
}

// noOther returns an error if another object with other members comes behind the one
// that was read: then the caller cannot know which is meant.
func (r *looseReader) noOther(args map[string]any) error {
	first, err := json.Marshal(args)
	if err != nil {
		return errArguments
	}
	for range 16 {
		next := strings.IndexByte(r.text[r.at:], '{')
		if next < 0 {
			return nil
		}
		r.at += next
		v, err := r.value(0)
		if err != nil || r.open {
			return nil // bytes that are no object
		}
		again, err := json.Marshal(v)
		if err != nil || len(v.(map[string]any)) > 0 && string(again) != string(first) {
			return errTwoObjects
		}
	}
	return nil
}

// A looseReader reads JSON-like values from a text. It is the one reader of arguments,
// of whole ones and of such as are still being written.
type looseReader struct {
	text string
	at   int
	open bool // the text ended inside a string
	// member is called before the value of a member of the outermost object is read; a
	// false result ends reading there.
	member func(name string) bool
}

// errStopped ends reading because member asked for it.
var errStopped = errors.New("stopped")

func (r *looseReader) value(depth int) (any, error) {
	r.space()
	if depth > maxArgumentDepth {
		return nil, errArguments
	}
	switch c := r.peek(); {
	case c == '{':
		return r.object(depth)
	case c == '[':
		return r.array(depth)
	case quoteEnd(c) != 0:
		return r.quoted(), nil
	}
	return r.word()
}

func (r *looseReader) object(depth int) (any, error) {
	r.at++
	args := map[string]any{}
	for {
		r.space()
		switch r.peek() {
		case 0:
			return args, nil // closing brackets are missing
		case '}':
			r.at++
			return args, nil
		case ',':
			r.at++
			continue
		}
		name, err := r.name()
		if err != nil {
			return nil, err
		}
		if depth == 0 && r.member != nil && !r.member(name) {
			return args, errStopped
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if r.open {
			return args, nil
		}
		args[name] = v
	}
}

// name reads the name of a member with its colon.
func (r *looseReader) name() (string, error) {
	var name string
	if quoteEnd(r.peek()) != 0 {
		name = r.quoted()
	} else {
		from := r.at
		for r.at < len(r.text) && (r.text[r.at] == '_' || r.text[r.at] == '-' || isAlnum(r.text[r.at])) {
			r.at++
		}
		name = r.text[from:r.at]
	}
	r.space()
	if name == "" || r.open || r.peek() != ':' {
		return "", errArguments
	}
	r.at++
	return name, nil
}

func (r *looseReader) array(depth int) (any, error) {
	r.at++
	list := []any{}
	for {
		r.space()
		switch r.peek() {
		case 0:
			return list, nil
		case ']':
			r.at++
			return list, nil
		case ',':
			r.at++
			continue
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if r.open {
			return list, nil
		}
		list = append(list, v)
	}
}

// quoteEnd returns the quote that ends a string which begins with c; 0 if none does.
func quoteEnd(c rune) rune {
	switch c {
	case '"', '\'', '`':
		return c
	case '“', '„', '”':
		return '”'
	}
	return 0
}

// quoted reads a string. A quote inside it that no comma, colon or bracket follows
// belongs to it. A string without an end sets open; what is there of it is returned.
func (r *looseReader) quoted() string {
	first := r.peek()
	end := quoteEnd(first)
	r.at += utf8.RuneLen(first)
	var out strings.Builder
	for r.at < len(r.text) {
		c, size := utf8.DecodeRuneInString(r.text[r.at:])
		switch {
		case c == '\\':
			if !r.escape(&out) {
				r.open = true
				return out.String()
			}
			continue
		case c == end && r.endsString(size):
			r.at += size
			return out.String()
		case c == utf8.RuneError && size == 1:
			if !utf8.FullRuneInString(r.text[r.at:]) { // half a character, still coming
				r.open, r.at = true, len(r.text)
				return out.String()
			}
		}
		out.WriteRune(c)
		r.at += size
	}
	r.open = true
	return out.String()
}

// endsString reports whether the quote at r.at ends the string: a separator or the
// end of the text follows it.
func (r *looseReader) endsString(size int) bool {
	rest := looseReader{text: r.text, at: r.at + size}
	rest.space()
	c := rest.peek()
	return c == 0 || strings.ContainsRune(",:}]", c) || nextMember.MatchString(rest.text[rest.at:])
}

// nextMember is the beginning of a member before which the comma is missing.
var nextMember = regexp.MustCompile(`^["'][A-Za-z_]+["']\s*:`)

// escape writes the character of the escape at r.at, and reports whether it is whole.
// Escapes that JSON does not have stay as they are, since Markdown has such.
func (r *looseReader) escape(out *strings.Builder) bool {
	if r.at+1 >= len(r.text) {
		r.at = len(r.text)
		return false
	}
	c := r.text[r.at+1]
	if c == 'u' {
		return r.unicodeEscape(out)
	}
	r.at += 2
	if i := strings.IndexByte(`"\/bfnrt'`, c); i >= 0 {
		out.WriteByte("\"\\/\b\f\n\r\t'"[i])
		return true
	}
	out.WriteByte('\\')
	r.at-- // what follows may have several bytes
	return true
}

// unicodeEscape writes the character of one \uXXXX or of a pair of them.
func (r *looseReader) unicodeEscape(out *strings.Builder) bool {
	unit := func(at int) (rune, bool) {
		if at+6 > len(r.text) || r.text[at] != '\\' || r.text[at+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(r.text[at+2:at+6], 16, 32)
		return rune(n), err == nil
	}
	first, ok := unit(r.at)
	if !ok {
		if len(r.text)-r.at < 6 {
			r.at = len(r.text)
			return false // still coming
		}
		out.WriteString(`\u`)
		r.at += 2
		return true
	}
	if utf16.IsSurrogate(first) {
		second, ok := unit(r.at + 6)
		if !ok && len(r.text)-r.at < 12 && r.at+6 <= len(r.text) && strings.HasPrefix(`\u`, r.text[r.at+6:min(len(r.text), r.at+8)]) {
			r.at = len(r.text)
			return false // the second half is still coming
		}
		if c := utf16.DecodeRune(first, second); ok && c != utf8.RuneError {
			out.WriteRune(c)
			r.at += 12
			return true
		}
		first = utf8.RuneError
	}
	out.WriteRune(first)
	r.at += 6
	return true
}

var (
	numberForm = regexp.MustCompile(`^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$`)
	truths     = map[string]any{"true": true, "True": true, "TRUE": true, "false": false, "False": false, "FALSE": false}
	nothings   = map[string]bool{"null": true, "None": true, "NULL": true, "nil": true, "undefined": true}
)

// word reads a number, a truth value or nothing.
func (r *looseReader) word() (any, error) {
	from := r.at
	for r.at < len(r.text) && (isAlnum(r.text[r.at]) || strings.IndexByte("+-._", r.text[r.at]) >= 0) {
		r.at++
	}
	w := r.text[from:r.at]
	if v, ok := truths[w]; ok {
		return v, nil
	}
	switch {
	case nothings[w]:
		return nil, nil //nolint:nilnil // the value null
	case numberForm.MatchString(w):
		f, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return nil, errArguments
		}
		if plain := strings.TrimPrefix(w, "+"); json.Valid([]byte(plain)) {
			return json.Number(plain), nil
		}
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64)), nil
	}
	return nil, errArguments
}

// space passes blanks, comments, and escapes that stand for blanks between tokens.
func (r *looseReader) space() {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		c, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(c) || c == '\ufeff':
			r.at += size
		case strings.HasPrefix(rest, `\n`) || strings.HasPrefix(rest, `\t`) || strings.HasPrefix(rest, `\r`):
			r.at += 2
		case strings.HasPrefix(rest, "/*"):
			if i := strings.Index(rest, "*/"); i >= 0 {
				r.at += i + 2
				continue
			}
			return
		case strings.HasPrefix(rest, "//"):
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				r.at += i
				continue
			}
			return
		default:
			return
		}
	}
}

// peek returns the next character, 0 at the end.
func (r *looseReader) peek() rune {
	if r.at >= len(r.text) {
		return 0
	}
	c, _ := utf8.DecodeRuneInString(r.text[r.at:])
	return c
}

func isAlnum(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
