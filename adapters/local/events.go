package local

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// RoomEvent is something a subscriber sees. The set is closed.
//
//sumtype:decl
type RoomEvent interface{ shown() }

// LineSaid is a person's line, shown once it is durable, also to who said it.
type LineSaid struct {
	Message string
	Thread  string
	ReplyTo string
	From    adapters.Person
	Text    string
	At      time.Time
}

// MessagePosted is a message of ours, in CommonMark.
type MessagePosted struct {
	Message string
	Thread  string
	ReplyTo string
	From    string // the name of the post's face; empty: the account's own
	Text    string
	Choices []adapters.ChoiceButton // the buttons below it; a subscriber must not change them
	Files   int                     // how many files go along
	At      time.Time
}

// DraftShown is a text that is still being written, in CommonMark. It is no message: one with
// the same key takes its place, and the message follows.
type DraftShown struct {
	Key     string
	Thread  string
	From    string // as in [MessagePosted]
	Text    string
	Choices []adapters.ChoiceButton // to stop it; a subscriber must not change them
}

// MessageEdited means that a message has other words now, and these buttons alone.
type MessageEdited struct {
	Message string
	Text    string
	Choices []adapters.ChoiceButton
}

// MessageDeleted means that a message is gone.
type MessageDeleted struct{ Message string }

// ReactionSet is our one reaction to a message; an empty emoji takes it back.
type ReactionSet struct {
	Message string
	Emoji   string
}

// TypingShown means that something is being written. It fades after some seconds.
type TypingShown struct{ Thread string }

// EventsDropped replaces N events that a slow subscriber had not read.
type EventsDropped struct{ N int }

func (LineSaid) shown()       {}
func (MessagePosted) shown()  {}
func (DraftShown) shown()     {}
func (MessageEdited) shown()  {}
func (MessageDeleted) shown() {}
func (ReactionSet) shown()    {}
func (TypingShown) shown()    {}
func (EventsDropped) shown()  {}

// A RoomSubscription is one watcher of one room. Next may be called by one
// goroutine at a time.
type RoomSubscription struct {
	rooms *RoomAdapter
	chat  string
	limit int
	ready chan struct{} // a doorbell with room for one ring

	mu      sync.Mutex  // guards what follows
	waiting []RoomEvent // oldest first, at most limit
	skipped int         // lost before the oldest that waits
}

// Subscribe watches the room from now on, keeping up to limit things that were
// not read yet (at least one). The caller closes the subscription.
func (r *RoomAdapter) Subscribe(chat string, limit int) (*RoomSubscription, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	open := r.rooms[chat]
	if open == nil {
		return nil, &adapters.Error{Kind: adapters.NoTarget, Op: "subscribe", Err: fmt.Errorf("there is no room %q", chat)}
	}
	s := &RoomSubscription{rooms: r, chat: chat, limit: max(limit, 1), ready: make(chan struct{}, 1)}
	open.watchers = append(open.watchers, s)
	return s, nil
}

// Next returns what there is to see, in the room's order, and waits for it until
// ctx is done. A [Dropped] comes before what was kept.
func (s *RoomSubscription) Next(ctx context.Context) (RoomEvent, error) {
	for {
		if next, ok := s.take(); ok {
			return next, nil
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return nil, fmt.Errorf("watch room %s: %w", s.chat, context.Cause(ctx))
		}
	}
}

// Close ends the subscription. What was not read is gone.
func (s *RoomSubscription) Close() {
	s.rooms.mu.Lock()
	defer s.rooms.mu.Unlock()
	if open := s.rooms.rooms[s.chat]; open != nil {
		open.watchers = slices.DeleteFunc(open.watchers, func(o *RoomSubscription) bool { return o == s })
	}
}

func (s *RoomSubscription) take() (RoomEvent, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.skipped; n > 0 {
		s.skipped = 0
		return EventsDropped{N: n}, true
	}
	if len(s.waiting) == 0 {
		return nil, false
	}
	next := s.waiting[0]
	s.waiting = slices.Delete(s.waiting, 0, 1)
	return next, true
}

// add never blocks: when there is no room the oldest is lost.
func (s *RoomSubscription) add(next RoomEvent) {
	s.mu.Lock()
	if len(s.waiting) == s.limit {
		s.waiting = slices.Delete(s.waiting, 0, 1)
		s.skipped++
	}
	s.waiting = append(s.waiting, next)
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default: // it has not come to the door yet
	}
}
