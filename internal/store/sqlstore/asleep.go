package sqlstore

import (
	"context"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const mindsUplinks engine.Query = `select space from uplinks where agent = $1 and circle = $2 and live = 1 order by n`

// doze closes the spans of a mind that goes to sleep; rouse opens new ones.
func (t *spanTx) closeAsleep(ctx context.Context, timer spaces.Timer, at time.Time) error {
	return t.eachSleepingUplink(ctx, timer, func(id spaces.SpaceID, l *branchState) error {
		return t.closeOf(ctx, timer.Mind, id, spanMark{l.HeadSeq, l.Head}, spaces.SpanAsleep, at)
	})
}

func (t *spanTx) openAwake(ctx context.Context, timer spaces.Timer, at time.Time) error {
	return t.eachSleepingUplink(ctx, timer, func(id spaces.SpaceID, l *branchState) error {
		return t.open(ctx, timer.Mind, id, spanMark{seq: l.HeadSeq + 1}, spaces.SpanAwake, at)
	})
}

// eachUplink calls do for every space a sleep timer's mind is in; other timers
// concern no span.
func (t *spanTx) eachSleepingUplink(ctx context.Context, timer spaces.Timer, do func(spaces.SpaceID, *branchState) error) error {
	if timer.Kind != spaces.TimerSleep {
		return nil
	}
	ids, err := engine.AllRows(ctx, t, mindsUplinks, []any{string(timer.Mind.Agent), string(timer.Mind.Circle)}, engine.ScanValue[spaces.SpaceID])
	if err != nil {
		return err
	}
	for _, id := range ids {
		l, err := t.branch.load(ctx, id, spaces.Primary)
		if err != nil {
			return err
		}
		if err := do(id, l); err != nil {
			return err
		}
	}
	return nil
}
