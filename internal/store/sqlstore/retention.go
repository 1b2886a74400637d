package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

// Frames are stored for a limited time; their sizes, their plans and the inner logs
// stay.

const (
	// agedCycles !The added 0 keeps the engine from reading all cycles, oldest first.
	agedCycles engine.QueryText = `select id, agent, circle, started,
  coalesce((select max(s.n) from steps s where s.cycle = cycles.id and s.shown is not null), -1) from cycles
where (started, id) > ($1, $2) and started < $3 and started < coalesce((select min(o.started + 0) from cycles o where o.state = 'open'), $3)
order by started, id limit $4 + 0`
	stepShown engine.QueryText = `select shown from steps where cycle = $1 and n = $2`
	// dropShown !The ids of the shown messages stay, for later deletions.
	dropShown   engine.QueryText = `update steps set shown = null where cycle = $1 and shown is not null`
	dropResults engine.QueryText = `update tool_runs set result = '' where cycle = $1 and ended > 0`
	emptyBefore engine.QueryText = `update keyframes set body = $4 where agent = $1 and circle = $2 and n < $3 and length(body) > 0`
)

// An expiredFrame is a cycle whose frames are older than they are kept.
type expiredFrame struct {
	id      spaces.CycleID
	mind    spaces.Mind
	started int64
	last    int // newest step with a frame; -1 for none
}

