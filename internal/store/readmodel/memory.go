package readmodel

import (
	"context"
	"fmt"
	"slices"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

// In the inner log a note or memory directly follows the tool call that made it.
const makerOf engine.QueryText = `select ` + tables.EventColumns + ` from events e
where e.space = $1 and e.branch = $2 and e.seq < (select seq from events where id = $3) and e.kind = 'acted' order by e.seq desc limit 1`

// maxPlansShown is how many plans are looked at: more than a mind may have.
const maxPlansShown = 100

// Memory implements [console.MemoryReader].
func (c ReadModel) Memory(ctx context.Context, m spaces.Mind) (console.Memory, error) {
	has, err := MemoryOf(ctx, c.engine, m)
	if err != nil {
		return console.Memory{}, fmt.Errorf("read what %s has: %w", m, err)
	}
	return has, nil
}

// MemoryOf returns the notes, memories, goals, plans and summaries of a mind.
func MemoryOf(ctx context.Context, e engine.DatabaseEngine, m spaces.Mind) (has console.Memory, err error) {
	key := []any{string(m.Agent), string(m.Circle)}
	err = e.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		own, err := tables.OwnEvents(ctx, src, m)
		for _, e := range own {
			has.Self.Apply(e)
		}
		if err != nil {
			return err
		}
		if has.Plans, err = engine.AllRows(ctx, src, setTimers, append(slices.Clip(key), maxPlansShown), tables.ScanTimer); err != nil {
			return err
		}
		if err := tables.RedactNotes(ctx, src, has.Plans); err != nil {
			return err
		}
		has.Digests, err = engine.AllRows(ctx, src, tables.SummariesOfMind, key, tables.ScanSummary)
		return err
	})
	return has, err
}

// Told implements [console.MemoryReader].
func (c ReadModel) Told(ctx context.Context, m spaces.Mind, ids []spaces.EventID) ([]spaces.Event, error) {
	var told []spaces.Event
	err := c.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		for _, id := range ids {
			e, err := tables.EventByID(ctx, src, id)
			if err != nil {
				return err
			}
			if e != nil {
				told = append(told, *e)
			}
		}
		gone, err := tables.LoadRedactor(ctx, src, m)
		told = gone.Redact(told)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	return told, nil
}

// Maker implements [console.MemoryReader].
func (c ReadModel) Maker(ctx context.Context, m spaces.Mind, kept spaces.EventID) (spaces.CycleID, error) {
	acts, err := engine.FirstRow(ctx, c.engine, makerOf, []any{string(m.Inner()), string(m.Branch()), string(kept)}, tables.ScanEvent)
	if err != nil || acts == nil {
		return "", err
	}
	return tables.CycleOfBody(acts.Body), nil
}
