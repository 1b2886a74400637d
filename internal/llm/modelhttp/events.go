package modelhttp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// ErrTooLarge is the failure of an answer beyond the limit of bytes.
var ErrTooLarge = errors.New("the answer is larger than allowed")

var errWebPage = errors.New("the endpoint answered with a web page")

// A limitedBody is a response body that is limited in bytes and watched for idle
// time.
type limitedBody struct {
	src   io.ReadCloser
	left  int64  // bytes still allowed
	heard func() // called whenever bytes arrive; nil for none
}

// Read reads from the source within the limits.
func (l *limitedBody) Read(p []byte) (int, error) {
	n, err := l.src.Read(p)
	if n > 0 && l.heard != nil {
		l.heard()
	}
	if l.left -= int64(n); l.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

// Close closes the source.
func (l *limitedBody) Close() error { return l.src.Close() }

// An AnswerEvent is one event of an answer.
type AnswerEvent struct {
	Name string // of the event field
	Data []byte // valid until the next event is read
}

// An EventReader splits the body of an answer into events, whatever its form: an
// event stream, lines of JSON, or one JSON text over many lines.
//
// An event ends with a blank line, or as soon as its JSON is complete: some servers
// send no blank lines, others divide one JSON text over several data lines
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Comments are
// skipped. Text that is neither is kept as words, for the error of an answer that has
// nothing else.
type EventReader struct {
	Body   io.Reader
	buffer []byte // of which at bytes have been returned
	at     int
	ended  error // of the body
	skipLF bool  // the line end before was a carriage return

	name   string
	data   []byte
	depth  jsonDepth
	framed bool // data came in data fields
	begun  bool // something other than white space came
	Words  []byte
}

// IsDone reports whether data ends a stream: [DONE], perhaps in quotes.
func IsDone(data []byte) bool {
	return strings.Trim(string(data[:min(len(data), 16)]), ` "[]`+"\t\r\n") == "DONE"
}

// EachListed calls add with each object of an event that is a list, in which Google wraps
// errors and answers, until one fails, or lose with the event when it cannot be decoded.
func EachListed(event []byte, add func([]byte) error, lose func([]byte)) error {
	var list []json.RawMessage
	if DecodeLenient(event, &list) != nil {
		lose(event)
		return nil
	}
	for _, one := range list {
		if !bytes.HasPrefix(one, []byte("{")) {
			continue
		}
		if err := add(one); err != nil {
			return err
		}
	}
	return nil
}

// KeptWords limits the words that are kept of a body in no known form.
const KeptWords = 1000

// Next returns the next event. After the last one it returns io.EOF, or the error of
// the body.
func (r *EventReader) Next() (AnswerEvent, error) {
	r.data, r.name, r.depth = r.data[:0], "", jsonDepth{}
	for {
		line, err := r.readLine()
		if err != nil && len(line) == 0 {
			if len(r.data) > 0 {
				return r.event(), nil // an unfinished one; the error comes next time
			}
			return AnswerEvent{}, err
		}
		if !r.begun {
			if line = bytes.TrimLeft(bytes.TrimPrefix(line, []byte("\ufeff")), " \t"); len(line) == 0 {
				continue
			}
			if line[0] == '<' {
				return AnswerEvent{}, r.webPage(line)
			}
			r.begun = true
		}
		if r.addLine(line) {
			return r.event(), nil
		}
	}
}

func (r *EventReader) event() AnswerEvent { return AnswerEvent{Name: r.name, Data: r.data} }

// addLine adds a line to the event and reports whether it is complete.
func (r *EventReader) addLine(line []byte) bool {
	if len(line) == 0 {
		if len(r.data) == 0 {
			r.name = ""
			return false
		}
		return r.framed
	}
	field, value, colon := bytes.Cut(line, []byte(":"))
	open := len(r.data) > 0 && !r.framed // within JSON over many lines
	switch {
	case open:
	case colon && len(field) == 0: // a comment
		return false
	case colon && string(bytes.TrimSpace(field)) == "data":
		r.framed = true
		return r.addData(bytes.TrimPrefix(value, []byte(" ")))
	case colon && string(field) == "event":
		r.name = string(bytes.TrimSpace(value))
		return false
	case colon && (string(field) == "id" || string(field) == "retry"):
		return false
	case len(r.data) == 0 && (line[0] == '{' || line[0] == '['):
		r.framed = false
	case len(r.data) == 0:
		if len(r.Words) < KeptWords {
			r.Words = append(append(r.Words, line[:min(len(line), KeptWords)]...), '\n')
		}
		return false
	}
	return r.addData(line)
}

// addData adds one line of data and reports whether the event is complete.
func (r *EventReader) addData(line []byte) bool {
	if len(r.data) > 0 {
		r.data = append(r.data, '\n')
	}
	r.data = append(r.data, line...)
	r.depth.add(line)
	return r.depth.complete
}

// readLine returns the next line without its end, which is LF, CR or both. The line is
// valid until the next call.
func (r *EventReader) readLine() ([]byte, error) {
	searched := r.at
	for {
		if r.skipLF && r.at < len(r.buffer) {
			if r.buffer[r.at] == '\n' {
				r.at++
			}
			r.skipLF, searched = false, max(searched, r.at)
		}
		if i := lineEnd(r.buffer[searched:]); i >= 0 {
			line := r.buffer[r.at : searched+i]
			r.skipLF = r.buffer[searched+i] == '\r'
			r.at = searched + i + 1
			return line, nil
		}
		if r.ended != nil {
			line := r.buffer[r.at:]
			r.at = len(r.buffer)
			return line, r.ended
		}
		searched = r.fill()
	}
}

// lineEnd returns the index of the first line end, or -1.
func lineEnd(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, '\r'); j >= 0 {
		return j
	}
	return i
}

