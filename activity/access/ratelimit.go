package access

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/trestle-bridge/trestle/spaces"
)

// rateReason marks a message that wakes no agent because its sender exceeds the rate.
const rateReason = "rate"

// CommandsPerMinute is how many answers to commands one sender gets in a minute.
const CommandsPerMinute = 12

// maxSenders bounds the senders whose tokens are kept.
const maxSenders = 4096

// A SenderRateLimiter limits the messages and commands of each sender. The zero value
// is ready; it is safe for concurrent use.
type SenderRateLimiter struct {
	mu       sync.Mutex // guards the rest
	messages map[SenderID]*rate.Limiter
	commands map[SenderID]*rate.Limiter
}

// reserveMessage takes the token of one message and returns the reservation; nil
// when the sender exceeds perMinute.
func (s *SenderRateLimiter) reserveMessage(who SenderID, perMinute int, at time.Time) *rate.Reservation {
	return s.reserve(&s.messages, who, perMinute, at)
}

// AllowCommand takes the token of one command and reports whether it is answered.
func (s *SenderRateLimiter) AllowCommand(who SenderID, at time.Time) bool {
	return s.reserve(&s.commands, who, CommandsPerMinute, at) != nil
}

func (s *SenderRateLimiter) reserve(of *map[SenderID]*rate.Limiter, who SenderID, perMinute int, at time.Time) *rate.Reservation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *of == nil || len(*of) >= maxSenders {
		*of = map[SenderID]*rate.Limiter{}
	}
	l := (*of)[who]
	if l == nil || l.Burst() != perMinute {
		l = rate.NewLimiter(rate.Limit(perMinute)/60, perMinute)
		(*of)[who] = l
	}
	if l.TokensAt(at) < 1 {
		return nil
	}
	return l.ReserveN(at, 1)
}

// Throttle marks the messages that wake no agent because their sender writes more
// than perMinute, and returns how many; no bound is 0. undo returns the tokens of the
// others, for a batch that could not be stored and is received again.
func (s *SenderRateLimiter) Throttle(items []spaces.IngestItem, perMinute int, at time.Time) (throttled int, undo func()) {
	var taken []*rate.Reservation
	for i := range items {
		it := &items[i]
		_, said := it.Event.Body.(spaces.MessagePosted)
		switch {
		case perMinute <= 0 || !said || it.From.User == "":
		case i > 0 && items[i-1].Event.Source == it.Event.Source: // the same message in another space
			it.Hushed = items[i-1].Hushed
		default:
			if r := s.reserveMessage(SenderID{it.From.Scope, it.From.User}, perMinute, at); r != nil {
				taken = append(taken, r)
				continue
			}
			it.Hushed = rateReason
			throttled++
		}
	}
	return throttled, func() {
		for _, r := range taken {
			r.CancelAt(at)
		}
	}
}
