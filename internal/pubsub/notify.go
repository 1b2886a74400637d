// Package pubsub defines notifications between processes, shared rate limits and live
// events.
//
// A notification wakes the subscribers of a key. It carries no data, so losing one costs
// a poll and never an event. A live [Event] shows people what happens right now; it is
// not stored, and a slow reader may miss some and is told how many.
//
// The package knows nothing of events in spaces, agents or platforms, and
// imports nothing of ours.
package pubsub

import (
	"context"
	"time"
)

// Skipped is the type of the event a slow reader gets in place of those it
// missed; its metadata holds their number under "count", or 0 when it is unknown.
const Skipped = "skipped"

// A LiveEvent is something that happens right now, as the live stream shows it.
type LiveEvent struct {
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

// An EventPublisher takes live events.
type EventPublisher interface {
	// Publish hands an event to every stream that is open at this moment. It never
	// blocks and keeps the order of each caller. The caller must not change
	// metadata afterwards.
	Publish(kind, content string, metadata map[string]any, at time.Time)
}

// A LiveStream is one reader's view of the live events. It has one reader at a time.
type LiveStream interface {
	// Next returns the next event, waiting for it. It fails only with the cause of
	// ctx.
	Next(ctx context.Context) (LiveEvent, error)
	// Close ends the stream; events are no longer kept for it.
	Close()
}

// A Notifier sends notifications.
type Notifier interface {
	// Ring wakes every subscriber of key. Notifications that a subscriber has not
	// received yet count as one. It never blocks.
	Ring(key string)
}

// A Subscriber receives notifications.
type Subscriber interface {
	// Listen returns a channel that holds at most one notification of key, and a
	// function that ends the subscription. Earlier notifications are not received.
	// The channel is never closed.
	Listen(key string) (rings <-chan struct{}, stop func())
}

// A WorkDispatcher hands work to one process.
type WorkDispatcher interface {
	// Call asks one consumer of key, in any process, to handle what note names. It
	// never blocks. A call may get lost, or be delivered twice.
	Call(key, note string)
}

// A RateLimit is how often something may be done, by all processes together: Burst
// times at once, then once every Every.
type RateLimit struct {
	Key   string
	Every time.Duration
	Burst int
}

// A RateLimiter keeps rate limits for all processes. After an error the caller uses its
// own limits.
type RateLimiter interface {
	// Take takes one of each budget, or nothing of any. It returns how long the caller
	// has to wait before it does what it asked for; a wait beyond patience takes
	// nothing, and the caller has to ask again after it.
	Take(ctx context.Context, patience time.Duration, budgets ...RateLimit) (wait time.Duration, taken bool, err error)
	// Hold refuses every Take of a key for a while.
	Hold(ctx context.Context, key string, d time.Duration) error
}
