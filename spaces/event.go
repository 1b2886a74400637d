package spaces

import "time"

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
	// written (SECURITY S5). Given by the store.
	Readers int64
	Cause   EventID // what led to this; empty for what people do
	Root    EventID // the start of the chain; a person's event is its own root
	Depth   int     // agent messages between root and this one
	Body    Body
}

// TimelineContext says where in a space's history a view stands (SEQ-08).
type TimelineContext struct {
	Branch    BranchID `json:"branchId"`
	Primary   bool     `json:"isPrimary"`
	LastEvent EventID  `json:"lastEventId"`
	LastSeq   int64    `json:"lastSeq"`
}

// Timeline returns the context that stands at e.
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