// fill reads more of the body. It returns where the new bytes begin.
func (r *EventReader) fill() int {
	kept := copy(r.buffer, r.buffer[r.at:])
	r.buffer, r.at = r.buffer[:kept], 0
	r.buffer = slices.Grow(r.buffer, 4096)
	n, err := r.Body.Read(r.buffer[kept:cap(r.buffer)])
	r.buffer, r.ended = r.buffer[:kept+n], err
	return kept
}

var pageTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// webPage returns the error for a page that begins with line, with its title.
func (r *EventReader) webPage(line []byte) error {
	page := bytes.Clone(line)
	for len(page) < keptPage && !bytes.Contains(page, []byte("</title>")) {
		more, err := r.readLine()
		page = append(append(page, '\n'), more...)
		if err != nil {
			break
		}
	}
	if title := titleOf(page); title != "" {
		return fmt.Errorf("%w: %s", errWebPage, title)
	}
	return errWebPage
}

// keptPage limits what is read of a page.
const keptPage = 8 << 10

// titleOf returns the title of a page in one line, or "".
func titleOf(page []byte) string {
	found := pageTitle.FindSubmatch(page)
	if found == nil {
		return ""
	}
	return PlainWords([]byte(html.UnescapeString(string(found[1]))))
}

// PlainWords returns the first words of a text in one line; "" when it is no text.
func PlainWords(text []byte) string {
	if !utf8.Valid(text) || bytes.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) && !unicode.IsSpace(c) }) {
		return ""
	}
	return textformat.ClipBytes(strings.Join(strings.Fields(string(text)), " "), 300)
}

// A jsonDepth follows a JSON object or array that arrives in pieces.
type jsonDepth struct {
	depth    int
	text     bool // within a string
	escaped  bool // after a backslash in it
	complete bool // the outermost value has ended, or the text is no object or array
}

// add adds the next bytes.
func (d *jsonDepth) add(b []byte) {
	for _, c := range b {
		if d.text {
			switch {
			case d.escaped:
				d.escaped = false
			case c == '\\':
				d.escaped = true
			case c == '"':
				d.text = false
			}
			continue
		}
		switch c {
		case '"':
			d.text = true
		case '{', '[':
			d.depth++
		case '}', ']':
			d.depth--
		case ' ', '\t', '\r', '\n':
			continue
		}
		if d.depth <= 0 {
			d.complete = true
			return
		}
	}
}
