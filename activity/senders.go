package activity

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/trestle-bridge/trestle/spaces"
)

// rateReason is why a message wakes nobody whose sender writes too fast.
const rateReason = "rate"

// commandsPerMinute is how many answers to commands one sender gets in a minute;
// a stop is obeyed in any case.
const commandsPerMinute = 12

// maxSenders bounds the senders whose pace is remembered.
const maxSenders = 4096

// senderRateLimiter keep the pace of each sender (SECURITY S20). The zero value is ready;
// it is safe for concurrent use.
type senderRateLimiter struct {
	mu       sync.Mutex // guards the rest
	messages map[SenderID]*rate.Limiter
	commands map[SenderID]*rate.Limiter
}

// message takes one message of a sender and returns it, to be given back if it comes
// to nothing; nil for one beyond the bound.
func (s *senderRateLimiter) message(who SenderID, perMinute int, at time.Time) *rate.Reservation {
	return s.take(&s.messages, who, perMinute, at)
}

// command takes one command of a sender and reports whether it gets an answer.
func (s *senderRateLimiter) command(who SenderID, at time.Time) bool {
	return s.take(&s.commands, who, commandsPerMinute, at) != nil
}

func (s *senderRateLimiter) take(of *map[SenderID]*rate.Limiter, who SenderID, perMinute int, at time.Time) *rate.Reservation {
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

// throttleSenders notes which messages wake nobody although their senders are admitted, and
// returns how many, and what gives the others back: a batch that is not recorded is
// handed in again.
func (in *Ingress) throttleSenders(items []spaces.IngestItem, at time.Time) (hushed int, undo func()) {
	bound := in.options.Load().SenderPerMinute
	var took []*rate.Reservation
	for i := range items {
		it := &items[i]
		_, said := it.Event.Body.(spaces.Said)
		switch {
		case bound <= 0 || !said || it.From.User == "":
		case i > 0 && items[i-1].Event.Source == it.Event.Source: // the same in another room
			it.Hushed = items[i-1].Hushed
		default:
			if r := in.paces.message(SenderID{it.From.Scope, it.From.User}, bound, at); r != nil {
				took = append(took, r)
				continue
			}
			it.Hushed = rateReason
			hushed++
		}
	}
	return hushed, func() {
		for _, r := range took {
			r.CancelAt(at)
		}
	}
}
