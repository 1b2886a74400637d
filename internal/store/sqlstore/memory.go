package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// What a step keeps stands in the inner log right behind its acts.
const makerOf engine.Query = `select ` + eventColumns + ` from events e
where e.space = $1 and e.branch = $2 and e.seq < (select seq from events where id = $3) and e.kind = 'acted' order by e.seq desc limit 1`

var _ shell.MemoryEditor = AgentStore{}

// Forget implements [shell.Forgetter].
func (s AgentStore) Forget(ctx context.Context, m spaces.Mind, id string, at time.Time) (bool, error) {
	has, err := memoryOf(ctx, s.s.engine, m)
	if err != nil {
		return false, fmt.Errorf("read what %s has: %w", m, err)
	}
	if !slices.ContainsFunc(has.Self.Memories.All, func(x spaces.Memory) bool { return x.ID == id }) &&
		!slices.ContainsFunc(has.Plans, func(t spaces.Timer) bool { return t.Name() == id }) {
		return false, nil
	}
	err = s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if err := t.inner.append(ctx, m, at, spaces.Forgot{ID: id}); err != nil {
			return err
		}
		if err := t.Run(ctx, forgetTimer, string(m.Agent), string(m.Circle), id); err != nil {
			return err
		}
		return t.addToMeta(ctx, metaMemories, 1)
	})
	if err != nil {
		return false, fmt.Errorf("forget %s of %s: %w", id, m, err)
	}
	return true, nil
}

// Correct implements [shell.Forgetter].
func (s AgentStore) Correct(ctx context.Context, m spaces.Mind, id, fact string, at time.Time) (bool, error) {
	has, err := memoryOf(ctx, s.s.engine, m)
	if err != nil {
		return false, fmt.Errorf("read what %s has: %w", m, err)
	}
	kept := has.Self.Memories.All
	i := slices.IndexFunc(kept, func(x spaces.Memory) bool { return x.ID == id })
	if i < 0 {
		return false, nil
	}
	x := kept[i]
	err = s.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		if err := t.inner.append(ctx, m, at, spaces.Remembered{ID: id, Fact: fact, What: x.What, Sources: x.Sources, Readers: x.Readers, Space: x.Space, Corrected: true}); err != nil {
			return err
		}
		return t.addToMeta(ctx, metaMemories, 1)
	})
	if err != nil {
		return false, fmt.Errorf("correct %s of %s: %w", id, m, err)
	}
	return true, nil
}

// Changes implements [shell.Forgetter].
func (s AgentStore) Changes(ctx context.Context) (n int64, err error) {
	if n, err = numberOf(ctx, s.s.engine, metaMemories); err != nil {
		return 0, fmt.Errorf("count what people changed of memories: %w", err)
	}
	return n, nil
}

// Memory implements [console.Memories].
func (c ReadModel) Memory(ctx context.Context, m spaces.Mind) (console.Memory, error) {
	has, err := memoryOf(ctx, c.engine, m)
	if err != nil {
		return console.Memory{}, fmt.Errorf("read what %s has: %w", m, err)
	}
	return has, nil
}

// maxPlansShown is how many plans are looked at: more than a mind may have.
const maxPlansShown = 100

func memoryOf(ctx context.Context, e engine.Engine, m spaces.Mind) (has console.Memory, err error) {
	key := []any{string(m.Agent), string(m.Circle)}
	err = e.View(ctx, func(ctx context.Context, src engine.Reader) error {
		own, err := selfOf(ctx, src, m)
		for _, e := range own {
			has.Self.Apply(e)
		}
		if err != nil {
			return err
		}
		if has.Plans, err = engine.AllRows(ctx, src, setTimers, append(slices.Clip(key), maxPlansShown), scanTimer); err != nil {
			return err
		}
		if err := hushNotes(ctx, src, has.Plans); err != nil {
			return err
		}
		has.Digests, err = engine.AllRows(ctx, src, digestsOf, key, scanDigest)
		return err
	})
	return has, err
}

// Told implements [console.Memories].
func (c ReadModel) Told(ctx context.Context, m spaces.Mind, ids []spaces.EventID) ([]spaces.Event, error) {
	var told []spaces.Event
	err := c.engine.View(ctx, func(ctx context.Context, src engine.Reader) error {
		for _, id := range ids {
			e, err := eventOf(ctx, src, id)
			if err != nil {
				return err
			}
			if e != nil {
				told = append(told, *e)
			}
		}
		gone, err := silenceOf(ctx, src, m)
		told = gone.over(told)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	return told, nil
}

// Maker implements [console.Memories].
func (c ReadModel) Maker(ctx context.Context, m spaces.Mind, kept spaces.EventID) (spaces.CycleID, error) {
	acts, err := engine.FirstRow(ctx, c.engine, makerOf, []any{string(m.Inner()), string(m.Branch()), string(kept)}, scanEvent)
	if err != nil || acts == nil {
		return "", err
	}
	return cycleOf(acts.Body), nil
}
