package shell

import (
	"context"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/spaces"
)

// A claimAttempt holds the claim for one mind in one space, and the wake that it returned.
type claimAttempt struct {
	place   wakeKey
	claim   spaces.WakeClaim
	wake    *spaces.Wake         // nil when nothing wakes
	erased  bool                 // messages were deleted, whether or not the mind wakes
	present []spaces.SpaceMember // of the room, when it was judged
	err     error                // why it is unknown whether the claim succeeded
}

// turn makes the turn of a place. s.mu is held.
func (s *Shell) turn(p wakeKey) *claimAttempt {
	t, judge := &claimAttempt{place: p}, s.judge(p)
	t.claim = spaces.WakeClaim{
		Mind: p.mind, Space: p.space, Holder: s.Holder, TTL: s.Lease, At: time.Now(), Again: s.torn[p] != nil, InTurn: s.Settings(p.mind.Agent, p.space).Ambient.InTurn,
		Judge: func(j spaces.GateInput) []spaces.GateDecision {
			t.present = j.Members
			t.erased = slices.ContainsFunc(j.Events, func(e spaces.Event) bool { return e.Body.Kind() == spaces.KindDeleted })
			return judge(j)
		},
	}
	return t
}

// admit takes a place in if it may run now: not running, and within the limits of
// its mind and of the process. s.mu is held.
func (s *Shell) admit(p wakeKey) bool {
	if s.elsewhere(p.mind) {
		return false
	}
	if len(s.running) >= s.Cycles || s.running[p] != nil || s.load[p.mind] >= max(1, s.Settings(p.mind.Agent, p.space).Parallel) {
		return false
	}
	delete(s.rung, p)
	s.begins(p)
	return true
}

// ready takes in the rung places that may run now. The rest stay rung.
func (s *Shell) ready() []*claimAttempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ready []*claimAttempt
	for p := range s.rung {
		switch {
		case len(s.running) >= s.Cycles:
			return ready
		case !s.serves(p.mind.Agent):
			delete(s.rung, p)
			s.served(p, errNotHere)
		case s.admit(p):
			ready = append(ready, s.turn(p))
		}
	}
	return ready
}

// Claims returns the claims of those places that may run at once, for the commit
// that gives them something to do. [Shell.Claimed] must follow. It never blocks.
func (s *Shell) Claims(ws []spaces.PendingWork) []spaces.WakeClaim {
	s.mu.Lock()
	defer s.mu.Unlock()
	var claims []spaces.WakeClaim
	for _, w := range ws {
		p := wakeKey{w.Mind, w.Space}
		if !s.serves(p.mind.Agent) || !s.admit(p) {
			continue
		}
		t := s.turn(p)
		s.turns[p] = t
		claims = append(claims, t.claim)
	}
	return claims
}

// Claimed tells what came of claims: the wakes of those that woke, or why their
// commit failed. The cycles begin, and the other places are free again.
func (s *Shell) Claimed(claims []spaces.WakeClaim, woken []spaces.Wake, err error) {
	if len(claims) == 0 {
		return
	}
	s.mu.Lock()
	for _, c := range claims {
		p := wakeKey{c.Mind, c.Space}
		t := s.turns[p]
		t.err = err
		delete(s.turns, p)
		if i := slices.IndexFunc(woken, func(w spaces.Wake) bool { return w.Cycle.Mind == c.Mind && w.Cycle.Space == c.Space }); i >= 0 {
			t.wake = &woken[i]
		}
		s.claimed = append(s.claimed, t)
	}
	s.mu.Unlock()
	s.wakeUp()
}

// given returns the turns that were claimed with a commit.
func (s *Shell) given() []*claimAttempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	given := s.claimed
	s.claimed = nil
	return given
}

// serve claims what waits at a place, and runs it.
func (s *Shell) serve(ctx context.Context, t *claimAttempt) {
	w, err := s.Inbox.Claim(ctx, t.claim)
	if err != nil {
		s.finished(t.place, err)
		if ctx.Err() == nil {
			s.Logger.Error("wake not claimed", "mind", t.place.mind.String(), "space", t.place.space, "error", err)
		}
		return
	}
	t.wake = w
	s.attend(ctx, t)
}

// attend runs what was claimed, gives the place free, and tends the mind.
func (s *Shell) attend(ctx context.Context, t *claimAttempt) {
	s.carry(ctx, t)
	if t.wake != nil && t.wake.Timer != nil && t.wake.Timer.Kind == spaces.TimerTool { // the room has waited for it
		s.Ring([]spaces.PendingWork{{Mind: t.place.mind, Space: t.wake.Timer.Space}})
	}
	if t.wake != nil || t.erased {
		s.tend(ctx, t.place)
	}
}

// carry runs the wake of a turn, if there is one. Where no mind wakes, words that
// were deleted must still go from what is kept.
func (s *Shell) carry(ctx context.Context, t *claimAttempt) {
	err := t.err
	defer func() { s.finished(t.place, err) }()
	switch {
	case t.err != nil: // it is asked again soon
	case t.wake != nil:
		if err = failpoint.Point("wake.claimed"); err != nil {
			s.Logger.Error("wake given up", "error", err)
			return
		}
		s.minds.get(t.place.mind).meets(t.place.space, t.present)
		err = s.run(ctx, t.place, t.wake)
	case t.erased:
		if err = s.minds.get(t.place.mind).refresh(ctx, t.place.space); err != nil && ctx.Err() == nil {
			s.Logger.Error("deleted words not redacted", "mind", t.place.mind.String(), "space", t.place.space, "error", err)
		}
	}
}
