package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// tailTokens is what the tail of an ordinary frame takes.
const tailTokens = 200

// due returns why the context is to be cut now, or "": a compaction is due; a person
// began afresh; the mind has rested longer than the provider's cache lives and
// many turns have gathered, so that a cut costs nothing (PRD-6.4); or it has
// passed a mark.
func (m *mind) due(o cycleConfig) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch set := o.settings; {
	case m.owed != "":
		return m.owed
	case m.renewed():
		return hud.CutFresh
	case len(m.closed) >= set.CompactAfter && len(m.closed) > set.CompactKeep && m.shell.Now().Sub(m.lastEnd) >= set.CacheTTL:
		return hud.CutTurns
	}
	cause, _ := m.whole(o).NeedsCut(tailTokens)
	return cause
}

// cut makes a new keyframe if one is due, at the expense of a cycle that runs or
// has just ended.
func (m *mind) cut(ctx context.Context, o cycleConfig, by spaces.CycleID) error {
	m.loading.Lock()
	defer m.loading.Unlock()
	cause := m.due(o)
	if cause == "" {
		return nil
	}
	_, err := m.cutFor(ctx, o, cause, by)
	return err
}

// cutFor makes a new keyframe and says what that freed. m.loading is held.
func (m *mind) cutFor(ctx context.Context, o cycleConfig, cause string, by spaces.CycleID) (spaces.ContextCompacted, error) {
	if err := m.schedule(ctx); err != nil {
		return spaces.ContextCompacted{}, err
	}
	if err := m.history(ctx, o.settings.SpansShown+1); err != nil {
		return spaces.ContextCompacted{}, err
	}
	k, done := m.compact(o, cause, by)
	err := m.shell.Journal.Cut(ctx, m.shell.Holder, k, done)
	m.mu.Lock()
	gone := m.lately
	m.cutting, m.lately = false, nil
	if err != nil {
		m.mu.Unlock()
		return done, fmt.Errorf("cut %s: %w", m.id, err)
	}
	k.Plan = nil // who asks for it asks the record
	m.keyframe, m.earlier, m.owed = &k, nil, ""
	left := slices.IndexFunc(m.closed, func(x spaces.ClosedCycle) bool { return x.N > k.Upto })
	if left < 0 {
		left = len(m.closed)
	}
	m.closed = slices.Clone(m.closed[left:]) // without the room of those that are gone
	m.mu.Unlock()
	m.shell.Logger.Info("context cut", "mind", m.id.String(), "cause", cause, "before", done.TokensBefore, "after", done.TokensAfter, "cycles", done.Cycles)
	m.shell.publish("context_compacted", cause, map[string]any{
		"mind": m.id.String(), "space": string(o.active), "cycle": string(by), "before": done.TokensBefore, "after": done.TokensAfter,
		"freed": max(0, done.TokensBefore-done.TokensAfter), "cycles": done.Cycles,
	})
	return done, m.eraseAgain(ctx, gone, time.Time{})
}

// ErrNotHere is why a mind cannot be compacted now: another process runs it.
var ErrNotHere = errors.New("another process runs the mind")

// Compact compacts by a person's word the context of an agent in the circle of a space, and
// says what that freed: its newest turns, AgentSettings.CompactKeep of them, stay verbatim.
// Where there are no others, nothing happens and the result has no cycles.
func (s *Shell) Compact(ctx context.Context, agent spaces.AgentID, space spaces.SpaceID) (spaces.ContextCompacted, error) {
	room, _, err := s.Record.Space(ctx, space)
	if err != nil {
		return spaces.ContextCompacted{}, fmt.Errorf("compact: %w", err)
	}
	p := wakeKey{spaces.Mind{Agent: agent, Circle: room.Circle}, space}
	o, known := s.outlook(p)
	if !known || !s.isHere(agent) {
		return spaces.ContextCompacted{}, ErrNotHere
	}
	m := s.minds.get(p.mind)
	if err := m.refresh(ctx, space); err != nil {
		return spaces.ContextCompacted{}, err
	}
	m.loading.Lock()
	defer m.loading.Unlock()
	m.mu.Lock()
	folds, by := len(m.carried(m.closed)) > o.settings.CompactKeep, m.lastCycle
	m.mu.Unlock()
	if !folds {
		return spaces.ContextCompacted{}, nil
	}
	done, err := m.cutFor(ctx, o, hud.CutAsked, by)
	if errors.Is(err, spaces.ErrLeaseLost) {
		err = ErrNotHere
	}
	return done, err
}

// compact renders the keyframe and says what it frees. What is taken back from here on,
// it may show.
func (m *mind) compact(o cycleConfig, cause string, by spaces.CycleID) (spaces.Keyframe, spaces.ContextCompacted) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cutting = true
	v := m.whole(o)
	v.Digests = m.condensed()
	before := v.Count()
	k, plan := v.Cut(cause)
	k.At = m.shell.Now()
	var err error
	if k.Plan, err = json.Marshal(plan); err != nil {
		panic("shell: keyframe plan does not marshal: " + err.Error())
	}
	done := spaces.ContextCompacted{
		Cause: cause, Cycle: by, TokensBefore: before, TokensAfter: plan.Tokens + plan.Kept, Elements: len(plan.Items),
	}
	for i := range m.closed {
		if n := m.closed[i].N; n <= k.Upto {
			if done.Cycles == 0 {
				done.From = n
			}
			done.Cycles, done.To = done.Cycles+1, n
		}
	}
	for i := range plan.Items {
		if plan.Items[i].Form == hud.Nothing {
			done.Left++
		}
	}
	return k, done
}

// history reads what only a cut needs: the summaries of all earlier cycles and
// the spans of every room. m.loading is held.
func (m *mind) history(ctx context.Context, spansShown int) error {
	m.mu.Lock()
	var upto int64
	if m.keyframe != nil {
		upto = m.keyframe.Upto
	}
	seats := slices.Clone(m.seats)
	m.mu.Unlock()
	var earlier []spaces.ClosedCycle
	if upto > 0 { // the first keyframe has absorbed none
		var err error
		if earlier, err = m.cycles(ctx, 0, upto, false); err != nil {
			return err
		}
	}
	for i, s := range seats {
		spans, err := m.shell.Record.Spans(ctx, m.id, s.Uplink.Space, spansShown)
		if err != nil {
			return fmt.Errorf("spans of %s: %w", s.Uplink.Space, err)
		}
		m.mu.Lock()
		m.seats[i].Spans = spans
		m.mu.Unlock()
	}
	m.mu.Lock()
	m.earlier = earlier
	m.mu.Unlock()
	return nil
}

// owe notes that the context must be cut before the next frame.
func (m *mind) owe(cause string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owed = cause
}
