package readmodel

import (
	"context"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

// MissionsIn implements [shell.MissionReader].
func (l LogReader) MissionsIn(ctx context.Context, space spaces.SpaceID, since time.Time) ([]spaces.Mission, error) {
	found, err := tables.MissionsIn(ctx, l.engine, space, since)
	if err != nil {
		return nil, fmt.Errorf("list missions in %s: %w", space, err)
	}
	return found, nil
}

// MissionSpent implements [shell.MissionReader].
func (l LogReader) MissionSpent(ctx context.Context, id spaces.MissionID) (money.UsedTokens, error) {
	tokens, cost, _, err := tables.MissionSpent(ctx, l.engine, id)
	if err != nil {
		return money.UsedTokens{}, fmt.Errorf("what mission %s used: %w", id, err)
	}
	return money.UsedTokens{Tokens: tokens, Cost: cost}, nil
}

// MissionsIn returns none: how far missions had come is not recorded for each run.
func (p *HistoricalView) MissionsIn(context.Context, spaces.SpaceID, time.Time) ([]spaces.Mission, error) {
	return nil, nil
}

// MissionSpent returns nothing: in a past run nothing was spent.
func (p *HistoricalView) MissionSpent(context.Context, spaces.MissionID) (money.UsedTokens, error) {
	return money.UsedTokens{}, nil
}

// A MissionTable reads missions for operators.
type MissionTable struct{ engine engine.DatabaseEngine }

// Missions returns the missions of the store.
func (c ReadModel) Missions() console.MissionReader { return MissionTable(c) }

// Missions implements [console.MissionReader].
func (c MissionTable) Missions(ctx context.Context, limit int) ([]spaces.Mission, error) {
	found, err := tables.NewestMissions(ctx, c.engine, limit)
	if err != nil {
		return nil, fmt.Errorf("list missions: %w", err)
	}
	return found, nil
}

// Moved implements [console.MoveReader].
func (c MissionTable) Moved(ctx context.Context, after int64, limit int) ([]console.RecordedMove, int64, error) {
	found, next, err := tables.MovesAfter(ctx, c.engine, after, limit)
	if err != nil {
		return nil, after, fmt.Errorf("read moves of missions: %w", err)
	}
	moves := make([]console.RecordedMove, len(found))
	for i, m := range found {
		moves[i] = console.RecordedMove(m)
	}
	return moves, next, nil
}

// Mission implements [console.MissionReader].
func (c MissionTable) Mission(ctx context.Context, id string) (r console.MissionRecord, err error) {
	err = c.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		found, err := tables.MissionsNamed(ctx, src, id, console.MaxAmbiguous+1)
		switch {
		case err != nil:
			return err
		case len(found) == 0 || id == "":
			return console.ErrUnknown
		case len(found) > 1 && string(found[0].ID) != id:
			several := console.AmbiguousNameError{Kind: "missions", Given: id}
			for i := range found {
				several.Could = append(several.Could, string(found[i].ID))
			}
			return several
		}
		r.Mission = found[0]
		if r.Changes, err = tables.MovesOfMission(ctx, src, r.Mission.ID); err != nil {
			return err
		}
		r.Checkpoints = spaces.MissionCheckpoints(r.Changes)
		for i := range r.Checkpoints {
			c := &r.Checkpoints[i]
			if c.Tokens, c.Cost, err = tables.MissionSpentBy(ctx, src, r.Mission.ID, c.At); err != nil {
				return err
			}
		}
		r.Tokens, r.Cost, r.Runs, err = tables.MissionSpent(ctx, src, r.Mission.ID)
		return err
	})
	if err != nil {
		return r, fmt.Errorf("read mission %s: %w", id, err)
	}
	return r, nil
}
