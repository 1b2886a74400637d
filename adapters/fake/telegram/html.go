package telegram

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// htmlParser reads the HTML dialect of the Bot API the way the platform's own
// parser does: a handful of tags, four named entities, and one refusal for
// everything else. Positions in messages are byte offsets, as there.
type htmlParser struct {
	in     string
	i      int
	out    []byte
	units  int // UTF-16 units in out
	open   []openTag
	result []TextEntity
	broken bool // half of a surrogate pair was decoded
}

type openTag struct {
	name, argument string
	offset         int // UTF-16 units before it
	begin          int // bytes before it
}

// htmlTags are the tags the platform knows and the entity each one makes.
var htmlTags = map[string]string{
	"a": "text_link", "b": "bold", "strong": "bold", "i": "italic", "em": "italic",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "u": "underline", "ins": "underline",
	"tg-spoiler": "spoiler", "span": "spoiler", "tg-emoji": "custom_emoji", "tg-time": "date_time",
	"pre": "pre", "code": "code", "blockquote": "blockquote",
}

// parseHTML returns the text without its markup, and the entities by offset.
func parseHTML(in string) (string, []TextEntity, error) {
	p := &htmlParser{in: in}
	for p.i < len(in) {
		if err := p.step(); err != nil {
			return "", nil, err
		}
	}
	if n := len(p.open); n > 0 {
		return "", nil, unparsablef("Can't find end tag corresponding to start tag \"%s\"", p.open[n-1].name)
	}
	if p.broken {
		return "", nil, unparsablef("Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units")
	}
	for i := range p.result {
		if p.result[i].Type == "code" {
			p.result[i].Language = ""
		}
	}
	slices.SortStableFunc(p.result, TextEntity.order)
	return string(p.out), p.result, nil
}

func (p *htmlParser) step() error {
	switch c := p.in[p.i]; {
	case c == '&':
		if r, n := decodeEntity(p.in[p.i:]); n > 0 {
			p.i += n
			p.broken = p.broken || !utf8.ValidRune(r)
			p.put(r)
			return nil
		}
		p.i++
		p.put('&')
		return nil
	case c != '<':
		r, n := utf8.DecodeRuneInString(p.in[p.i:])
		p.i += n
		p.put(r)
		return nil
	case strings.HasPrefix(p.in[p.i:], "</"):
		return p.endTag()
	default:
		return p.startTag()
	}
}

func (p *htmlParser) put(r rune) {
	p.out = utf8.AppendRune(p.out, r)
	p.units++
	if r > 0xffff {
		p.units++
	}
}

// at returns the byte at i, and zero behind the end.
func (p *htmlParser) at() byte {
	if p.i >= len(p.in) {
		return 0
	}
	return p.in[p.i]
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == 0
}

func (p *htmlParser) skipSpace() {
	for p.i < len(p.in) && isSpace(p.at()) {
		p.i++
	}
}

func (p *htmlParser) startTag() error {
	begin := p.i
	p.i++
	for p.i < len(p.in) && !isSpace(p.at()) && p.at() != '>' {
		p.i++
	}
	name := lowerASCII(p.in[begin+1 : p.i])
	if p.i >= len(p.in) {
		return unparsablef("Unclosed start tag at byte offset %d", begin)
	}
	if htmlTags[name] == "" {
		return unparsablef("Unsupported start tag \"%s\" at byte offset %d", name, begin)
	}
	tag := openTag{name: name, offset: p.units, begin: len(p.out)}
	for p.at() != '>' {
		p.skipSpace()
		if p.at() == '>' {
			break
		}
		attribute, value, err := p.attribute(name, begin)
		if err != nil {
			return err
		}
		tag.take(attribute, value)
	}
	p.i++
	if name == "span" && tag.argument != "spoiler" {
		return unparsablef("Tag \"span\" must have class \"tg-spoiler\" at byte offset %d", begin)
	}
	p.open = append(p.open, tag)
	return nil
}

// attribute reads one attribute, which may lack a value.
func (p *htmlParser) attribute(tag string, begin int) (name, value string, err error) {
	start := p.i
	for p.i < len(p.in) && !isSpace(p.at()) && strings.IndexByte(`=>/"'`, p.at()) < 0 {
		p.i++
	}
	name = lowerASCII(p.in[start:p.i])
	if name == "" {
		return "", "", unparsablef("Empty attribute name in the tag \"%s\" at byte offset %d", tag, begin)
	}
	p.skipSpace()
	if p.at() != '=' {
		if p.i >= len(p.in) {
			return "", "", unparsablef("Unclosed start tag \"%s\" at byte offset %d", tag, begin)
		}
		return name, "", nil
	}
	p.i++
	p.skipSpace()
	if p.i >= len(p.in) {
		return "", "", unparsablef("Unclosed start tag \"%s\" at byte offset %d", tag, begin)
	}
	if quote := p.at(); quote == '"' || quote == '\'' {
		p.i++
		value = p.quoted(quote)
	} else if value, err = p.token(); err != nil {
		return "", "", err
	}
	if p.i >= len(p.in) {
		return "", "", unparsablef("Unclosed start tag at byte offset %d", begin)
	}
	return name, value, nil
}

func (p *htmlParser) quoted(quote byte) string {
	var v []byte
	for p.i < len(p.in) && p.in[p.i] != quote {
		if r, n := decodeEntity(p.in[p.i:]); n > 0 {
			v = utf8.AppendRune(v, r)
			p.i += n
			continue
		}
		v = append(v, p.in[p.i])
		p.i++
	}
	if p.i < len(p.in) {
		p.i++
	}
	return string(v)
}

func (p *htmlParser) token() (string, error) {
	start := p.i
	for c := p.at(); c == '.' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'; c = p.at() {
		p.i++
	}
	if p.i < len(p.in) && !isSpace(p.at()) && p.at() != '>' {
		return "", unparsablef("Unexpected end of name token at byte offset %d", start)
	}
	return lowerASCII(p.in[start:p.i]), nil
}

// take keeps the one attribute that means something for the tag.
func (t *openTag) take(attribute, value string) {
	switch t.name + " " + attribute {
	case "a href", "tg-emoji emoji-id", "tg-time unix":
		t.argument = value
	case "code class":
		if lang, ok := strings.CutPrefix(value, "language-"); ok {
			t.argument = lang
		}
	case "span class":
		if class, ok := strings.CutPrefix(value, "tg-"); ok {
			t.argument = class
		}
	case "blockquote expandable":
		t.argument = "1"
	}
}

func (p *htmlParser) endTag() error {
	begin := p.i
	if len(p.open) == 0 {
		return unparsablef("Unexpected end tag at byte offset %d", begin)
	}
	p.i += 2
	for p.i < len(p.in) && !isSpace(p.at()) && p.at() != '>' {
		p.i++
	}
	name := lowerASCII(p.in[begin+2 : p.i])
	p.skipSpace()
	if p.at() != '>' {
		return unparsablef("Unclosed end tag at byte offset %d", begin)
	}
	p.i++
	tag := p.open[len(p.open)-1]
	if name != "" && name != tag.name {
		return unparsablef("Unmatched end tag at byte offset %d, expected \"%s\", found \"%s\"", begin, "</"+tag.name+">", "</"+name+">")
	}
	p.open = p.open[:len(p.open)-1]
	if p.units > tag.offset {
		return p.close(tag)
	}
	return nil
}

// unparsable is the platform's reason for refusing a text.
type unparsable string

func unparsablef(format string, args ...any) error {
	return unparsable(fmt.Sprintf(format, args...))
}

// Error returns the reason.
func (u unparsable) Error() string { return string(u) }
