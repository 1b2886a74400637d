package readmodel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

// Bodies are opaque to the engine, so words are looked for here, in the newest
// messages alone, newest first, so that edits and deletions come before the message.
// Other events stand between them, so the part of the log is bounded as well.
const maxBehind = 10 * console.MaxSearched

const (
	wordsAnywhere engine.QueryText = `select ` + tables.EventColumns + ` from events e
where e.n > (select coalesce(max(n), 0) from events) - $2 and e.branch = 'main' and (e.kind = 'said' or e.kind = 'edited' or e.kind = 'deleted' or e.kind = 'transcribed')
order by e.n desc limit $1 + 0`
	wordsWithin engine.QueryText = `select ` + tables.EventColumns + ` from events e
where e.space = $2 and e.branch = 'main' and (e.kind = 'said' or e.kind = 'edited' or e.kind = 'deleted' or e.kind = 'transcribed') order by e.seq desc limit $1 + 0`
)

// Because implements [console.Store].
func (c ReadModel) Because(ctx context.Context, run spaces.CycleID) ([]spaces.Event, error) {
	var chain []spaces.Event
	err := c.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		cycle, err := engine.FirstRow(ctx, src, tables.SelectCycle, []any{string(run)}, tables.ScanCycle)
		if err != nil || cycle == nil {
			return err
		}
		entries, err := engine.AllRows(ctx, src, tables.InboxRowsOfCycle, []any{string(run)}, tables.ScanInboxEntry)
		if err != nil {
			return err
		}
		var next spaces.EventID
		for _, e := range entries {
			if next == "" || e.Reason == cycle.Wake {
				next = e.Subject.ID
			}
		}
		for next != "" && len(chain) < console.MaxChain {
			e, err := tables.EventByID(ctx, src, next)
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

// Said implements [console.Store].
func (c ReadModel) Said(ctx context.Context, f console.MessageQuery) ([]spaces.Event, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	q, args := wordsAnywhere, []any{console.MaxSearched, maxBehind}
	if f.Space != "" {
		q, args = wordsWithin, []any{console.MaxSearched, string(f.Space)}
	}
	newest, err := engine.AllRows(ctx, c.engine, q, args, tables.ScanEvent)
	if err != nil {
		return nil, fmt.Errorf("look for words: %w", err)
	}
	var found []spaces.Event
	words := strings.Fields(strings.ToLower(f.Text))
	past := tables.SupersededMessages{}
	for _, e := range newest {
		if len(found) == f.Limit || e.RecvAt.Before(f.Since) {
			break
		}
		if text, stands := past.Observe(e); stands && containsAll(strings.ToLower(text), words) {
			found = append(found, e)
		}
	}
	return found, nil
}

func containsAll(text string, words []string) bool {
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// Names are looked up seldom, and there are as many as people: no index pays.
const peopleNamed engine.QueryText = `select e.id, e.kind, e.name, e.handle, m.space from entities e join members m on m.entity = e.id
where lower(e.name) like lower($1) escape '\' or lower(e.handle) like lower($1) escape '\' order by e.name, e.id, m.space limit $2 + 0`

// People implements [console.Store].
func (c ReadModel) People(ctx context.Context, word string, limit int) ([]console.MemberInfo, error) {
	pattern := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(word) + "%"
	found, err := engine.AllRows(ctx, c.engine, peopleNamed, []any{pattern, limit}, func(r engine.ResultRow) (p console.MemberInfo, err error) {
		return p, r.Scan(&p.ID, &p.Kind, &p.Name, &p.Handle, &p.Space)
	})
	if err != nil {
		return nil, fmt.Errorf("look up people: %w", err)
	}
	return found, nil
}
