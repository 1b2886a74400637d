package offline

import (
	"encoding/json"
	"strings"

	"github.com/trestle-bridge/trestle/internal/model"
)

// A Line is one INBOX line of a prompt, as
//
//	#a7 [Family] Kai (human): "hello there" ← TRIGGER
type Line struct {
	ID       string // with its #
	Space    string
	Who      string
	Text     string // decoded
	Trigger  bool
	Answered bool // a message was sent after the line first appeared
}

// The form of an INBOX line.
const (
	triggerMark = "← TRIGGER"
	sendTag     = `<msg `
)

// Newest returns the newest INBOX line of the user messages: the last one marked
// as a trigger, else the last one of the last message that has any. ok is false
// when there is none.
func Newest(messages []model.Message) (newest Line, ok bool) {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role != model.User {
			continue
		}
		l, found := lastLine(messages[i].Text)
		if found && (!ok || l.Trigger) {
			newest, ok = l, true
		}
		if newest.Trigger {
			break
		}
	}
	if ok {
		newest.Answered = answered(messages, newest)
	}
	return newest, ok
}

// lastLine returns the last trigger line of text, else its last INBOX line.
func lastLine(text string) (last Line, ok bool) {
	for s := range strings.SplitSeq(text, "\n") {
		l, found := parseLine(s)
		if found && (l.Trigger || !last.Trigger) {
			last, ok = l, true
		}
	}
	return last, ok
}

// parseLine reads one line of a prompt.
func parseLine(s string) (l Line, ok bool) {
	s = strings.TrimSpace(s)
	head, rest, ok := strings.Cut(s, `: "`)
	if !ok || !strings.HasPrefix(head, "#") {
		return Line{}, false
	}
	id, head, ok := strings.Cut(head, " [")
	if !ok {
		return Line{}, false
	}
	space, who, ok := strings.Cut(head, "] ")
	if !ok {
		return Line{}, false
	}
	rest = `"` + rest
	dec := json.NewDecoder(strings.NewReader(rest))
	var text string
	if dec.Decode(&text) != nil {
		return Line{}, false
	}
	if i := strings.LastIndex(who, " ("); i >= 0 {
		who = who[:i]
	}
	after := rest[dec.InputOffset():]
	return Line{ID: id, Space: space, Who: who, Text: text, Trigger: strings.Contains(after, triggerMark)}, true
}

// answered reports whether the assistant sent something after the message in
// which l first appeared.
func answered(messages []model.Message, l Line) bool {
	seen := false
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case model.User:
			seen = seen || shows(m.Text, l)
		case model.Assistant:
			if seen && sends(m) {
				return true
			}
		case model.System, model.Result:
		}
	}
	return false
}

// shows reports whether text has the line l.
func shows(text string, l Line) bool {
	for s := range strings.SplitSeq(text, "\n") {
		if got, ok := parseLine(s); ok && got.ID == l.ID && got.Text == l.Text {
			return true
		}
	}
	return false
}

// sends reports whether an assistant message sends one to people.
func sends(m *model.Message) bool {
	for i := range m.Calls {
		if n := m.Calls[i].Name; n == "send_message" || n == "send_reply" {
			return true
		}
	}
	return strings.Contains(m.Text, sendTag)
}
