package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	takenSeats engine.Query = `select distinct space, agent from uplinks where live = 1 order by space, agent`
	// Who runs a cycle ends it, too. For a plain order the engine would go through all runs.
	leftCycles engine.Query = `select ` + cycleColumns + ` from cycles where state = 'open' and not exists (select 1 from leases l
  where l.agent = cycles.agent and l.circle = cycles.circle and l.space = cycles.space and l.expires > $1) order by started + 0, id`
	leftCycle engine.Query = `select ` + cycleColumns + ` from cycles where agent = $1 and circle = $2 and space = $3 and state = 'open'
  and not exists (select 1 from leases l where l.agent = $1 and l.circle = $2 and l.space = $3 and l.expires > $4)`
	leaveClaimed engine.Query = `update inbox set state = 'ignored', reason = $2, cycle = '' where cycle = $1 and cycle <> '' and state = 'claimed'`
	emptyRooms   engine.Query = `select distinct s.id from mappings m join spaces s on s.id = m.space
where m.account = $1 and m.chat <> '' and s.config_key is null and s.direct >= $2
  and not exists (select 1 from uplinks u where u.space = s.id and u.live = 1) order by s.id`
	otherWakes engine.Query = `select distinct s.id from mappings m join spaces s on s.id = m.space
where m.account = $1 and m.chat <> '' and s.config_key is null and s.direct >= $2 and s.wake <> $3 order by s.id`
)

// goneDetail is why a cycle of an agent has ended that nobody serves any more.
const goneDetail = "the agent is not in the configuration any more"

// Strangers tells how agents that are not among those who are here can be sent away:
// out of every room they are in.
func (b BridgeStore) Strangers(ctx context.Context, here []spaces.AgentID) (away []spaces.Removal, err error) {
	err = engine.EachRow(ctx, b.s.engine, takenSeats, nil, func(r engine.Row) error {
		var space spaces.SpaceID
		var agent spaces.AgentID
		if err := r.Scan(&space, &agent); err != nil || slices.Contains(here, agent) {
			return err
		}
		if n := len(away); n > 0 && away[n-1].Space == space {
			away[n-1].Agents = append(away[n-1].Agents, agent)
			return nil
		}
		away = append(away, spaces.Removal{Space: space, Agents: []spaces.AgentID{agent}})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list agents that are in rooms: %w", err)
	}
	return away, nil
}

// Retire ends the cycles that agents have left open who are not among those who are
// here, unless somebody runs them. What they were to answer is ignored for good, with
// the reason. Timers and plans stay for who comes back.
func (b BridgeStore) Retire(ctx context.Context, here []spaces.AgentID, at time.Time) error {
	found, err := engine.AllRows(ctx, b.s.engine, leftCycles, []any{engine.ToMillis(b.s.clock().ToShared(at))}, scanCycle)
	if err != nil {
		return fmt.Errorf("list open cycles: %w", err)
	}
	found = slices.DeleteFunc(found, func(y spaces.Cycle) bool { return slices.Contains(here, y.Mind.Agent) })
	for _, y := range found {
		err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
			return t.cycle.abandonLeft(ctx, y.Mind, y.Space, goneDetail, at)
		})
		if err != nil {
			return fmt.Errorf("end cycle %s: %w", y.ID, err)
		}
	}
	return nil
}

// leaveBehind ends the cycle of a mind in a room that it leaves, unless somebody runs it.
func (t *cycleTx) abandonLeft(ctx context.Context, m spaces.Mind, space spaces.SpaceID, why string, at time.Time) error {
	y, err := engine.FirstRow(ctx, t, leftCycle, []any{string(m.Agent), string(m.Circle), string(space), t.SharedMillis(at)}, scanCycle)
	if err != nil || y == nil {
		return err
	}
	clear(t.cache.handled)
	if err := t.Run(ctx, leaveClaimed, string(y.ID), why); err != nil {
		return err
	}
	return t.abandon(ctx, *y, spaces.StopNoCapableAgent, why, at)
}

// Fill seats agents in the rooms of an account that came from no entry of their own and
// that nobody is in any more; in the direct ones alone, or in all.
func (b BridgeStore) Fill(ctx context.Context, account string, agents []spaces.AgentID, direct bool, at time.Time) (filled int, err error) {
	empty, err := engine.AllRows(ctx, b.s.engine, emptyRooms, []any{account, minDirect(direct)}, engine.ScanValue[spaces.SpaceID])
	if err != nil {
		return 0, fmt.Errorf("list rooms nobody is in: %w", err)
	}
	for _, id := range empty {
		err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
			r, err := t.space.load(ctx, id)
			for i := 0; err == nil && r != nil && i < len(agents); i++ {
				err = t.room.addAgent(ctx, r, agents[i], spaces.OpenRequest{At: at})
			}
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("fill room %s: %w", id, err)
		}
	}
	return len(empty), nil
}

// Rouse gives the rooms of an account that came from no entry of their own what wakes
// agents there: the direct ones alone, or all.
func (b BridgeStore) Rouse(ctx context.Context, account string, wake spaces.WakePolicy, direct bool) (changed int, err error) {
	other, err := engine.AllRows(ctx, b.s.engine, otherWakes, []any{account, minDirect(direct), string(wake)}, engine.ScanValue[spaces.SpaceID])
	if err != nil {
		return 0, fmt.Errorf("list rooms that wake otherwise: %w", err)
	}
	for _, id := range other {
		err := b.s.write(ctx, func(ctx context.Context, t *storeTx) error {
			r, err := t.space.load(ctx, id)
			if err != nil || r == nil {
				return err
			}
			return t.room.update(ctx, r, spaces.OpenRequest{Wake: wake, Direct: r.Direct, Closed: r.Closed})
		})
		if err != nil {
			return 0, fmt.Errorf("change what wakes in room %s: %w", id, err)
		}
	}
	return len(other), nil
}

// minDirect is the smallest value of the column direct that is meant.
func minDirect(direct bool) int {
	if direct {
		return 1
	}
	return 0
}
