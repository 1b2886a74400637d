package llmtest

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// decodePlain reads a request in the form that clients usually send: texts as
// contents, no surprises. It is several times faster than encoding/json, which
// would cost a benchmark more than the program it measures. ok is false for
// every other form; the body then has to be read again by decodeAny.
func decodePlain(body []byte, known *transcriptCache) (w wireRequest, ok bool) {
	s := scanner{b: body}
	w.last = &known.begin
	ok = s.object(func(key []byte) bool {
		switch string(key) {
		case "model":
			return s.text(&w.Model)
		case "messages":
			return s.transcript(&w, known)
		case "tools":
			return s.tools(&w.RawTools, known)
		case "tool_choice":
			raw, ok := s.skip()
			w.NoCalls = string(raw) == `"none"`
			return ok
		case "max_tokens", "max_completion_tokens":
			raw, _ := s.skip()
			n, err := strconv.Atoi(string(raw))
			w.MaxOutput = max(w.MaxOutput, n)
			return err == nil
		case "prompt_cache_key":
			return s.text(&w.CacheKey)
		case "stream":
			raw, ok := s.skip()
			w.Stream = string(raw) == "true"
			return ok
		case "stream_options":
			raw, ok := s.skip()
			w.Usage = string(raw) == `{"include_usage":true}`
			return ok && (w.Usage || string(raw) == "null")
		}
		_, ok := s.skip()
		return ok
	})
	s.space()
	return w, ok && s.at == len(body)
}

// transcript takes the messages. Those that are known are not read.
func (s *scanner) transcript(w *wireRequest, known *transcriptCache) bool {
	w.Messages, w.last = make([]llm.Message, 0, len(s.b)/roughMessage), &known.begin
	return s.array(func() bool {
		s.space()
		next := known.next(w.last, s.b[s.at:])
		if next != nil {
			s.at += next.size
		} else {
			var m llm.Message
			from := s.at
			if !s.message(&m) {
				return false
			}
			next = known.follow(w.last, s.b[from:s.at], m)
		}
		w.Messages, w.last = append(w.Messages, next.message), next
		return true
	})
}

// tools takes the tools. Those that are known are not read.
func (s *scanner) tools(to *json.RawMessage, known *transcriptCache) (ok bool) {
	s.space()
	if raw := known.tools.at(s.b[s.at:]); raw != nil {
		*to = raw
		s.at += len(raw)
		return true
	}
	*to, ok = s.skip()
	return ok
}

// roughMessage is a little less than the JSON of most messages takes.
const roughMessage = 256

func (s *scanner) message(m *llm.Message) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "role":
			return s.text((*string)(&m.Role))
		case "content":
			return s.null() || s.text(&m.Text)
		case "tool_call_id":
			return s.text(&m.CallID)
		case "tool_calls":
			return s.array(func() bool {
				m.Calls = append(m.Calls, llm.Call{})
				return s.call(&m.Calls[len(m.Calls)-1])
			})
		}
		_, ok := s.skip()
		return ok
	})
}

func (s *scanner) call(c *llm.Call) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "id":
			return s.text(&c.ID)
		case "function":
			return s.object(func(key []byte) bool {
				switch string(key) {
				case "name":
					return s.text(&c.Name)
				case "arguments":
					return s.text(&c.Args)
				}
				_, ok := s.skip()
				return ok
			})
		}
		_, ok := s.skip()
		return ok
	})
}

// A scanner reads JSON forward. Its methods report whether they found what they
// are named after; after a false its place is anywhere.
type scanner struct {
	b  []byte
	at int
}

func (s *scanner) space() {
	for s.at < len(s.b) && (s.b[s.at] == ' ' || s.b[s.at] == '\n' || s.b[s.at] == '\t' || s.b[s.at] == '\r') {
		s.at++
	}
}

// byte takes c, after white space.
func (s *scanner) byte(c byte) bool {
	s.space()
	if s.at < len(s.b) && s.b[s.at] == c {
		s.at++
		return true
	}
	return false
}

// object calls member at each value; member takes the value.
func (s *scanner) object(member func(key []byte) bool) bool {
	if !s.byte('{') {
		return false
	}
	if s.byte('}') {
		return true
	}
	for {
		s.space()
		key, plain, ok := s.quoted()
		if !ok || !plain || !s.byte(':') || !member(key) {
			return false
		}
		if !s.byte(',') {
			return s.byte('}')
		}
	}
}

// array calls element at each value; element takes the value.
func (s *scanner) array(element func() bool) bool {
	if !s.byte('[') {
		return false
	}
	if s.byte(']') {
		return true
	}
	for {
		if !element() {
			return false
		}
		if !s.byte(',') {
			return s.byte(']')
		}
	}
}

func (s *scanner) null() bool {
	s.space()
	if bytes.HasPrefix(s.b[s.at:], []byte("null")) {
		s.at += len("null")
		return true
	}
	return false
}

// quoted takes a string and returns what stands between the quotes. plain is
// true when nothing in it is escaped.
func (s *scanner) quoted() (inner []byte, plain, ok bool) {
	if s.at >= len(s.b) || s.b[s.at] != '"' {
		return nil, false, false
	}
	from := s.at + 1
	for to := from; ; to++ {
		n := bytes.IndexByte(s.b[to:], '"')
		if n < 0 {
			return nil, false, false
		}
		to += n
		slashes := 0
		for to-slashes > from && s.b[to-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			s.at = to + 1
			inner = s.b[from:to]
			return inner, bytes.IndexByte(inner, '\\') < 0, true
		}
	}
}

// text takes a string into to.
func (s *scanner) text(to *string) bool {
	s.space()
	from := s.at
	inner, plain, ok := s.quoted()
	switch {
	case !ok:
		return false
	case plain:
		*to = string(inner)
	case bytes.Contains(inner, []byte(`\u`)):
		ok = json.Unmarshal(s.b[from:s.at], to) == nil
	default:
		var out []byte
		out, ok = unescape(inner)
		*to = string(out)
	}
	return ok
}

// unescape resolves the escapes of one character.
func unescape(b []byte) ([]byte, bool) {
	out := make([]byte, 0, len(b))
	for {
		n := bytes.IndexByte(b, '\\')
		if n < 0 {
			return append(out, b...), true
		}
		out = append(out, b[:n]...)
		i := bytes.IndexByte([]byte(`"\/nrtbf`), b[n+1]) // never last: quoted saw to it
		if i < 0 {
			return nil, false
		}
		out = append(out, "\"\\/\n\r\t\b\f"[i])
		b = b[n+2:]
	}
}

// skip takes any value and returns its bytes. It trusts scalars to be well formed.
func (s *scanner) skip() (raw []byte, ok bool) {
	s.space()
	from := s.at
	depth := 0
	for s.at < len(s.b) {
		switch s.b[s.at] {
		case '"':
			if _, _, ok := s.quoted(); !ok {
				return nil, false
			}
		case '{', '[':
			depth++
			s.at++
			continue
		case '}', ']':
			if depth == 0 {
				return s.b[from:s.at], s.at > from
			}
			depth--
			s.at++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return s.b[from:s.at], s.at > from
			}
			s.at++
			continue
		default:
			s.at++
			continue
		}
		if depth == 0 {
			return s.b[from:s.at], true
		}
	}
	return s.b[from:s.at], depth == 0 && s.at > from
}
