package hud

import "sync"

// A slate is what words are rendered on before they become a text. It is used again:
// nobody may keep its bytes.
type slate struct{ bytes []byte }

var slates = sync.Pool{New: func() any { return &slate{} }}

// largeSlate is how many bytes a slate has that is not kept.
const largeSlate = 256 << 10

// takeSlate returns an empty slate, until it is wiped.
func takeSlate() *slate { return slates.Get().(*slate) }

// wipe leaves the slate to the next one who takes it.
func (s *slate) wipe() {
	if s.bytes = s.bytes[:0]; cap(s.bytes) < largeSlate {
		slates.Put(s)
	}
}
