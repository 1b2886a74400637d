package shell

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/cron"
	"github.com/trestle-bridge/trestle/spaces"
)

// What a mind may plan.
const (
	mostPlans    = 50              // that wait at one time, timers included
	leastBetween = 5 * time.Minute // two firings of one plan
	farthestPlan = 5 * 366 * 24 * time.Hour
)

type plan struct {
	Cron  string `json:"cron,omitempty" jsonschema:"when it recurs, such as 0 9 * * 1"`
	At    string `json:"at,omitempty" jsonschema:"or once, such as 2026-01-31 09:00"`
	Note  string `json:"note" jsonschema:"what to do then"`
	Space string `json:"space,omitempty" jsonschema:"it is about; default: the active one"`
}

func (a plan) perform(s *stepContext) toolResult {
	if out := s.roomForPlans(1); !out.ok {
		return out
	}
	due, out := a.next(s)
	if !out.ok {
		return out
	}
	about := s.about()
	if a.Space != "" {
		room, out := s.room(a.Space)
		if room == nil {
			return out
		}
		about = room.ID()
	}
	t := a.timer(s, about, due)
	s.timers = append(s.timers, t)
	return s.done(map[string]any{"id": hud.Handle(t.Plan), "next": hud.Clock(due)})
}

// timer is what the plan becomes.
func (a plan) timer(s *stepContext, about spaces.SpaceID, due time.Time) spaces.WakeTimer {
	id := "p" + s.newID()
	return spaces.WakeTimer{
		ID: s.newID(), Mind: s.wake.Cycle.Mind, Kind: spaces.TimerPlan, Space: about, Note: a.Note, Due: due, Cycle: s.wake.Cycle.ID,
		Plan: id, Cron: a.Cron,
	}
}

// roomForPlans refuses so many more plans and timers when they would be too many.
func (s *stepContext) roomForPlans(more int) toolResult {
	if n := len(s.view.Plans) + len(s.timers); n+more > mostPlans {
		return s.deny("too_many_plans", fmt.Sprintf("You have %d plans and timers already, and may have %d.", n, mostPlans), "forget those you do not need; view plans shows them.")
	}
	return toolResult{ok: true}
}

// next returns when the plan is due first, by the clocks the agent is shown. One
// without a note is refused.
func (a plan) next(s *stepContext) (due time.Time, out toolResult) {
	const either = "Give either cron, such as 0 9 * * 1, or at, such as 2026-01-31 09:00."
	switch {
	case strings.TrimSpace(a.Note) == "":
		return due, s.deny("empty_text", "A plan needs a note of what to do.", "")
	case (a.Cron == "") == (a.At == ""):
		return due, s.deny("bad_plan", "A plan recurs or happens once.", either)
	}
	if a.At != "" {
		due, ok := moment(a.At, s.now)
		if !ok || !due.After(s.now) || due.Sub(s.now) > farthestPlan {
			return due, s.deny("bad_plan", "at is no time of the next five years.", either)
		}
		if s.tooSoon(due.Sub(s.now)) {
			return due, s.deny("too_soon", "A timer woke you: the next is a minute away or more.", "Or do it now.")
		}
		return due, toolResult{ok: true}
	}
	apart, err := cron.ShortestInterval(a.Cron, s.now)
	if err != nil {
		return due, s.deny("bad_plan", "cron cannot be read: "+err.Error()+".", either)
	}
	if apart < leastBetween {
		return due, s.deny("bad_plan", fmt.Sprintf("A plan recurs every %d minutes at most.", leastBetween/time.Minute), either)
	}
	due, err = cron.NextTime(a.Cron, s.now)
	if err != nil {
		return due, s.deny("bad_plan", "cron cannot be read: "+err.Error()+".", either)
	}
	return due, toolResult{ok: true}
}

// moment reads a time; one without a zone is of now's.
func moment(text string, now time.Time) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t.In(now.Location()), true
		}
	}
	return time.Time{}, false
}

// schedule reads what the mind has planned, unless nothing can have changed.
// m.loading is held.
func (m *mind) schedule(ctx context.Context) error {
	plans, fresh, err := reread(m, &m.planned, func() ([]spaces.WakeTimer, error) { return m.shell.Record.Plans(ctx, m.id, 2*mostPlans) })
	if err != nil {
		return fmt.Errorf("plans of %s: %w", m.id, err)
	}
	for i := range plans {
		plans[i].Due = plans[i].Due.In(m.shell.Now().Location())
	}
	if fresh {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.plans = plans
	}
	return nil
}

// reread reads what a mind keeps of the record, unless it is known already, which it is
// from here on. m.loading is held; what else says that it is not known holds m.mu.
func reread[T any](m *mind, known *bool, read func() ([]T, error)) (all []T, fresh bool, err error) {
	m.mu.Lock()
	fresh, *known = !*known, true
	m.mu.Unlock()
	if !fresh {
		return nil, false, nil
	}
	if all, err = read(); err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		*known = false
	}
	return all, true, err
}

// replan has the mind's plans read again.
func (m *mind) replan() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.planned = false
}

// called is the line that wakes the agent for a timer, with the next time of a plan
// that recurs. m.mu is held.
func (m *mind) called(t *spaces.WakeTimer, now time.Time) string {
	line := "TIMER: "
	switch t.Kind {
	case spaces.TimerSleep:
		line = "SLEEP OVER: "
	case spaces.TimerPlan:
		line = "PLAN " + hud.Handle(t.Plan)
		if seat := m.seat(t.Space); seat != nil {
			line += " for " + seat.Short
		}
		for i := range m.plans {
			if m.plans[i].Plan == t.Plan {
				line += ", next " + hud.Clock(m.plans[i].Due)
			}
		}
		line += ": "
	case spaces.TimerAct:
	}
	line += hud.Quote(t.Note)
	if now.Sub(t.Due) > time.Minute {
		line += " (late: it was due " + hud.Clock(t.Due.In(now.Location())) + ")"
	}
	return line
}
