package shell

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// tend does for the mind of a place what can wait until its agent has answered:
// it takes the counts of its turns, cuts its context when that is due, prepares its rooms, and has
// itself called again once the provider has forgotten the prefix.
func (s *Shell) tend(ctx context.Context, p wakeKey) {
	o, ok := s.outlook(p)
	if !ok || ctx.Err() != nil {
		return
	}
	defer func() { // the mind is cut before its next frame, in a wake that can fail
		if r := recover(); r != nil {
			s.Logger.Error("tending panicked", "mind", p.mind.String(), "panic", r, "stack", string(debug.Stack()))
		}
	}()
	m := s.minds.get(p.mind)
	by, ready := m.settled(o)
	if !ready {
		return
	}
	if err := m.cut(ctx, o, by); err != nil && ctx.Err() == nil {
		if errors.Is(err, spaces.ErrLeaseLost) { // another process thinks for it now
			s.Logger.Debug("context left to another process", "mind", p.mind.String())
			return
		}
		s.Logger.Error("context not cut", "mind", p.mind.String(), "error", err)
	}
	for m.prepare(o) && s.idle(p.mind) && ctx.Err() == nil {
	}
	if at, more := m.rests(o); more {
		s.mu.Lock()
		s.resting[p.mind] = maintenanceDue{p, at}
		s.mu.Unlock()
	}
}

// settled takes the counts of the mind's turns and returns its last cycle; false when
// the mind is not in memory.
func (m *mind) settled(o cycleConfig) (last spaces.CycleID, ready bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loaded {
		m.whole(o).Settle()
	}
	return m.lastCycle, m.loaded
}

// preparedLines is how many lines are prepared at once: a cycle that begins waits for
// some ten milliseconds.
const preparedLines = 2000

// prepare prepares the mind's rooms for looks back, and reports whether it is to go on.
func (m *mind) prepare(o cycleConfig) (more bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.loaded && hud.PrepareLookBacks(m.whole(o), preparedLines)
}

// A maintenanceDue is when a mind will have rested long enough to be tended again.
type maintenanceDue struct {
	place wakeKey
	at    time.Time
}

// outlook returns how an agent looks at its history between cycles, and false
// when no member has that name any more.
func (s *Shell) outlook(p wakeKey) (cycleConfig, bool) {
	a := s.agent(p.mind.Agent)
	if a == nil {
		return cycleConfig{}, false
	}
	set := a.fit(s.Settings(p.mind.Agent, p.space))
	return cycleConfig{agent: a, settings: set, system: s.prompt(a, set, false), tools: s.catalogueOf(a.ID), active: p.space}, true
}

// rests returns when the mind will have something to be tended for unless it
// wakes before, and false when it will not.
func (m *mind) rests(o cycleConfig) (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	set := o.settings
	at, digest := m.digestDue(set)
	_, mean := m.meaningDue(o)
	return at, digest || mean || len(m.closed) >= set.CompactAfter && len(m.closed) > set.CompactKeep
}

// rested returns the places whose minds have rested long enough, and forgets
// those that think again: they are tended after that.
func (s *Shell) rested() []wakeKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []wakeKey
	for id, r := range s.resting {
		if time.Since(r.at) < 0 {
			continue
		}
		delete(s.resting, id)
		if s.load[id] == 0 {
			due = append(due, r.place)
		}
	}
	return due
}
