package activity

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/trestle-bridge/trestle/adapters"
)

// rateReason is why a message wakes nobody whose sender writes too fast.
const rateReason = "rate"

// commandsPerMinute is how many answers to commands one sender gets in a minute;
// a stop is obeyed in any case.
const commandsPerMinute = 12

// maxSenders bounds the senders whose pace is remembered.
const maxSenders = 4096

// senders keep the pace of each sender (SECURITY S20). The zero value is ready;
// it is safe for concurrent use.
type senders struct {
	mu       sync.Mutex // guards the rest
	messages map[Sender]*rate.Limiter
	commands map[Sender]*rate.Limiter
}

// message takes one message of a sender and reports whether it is within the
// bound; none is no bound.
func (s *senders) message(who Sender, perMinute int, at time.Time) bool {
	return perMinute <= 0 || s.take(&s.messages, who, perMinute, at)
}

// command takes one command of a sender and reports whether it gets an answer.
func (s *senders) command(who Sender, at time.Time) bool {
	return s.take(&s.commands, who, commandsPerMinute, at)
}

func (s *senders) take(of *map[Sender]*rate.Limiter, who Sender, perMinute int, at time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *of == nil || len(*of) >= maxSenders {
		*of = map[Sender]*rate.Limiter{}
	}
	l := (*of)[who]
	if l == nil || l.Burst() != perMinute {
		l = rate.NewLimiter(rate.Limit(perMinute)/60, perMinute)
		(*of)[who] = l
	}
	return l.AllowN(at, 1)
}

// hushed returns why a message wakes nobody although its sender is admitted;
// empty when the gate is to judge it.
func (in *Ingress) hushed(u adapters.Update, at time.Time) string {
	if _, said := u.Body.(adapters.Message); !said || u.From.ID == "" {
		return ""
	}
	if in.paces.message(Sender{u.From.Scope, u.From.ID}, in.options.Load().SenderPerMinute, at) {
		return ""
	}
	in.tally.hushed.Add(1)
	return rateReason
}
