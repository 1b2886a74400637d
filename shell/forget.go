package shell

import (
	"context"
	"fmt"
	"maps"
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

// Correct puts a fact in place of that of a mind's memory by a person's word, as
// [Shell.Forget] takes one away. The fact is one that [WrongFact] finds nothing wrong
// with.
func (s *Shell) Correct(ctx context.Context, id spaces.Mind, what, fact string) (bool, error) {
	had, err := s.Forgetter.Correct(ctx, id, what, fact, time.Now())
	if err != nil || !had {
		return false, err
	}
	s.Logger.Info("corrected by a person's word", "mind", id.String(), "what", what)
	return true, s.Recollect(ctx)
}

// Recollect has the minds in memory give up what the record says they have
// forgotten since they were read, and take over what was corrected.
func (s *Shell) Recollect(ctx context.Context) error {
	for _, m := range s.minds.known() {
		if err := m.remind(ctx); err != nil {
			return fmt.Errorf("recollect %s: %w", m.id, err)
		}
	}
	return nil
}

// RecollectSince is [Shell.Recollect] where anybody had a mind forget or correct
// something, in whichever process, since that had happened so often. It returns how
// often it has by now, for the next call; the first one takes 0.
func (s *Shell) RecollectSince(ctx context.Context, seen int64) (changes int64, err error) {
	changes, err = s.Forgetter.Changes(ctx)
	if err != nil || changes == seen {
		return seen, err
	}
	if err := s.Recollect(ctx); err != nil {
		return seen, err
	}
	return changes, nil
}

// known returns the minds in memory.
func (ms *minds) known() []*mind {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return slices.Collect(maps.Values(ms.all))
}

// remind gives up the memories that the mind has and the record has not, and has
// the others as the record has them. What it learns while the record is read is left
// alone.
func (m *mind) remind(ctx context.Context) error {
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
	var now spaces.InnerState
	for _, e := range events {
		now.Apply(e)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var kept []spaces.Memory
	for _, x := range m.self.Memories.All {
		same := func(y spaces.Memory) bool { return y.ID == x.ID }
		if i := slices.IndexFunc(now.Memories.All, same); i >= 0 {
			kept = append(kept, now.Memories.All[i])
		} else if !slices.ContainsFunc(had, same) {
			kept = append(kept, x)
		}
	}
	m.self.Memories.All = kept
	return nil
}