// ShedFrames drops the frames of up to limit cycles that began before an instant, oldest
// first, and the keyframes that only those frames used. It reports whether there may be
// more. It stops at the oldest open cycle.
func (s MemoryStore) ShedFrames(ctx context.Context, before time.Time, limit int) (more bool, err error) {
	err = s.s.write(ctx, func(ctx context.Context, t *storeTx) (err error) {
		more, err = t.frame.dropFrames(ctx, engine.ToMillis(before), limit)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("drop frames: %w", err)
	}
	return more, nil
}

func (t *frameTx) dropFrames(ctx context.Context, before int64, limit int) (more bool, err error) {
	from, id, err := t.lastDropped(ctx)
	if err != nil {
		return false, err
	}
	old, err := engine.AllRows(ctx, t, agedCycles, []any{from, id, before, limit}, func(r engine.ResultRow) (a expiredFrame, err error) {
		return a, r.Scan(&a.id, &a.mind.Agent, &a.mind.Circle, &a.started, &a.last)
	})
	if err != nil || len(old) == 0 {
		return false, err
	}
	newest := map[spaces.Mind]int64{} // newest keyframe of those cycles
	for _, a := range old {
		if err := t.dropFramesOf(ctx, a, newest); err != nil {
			return false, fmt.Errorf("cycle %s: %w", a.id, err)
		}
	}
	for m, n := range newest {
		if err := t.Run(ctx, emptyBefore, string(m.Agent), string(m.Circle), n, []byte{}); err != nil {
			return false, fmt.Errorf("keyframes of %s: %w", m, err)
		}
	}
	last := old[len(old)-1]
	return len(old) == limit, t.Run(ctx, storeMeta, tables.MetaFramesDropped, strconv.FormatInt(last.started, 10)+" "+string(last.id))
}

// dropFramesOf drops the frames of a cycle and notes the newest keyframe of its mind.
func (t *frameTx) dropFramesOf(ctx context.Context, a expiredFrame, newest map[spaces.Mind]int64) error {
	if a.last < 0 {
		return nil
	}
	var body []byte
	if _, err := engine.ScanRow(ctx, t, stepShown, []any{string(a.id), a.last}, &body); err != nil {
		return err
	}
	made, err := tables.DecodeFrame(body)
	if err != nil {
		return err
	}
	newest[a.mind] = max(newest[a.mind], made.Keyframe)
	if err := t.Run(ctx, dropResults, string(a.id)); err != nil {
		return err
	}
	return t.Run(ctx, dropShown, string(a.id))
}

// lastDropped returns the last cycle whose frames were dropped.
func (t *frameTx) lastDropped(ctx context.Context) (started int64, id string, err error) {
	at, err := tables.MetaValue(ctx, t, tables.MetaFramesDropped)
	if err != nil || at == "" {
		return 0, "", err
	}
	number, id, _ := strings.Cut(at, " ")
	started, err = strconv.ParseInt(number, 10, 64)
	return started, id, err
}

// When a message is deleted, the cycles that were shown it are looked up. The table
// seen is the index for cycles that began before the horizon; a lookup moves the horizon
// up, so that nothing is indexed as long as nothing is deleted. Cycles after the horizon,
// and those that were open when it passed them, are searched one by one.

const (
	// seenAfter is the age at which a cycle is indexed: the clocks of two processes may
	// differ by a minute.
	seenAfter = 2 * time.Minute
	minSeen   = 16  // fewer cycles are searched instead
	maxSeen   = 512 // cycles indexed by one lookup
)

const (
	cyclesToSee engine.QueryText = `select id, state, started from cycles where started > $1 and started <= $2
  and started <= (select max(o.started) from (select started from cycles where started > $1 order by started limit $3 + 0) o) order by started`
	openToSee engine.QueryText = `select y.id, y.state, y.started from unseen u cross join cycles y
where y.id = u.cycle and y.state <> 'open' order by u.cycle limit $1 + 0`
	refsOfCycle  engine.QueryText = `select refs from turns where cycle = $1 union all select refs from steps where cycle = $1`
	insertSeen   engine.QueryText = `insert into seen (event, cycle) values ($1, $2) on conflict do nothing`
	insertUnseen engine.QueryText = `insert into unseen (cycle) values ($1) on conflict do nothing`
	dropUnseen   engine.QueryText = `delete from unseen where cycle = $1`

	// lateOfMind !The parameters: agent, circle, the event, the event quoted, the
	// horizon. Cross joins run in the order of the text.
	lateOfMind = `with late as materialized (select id from cycles where agent = $1 and circle = $2 and started > $5
  union all select u.cycle from unseen u cross join cycles y where y.id = u.cycle and y.agent = $1 and y.circle = $2)`
	lateOfAll = `with late as materialized (select id from cycles where started > $5 union all select cycle from unseen)`
	whoSaw    = `,
saw as materialized (select cycle from seen where event = $3 union select l.id from late l
  where exists (select 1 from turns t where t.cycle = l.id and replace(t.refs, $4, '') <> t.refs)
    or exists (select 1 from steps s where s.cycle = l.id and replace(s.refs, $4, '') <> s.refs))
`
	cyclesShown engine.QueryText = lateOfMind + whoSaw + `select y.id, y.started, y.ended, y.inner_from from saw cross join cycles y
where y.id = saw.cycle and y.agent = $1 and y.circle = $2 order by y.started, y.id`
	mindsShown engine.QueryText = lateOfAll + whoSaw + `select distinct y.circle from saw cross join cycles y
where y.id = saw.cycle and y.agent = $1 and y.circle <> $2 order by y.circle`
)

// cyclesShownEvent runs one of the queries above for a message and a mind.
func cyclesShownEvent[T any](ctx context.Context, s *Store, q engine.QueryText, m spaces.Mind, e spaces.EventID, scan func(engine.ResultRow) (T, error)) ([]T, error) {
	horizon, err := s.see(ctx)
	if err != nil {
		return nil, fmt.Errorf("index shown messages: %w", err)
	}
	args := []any{string(m.Agent), string(m.Circle), string(e), `"` + string(e) + `"`, horizon}
	return engine.AllRows(ctx, s.engine, q, args, scan)
}

// A shownCycle is a cycle with the messages that it was shown.
type shownCycle struct {
	cycle   spaces.CycleID
	open    bool
	started int64
	refs    []spaces.EventID
}

// see indexes cycles if enough were added, and returns the horizon: the time up to which
// cycles are indexed.
func (s *Store) see(ctx context.Context) (horizon int64, err error) {
	if horizon, err = tables.MetaNumber(ctx, s.engine, tables.MetaShownHorizon); err != nil {
		return 0, err
	}
	scan := func(r engine.ResultRow) (g shownCycle, err error) {
		var state string
		err = r.Scan(&g.cycle, &state, &g.started)
		g.open = state == string(spaces.CycleOpen)
		return g, err
	}
	fresh, err := engine.AllRows(ctx, s.engine, cyclesToSee, []any{horizon, engine.ToMillis(s.opts.Now().Add(-seenAfter)), maxSeen}, scan)
	if err != nil || len(fresh) < minSeen {
		return horizon, err
	}
	ended, err := engine.AllRows(ctx, s.engine, openToSee, []any{maxSeen}, scan)
	if err != nil {
		return horizon, err
	}
	for some := range slices.Chunk(append(ended, fresh...), minSeen) {
		if err := s.enter(ctx, some); err != nil {
			return horizon, err
		}
	}
	past := fresh[len(fresh)-1].started
	return past, s.write(ctx, func(ctx context.Context, t *storeTx) error {
		t.cache.shownHorizon = nil
		return t.Run(ctx, storeMeta, tables.MetaShownHorizon, strconv.FormatInt(past, 10))
	})
}

// noteUnindexed stores a cycle that begins before the horizon in the list of those that
// are searched one by one.
func (t *cycleTx) noteUnindexed(ctx context.Context, y *spaces.Cycle) error {
	if t.cache.shownHorizon == nil {
		horizon, err := tables.MetaNumber(ctx, t, tables.MetaShownHorizon)
		if err != nil {
			return err
		}
		t.cache.shownHorizon = &horizon
	}
	if engine.ToMillis(y.Started) > *t.cache.shownHorizon {
		return nil
	}
	return t.Run(ctx, insertUnseen, string(y.ID))
}

// enter indexes cycles, or lists them as open.
func (s *Store) enter(ctx context.Context, some []shownCycle) error {
	for i := range some {
		if some[i].open {
			continue
		}
		var err error // a closed cycle does not change: it is read outside the writer
		if some[i].refs, err = s.refsOf(ctx, some[i].cycle); err != nil {
			return err
		}
	}
	return s.write(ctx, func(ctx context.Context, t *storeTx) error {
		for _, g := range some {
			if err := t.frame.indexShown(ctx, g); err != nil {
				return err
			}
		}
		return nil
	})
}

// refsOf returns the messages that a cycle was shown.
func (s *Store) refsOf(ctx context.Context, id spaces.CycleID) ([]spaces.EventID, error) {
	var refs []spaces.EventID
	err := engine.EachRow(ctx, s.engine, refsOfCycle, []any{string(id)}, func(r engine.ResultRow) error {
		var more []spaces.EventID
		err := r.Scan(engine.ScanList(&more))
		refs = append(refs, more...)
		return err
	})
	slices.Sort(refs)
	return slices.Compact(refs), err
}

// indexShown stores the messages that a cycle was shown, or lists the cycle as open.
func (t *frameTx) indexShown(ctx context.Context, g shownCycle) error {
	if g.open {
		return t.Run(ctx, insertUnseen, string(g.cycle))
	}
	for _, id := range g.refs {
		if err := t.Run(ctx, insertSeen, string(id), string(g.cycle)); err != nil {
			return err
		}
	}
	return t.Run(ctx, dropUnseen, string(g.cycle))
}
