package spaces

import "time"

// SpanReason is why a connection span opened or closed.
type SpanReason string

// The openers and closers of spans.
const (
	SpanLinked     SpanReason = "linked"     // opens: the chat was linked, the agent joined or was let in
	SpanHeard      SpanReason = "heard"      // opens: the adapter hears again
	SpanStarted    SpanReason = "started"    // opens: the process started
	SpanAwake      SpanReason = "awake"      // opens: the agent woke from sleep
	SpanStirred    SpanReason = "stirred"    // opens: the space stirred after an idle gap
	SpanUnlinked   SpanReason = "unlinked"   // closes: unlinked, left, kicked
	SpanDeaf       SpanReason = "deaf"       // closes: the adapter has not heard for 90 s
	SpanStopped    SpanReason = "stopped"    // closes: a clean stop
	SpanCrashed    SpanReason = "crashed"    // closes: found open at a start, at the last event handled
	SpanAsleep     SpanReason = "asleep"     // closes: the agent sleeps
	SpanIdle       SpanReason = "idle"       // closes: nothing happened for spans.idle
	SpanCheckpoint SpanReason = "checkpoint" // neither: the daily mark
)

// An Uplink is a mind's connection to a space (the source texts' UplinkProxy).
type Uplink struct {
	Mind  Mind
	Space SpaceID
	// Cursor is the last event the mind has been shown; read status, the inbox's
	// "new" and recovery all follow from it.
	Cursor   int64
	CursorID EventID
	// Erased is the event up to which what was deleted has been taken out of what the
	// mind keeps. It is behind Cursor while a mind that was out of the space has had
	// no cycle there since.
	Erased int64
	// Head is the last event of the space's log, if the reader of the uplink looked that
	// up; else 0.
	Head int64
	// Fresh is the last event that a person asked the mind to leave behind, and
	// FreshAt when: what is older is shown only if it is looked up.
	Fresh   int64
	FreshAt time.Time
	Live    bool // false after it was closed for good
	// MutedUntil is when a mute ends: before that, nothing said there wakes the mind, and it
	// does nothing there. It is zero without one, and [MutedForGood] until a person lifts it.
	MutedUntil time.Time
	OpenedAt   time.Time
}

// MutedForGood is the end of a mute that lasts until a person lifts it.
var MutedForGood = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Muted reports whether a person has silenced the mind in the space at a time.
func (u *Uplink) Muted(at time.Time) bool { return at.Before(u.MutedUntil) }

// A ConnectionSpan is one period of an uplink. It holds the bounds of
// what the agent was exposed to and never a copy of it.
type ConnectionSpan struct {
	ID      int64 // unique within the store, ascending
	Mind    Mind
	Space   SpaceID
	From    int64 // seq of the first event it covers
	FromID  EventID
	To      int64 // last event it covers; 0 while open
	ToID    EventID
	Opened  time.Time
	Closed  time.Time // zero while open
	Opener  SpanReason
	Closer  SpanReason // empty while open
	Checked time.Time  // last checkpoint
}

// Active reports whether the span is open.
func (s ConnectionSpan) Active() bool { return s.Closed.IsZero() }

// Covers reports whether the event at seq lies in the span. An open span covers
// everything from its start.
func (s ConnectionSpan) Covers(seq int64) bool {
	return seq >= s.From && (s.Active() || seq <= s.To)
}
