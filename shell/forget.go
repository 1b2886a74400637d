package shell

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// Forget has a mind forget a memory, timer or plan by a person's word. It is what
// the mind's own act does: frames that were made before keep what they show, and
// what was said in rooms stays. Minds of other processes learn of it with
// [Shell.Recollect]. It reports whether the mind had it.
func (s *Shell) Forget(ctx context.Context, id spaces.Mind, what string) (bool, error) {
	had, err := s.Forgetter.Forget(ctx, id, what, time.Now())
	if err != nil || !had {
		return false, err
	}
	s.Logger.Info("forgotten by a person's word", "mind", id.String(), "what", what)
	return true, s.Recollect(ctx)
}

// Recollect has the minds in memory give up what the record says they have
// forgotten since they were read.
func (s *Shell) Recollect(ctx context.Context) error {
	for _, m := range s.minds.known() {
		if err := m.forget(ctx); err != nil {
			return fmt.Errorf("recollect %s: %w", m.id, err)
		}
	}
	return nil
}

// known returns the minds in memory.
func (ms *minds) known() []*mind {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	all := make([]*mind, 0, len(ms.all))
	for _, m := range ms.all {
		all = append(all, m)
	}
	return all
}

// forget gives up the memories that the mind has and the record has not. What it
// learns while the record is read is left alone.
func (m *mind) forget(ctx context.Context) error {
	m.mu.Lock()
	m.planned = false
	if m.self == nil || len(m.self.Memories.All) == 0 {
		m.mu.Unlock()
		return nil
	}
	had := slices.Clone(m.self.Memories.All)
	m.mu.Unlock()
	events, err := m.shell.Record.Self(ctx, m.id)
	if err != nil {
		return err
	}
	var now spaces.Self
	for _, e := range events {
		now.Apply(e)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.self.Memories.All = slices.DeleteFunc(m.self.Memories.All, func(x spaces.Memory) bool {
		same := func(y spaces.Memory) bool { return y.ID == x.ID }
		return slices.ContainsFunc(had, same) && !slices.ContainsFunc(now.Memories.All, same)
	})
	return nil
}
