package readmodel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	closedCycles engine.QueryText = `select id, n, space, rest, stop, case when calls > 0 then started else 0 end, ended, tokens from cycles
where agent = $1 and circle = $2 and n > $3 order by n limit $4 + 0`
	turnsBetween engine.QueryText = `select t.cycle, t.n, t.body from cycles y join turns t on t.cycle = y.id
where y.agent = $1 and y.circle = $2 and y.n >= $3 and y.n <= $4 order by y.n, t.n`
	failedActions engine.QueryText = `select o.event, o.id, o.state, o.code, o.reason from outbox o join cycles y on y.id = o.cycle
where o.agent = $1 and y.circle = $2
  and (o.state = 'unknown' or o.state = 'failed' or o.state = 'expired' or o.state = 'cancelled')
  and o.settled >= $3 order by o.n`
	headedColumns engine.QueryText = tables.UplinkColumns + `, (select head_seq from branches b where b.space = uplinks.space and b.id = 'main')`
	uplinksOf     engine.QueryText = `select ` + headedColumns + ` from uplinks where agent = $1 and circle = $2 order by n`
	// A person is in few spaces; an agent may be in all of them.
	// The order of a cross join is the order in which they are gone through.
	uplinksAcross engine.QueryText = `select ` + headedColumns + `
from (select m.space as shared from members m where m.entity = $3) s cross join uplinks
where uplinks.space = s.shared and agent = $1 and circle <> $2 and live = 1 order by n desc limit $4 + 0`
	// roomsOfPerson has one row a room; there may be no agent in it.
	roomsOfPerson engine.QueryText = `select m.space, coalesce((select head_seq from branches b where b.space = m.space and b.id = 'main'), 0)
from members m join spaces s on s.id = m.space where m.entity = $1 and s.kind = 'room' order by m.space desc limit $2 + 0`
	setTimers engine.QueryText = `select ` + tables.TimerColumns + ` from timers
where agent = $1 and circle = $2 and kind in ('timer', 'plan') and fired_by = '' order by due, id limit $3 + 0`
	lastingWaits engine.QueryText = `select ` + tables.WaitColumns + ` from waits w
where w.state <> 'told' and w.state = 'open' and w.agent = $1 and w.circle = $2 order by w.started, w.cycle`
	spentOn     engine.QueryText = `select agent, space, prompt, cached, output, cost from usage where day = $1`
	answerForms engine.QueryText = `select answered from cycles where agent = $1 and model = $2 and answered <> '' order by ended desc limit $3`
	askedModel  engine.QueryText = `select model from cycles where agent = $1 and circle = $2 and answered <> '' order by started desc, id desc limit 1`
	// sendersTokens has the people of a timer beside the tallies of those who wrote.
	sendersTokens engine.QueryText = `select coalesce(max(s.tokens), 0), coalesce(max(s.cost), 0),
  coalesce((` + tables.TimerPayers + `), '[]')
from inbox i
join events e on e.space = i.space and e.branch = 'main' and e.seq = i.seq join senders s on s.day = $2 and s.entity = e.actor
where i.cycle = $1 and i.cycle <> ''`
)

// A LogReader reads the logs that frames are made from. It implements
// [shell.LogReader].
type LogReader struct{ engine engine.DatabaseEngine }

// NewLogReader returns a LogReader of a database.
func NewLogReader(e engine.DatabaseEngine) LogReader { return LogReader{e} }

// scanHeaded reads an uplink with the head of its space.
func scanHeaded(r engine.ResultRow) (u spaces.Uplink, err error) {
	return u, r.Scan(append(tables.UplinkFields(&u), &u.Head)...)
}

// Keyframe implements [shell.Record].
func (s LogReader) Keyframe(ctx context.Context, m spaces.Mind) (*spaces.Keyframe, error) {
	k, err := engine.FirstRow(ctx, s.engine, tables.NewestKeyframe, []any{string(m.Agent), string(m.Circle)}, tables.ScanKeyframe)
	if err != nil {
		return nil, fmt.Errorf("read keyframe of %s: %w", m, err)
	}
	return k, nil
}

// Space implements [shell.Record].
func (s LogReader) Space(ctx context.Context, id spaces.SpaceID) (spaces.Space, []spaces.SpaceMember, error) {
	var space spaces.Space
	var members []spaces.SpaceMember
	err := s.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		var found bool
		var err error
		space, found, err = tables.SpaceByID(ctx, src, id)
		if err == nil && !found {
			err = engine.ErrUnknown
		}
		if err == nil {
			members, err = tables.MembersOfSpace(ctx, src, id, tables.NoLimit)
		}
		return err
	})
	if err != nil {
		return spaces.Space{}, nil, fmt.Errorf("read space %s: %w", id, err)
	}
	return space, members, nil
}

