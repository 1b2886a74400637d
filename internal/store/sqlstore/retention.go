package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
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
	return len(old) == limit, t.Run(ctx, storeMeta, metaFrames, strconv.FormatInt(last.started, 10)+" "+string(last.id))
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
	made, err := readShown(body)
	if err != nil {
		return err
	}
	newest[a.mind] = max(newest[a.mind], made.Keyframe)
	return t.Run(ctx, dropShown, string(a.id))
}

// framesShed returns the cycle up to which frames were let go.
func (t *frameTx) lastDropped(ctx context.Context) (started int64, id string, err error) {
	at, err := metaOf(ctx, t, metaFrames)
	if err != nil || at == "" {
		return 0, "", err
	}
	number, id, _ := strings.Cut(at, " ")
	started, err = strconv.ParseInt(number, 10, 64)
	return started, id, err
}
