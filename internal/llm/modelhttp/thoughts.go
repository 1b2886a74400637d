package modelhttp

import (
	"sync"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// MostReasoning limits the bytes of reasoning that a client keeps of one answer.
const MostReasoning = 256 << 10

// keptReasoning limits the bytes of a memory.
const keptReasoning = 4 << 20

// A ReasoningMemory keeps the reasoning of answers with calls, for endpoints that want it
// back with the call. It is kept in memory alone, up to 4 MiB; the oldest is dropped
// first. The zero value is empty; calls may be concurrent.
type ReasoningMemory struct {
	mu     sync.Mutex // guards all
	byCall map[string]string
	order  []string
	bytes  int
}

// Keep stores the reasoning of an answer with calls, in whatever form its client reads.
func (m *ReasoningMemory) Keep(conversation, reasoning string, calls []llm.ToolCall) {
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

// Of returns what was kept with the calls of a message; "" if nothing was.
func (m *ReasoningMemory) Of(conversation string, calls []llm.ToolCall) string {
	if len(calls) == 0 {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byCall[conversation+" "+calls[0].ID]
}

// Size returns the bytes that are kept.
func (m *ReasoningMemory) Size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}
