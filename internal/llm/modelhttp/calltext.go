package modelhttp

import (
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// CallsAsText writes calls and results as text of the assistant and the user, for
// endpoints that accept no messages of tools.
func CallsAsText(messages []llm.TranscriptMessage) []llm.TranscriptMessage {
	names := CallNames(messages)
	out := make([]llm.TranscriptMessage, len(messages))
	for i, m := range messages {
		switch {
		case m.Role == llm.Result:
			m = llm.TranscriptMessage{Role: llm.User, Text: "RESULT of " + names[m.CallID] + ": " + m.Text}
		case len(m.Calls) > 0:
			var text strings.Builder
			text.WriteString(m.Text)
			for _, call := range m.Calls {
				text.WriteString("\n[called " + call.Name + " with " + call.Args + "]")
			}
			m = llm.TranscriptMessage{Role: llm.Assistant, Text: strings.TrimSpace(text.String())}
		}
		out[i] = m
	}
	return out
}

// CallNames returns the names of the tools called, by the id of the call.
func CallNames(messages []llm.TranscriptMessage) map[string]string {
	names := map[string]string{}
	for i := range messages {
		for _, call := range messages[i].Calls {
			names[call.ID] = call.Name
		}
	}
	return names
}