// Events implements [shell.Record].
func (s LogReader) Events(ctx context.Context, space spaces.SpaceID, branch spaces.BranchID, after int64, limit int) ([]spaces.Event, error) {
	out, err := tables.BranchEvents(ctx, s.engine, space, branch, after, math.MaxInt64, limit)
	if err != nil {
		return nil, fmt.Errorf("read events of %s: %w", space, err)
	}
	return out, nil
}

// Self implements [shell.Record].
func (s LogReader) Self(ctx context.Context, m spaces.Mind) ([]spaces.Event, error) {
	var out []spaces.Event
	err := s.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) (err error) {
		out, err = tables.OwnEvents(ctx, src, m)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read self of %s: %w", m, err)
	}
	return out, nil
}

// Cycles implements [shell.Record].
func (s LogReader) Cycles(ctx context.Context, m spaces.Mind, n int64, turns bool, limit int) ([]spaces.ClosedCycle, error) {
	var out []spaces.ClosedCycle
	err := s.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) (err error) {
		out, err = engine.AllRows(ctx, src, closedCycles, []any{string(m.Agent), string(m.Circle), n, limit}, func(r engine.ResultRow) (c spaces.ClosedCycle, err error) {
			return c, r.Scan(&c.ID, &c.N, &c.Space, &c.Rest, &c.Stop, engine.ScanTime(&c.Asked), engine.ScanTime(&c.Ended), &c.Tokens)
		})
		if err != nil || !turns || len(out) == 0 {
			return err
		}
		return fillTurns(ctx, src, m, out)
	})
	if err != nil {
		return nil, fmt.Errorf("read cycles of %s: %w", m, err)
	}
	return out, nil
}

// Entities implements [shell.Record].
func (s LogReader) Entities(ctx context.Context, ids []spaces.EntityID) (map[spaces.EntityID]spaces.Entity, error) {
	return tables.EntitiesByID(ctx, s.engine, ids)
}

// Failures implements [shell.Record].
func (s LogReader) Failures(ctx context.Context, m spaces.Mind, since time.Time) ([]spaces.SendFailed, error) {
	out, err := engine.AllRows(ctx, s.engine, failedActions, []any{string(m.Agent), string(m.Circle), engine.ToMillis(since)}, func(r engine.ResultRow) (f spaces.SendFailed, err error) {
		return f, r.Scan(&f.Message, &f.Action, &f.State, &f.Code, &f.Reason)
	})
	if err != nil {
		return nil, fmt.Errorf("read failures of %s: %w", m, err)
	}
	return out, nil
}

// Spans implements [shell.Record].
func (s LogReader) Spans(ctx context.Context, m spaces.Mind, space spaces.SpaceID, limit int) ([]spaces.ConnectionSpan, error) {
	out, err := engine.AllRows(ctx, s.engine, tables.SpansOfUplink, []any{string(m.Agent), string(m.Circle), string(space), limit}, tables.ScanSpan)
	if err != nil {
		return nil, fmt.Errorf("read spans of %s in %s: %w", m, space, err)
	}
	return out, nil
}

// Plans implements [shell.Record].
func (s LogReader) Plans(ctx context.Context, m spaces.Mind, limit int) ([]spaces.WakeTimer, error) {
	plans, err := engine.AllRows(ctx, s.engine, setTimers, []any{string(m.Agent), string(m.Circle), limit}, tables.ScanTimer)
	if err == nil {
		err = tables.RedactNotes(ctx, s.engine, plans)
	}
	if err != nil {
		return nil, fmt.Errorf("plans of %s: %w", m, err)
	}
	return plans, nil
}

// Uplinks implements [shell.Record].
func (s LogReader) Uplinks(ctx context.Context, m spaces.Mind) ([]spaces.Uplink, error) {
	out, err := engine.AllRows(ctx, s.engine, uplinksOf, []any{string(m.Agent), string(m.Circle)}, scanHeaded)
	if err != nil {
		return nil, fmt.Errorf("read uplinks of %s: %w", m, err)
	}
	return out, nil
}

// Across implements [shell.Record].
func (s LogReader) Across(ctx context.Context, m spaces.Mind, who spaces.EntityID, limit int) ([]spaces.Uplink, error) {
	out, err := engine.AllRows(ctx, s.engine, uplinksAcross, []any{string(m.Agent), string(m.Circle), string(who), limit}, scanHeaded)
	if err != nil {
		return nil, fmt.Errorf("read rooms that %s shares with %s: %w", m.Agent, who, err)
	}
	return out, nil
}

// RoomsOf returns the rooms that an entity is a member of, at most limit, the newest
// first. Of each uplink only the space and the head are set.
func (s LogReader) RoomsOf(ctx context.Context, who spaces.EntityID, limit int) ([]spaces.Uplink, error) {
	out, err := engine.AllRows(ctx, s.engine, roomsOfPerson, []any{string(who), limit}, func(r engine.ResultRow) (u spaces.Uplink, err error) {
		u.Live = true
		return u, r.Scan(&u.Space, &u.Head)
	})
	if err != nil {
		return nil, fmt.Errorf("read the rooms of %s: %w", who, err)
	}
	return out, nil
}

