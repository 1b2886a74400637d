package spaces

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
)

// ErrTimelineDecoherence is returned when an event does not fit the line it is
// meant for: its branch or one of its parents is unknown (SEQ-10). Nothing of
// the append happens; the refusal itself is recorded.
var ErrTimelineDecoherence = errors.New("timeline decoherence")

// ErrDuplicate is returned when an event with the same source is already in the
// record. Nothing changes.
var ErrDuplicate = errors.New("event is already recorded")

// Cohere checks that e may be appended to b. known reports whether an event id
// is part of the branch's history, its own or shared.
func Cohere(b *Branch, e Event, known func(EventID) bool) error {
	if b == nil {
		return fmt.Errorf("%w: space %s has no branch %q", ErrTimelineDecoherence, e.Space, e.Branch)
	}
	for _, p := range e.Parents {
		if p == b.Head {
			continue
		}
		if !known(p) {
			return fmt.Errorf("%w: parent %s is not on branch %q of %s", ErrTimelineDecoherence, p, e.Branch, e.Space)
		}
	}
	return nil
}

// Link returns the running hash of a branch after e: a change of any earlier
// event, or of their order, changes every later hash. body is the stored form.
func Link(prev []byte, e Event, body []byte) []byte {
	h := sha256.New()
	h.Write(prev)
	writeField(h, string(e.Space), string(e.Branch), string(e.ID), string(e.Object), string(e.Thread),
		string(e.ReplyTo), string(e.Actor), e.Source, string(e.Cause), string(e.Root), string(e.Body.Kind()))
	for _, p := range e.Parents {
		writeField(h, string(p))
	}
	var n [32]byte
	binary.BigEndian.PutUint64(n[0:], uint64(e.Seq))
	binary.BigEndian.PutUint64(n[8:], uint64(e.At.UnixMilli()))
	binary.BigEndian.PutUint64(n[16:], uint64(e.Depth))
	binary.BigEndian.PutUint64(n[24:], uint64(e.Readers))
	h.Write(n[:])
	h.Write(body)
	return h.Sum(nil)
}

// writeField writes each string with its length, so that no two field lists
// share a byte form.
func writeField(h hash.Hash, fields ...string) {
	var n [4]byte
	for _, f := range fields {
		binary.BigEndian.PutUint32(n[:], uint32(len(f)))
		h.Write(n[:])
		h.Write([]byte(f))
	}
}
