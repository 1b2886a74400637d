package hud

import (
	"fmt"
	"hash/crc32"
	"iter"
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// Hash names a frame by its bytes: roles, texts, calls and their arguments. A
// frame that was put together again is the one the model saw when both have the
// same name. It recognises a frame and defends against nobody, so it takes the
// sums that processors compute: a full window is hashed for every call.
func Hash(ms []Message) string {
	var h FrameHasher
	return h.hash(slices.Values(ms))
}

// A FrameHasher names frames as [Hash] does. It remembers the frame before and reads
// again only what differs from it: frames of one mind begin alike until a cut. It
// keeps that frame's texts alive; the zero value is ready, for one goroutine.
type FrameHasher struct {
	before []Message
	after  []rollingSum // after each message of before
}

// Hash returns the name of a frame.
func (h *FrameHasher) Hash(f *Frame) string { return h.hash(f.All()) }

func (h *FrameHasher) hash(ms iter.Seq[Message]) string {
	var s rollingSum
	var chunk [512]byte // most messages; it escapes
	i := 0
	for m := range ms {
		if i < len(h.before) && same(&m, &h.before[i]) {
			s = h.after[i]
		} else {
			clear(h.before[i:])
			s.message(&m, chunk[:])
			h.before, h.after = append(h.before[:i], m), append(h.after[:i], s)
		}
		i++
	}
	clear(h.before[i:])
	h.before, h.after = h.before[:i], h.after[:i]
	return fmt.Sprintf("%08x%08x", s.ieee, s.castagnoli)
}

// same reports whether two messages have the same bytes. Those of one mind share
// their strings, so that none of them is read.
func same(a, b *Message) bool {
	return a.Role == b.Role && a.Text == b.Text && a.CallID == b.CallID && sameCalls(a.Calls, b.Calls)
}

func sameCalls(a, b []spaces.TurnCall) bool {
	if len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] {
		return true // as mostly
	}
	return slices.Equal(a, b)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rollingSum are two independent sums of what was added.
type rollingSum struct{ ieee, castagnoli uint32 }

func (s *rollingSum) message(m *Message, chunk []byte) {
	s.add(chunk, string(m.Role), m.Text, m.CallID, "\x00")
	for _, call := range m.Calls {
		s.add(chunk, call.Name, call.Args)
	}
}

// add adds parts by way of chunk.
func (s *rollingSum) add(chunk []byte, parts ...string) {
	for _, p := range parts {
		for p != "" {
			n := copy(chunk, p)
			s.ieee = crc32.Update(s.ieee, crc32.IEEETable, chunk[:n])
			s.castagnoli = crc32.Update(s.castagnoli, castagnoli, chunk[:n])
			p = p[n:]
		}
	}
}
