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

// What a model was shown in full is kept for some time; its sizes, its plan and the
// mind's own log stay.

const (
	// For a plain minimum the engine would go through all runs, the oldest first.
	agedCycles engine.Query = `select id, agent, circle, started,
  coalesce((select max(s.n) from steps s where s.cycle = cycles.id and s.shown is not null), -1) from cycles
where (started, id) > ($1, $2) and started < $3 and started < coalesce((select min(o.started + 0) from cycles o where o.state = 'open'), $3)
order by started, id limit $4 + 0`
	stepShown engine.Query = `select shown from steps where cycle = $1 and n = $2`
	// Which messages were shown stays: what a mind made of one goes when that is deleted.
	dropShown   engine.Query = `update steps set shown = null where cycle = $1 and shown is not null`
	emptyBefore engine.Query = `update keyframes set body = $4 where agent = $1 and circle = $2 and n < $3 and length(body) > 0`
)

// expiredFrame is a cycle that is older than what is kept of frames.
type expiredFrame struct {
	id      spaces.CycleID
	mind    spaces.Mind
	started int64
	last    int // its newest step whose frame is kept; -1 for none
}

// ShedFrames lets go of what frames were made of whose cycles began before an
// instant, at most limit cycles at a time, the oldest first, and of keyframes that
// only those showed. It reports whether there may be more. Cycles that are open,
// and those after them, are left.
func (s AgentStore) ShedFrames(ctx context.Context, before time.Time, limit int) (more bool, err error) {
	err = s.s.write(ctx, func(ctx context.Context, t *storeTx) (err error) {
		more, err = t.frame.dropFrames(ctx, engine.ToMillis(before), limit)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("let go of frames: %w", err)
	}
	return more, nil
}

func (t *frameTx) dropFrames(ctx context.Context, before int64, limit int) (more bool, err error) {
	from, id, err := t.lastDropped(ctx)
	if err != nil {
		return false, err
	}
	old, err := engine.AllRows(ctx, t, agedCycles, []any{from, id, before, limit}, func(r engine.Row) (a expiredFrame, err error) {
		return a, r.Scan(&a.id, &a.mind.Agent, &a.mind.Circle, &a.started, &a.last)
	})
	if err != nil || len(old) == 0 {
		return false, err
	}
	newest := map[spaces.Mind]int64{} // keyframes that those cycles were shown
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

// shedCycle lets go of one cycle's frames and notes the keyframe of the newest.
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
	return t.Run(ctx, dropShown, string(a.id))
}

// framesShed returns the cycle up to which frames were let go.
func (t *frameTx) lastDropped(ctx context.Context) (started int64, id string, err error) {
	at, err := tables.MetaValue(ctx, t, tables.MetaFramesDropped)
	if err != nil || at == "" {
		return 0, "", err
	}
	number, id, _ := strings.Cut(at, " ")
	started, err = strconv.ParseInt(number, 10, 64)
	return started, id, err
}

// Which cycles were shown a message is asked when it is deleted, and then of all that
// happened since it came. The table seen answers it for cycles that began before an
// instant, the horizon, which is moved up by those who ask: who deletes nothing pays
// nothing. Those behind it and those that were open when it passed them are looked
// through.

const (
	// seenAfter is how long after its beginning a cycle is entered: the clocks of two
	// processes may be a minute apart.
	seenAfter = 2 * time.Minute
	minSeen   = 16  // cycles, below which they are rather looked through
	maxSeen   = 512 // cycles entered for one question
)

const (
	cyclesToSee engine.Query = `select id, state, started from cycles where started > $1 and started <= $2
  and started <= (select max(o.started) from (select started from cycles where started > $1 order by started limit $3 + 0) o) order by started`
	openToSee engine.Query = `select y.id, y.state, y.started from unseen u cross join cycles y
where y.id = u.cycle and y.state <> 'open' order by u.cycle limit $1 + 0`
	refsOfCycle  engine.Query = `select refs from turns where cycle = $1 union all select refs from steps where cycle = $1`
	insertSeen   engine.Query = `insert into seen (event, cycle) values ($1, $2) on conflict do nothing`
	insertUnseen engine.Query = `insert into unseen (cycle) values ($1) on conflict do nothing`
	dropUnseen   engine.Query = `delete from unseen where cycle = $1`

	// The parameters: agent, circle, the event, the event quoted, the horizon. What is
	// joined crosswise is gone through in the order of the words.
	lateOfMind = `with late as materialized (select id from cycles where agent = $1 and circle = $2 and started > $5
  union all select u.cycle from unseen u cross join cycles y where y.id = u.cycle and y.agent = $1 and y.circle = $2)`
	lateOfAll = `with late as materialized (select id from cycles where started > $5 union all select cycle from unseen)`
	whoSaw    = `,
saw as materialized (select cycle from seen where event = $3 union select l.id from late l
  where exists (select 1 from turns t where t.cycle = l.id and replace(t.refs, $4, '') <> t.refs)
    or exists (select 1 from steps s where s.cycle = l.id and replace(s.refs, $4, '') <> s.refs))
`
	cyclesShown engine.Query = lateOfMind + whoSaw + `select y.id, y.started, y.ended, y.inner_from from saw cross join cycles y
where y.id = saw.cycle and y.agent = $1 and y.circle = $2 order by y.started, y.id`
	mindsShown engine.Query = lateOfAll + whoSaw + `select distinct y.circle from saw cross join cycles y
where y.id = saw.cycle and y.agent = $1 and y.circle <> $2 order by y.circle`
)

// cyclesShownEvent asks one of the questions above about a message and a mind.
func cyclesShownEvent[T any](ctx context.Context, s *Store, q engine.Query, m spaces.Mind, e spaces.EventID, scan func(engine.Row) (T, error)) ([]T, error) {
	horizon, err := s.see(ctx)
	if err != nil {
		return nil, fmt.Errorf("enter what was shown: %w", err)
	}
	args := []any{string(m.Agent), string(m.Circle), string(e), `"` + string(e) + `"`, horizon}
	return engine.AllRows(ctx, s.engine, q, args, scan)
}

// A shownCycle is a cycle with what it was shown.
type shownCycle struct {
	cycle   spaces.CycleID
	open    bool
	started int64
	refs    []spaces.EventID
}

// see moves the horizon up when enough happened behind it, and returns where it is.
func (s *Store) see(ctx context.Context) (horizon int64, err error) {
	if horizon, err = tables.MetaNumber(ctx, s.engine, tables.MetaShownHorizon); err != nil {
		return 0, err
	}
	scan := func(r engine.Row) (g shownCycle, err error) {
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

// behind notes a cycle that begins before the horizon: nobody would look for it there.
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

// enter notes what cycles were shown, or that they are open.
func (s *Store) enter(ctx context.Context, some []shownCycle) error {
	for i := range some {
		if some[i].open {
			continue
		}
		var err error // nothing is added to it any more: it is read beside the writer
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

// refsOf returns the messages that a cycle was shown, each once.
func (s *Store) refsOf(ctx context.Context, id spaces.CycleID) ([]spaces.EventID, error) {
	var refs []spaces.EventID
	err := engine.EachRow(ctx, s.engine, refsOfCycle, []any{string(id)}, func(r engine.Row) error {
		var more []spaces.EventID
		err := r.Scan(engine.ScanList(&more))
		refs = append(refs, more...)
		return err
	})
	slices.Sort(refs)
	return slices.Compact(refs), err
}

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
