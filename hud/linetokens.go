package hud

import (
	"math"
	"sync"

	"github.com/trestle-bridge/trestle/internal/textformat"
)

// A messageCache holds what was computed of a message until it changes.
type messageCache struct {
	tokens [len(historyClips)]uint16 // of its compact line, clipped; 0 unknown
	words  uint16                    // tokens behind its colon; 0 unknown, or too many
}

// lineTokens returns the exact tokens of a line of a room on its own, shown whole.
func (v *MindView) lineTokens(s *RoomView, i int) int { return v.clippedTokens(s, i, 0) }

// clippedTokens returns the exact tokens of a line on its own with its words clipped
// to historyClips[k].
func (v *MindView) clippedTokens(s *RoomView, i, k int) int {
	cached := &s.Room.cache[i].tokens[k]
	if *cached > 0 {
		return int(*cached)
	}
	buf := takeBuffer()
	defer buf.release()
	buf.bytes = appendLine(buf.bytes, v, s, i, historyClips[k])
	n := v.Counter.Count(string(buf.bytes))
	*cached = uint16(min(n, math.MaxUint16))
	return n
}

// lineTokens returns the tokens of a line with its words clipped to historyClips[k], or
// a bound while the builder tries bounds.
func (b *keyframeBuilder) lineTokens(s *RoomView, i, k int) int {
	if !b.bounded {
		return b.v.clippedTokens(s, i, k)
	}
	buf := takeBuffer()
	defer buf.release()
	buf.bytes = appendLine(buf.bytes, b.v, s, i, historyClips[k])
	return len(buf.bytes)
}

// wordTokens returns the exact tokens behind the colon of a line that is shown whole,
// with its end. No token spans the colon and the blank behind it, so the tokens of the
// line are these and those up to the colon.
func (v *MindView) wordTokens(s *RoomView, i int) int {
	cached := &s.Room.cache[i].words
	if *cached > 0 {
		return int(*cached)
	}
	buf := takeBuffer()
	defer buf.release()
	buf.bytes = appendLineWords(buf.bytes, s.Room.Chat.Messages[i].Text)
	n := v.Counter.Count(string(buf.bytes))
	if n <= math.MaxUint16 {
		*cached = uint16(n)
	}
	return n
}

// maxCountedLines is how many lines are counted at once between cycles.
const maxCountedLines = 64

// countNewest counts the lines of a room from the newest back to one that is counted.
func (v *MindView) countNewest(s *RoomView) {
	ms := s.Room.Chat.Messages
	for i := len(ms) - 1; i >= max(0, len(ms)-maxCountedLines); i-- {
		if s.Room.cache[i].tokens[0] > 0 {
			return
		}
		for k, limit := range historyClips {
			if k == 0 || textformat.RunesLen(ms[i].Text, limit) < len(ms[i].Text) {
				v.clippedTokens(s, i, k)
			}
		}
	}
}

// A textBuffer is a reusable buffer for text that is being rendered. Its bytes must not
// be used after release.
type textBuffer struct{ bytes []byte }

var textBuffers = sync.Pool{New: func() any { return &textBuffer{} }}

// maxPooledBuffer is the capacity from which on a buffer is not reused.
const maxPooledBuffer = 256 << 10

// takeBuffer returns an empty buffer.
func takeBuffer() *textBuffer { return textBuffers.Get().(*textBuffer) }

// release returns the buffer to the pool.
func (s *textBuffer) release() {
	if s.bytes = s.bytes[:0]; cap(s.bytes) < maxPooledBuffer {
		textBuffers.Put(s)
	}
}
