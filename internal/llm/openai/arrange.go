package openai

import (
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// Texts in messages that would otherwise be empty or missing.
const (
	emptyResult = "(no output)"
	emptyUser   = "(empty)"
	emptySaid   = "(nothing)"
	goingOn     = "(continuing)"
)

// arrange returns the messages in the order and number that the demands require, and
// messages itself when none does. Nothing that was said or done is left out. It changes
// neither the messages nor their calls.
func arrange(messages []llm.TranscriptMessage, d demandSet) []llm.TranscriptMessage {
	if d&inOrder == 0 {
		return messages
	}
	if d&singleCalls != 0 {
		messages = splitCalls(messages)
	}
	if d&(noToolMessages|noTools) != 0 {
		messages = modelhttp.CallsAsText(messages)
	}
	var out []llm.TranscriptMessage
	for i := range messages {
		m := messages[i]
		if m.Role == llm.System && d&noSystemRole != 0 {
			m.Role = llm.User
		}
		if len(out) == 0 {
			if m.Role == llm.Assistant && d&alternatingRoles != 0 {
				out = append(out, llm.TranscriptMessage{Role: llm.User, Text: emptyUser})
			}
			out = append(out, m)
			continue
		}
		last := &out[len(out)-1]
		switch {
		case m.Role == llm.User && last.Role == llm.Result && d&(answeredResults|alternatingRoles) != 0:
			out = append(out, llm.TranscriptMessage{Role: llm.Assistant, Text: goingOn}, m)
		case m.Role == last.Role && canJoin(last, d, i):
			joinMessages(last, &m)
		default:
			out = append(out, m)
		}
	}
	return out
}

// canJoin reports whether a message of the same role joins the last one: where roles
// alternate, and where the system text became the beginning of the first message.
func canJoin(last *llm.TranscriptMessage, d demandSet, i int) bool {
	if last.Role == llm.Result || len(last.Calls) > 0 {
		return false
	}
	return d&alternatingRoles != 0 || d&noSystemRole != 0 && i == 1
}

// joinMessages adds m to last.
func joinMessages(last, m *llm.TranscriptMessage) {
	last.Text = strings.TrimSpace(last.Text + "\n\n" + m.Text)
	last.Calls = m.Calls
	last.Pictures = append(slices.Clip(last.Pictures), m.Pictures...)
}

// splitCalls gives each call a message of its own, followed by its result.
func splitCalls(messages []llm.TranscriptMessage) []llm.TranscriptMessage {
	var out []llm.TranscriptMessage
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if len(m.Calls) < 2 {
			out = append(out, m)
			continue
		}
		results := i + 1
		for results < len(messages) && messages[results].Role == llm.Result {
			results++
		}
		for k, call := range m.Calls {
			one := llm.TranscriptMessage{Role: llm.Assistant, Calls: m.Calls[k : k+1 : k+1]}
			if k == 0 {
				one.Text = m.Text
			}
			out = append(out, one)
			for _, r := range messages[i+1 : results] {
				if r.CallID == call.ID {
					out = append(out, r)
				}
			}
		}
		i = results - 1
	}
	return out
}
