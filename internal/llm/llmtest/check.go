package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// Check returns the first fault of a transcript that is about to be sent; nil
// means that any endpoint takes it.
//
// System messages come first and at least one other follows. An assistant
// message has text or calls. Each call has an id of its own, the name of one of
// tools and a JSON object as arguments, and exactly one result after it and
// before the next message of another role. Nothing else is a result.
func Check(messages []llm.TranscriptMessage, tools []llm.ToolSpec) error {
	if err := checkTools(tools); err != nil {
		return err
	}
	return checkMessages(messages)
}

// checkMessages is [Check] for the messages alone.
func checkMessages(messages []llm.TranscriptMessage) error {
	c := checker{called: make(map[string]bool)}
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

func checkTools(tools []llm.ToolSpec) error {
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

// A checker has seen the first messages of a transcript.
type checker struct {
	begun  bool            // a message other than system came
	called map[string]bool // ids of all calls so far
	open   []string        // calls of the newest assistant message without a result
}

func (c *checker) message(m *llm.TranscriptMessage) error {
	if m.Role != llm.Assistant && len(m.Calls) > 0 {
		return fmt.Errorf("only the assistant calls")
	}
	if m.Role != llm.Result && m.CallID != "" {
		return fmt.Errorf("only a result answers a call")
	}
	if m.Role != llm.Result && len(c.open) > 0 {
		return fmt.Errorf("%d calls before it have no result", len(c.open))
	}
	switch m.Role {
	case llm.System:
		if c.begun {
			return fmt.Errorf("system messages come first")
		}
		return nil
	case llm.User:
		c.begun = true
		if m.Text == "" {
			return fmt.Errorf("it is empty")
		}
		return nil
	case llm.Assistant:
		c.begun = true
		return c.assistant(m)
	case llm.Result:
		return c.result(m)
	}
	return fmt.Errorf("the role is illegal")
}

func (c *checker) assistant(m *llm.TranscriptMessage) error {
	if m.Text == "" && len(m.Calls) == 0 {
		return fmt.Errorf("it is empty")
	}
	c.open = c.open[:0]
	for i := range m.Calls {
		call := &m.Calls[i]
		switch {
		case call.ID == "" || c.called[call.ID]:
			return fmt.Errorf("call %d: id %q is empty or taken", i, call.ID)
		case !legalName(call.Name):
			return fmt.Errorf("call %s: name %q is illegal", call.ID, call.Name)
		case !isObject(call.Args):
			return fmt.Errorf("call %s: the arguments are no JSON object", call.ID)
		}
		c.called[call.ID] = true
		c.open = append(c.open, call.ID)
	}
	return nil
}

func (c *checker) result(m *llm.TranscriptMessage) error {
	i := slices.Index(c.open, m.CallID)
	if i < 0 {
		return fmt.Errorf("call %q is unknown, answered already, or not of the message before", m.CallID)
	}
	c.open = slices.Delete(c.open, i, i+1)
	return nil
}

// isObject reports whether s is one JSON object.
func isObject(s string) bool {
	return json.Valid([]byte(s)) && strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{")
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
