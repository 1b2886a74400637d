package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	missionByID    engine.QueryText = `select body from missions where id = $1`
	missionsIn     engine.QueryText = `select body from missions where space = $1 and (ended = 0 or ended >= $2) order by created, id`
	newestMissions engine.QueryText = `select body from missions order by created desc, id desc limit $1 + 0`
	missionsNamed  engine.QueryText = `select body from missions where id = $1 or id like '%' || $1 order by created desc, id desc limit $2 + 0`
	missionMoves   engine.QueryText = `select body from mission_moves where mission = $1 order by n`
	nextMoves      engine.QueryText = `select v.id, v.mission, m.space, v.body from mission_moves v join missions m on m.id = v.mission where v.id > $1 order by v.id limit $2 + 0`
	newestMove     engine.QueryText = `select coalesce(max(id), 0) from mission_moves`
	missionSpent   engine.QueryText = `select coalesce(sum(prompt - cached + cached / 10 + output), 0), coalesce(sum(cost), 0), count(*) from cycles where mission = $1 and mission <> ''`
	missionSpentBy engine.QueryText = `select coalesce(sum(s.prompt - s.cached + s.cached / 10 + s.output), 0), coalesce(sum(s.cost), 0) from cycles c join steps s on s.cycle = c.id
where c.mission = $1 and c.mission <> '' and s.at <= $2`
)

func scanMission(r engine.ResultRow) (m spaces.Mission, err error) { return m, scanBody(r, &m) }

func scanBody(r engine.ResultRow, into any) error {
	var body []byte
	if err := r.Scan(&body); err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decode mission: %w", err)
	}
	return nil
}

// MissionByID returns a mission; nil if there is none.
func MissionByID(ctx context.Context, src engine.QueryReader, id spaces.MissionID) (*spaces.Mission, error) {
	return engine.FirstRow(ctx, src, missionByID, []any{string(id)}, scanMission)
}

// MissionsIn returns the missions of a space that have not ended and those that ended since
// an instant, oldest first.
func MissionsIn(ctx context.Context, src engine.QueryReader, space spaces.SpaceID, since time.Time) ([]spaces.Mission, error) {
	return engine.AllRows(ctx, src, missionsIn, []any{string(space), engine.ToMillis(since)}, scanMission)
}

// NewestMissions returns up to limit missions, newest first.
func NewestMissions(ctx context.Context, src engine.QueryReader, limit int) ([]spaces.Mission, error) {
	return engine.AllRows(ctx, src, newestMissions, []any{limit}, scanMission)
}

// MissionsNamed returns up to limit missions whose id ends so, newest first.
func MissionsNamed(ctx context.Context, src engine.QueryReader, end string, limit int) ([]spaces.Mission, error) {
	return engine.AllRows(ctx, src, missionsNamed, []any{end, limit}, scanMission)
}

// MovesOfMission returns the moves of a mission, in order.
func MovesOfMission(ctx context.Context, src engine.QueryReader, id spaces.MissionID) ([]spaces.MissionMove, error) {
	return engine.AllRows(ctx, src, missionMoves, []any{string(id)}, func(r engine.ResultRow) (m spaces.MissionMove, err error) { return m, scanBody(r, &m) })
}

// A RecordedMove is a move with the mission that made it.
type RecordedMove struct {
	Mission spaces.MissionID
	Space   spaces.SpaceID
	Move    spaces.MissionMove
}

// MovesAfter returns up to limit moves of all missions behind a place in the record, with
// the place behind them. -1 represents the end.
func MovesAfter(ctx context.Context, src engine.QueryReader, after int64, limit int) (found []RecordedMove, next int64, err error) {
	next = after
	if after < 0 {
		_, err = engine.ScanRow(ctx, src, newestMove, nil, &next)
		return nil, next, err
	}
	found, err = engine.AllRows(ctx, src, nextMoves, []any{after, limit}, func(r engine.ResultRow) (m RecordedMove, err error) {
		var body []byte
		if err = r.Scan(&next, &m.Mission, &m.Space, &body); err != nil {
			return m, err
		}
		return m, json.Unmarshal(body, &m.Move)
	})
	return found, next, err
}

// MissionSpent returns what the runs of a mission have used, in weighted tokens and in
// millionths of the currency, and how many there were.
func MissionSpent(ctx context.Context, src engine.QueryReader, id spaces.MissionID) (tokens int, cost int64, runs int, err error) {
	_, err = engine.ScanRow(ctx, src, missionSpent, []any{string(id)}, &tokens, &cost, &runs)
	return tokens, cost, runs, err
}

// MissionSpentBy returns what the model calls of a mission's runs had used at an instant.
func MissionSpentBy(ctx context.Context, src engine.QueryReader, id spaces.MissionID, at time.Time) (tokens int, cost int64, err error) {
	_, err = engine.ScanRow(ctx, src, missionSpentBy, []any{string(id), engine.ToMillis(at)}, &tokens, &cost)
	return tokens, cost, err
}
