package spaces

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// An Event is one fact in a space's log. Events are never changed or removed;
// what later events say about them is found by folding.
type Event struct {
	Space   SpaceID
	Branch  BranchID
	Seq     int64 // dense from 1 within space and branch; given by the store
	ID      EventID
	Parents []EventID // what its author had seen last; known and earlier, or the append is refused
	Object  ObjectID
	Thread  ThreadID
	ReplyTo EventID  // empty: answers nothing, or nothing we know
	Actor   EntityID // who did it; empty: the platform or the process itself
	At      time.Time
	RecvAt  time.Time // when we learned of it
	// Source is the identity of the content on the platform, unique for ever;
	// empty for what did not come from a platform.
	Source string
	// Readers names the set of entities that could read the space when this was
	// written. Given by the store.
	Readers int64
	Cause   EventID // what led to this; empty for what people do
	Root    EventID // the start of the chain; a person's event is its own root
	Depth   int     // agent messages between root and this one
	Body    EventBody
}

// A TimelineContext is a position in a space's history.
type TimelineContext struct {
	Branch    BranchID `json:"branchId"`
	Primary   bool     `json:"isPrimary"`
	LastEvent EventID  `json:"lastEventId"`
	LastSeq   int64    `json:"lastSeq"`
}

// Timeline returns the context at e.
func (e Event) Timeline() TimelineContext {
	return TimelineContext{Branch: e.Branch, Primary: e.Branch == Primary, LastEvent: e.ID, LastSeq: e.Seq}
}

// A Branch is one line of a space's log. A fork copies nothing: its history up
// to ForkSeq is that of the branch it left.
type Branch struct {
	Space   SpaceID
	ID      BranchID
	From    BranchID // the branch it left; empty for a line of its own
	ForkSeq int64    // last event shared with From
	Head    EventID
	HeadSeq int64
	Chain   []byte // running hash over the branch, see [Link]
}

// ErrTimelineDecoherence is returned when an event does not fit the line it is
// meant for: its branch or one of its parents is unknown. Nothing of
// the append happens; the refusal itself is recorded.
var ErrTimelineDecoherence = errors.New("timeline decoherence")

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
// Times count as they are stored, in milliseconds.
func Link(prev []byte, e Event, body []byte) []byte {
	var few [1024]byte // what mostly is enough, and costs nothing
	b := appendFields(few[:0], string(prev), string(e.Space), string(e.Branch), string(e.ID), string(e.Object), string(e.Thread),
		string(e.ReplyTo), string(e.Actor), e.Source, string(e.Cause), string(e.Root), string(e.Body.Kind()))
	for _, n := range []int64{e.Seq, e.At.UnixMilli(), e.RecvAt.UnixMilli(), e.Readers, int64(e.Depth), int64(len(e.Parents))} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	for _, p := range e.Parents {
		b = appendFields(b, string(p))
	}
	sum := sha256.Sum256(append(b, body...))
	return sum[:]
}

// appendFields appends each string with its length, so that no two lists of
// fields share a byte form.
func appendFields(b []byte, fields ...string) []byte {
	for _, f := range fields {
		b = binary.BigEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}
