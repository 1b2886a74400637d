package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

// Bodies are opaque to the engine, so words are looked for here, in the newest
// messages alone: what is said, and what became of it later, which comes first.
// Other events stand between them, so the part of the log is bounded as well.
const maxBehind = 10 * console.MaxSearched

const (
	wordsAnywhere engine.Query = `select ` + eventColumns + ` from events e
where e.n > (select coalesce(max(n), 0) from events) - $2 and e.branch = 'main' and (e.kind = 'said' or e.kind = 'edited' or e.kind = 'deleted' or e.kind = 'transcribed')
order by e.n desc limit $1 + 0`
	wordsWithin engine.Query = `select ` + eventColumns + ` from events e
where e.space = $2 and e.branch = 'main' and (e.kind = 'said' or e.kind = 'edited' or e.kind = 'deleted' or e.kind = 'transcribed') order by e.seq desc limit $1 + 0`
)

// Because implements [console.Record].
func (c ReadModel) Because(ctx context.Context, run spaces.CycleID) ([]spaces.Event, error) {
	var chain []spaces.Event
	err := c.engine.View(ctx, func(ctx context.Context, src engine.Reader) error {
		cycle, err := engine.FirstRow(ctx, src, selectCycle, []any{string(run)}, scanCycle)
		if err != nil || cycle == nil {
			return err
		}
		entries, err := engine.AllRows(ctx, src, cycleRows, []any{string(run)}, scanEntry)
		if err != nil {
			return err
		}
		var next spaces.EventID
		for _, e := range entries {
			if next == "" || e.Reason == cycle.Wake {
				next = e.event.ID
			}
		}
		for next != "" && len(chain) < console.MaxChain {
			e, err := eventOf(ctx, src, next)
			if err != nil || e == nil {
				return err
			}
			chain, next = append(chain, *e), e.Cause
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("follow the causes of run %s: %w", run, err)
	}
	return chain, nil
}

// Said implements [console.Record].
func (c ReadModel) Said(ctx context.Context, f console.MessageQuery) ([]spaces.Event, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	q, args := wordsAnywhere, []any{console.MaxSearched, maxBehind}
	if f.Space != "" {
		q, args = wordsWithin, []any{console.MaxSearched, string(f.Space)}
	}
	newest, err := engine.AllRows(ctx, c.engine, q, args, scanEvent)
	if err != nil {
		return nil, fmt.Errorf("look for words: %w", err)
	}
	var found []spaces.Event
	words := strings.Fields(strings.ToLower(f.Text))
	past := supersededMessages{}
	for _, e := range newest {
		if len(found) == f.Limit || e.RecvAt.Before(f.Since) {
			break
		}
		if text, stands := past.see(e); stands && hasAll(strings.ToLower(text), words) {
			found = append(found, e)
		}
	}
	return found, nil
}

// supersededMessages are messages that later events have changed or taken away, by their
// event or by their place on a platform.
type supersededMessages map[any]bool

// see takes the events of a log from the newest on. It returns the words of one
// that has words which stand, and notes which older ones it overtakes.
func (o supersededMessages) see(e spaces.Event) (text string, stands bool) {
	switch b := e.Body.(type) { //nolint:gochecksumtype // the query brings these four alone
	case spaces.Said:
		return b.Text, !o[e.ID] && !o[b.Ref]
	case spaces.Edited:
		stands = !o[b.Target] && !o[b.Ref]
		o.note(b.Target, b.Ref)
		return b.Text, stands
	case spaces.Transcribed: // takes nothing from what was written beside it
		return b.Text, !o[b.Target] && !o[b.Ref]
	case spaces.Deleted:
		o.note(b.Target, b.Ref)
	}
	return "", false
}

func (o supersededMessages) note(target spaces.EventID, ref spaces.Ref) {
	if target != "" {
		o[target] = true
	}
	if ref != (spaces.Ref{}) {
		o[ref] = true
	}
}

func hasAll(text string, words []string) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}
