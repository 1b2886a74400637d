// Package pubsub is the contract for doorbells, shared budgets and live events.
//
// A doorbell says "look again": it carries a key and no fact, so that losing
// one costs a poll and never an event. A live [Event] shows people what happens
// right now; it is not the record and may be skipped for a slow reader, who is
// told so.
//
// The package knows nothing of events in spaces, agents or platforms, and
// imports nothing of ours.
package pubsub

import (
	"context"
	"time"
)

// Skipped is the type of the event a slow reader gets in place of those it
// missed; its metadata holds their number under "count", or 0 when nobody knows it.
const Skipped = "skipped"

// An Event is something that happens right now, as the live stream shows it
// (PRD-6.2).
type Event struct {
	// ID rises with every event of a bus, and from one process to the next. It is
	// no part of the JSON: the stream carries it as its own field.
	ID       int64          `json:"-"`
	Type     string         `json:"type"`
	Content  string         `json:"content"`
	Metadata map[string]any `json:"metadata,omitempty"`
	At       time.Time      `json:"timestamp"`
	// From is the process it happened in; empty for the one that shows it.
	From string `json:"process,omitempty"`
}

// A Publisher takes live events.
type Publisher interface {
	// Publish hands an event to everybody who listens at this moment. It never
	// blocks and keeps the order of each caller. The caller must not change
	// metadata afterwards.
	Publish(kind, content string, metadata map[string]any, at time.Time)
}

// A Stream is one reader's view of the live events. It has one reader at a time.
type Stream interface {
	// Next returns the next event, waiting for it. It fails only with the cause of
	// ctx.
	Next(ctx context.Context) (Event, error)
	// Close ends the stream; events are no longer kept for it.
	Close()
}

// A Notifier rings doorbells.
type Notifier interface {
	// Ring wakes everybody who listens to key. Rings that nobody has answered yet
	// count as one. It never blocks.
	Ring(key string)
}

// A Subscriber hears doorbells.
type Subscriber interface {
	// Listen returns a channel that holds at most one unanswered ring of key, and
	// what stops the listening. Rings from before the call are not heard. The
	// channel is never closed.
	Listen(key string) (rings <-chan struct{}, stop func())
}

// A WorkDispatcher calls for somebody.
type WorkDispatcher interface {
	// Call asks one of those who attend key, in whichever process, to look after
	// what note names. It never blocks. A call may get lost, or be heard twice.
	Call(key, note string)
}

// A Limit is how often something may be done, by all processes together: Burst
// times at once, then once every Every.
type Limit struct {
	Key   string
	Every time.Duration
	Burst int
}

// A RateLimiter keeps budgets for all processes. Whoever gets an error goes by what
// it knows itself.
type RateLimiter interface {
	// Take takes one of each budget, or nothing of any. It returns how long the caller
	// has to wait before it does what it asked for; a wait beyond patience takes
	// nothing, and the caller has to ask again after it.
	Take(ctx context.Context, patience time.Duration, budgets ...Limit) (wait time.Duration, taken bool, err error)
	// Hold lets nobody take from the budget of a key for a while.
	Hold(ctx context.Context, key string, d time.Duration) error
}
