package hud

import "sync"

// A textBuffer is what words are rendered on before they become a text. It is used again:
// nobody may keep its bytes.
type textBuffer struct{ bytes []byte }

var slates = sync.Pool{New: func() any { return &textBuffer{} }}

// largeSlate is how many bytes a slate has that is not kept.
const largeSlate = 256 << 10

// takeSlate returns an empty slate, until it is wiped.
func takeSlate() *textBuffer { return slates.Get().(*textBuffer) }

// wipe leaves the slate to the next one who takes it.
func (s *textBuffer) wipe() {
	if s.bytes = s.bytes[:0]; cap(s.bytes) < largeSlate {
		slates.Put(s)
	}
}
