package offline

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// An InboxLine is one INBOX line of a prompt, as
//
//	#a7 14:05 [Family] Kai (human): "hello there" ← TRIGGER
type InboxLine struct {
	ID       string // with its #
	Space    string
	Who      string
	Text     string // decoded
	Trigger  bool
	Answered bool // a message was sent after the line first appeared
	// Head is the beginning of the line: its id, time and space.
	Head string

	bare string // the line of the prompt up to the end of its text
}

// The form of an INBOX line.
const (
	triggerMark = "← TRIGGER"
	sendTag     = `<msg `
)

// NewestLine returns the newest INBOX line of the user messages: the last one marked
// as a trigger, else the last one of any. ok is false when there is none.
func NewestLine(messages []llm.TranscriptMessage) (newest InboxLine, ok bool) {
	newest, ok = lastLine(messages, triggerMark)
	if !ok {
		newest, ok = lastLine(messages, "")
	}
	if ok {
		newest.Answered = wasAnswered(messages, newest)
	}
	return newest, ok
}

// lastLine returns the last INBOX line that has the mark after its text.
func lastLine(messages []llm.TranscriptMessage, mark string) (InboxLine, bool) {
	for _, m := range slices.Backward(messages) {
		text := m.Text
		if m.Role != llm.User || !strings.Contains(text, mark) {
			continue
		}
		for text != "" {
			at := strings.LastIndexByte(text, '\n') + 1
			if l, ok := parseLine(text[at:]); ok && (mark == "" || l.Trigger) {
				return l, true
			}
			text = text[:max(0, at-1)]
		}
	}
	return InboxLine{}, false
}

// parseLine parses one line of a prompt. Details between the author and the colon (`
// ↩#a6 thread "title"`) are skipped.
func parseLine(s string) (l InboxLine, ok bool) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "#") {
		return InboxLine{}, false
	}
	from := textStart(s)
	if from < 0 {
		return InboxLine{}, false
	}
	id, head, ok := strings.Cut(s[:from], " [")
	if !ok {
		return InboxLine{}, false
	}
	space, who, ok := strings.Cut(head, "] ")
	if !ok {
		return InboxLine{}, false
	}
	begins := id + " [" + space + "] "
	id, _, _ = strings.Cut(id, " ") // the time is behind it
	end := from + 1 + textEnd(s[from+1:])
	var text string
	if json.Unmarshal([]byte(s[from:end]), &text) != nil {
		return InboxLine{}, false
	}
	if at := kindOfSpeaker.FindStringIndex(who); at != nil {
		who = who[:at[0]]
	}
	return InboxLine{
		Head: begins, ID: id, Space: space, Who: strings.TrimSuffix(who, ": "), Text: text,
		Trigger: strings.Contains(s[end:], triggerMark),
		bare:    s[:end],
	}, true
}

var kindOfSpeaker = regexp.MustCompile(` \((human|agent|bot|service|unknown)(, you)?\)`)

// textStart returns the index of the quote after the line's own colon: the first
// that is not inside another quoted text; -1 without one.
func textStart(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] != '"' {
			continue
		}
		if strings.HasSuffix(s[:i], ": ") {
			return i
		}
		i += textEnd(s[i+1:])
	}
	return -1
}

// textEnd returns the index after the closing quote of the JSON string that s
// continues.
func textEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// wasAnswered reports whether the assistant sent something after the message in
// which l first appeared.
func wasAnswered(messages []llm.TranscriptMessage, l InboxLine) bool {
	seen := false
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case llm.User:
			seen = seen || strings.Contains(m.Text, l.bare)
		case llm.Assistant:
			if seen && sendsMessage(m) {
				return true
			}
		case llm.System, llm.Result:
		}
	}
	return false
}

// sendsMessage reports whether an assistant message sends a message to a chat.
func sendsMessage(m *llm.TranscriptMessage) bool {
	for i := range m.Calls {
		if n := m.Calls[i].Name; n == "send_message" || n == "send_reply" {
			return true
		}
	}
	return strings.Contains(m.Text, sendTag)
}
