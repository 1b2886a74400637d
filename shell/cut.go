package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/spaces"
)

// recut makes a keyframe before the first frame of a cycle when there is none
// yet, when one is owed, or when the mind has rested longer than the provider's
// cache lives and many turns have gathered: then a cut costs nothing.
func (c *cycle) recut(ctx context.Context) error {
	m := c.mind
	m.mu.Lock()
	cause := m.cut
	if cause == "" && m.renewed() {
		cause = hud.CutFresh
	}
	rested := !m.lastEnd.IsZero() && time.Since(m.lastEnd) > c.settings.CacheTTL
	if cause == "" && rested && len(m.closed) > c.settings.CompactAfter {
		cause = hud.CutTurns
	}
	if cause == "" {
		cause, _ = m.whole(c).NeedsCut(tailTokens)
	}
	m.mu.Unlock()
	if cause == "" {
		return nil
	}
	return c.cut(ctx, cause)
}

// tailTokens is what the tail of an ordinary frame takes.
const tailTokens = 200

// recutAfter makes a keyframe when the context has passed its high-water mark.
func (c *cycle) recutAfter(ctx context.Context) error {
	m := c.mind
	m.mu.Lock()
	cause, due := m.whole(c).NeedsCut(tailTokens)
	m.mu.Unlock()
	if !due {
		return nil
	}
	return c.cut(ctx, cause)
}

// whole returns the mind's view between cycles: all that is closed, nothing
// under way. m.mu is held.
func (m *mind) whole(c *cycle) *hud.View {
	v := m.view(c)
	v.Closed, v.Current = m.closed, nil
	return v
}

func (c *cycle) cut(ctx context.Context, cause string) error {
	m := c.mind
	err := m.history(ctx, c.settings.SpansShown)
	if err != nil {
		return err
	}
	m.mu.Lock()
	v := m.whole(c)
	if cause == hud.CutTurns {
		v.Limits.MinRecentCycles = c.settings.CompactKeep
	}
	k, plan := v.Cut(cause)
	k.At = time.Now()
	if k.Plan, err = json.Marshal(plan); err != nil {
		panic("shell: keyframe plan does not marshal: " + err.Error())
	}
	absorbed := 0
	for absorbed < len(m.closed) && m.closed[absorbed].N <= k.Upto {
		absorbed++
	}
	done := spaces.Compacted{Cause: cause, Cycle: c.wake.Cycle.ID, TokensBefore: c.size, TokensAfter: plan.Tokens, Cycles: absorbed}
	m.mu.Unlock()

	if err := c.shell.Journal.Cut(ctx, k, done); err != nil {
		return fmt.Errorf("cut %s: %w", m.id, err)
	}
	m.mu.Lock()
	m.keyframe, m.closed, m.earlier, m.cut = &k, slices.DeleteFunc(slices.Clone(m.closed), func(x spaces.ClosedCycle) bool { return x.N <= k.Upto }), nil, ""
	m.mu.Unlock()
	c.log.Info("context cut", "cause", cause, "before", done.TokensBefore, "after", done.TokensAfter, "cycles", absorbed, "elements", len(plan.Items))
	c.shell.publish("context_compacted", cause, c.facts("before", done.TokensBefore, "after", done.TokensAfter, "cycles", absorbed))
	return nil
}

// history reads what only a cut needs: the summaries of all earlier cycles and
// the spans of every room.
func (m *mind) history(ctx context.Context, spansShown int) error {
	m.loading.Lock()
	defer m.loading.Unlock()
	m.mu.Lock()
	var upto int64
	if m.keyframe != nil {
		upto = m.keyframe.Upto
	}
	seats := append([]hud.Seat(nil), m.seats...)
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
	m.cut = cause
}

// rested returns when the mind's last cycle ended.
func (m *mind) rested() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lastEnd
}
