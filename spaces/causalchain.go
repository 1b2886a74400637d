package spaces

// The default limits of a causal chain.
const (
	MaxDepth    = 5 // agent messages between a root and its last descendant
	MaxAgentRun = 8 // agent messages in a row in one space until a person speaks
)

// A CausalChain is the place of an event in the causal order.
type CausalChain struct {
	Cause EventID
	Root  EventID
	Depth int
}

// A ConsumedRow is an inbox row that a cycle was shown, a possible cause of its messages.
type ConsumedRow struct {
	Event EventID
	Root  EventID
	Depth int
	At    int64 // seq of the event, to find the newest
}

// NextChain returns the place of an agent's message made from rows: its cause
// is what it replies to, else the newest row; its root is that row's root; its
// depth is the greatest among the rows plus one. Without rows (a timer's wake)
// self starts a chain of its own.
func NextChain(rows []ConsumedRow, replyTo, self EventID) CausalChain {
	if len(rows) == 0 {
		return CausalChain{Root: self, Depth: 1}
	}
	cause, depth := rows[0], 0
	for _, r := range rows {
		if r.At > cause.At {
			cause = r
		}
		depth = max(depth, r.Depth)
	}
	for _, r := range rows {
		if r.Event == replyTo && replyTo != "" {
			cause = r
		}
	}
	return CausalChain{Cause: cause.Event, Root: cause.Root, Depth: depth + 1}
}
