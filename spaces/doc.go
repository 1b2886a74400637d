// Package spaces defines the event log: what happened, in which room, in which
// order, and who may read it.
//
// A [Space] is a room with an append-only log. An [Event] is one fact in that
// log; a [Branch] is a line of it, of which only the primary one reaches
// platforms. Objects ([Chat], [RoomInfo], [Notes], [Goals], [Memories],
// [ContextManager]) are pure folds of events and can be rebuilt at any time.
// Every agent has an inner space; each circle it lives in is one branch of
// that, the log of one [Mind].
//
// The package also holds the types that several parts share and a store keeps:
// uplinks and connection spans, inbox rows, cycles, steps, turns, actions,
// denials, leases. It promises that all of its functions are pure: they read no
// clock, mint no id and touch no network or disk.
//
// It knows nothing of platforms, models, prompts or SQL, and imports nothing of
// ours.
package spaces
