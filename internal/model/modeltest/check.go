package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/trestle-bridge/trestle/internal/model"
)

// Check reports the first fault of a transcript that is about to be sent: nil
// means that any endpoint takes its form (invariant I16).
//
// System messages come first and at least one other follows. An assistant
// message has text or calls. Each call has an id of its own, the name of one of
// tools and a JSON object as arguments, and exactly one result after it and
// before the next message of another role. Nothing else is a result.
func Check(messages []model.Message, tools []model.Tool) error {
	if err := checkTools(tools); err != nil {
		return err
	}
	return checkMessages(messages, isObject)
}

func checkTools(tools []model.Tool) error {
	names := make(map[string]bool, len(tools))
	for i := range tools {
		if t := &tools[i]; names[t.Name] || !legalName(t.Name) {
			return fmt.Errorf("tool %d: name %q is illegal or taken", i, t.Name)
		} else if len(t.Schema) > 0 && !isObject(string(t.Schema)) {
			return fmt.Errorf("tool %s: the schema is no JSON object", t.Name)
		}
		names[tools[i].Name] = true
	}
	return nil
}

// checkMessages is the rest of Check; object tells whether a text is one JSON
// object.
func checkMessages(messages []model.Message, object func(string) bool) error {
	c := checker{object: object, ids: make(map[string]bool), open: make(map[string]bool)}
	for i := range messages {
		if err := c.message(&messages[i]); err != nil {
			return fmt.Errorf("message %d (%s): %w", i, messages[i].Role, err)
		}
	}
	switch {
	case !c.begun:
		return fmt.Errorf("the transcript has %d messages and none of them speaks", len(messages))
	case len(c.open) > 0:
		return fmt.Errorf("the transcript ends with %d calls without a result", len(c.open))
	}
	return nil
}

// A checker has seen the first messages of a transcript.
type checker struct {
	object func(string) bool
	ids    map[string]bool // of all calls so far
	open   map[string]bool // calls of the newest assistant message without a result
	begun  bool            // a message other than system came
}

func (c *checker) message(m *model.Message) error {
	if m.Role != model.Assistant && len(m.Calls) > 0 {
		return fmt.Errorf("only the assistant calls")
	}
	if m.Role != model.Result && m.CallID != "" {
		return fmt.Errorf("only a result answers a call")
	}
	if m.Role != model.Result && len(c.open) > 0 {
		return fmt.Errorf("%d calls before it have no result", len(c.open))
	}
	switch m.Role {
	case model.System:
		if c.begun {
			return fmt.Errorf("system messages come first")
		}
		return nil
	case model.User:
		c.begun = true
		if m.Text == "" {
			return fmt.Errorf("it is empty")
		}
		return nil
	case model.Assistant:
		c.begun = true
		return c.assistant(m)
	case model.Result:
		return c.result(m)
	}
	return fmt.Errorf("the role is illegal")
}

func (c *checker) assistant(m *model.Message) error {
	if m.Text == "" && len(m.Calls) == 0 {
		return fmt.Errorf("it is empty")
	}
	for i := range m.Calls {
		call := &m.Calls[i]
		switch {
		case call.ID == "" || c.ids[call.ID]:
			return fmt.Errorf("call %d: id %q is empty or taken", i, call.ID)
		case !legalName(call.Name):
			return fmt.Errorf("call %s: name %q is illegal", call.ID, call.Name)
		case !c.object(call.Args):
			return fmt.Errorf("call %s: the arguments are no JSON object", call.ID)
		}
		c.ids[call.ID] = true
		c.open[call.ID] = true
	}
	return nil
}

func (c *checker) result(m *model.Message) error {
	if !c.open[m.CallID] {
		return fmt.Errorf("call %q is unknown, answered already, or not of the message before", m.CallID)
	}
	delete(c.open, m.CallID)
	return nil
}

// isObject reports whether s is one JSON object.
func isObject(s string) bool {
	return json.Valid([]byte(s)) && strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{")
}

// mostObjects is how many texts are remembered to be objects.
const mostObjects = 1 << 14

// An objectCache remembers which texts are JSON objects: a transcript comes back
// with every request.
type objectCache struct {
	mu    sync.Mutex // guards known
	known map[string]struct{}
}

// is reports whether s is one JSON object.
func (c *objectCache) is(s string) bool {
	c.mu.Lock()
	_, ok := c.known[s]
	c.mu.Unlock()
	if ok || !isObject(s) {
		return ok
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) == mostObjects {
		c.known = map[string]struct{}{}
	}
	c.known[s] = struct{}{}
	return true
}

// legalName reports whether endpoints take s as the name of a tool.
func legalName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
