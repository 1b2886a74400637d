package openai

import (
	"sync"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// Limits of what is kept of reasoning, in bytes: of all answers, and of one.
const (
	keptReasoning = 4 << 20
	mostReasoning = 256 << 10
)

// A reasoningMemory keeps the reasoning of answers with calls, for endpoints that
// require it back with the call (DeepSeek and Kimi in their thinking modes). It is kept
// in memory alone: after a restart such an endpoint gets a blank in its place, which it
// accepts.
type reasoningMemory struct {
	mu     sync.Mutex // guards all
	byCall map[string]string
	order  []string
	bytes  int
}

// keep stores the reasoning of an answer under each of its calls.
func (m *reasoningMemory) keep(conversation, reasoning string, calls []llm.ToolCall) {
	if reasoning == "" || len(calls) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byCall == nil {
		m.byCall = map[string]string{}
	}
	key := conversation + " " + calls[0].ID
	if old, known := m.byCall[key]; known {
		m.bytes -= len(old)
	} else {
		m.order = append(m.order, key)
	}
	m.byCall[key] = reasoning
	m.bytes += len(reasoning)
	for m.bytes > keptReasoning && len(m.order) > 1 {
		m.bytes -= len(m.byCall[m.order[0]])
		delete(m.byCall, m.order[0])
		m.order = m.order[1:]
	}
}

// inConversation returns the function that returns the reasoning of calls in a
// conversation.
func (m *reasoningMemory) inConversation(key string) func([]llm.ToolCall) string {
	return func(calls []llm.ToolCall) string { return m.of(key, calls) }
}

// of returns the reasoning that came with the calls of a message, or a blank.
func (m *reasoningMemory) of(conversation string, calls []llm.ToolCall) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(calls) > 0 {
		if text := m.byCall[conversation+" "+calls[0].ID]; text != "" {
			return text
		}
	}
	return " "
}
