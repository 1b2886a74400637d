package setup

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A value is one value of a JSON5 text. Its methods may be called on nil, which
// is a value that is not there.
type value struct {
	kind   valueKind
	text   string // of a string, a number or a word
	items  []*value
	names  []string // of an object's values, in their order
	values map[string]*value
}

type valueKind int

const (
	wordValue   valueKind = iota // true, false, null
	numberValue                  // kept as it was written
	stringValue
	arrayValue
	objectValue
)

func (v *value) at(name string) *value {
	if v == nil {
		return nil
	}
	return v.values[name]
}

func (v *value) keys() []string {
	if v == nil {
		return nil
	}
	return v.names
}

func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	return v.items
}

func (v *value) isFalse() bool { return v != nil && v.kind == wordValue && v.text == "false" }

// deepest is how far values may lie within each other.
const deepest = 64

// parseJSON5 reads JSON with comments, trailing commas, single quotes and keys
// without quotes.
func parseJSON5(text string) (*value, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("line 1: the text is not UTF-8")
	}
	p := &json5{text: text}
	v, err := p.value(0)
	if err == nil {
		p.space()
		if p.i < len(p.text) {
			err = p.fail("something stands behind the end")
		}
	}
	return v, err
}

type json5 struct {
	text string
	i    int
}

func (p *json5) fail(what string) error {
	return fmt.Errorf("line %d: %s", 1+strings.Count(p.text[:min(p.i, len(p.text))], "\n"), what)
}

// space passes over white space and comments.
func (p *json5) space() {
	for p.i < len(p.text) {
		rest := p.text[p.i:]
		switch {
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			p.i += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				end = len(rest) - 2
			}
			p.i += end + 2
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			p.i++
		case strings.HasPrefix(rest, "\ufeff"):
			p.i += len("\ufeff")
		default:
			return
		}
	}
}

// take skips the next character if it is sign.
func (p *json5) take(sign byte) bool {
	p.space()
	if p.i < len(p.text) && p.text[p.i] == sign {
		p.i++
		return true
	}
	return false
}

func (p *json5) value(depth int) (*value, error) {
	p.space()
	switch {
	case depth > deepest:
		return nil, p.fail("too many values lie within each other")
	case p.i >= len(p.text):
		return nil, p.fail("a value is missing")
	case p.take('{'):
		return p.object(depth)
	case p.take('['):
		return p.array(depth)
	case p.text[p.i] == '"' || p.text[p.i] == '\'':
		text, err := p.quoted()
		return &value{kind: stringValue, text: text}, err
	}
	word := p.bare()
	switch {
	case word == "true" || word == "false" || word == "null":
		return &value{kind: wordValue, text: word}, nil
	case word != "" && strings.IndexByte("+-.0123456789IN", word[0]) >= 0:
		return &value{kind: numberValue, text: word}, nil
	}
	return nil, p.fail("this is no value")
}

// bare reads a word without quotes.
func (p *json5) bare() string {
	start := p.i
	for p.i < len(p.text) && strings.IndexByte(" \t\r\n,:{}[]\"'/", p.text[p.i]) < 0 {
		p.i++
	}
	return p.text[start:p.i]
}

func (p *json5) array(depth int) (*value, error) {
	v := &value{kind: arrayValue}
	for !p.take(']') {
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
		if !p.take(',') && !p.next(']') {
			return nil, p.fail("a comma or ] is missing")
		}
	}
	return v, nil
}

func (p *json5) next(sign byte) bool {
	p.space()
	return p.i < len(p.text) && p.text[p.i] == sign
}

func (p *json5) object(depth int) (*value, error) {
	v := &value{kind: objectValue, values: map[string]*value{}}
	for !p.take('}') {
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		if !p.take(':') {
			return nil, p.fail("a colon is missing")
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if _, twice := v.values[name]; !twice {
			v.names = append(v.names, name)
		}
		v.values[name] = item
		if !p.take(',') && !p.next('}') {
			return nil, p.fail("a comma or } is missing")
		}
	}
	return v, nil
}

func (p *json5) name() (string, error) {
	p.space()
	if p.i < len(p.text) && (p.text[p.i] == '"' || p.text[p.i] == '\'') {
		return p.quoted()
	}
	if name := p.bare(); name != "" {
		return name, nil
	}
	return "", p.fail("a key is missing")
}

// quoted reads a string in either kind of quotes.
func (p *json5) quoted() (string, error) {
	quote := p.text[p.i]
	p.i++
	var out strings.Builder
	for p.i < len(p.text) {
		c := p.text[p.i]
		p.i++
		switch {
		case c == quote:
			return out.String(), nil
		case c != '\\':
			out.WriteByte(c)
		case p.i < len(p.text):
			p.escape(&out)
		}
	}
	return "", p.fail("a string has no end")
}

// escape reads what comes after a backslash.
func (p *json5) escape(out *strings.Builder) {
	c := p.text[p.i]
	p.i++
	digits := map[byte]int{'u': 4, 'x': 2}[c]
	if digits > 0 && p.i+digits <= len(p.text) {
		if code, err := strconv.ParseUint(p.text[p.i:p.i+digits], 16, 16); err == nil {
			out.WriteRune(rune(code))
			p.i += digits
			return
		}
	}
	switch c {
	case 'n':
		out.WriteByte('\n')
	case 't':
		out.WriteByte('\t')
	case 'r':
		out.WriteByte('\r')
	case 'b':
		out.WriteByte('\b')
	case 'f':
		out.WriteByte('\f')
	case '\n': // the string goes on in the next line
	default:
		out.WriteByte(c)
	}
}
