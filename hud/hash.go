package hud

import (
	"fmt"
	"hash/crc32"
	"iter"
	"slices"

	"github.com/trestle-bridge/trestle/spaces"
)

// Hash returns a checksum of a frame: of roles, texts, calls and their arguments. Two
// frames with the same hash are taken for the same frame. It is no defence against
// forgery, so it uses two CRCs, which processors compute in hardware: every model call
// hashes a full window.
func Hash(ms []FrameMessage) string {
	var h FrameHasher
	return h.hash(slices.Values(ms))
}

// A FrameHasher computes the [Hash] of successive frames. It stores the sums of the last
// frame and reads only the messages that differ from it: frames of one mind have a common
// prefix until a compaction. It retains the texts of that frame. The zero value is ready
// for use by one goroutine.
type FrameHasher struct {
	before []FrameMessage
	after  []rollingSum // after each message of before
}

// Hash returns the hash of a frame.
func (h *FrameHasher) Hash(f *Frame) string { return h.hash(f.All()) }

func (h *FrameHasher) hash(ms iter.Seq[FrameMessage]) string {
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

// same reports whether two messages have the same bytes. Frames of one mind share their
// strings, so that comparing them mostly compares pointers.
func same(a, b *FrameMessage) bool {
	return a.Role == b.Role && a.Text == b.Text && a.CallID == b.CallID && sameCalls(a.Calls, b.Calls)
}

func sameCalls(a, b []spaces.TurnCall) bool {
	if len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] {
		return true // as mostly
	}
	return slices.Equal(a, b)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A rollingSum holds two independent checksums of the added bytes.
type rollingSum struct{ ieee, castagnoli uint32 }

func (s *rollingSum) message(m *FrameMessage, chunk []byte) {
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
