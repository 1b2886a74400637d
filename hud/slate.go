package hud

import "sync"

// A slate is what words are rendered on before they become a text. It is used again:
// nobody may keep its bytes.
type slate struct{ bytes []byte }

var slates = sync.Pool{New: func() any { return &slate{} }}

// takeSlate returns an empty slate, until it is wiped.
func takeSlate() *slate { return slates.Get().(*slate) }

// wipe leaves the slate to the next one who takes it.
func (s *slate) wipe() {
	s.bytes = s.bytes[:0]
	slates.Put(s)
}