// Spent implements [shell.Record]. Days are counted in UTC.
func (s LogReader) Spent(ctx context.Context, at time.Time, agent spaces.AgentID, space spaces.SpaceID) (shell.UsageToday, error) {
	var sum shell.UsageToday
	err := engine.EachRow(ctx, s.engine, spentOn, []any{engine.DayNumber(at)}, func(r engine.ResultRow) error {
		var who spaces.AgentID
		var where spaces.SpaceID
		var u spaces.TokenUsage
		if err := r.Scan(&who, &where, &u.Prompt, &u.Cached, &u.Output, &u.Cost); err != nil {
			return err
		}
		sum.All = sum.All.Add(u.Used())
		if who == agent {
			sum.Agent = sum.Agent.Add(u.Used())
		}
		if where == space {
			sum.Space = sum.Space.Add(u.Used())
		}
		return nil
	})
	if err != nil {
		return shell.UsageToday{}, fmt.Errorf("read usage: %w", err)
	}
	return sum, nil
}

// SpentBySenders implements [shell.Record].
func (s LogReader) SpentBySenders(ctx context.Context, at time.Time, cycle spaces.CycleID) (most money.UsedTokens, err error) {
	var set []spaces.EntityID
	if _, err := engine.ScanRow(ctx, s.engine, sendersTokens, []any{string(cycle), engine.DayNumber(at)}, &most.Tokens, &most.Cost, engine.ScanList(&set)); err != nil {
		return most, fmt.Errorf("read what senders used: %w", err)
	}
	for _, who := range set {
		var used money.UsedTokens
		if _, err := engine.ScanRow(ctx, s.engine, tables.SenderTokens, []any{engine.DayNumber(at), string(who)}, &used.Tokens, &used.Cost); err != nil {
			return most, fmt.Errorf("read what a sender used: %w", err)
		}
		most = most.Max(used)
	}
	return most, nil
}

// AnswerForms implements [shell.LogReader].
func (s LogReader) AnswerForms(ctx context.Context, agent spaces.AgentID, model string, limit int) ([]spaces.AnswerForm, error) {
	return newestForms(ctx, s.engine, agent, model, limit)
}

func newestForms(ctx context.Context, src engine.QueryReader, agent spaces.AgentID, model string, limit int) ([]spaces.AnswerForm, error) {
	forms, err := engine.AllRows(ctx, src, answerForms, []any{string(agent), model, limit}, func(r engine.ResultRow) (f spaces.AnswerForm, err error) {
		err = r.Scan(&f)
		return f, err
	})
	if err != nil {
		return nil, fmt.Errorf("read how %s answered: %w", agent, err)
	}
	return forms, nil
}

// answersInWords reports whether a model of an agent is known to answer people in words.
func answersInWords(ctx context.Context, src engine.QueryReader, agent spaces.AgentID, model string) (bool, error) {
	forms, err := newestForms(ctx, src, agent, model, spaces.HabitAnswers)
	slices.Reverse(forms)
	return spaces.AnswersInWords(forms), err
}

// AnswersInWords reports whether a model of an agent is known to answer people in words.
func (c ReadModel) AnswersInWords(ctx context.Context, agent spaces.AgentID, model string) (bool, error) {
	return answersInWords(ctx, c.engine, agent, model)
}

// WordyModel implements [console.MindReader].
func (c ReadModel) WordyModel(ctx context.Context, m spaces.Mind) (model string, err error) {
	if found, err := engine.ScanRow(ctx, c.engine, askedModel, []any{string(m.Agent), string(m.Circle)}, &model); err != nil || !found {
		return "", err
	}
	if words, err := c.AnswersInWords(ctx, m.Agent, model); err != nil || !words {
		return "", err
	}
	return model, nil
}

// Waits implements [shell.Record].
func (s LogReader) Waits(ctx context.Context, m spaces.Mind) ([]spaces.PendingWait, error) {
	waits, err := engine.AllRows(ctx, s.engine, lastingWaits, []any{string(m.Agent), string(m.Circle)}, tables.ScanWait)
	if err != nil {
		return nil, fmt.Errorf("waits of %s: %w", m, err)
	}
	return waits, nil
}

// fillTurns gives cycles, which are in order of their number, their turns.
func fillTurns(ctx context.Context, src engine.QueryReader, m spaces.Mind, cycles []spaces.ClosedCycle) error {
	at := map[spaces.CycleID]int{}
	for i, c := range cycles {
		at[c.ID] = i
	}
	args := []any{string(m.Agent), string(m.Circle), cycles[0].N, cycles[len(cycles)-1].N}
	return engine.EachRow(ctx, src, turnsBetween, args, func(r engine.ResultRow) error {
		t, err := tables.ScanTurn(r)
		if err != nil {
			return err
		}
		c := &cycles[at[t.Cycle]]
		c.Turns = append(c.Turns, t)
		return nil
	})
}

var _ shell.LogReader = LogReader{}
