package readmodel

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/activity/commands"
	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	rowsBack engine.QueryText = `select ` + tables.InboxColumns + `, ` + tables.EventColumns + ` from inbox i
join events e on e.space = i.space and e.branch = 'main' and e.seq = i.seq
where i.agent = $1 and i.circle = $2 and i.space = $3 and i.seq <= $4 order by i.seq desc limit 50`
	lastPlan engine.QueryText = `select plan, started from cycles where space = $1 and agent = $2 and circle = $3 and plan is not null
order by started desc, id desc limit 1`
	modelOfCycle engine.QueryText = `select model from cycles where id = $1`
	causeOf      engine.QueryText = `select actor, cause, seq from events where id = $1`
	rowOfMind    engine.QueryText = `select state, reason from inbox where agent = $1 and circle = $2 and space = $3 and seq = $4`
)

const (
	runHere   engine.QueryText = `select started from cycles where agent = $1 and circle = $2 and space = $3 and state = 'open'`
	asleepTo  engine.QueryText = `select coalesce(max(due), 0) from timers where agent = $1 and circle = $2 and kind = 'sleep' and fired_by = ''`
	runsToday engine.QueryText = `select coalesce(stop, ''), count(*), sum(denials) from cycles
where space = $3 and started >= $4 and agent = $1 and circle = $2 group by stop`
	mutedHere engine.QueryText = `select muted_until from uplinks where agent = $1 and circle = $2 and space = $3`
	usedToday engine.QueryText = `select prompt, cached, output, calls, cost from usage where day = $1 and agent = $2 and space = $3`
	// The index has only actions that are not final, which are few.
	countUnsent engine.QueryText = `select count(*) from mappings m
join outbox o on o.account = m.account and o.chat = m.chat and o.state in ('ready', 'sending')
where m.space = $1 and o.space = $1 and o.cycle <> ''`
)

// A RoomInspector reads what people ask about a room. It implements
// [commands.RoomInspector].
type RoomInspector struct{ engine engine.DatabaseEngine }

// NewRoomInspector returns a RoomInspector of a database.
func NewRoomInspector(e engine.DatabaseEngine) RoomInspector { return RoomInspector{e} }

var _ commands.RoomInspector = RoomInspector{}

// Now implements [activity.Insight].
func (b RoomInspector) Now(ctx context.Context, space spaces.SpaceID, at time.Time) (commands.RoomStatus, error) {
	var now commands.RoomStatus
	err := b.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		minds, err := engine.AllRows(ctx, src, tables.LiveMinds, []any{string(space)}, tables.ScanMind)
		if err != nil {
			return err
		}
		for _, m := range minds {
			n, err := agentStatus(ctx, src, m, space, at)
			if err != nil {
				return fmt.Errorf("%s: %w", m, err)
			}
			now.Agents = append(now.Agents, n)
		}
		if _, err := engine.ScanRow(ctx, src, tables.CountReadyRows, []any{string(space), ""}, &now.Waiting); err != nil {
			return err
		}
		_, err = engine.ScanRow(ctx, src, countUnsent, []any{string(space)}, &now.Unsent)
		return err
	})
	if err != nil {
		return commands.RoomStatus{}, fmt.Errorf("look at %s: %w", space, err)
	}
	return now, nil
}

func agentStatus(ctx context.Context, src engine.QueryReader, m spaces.Mind, space spaces.SpaceID, at time.Time) (commands.AgentStatus, error) {
	n := commands.AgentStatus{Agent: m.Agent}
	key := []any{string(m.Agent), string(m.Circle)}
	if _, err := engine.ScanRow(ctx, src, runHere, append(slices.Clip(key), string(space)), engine.ScanTime(&n.Since)); err != nil {
		return n, err
	}
	if _, err := engine.ScanRow(ctx, src, asleepTo, key, engine.ScanTime(&n.Asleep)); err != nil {
		return n, err
	}
	if _, err := engine.ScanRow(ctx, src, mutedHere, append(slices.Clip(key), string(space)), engine.ScanTime(&n.MutedUntil)); err != nil {
		return n, err
	}
	u := &n.Usage
	if _, err := engine.ScanRow(ctx, src, usedToday, []any{engine.DayNumber(at), string(m.Agent), string(space)}, &u.Prompt, &u.Cached, &u.Output, &u.Calls, &u.Cost); err != nil {
		return n, err
	}
	return n, engine.EachRow(ctx, src, runsToday, append(slices.Clip(key), string(space), engine.ToMillis(engine.StartOfDay(at))), func(r engine.ResultRow) error {
		var stop spaces.StopReason
		var runs, denials int
		if err := r.Scan(&stop, &runs, &denials); err != nil {
			return err
		}
		n.Runs += runs
		n.Denials += denials
		switch stop {
		case spaces.StopCancelled:
			n.Cancelled += runs
		case spaces.StopBudget, spaces.StopMaxRetries, spaces.StopMaxSteps, spaces.StopTimeout, spaces.StopModelError,
			spaces.StopCoordinator, spaces.StopNoCapableAgent, spaces.StopDependencyFailed:
			n.Failed += runs
		case "", spaces.StopCompleted, spaces.StopSilent, spaces.StopSkipped, spaces.StopSuperseded, spaces.StopSleeping, spaces.StopWaitingReply, spaces.StopWaitingTool:
		}
		return nil
	})
}

// Last implements [activity.Insight].
func (b RoomInspector) Last(ctx context.Context, space spaces.SpaceID, about spaces.MessageRef) ([]commands.MessageOutcome, error) {
	var told []commands.MessageOutcome
	err := b.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		minds, err := engine.AllRows(ctx, src, tables.LiveMinds, []any{string(space)}, tables.ScanMind)
		if err != nil {
			return err
		}
		who, seq, err := askedAbout(ctx, src, space, about)
		if err != nil {
			return err
		}
		for _, m := range minds {
			if _, agent := who.IsAgent(); agent && who != m.Agent.Entity() {
				continue // the answer of another agent is asked about
			}
			e, found, err := newestMessage(ctx, src, m, space, seq)
			if err != nil {
				return err
			}
			if !found {
				continue // it has not been asked anything yet
			}
			x, err := outcomeOf(ctx, src, m, e)
			if err != nil {
				return fmt.Errorf("%s: %w", m, err)
			}
			told = append(told, x)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read outcomes in %s: %w", space, err)
	}
	return told, nil
}

// MessageRows returns the rows of the message at ref, of the minds of its room. It reports false
// for an unknown message and for a command, which is no message to agents.
func (b RoomInspector) MessageRows(ctx context.Context, space spaces.SpaceID, ref spaces.MessageRef) (rows []spaces.InboxRow, known bool, err error) {
	err = b.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		id, err := tables.MessageEventAt(ctx, src, space, ref)
		if err != nil || id == "" {
			return err
		}
		e, err := tables.EventByID(ctx, src, id)
		if err != nil || e == nil {
			return err
		}
		if said, ok := e.Body.(spaces.MessagePosted); !ok || said.Command != "" {
			return nil
		}
		known = true
		minds, err := engine.AllRows(ctx, src, tables.LiveMinds, []any{string(space)}, tables.ScanMind)
		if err != nil {
			return err
		}
		for _, m := range minds {
			r := spaces.InboxRow{Mind: m, Space: space, Seq: e.Seq, Event: id}
			found, err := engine.ScanRow(ctx, src, rowOfMind, []any{string(m.Agent), string(m.Circle), string(space), e.Seq}, &r.State, &r.Reason)
			if err != nil {
				return fmt.Errorf("%s: %w", m, err)
			}
			if found {
				rows = append(rows, r)
			}
		}
		return nil
	})
	if err != nil {
		return nil, false, fmt.Errorf("read rows of a message in %s: %w", space, err)
	}
	return rows, known, nil
}

// Contexts implements [commands.RoomInspector].
func (b RoomInspector) Contexts(ctx context.Context, space spaces.SpaceID) ([]commands.ContextUse, error) {
	var all []commands.ContextUse
	err := b.engine.View(ctx, func(ctx context.Context, src engine.QueryReader) error {
		minds, err := engine.AllRows(ctx, src, tables.LiveMinds, []any{string(space)}, tables.ScanMind)
		if err != nil {
			return err
		}
		for _, m := range minds {
			c := commands.ContextUse{Agent: m.Agent}
			var plan []byte
			found, err := engine.ScanRow(ctx, src, lastPlan, []any{string(space), string(m.Agent), string(m.Circle)}, &plan, engine.ScanTime(&c.At))
			if err != nil {
				return fmt.Errorf("%s: %w", m, err)
			}
			if found && readContext(plan, &c) {
				all = append(all, c)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read contexts in %s: %w", space, err)
	}
	return all, nil
}

// readContext reads the plan of a frame, and reports whether it tells of one.
func readContext(stored []byte, c *commands.ContextUse) bool {
	var plan hud.FramePlan
	if json.Unmarshal(stored, &plan) != nil || len(plan.Items) == 0 {
		return false
	}
	c.Tokens, c.Budget, c.Fixed, c.Freed = plan.Tokens+plan.Fixed, plan.Budget+plan.Fixed, plan.Fixed, plan.Freed()
	bound := 0
	for i := range plan.Items {
		bound += plan.Items[i].Tokens
	}
	share := func(n int) int { return n * plan.Tokens / max(1, bound) } // items have upper bounds
	for i := range plan.Items {
		item := &plan.Items[i]
		switch {
		case item.Area == "keyframe":
			c.Rooms += share(item.Tokens)
		case item.Area == "log" && item.What != "this cycle":
			c.Runs += share(item.Tokens)
		case item.Area == "recalled":
			c.Old += share(item.Tokens)
		}
	}
	c.Now = plan.Tokens - c.Rooms - c.Runs - c.Old
	return true
}

// askedAbout returns up to which event of the room a question about a message looks
// back, and whose message that is: of an agent's it is what led to it.
func askedAbout(ctx context.Context, src engine.QueryReader, space spaces.SpaceID, about spaces.MessageRef) (who spaces.EntityID, seq int64, err error) {
	id, err := tables.MessageEventAt(ctx, src, space, about)
	if err != nil || id == "" {
		return "", math.MaxInt64, err
	}
	var cause spaces.EventID
	found, err := engine.ScanRow(ctx, src, causeOf, []any{string(id)}, &who, &cause, &seq)
	if _, agent := who.IsAgent(); err == nil && agent && cause != "" {
		var author spaces.EntityID
		var before spaces.EventID
		found, err = engine.ScanRow(ctx, src, causeOf, []any{string(cause)}, &author, &before, &seq)
	}
	if !found {
		seq = math.MaxInt64
	}
	return who, seq, err
}

// newestMessage returns the mind's row of the newest message up to seq that is no
// command.
func newestMessage(ctx context.Context, src engine.QueryReader, m spaces.Mind, space spaces.SpaceID, seq int64) (tables.InboxEntry, bool, error) {
	rows, err := engine.AllRows(ctx, src, rowsBack, []any{string(m.Agent), string(m.Circle), string(space), seq}, tables.ScanInboxEntry)
	for _, e := range rows {
		if said, ok := e.Subject.Body.(spaces.MessagePosted); ok && said.Command == "" {
			return e, true, err
		}
	}
	return tables.InboxEntry{}, false, err
}

// outcomeOf tells what became of a row.
func outcomeOf(ctx context.Context, src engine.QueryReader, m spaces.Mind, e tables.InboxEntry) (commands.MessageOutcome, error) {
	x := commands.MessageOutcome{Agent: m.Agent, Reason: e.Reason, Tries: e.Attempts + e.Crashes, Run: e.Cycle, Woke: e.Cycle != ""}
	if e.State == spaces.RowDead {
		x.GaveUp, x.Stop = true, spaces.StopCoordinator // it crashed again and again
		if stop, ok := strings.CutPrefix(e.Reason, tables.AttemptsReason); ok {
			x.Stop = spaces.StopReason(stop)
		}
	}
	if !x.Woke {
		return x, nil
	}
	y, err := engine.FirstRow(ctx, src, tables.SelectCycle, []any{string(e.Cycle)}, tables.ScanCycle)
	if err != nil || y == nil {
		return x, err
	}
	run := console.Run{Cycle: *y}
	if err := loadRun(ctx, src, &run); err != nil {
		return x, err
	}
	x.Stop, x.Usage = y.Stop, y.Usage
	said := map[spaces.EventID]bool{}
	for _, a := range run.Actions {
		if a.Kind == spaces.ActSend && a.Space == y.Space {
			said[a.Event] = true
		}
	}
	x.Spoke = len(said)
	var asked string
	if _, err := engine.ScanRow(ctx, src, modelOfCycle, []any{string(e.Cycle)}, &asked); err != nil {
		return x, err
	}
	if x.InWords, err = answersInWords(ctx, src, m.Agent, asked); err != nil {
		return x, err
	}
	if n := len(run.Steps); n > 0 {
		x.Model = run.Steps[n-1].Model
	}
	for i := range run.Tools {
		if t := &run.Tools[i]; !t.Started.IsZero() && !t.Ended.IsZero() {
			if x.Took == nil {
				x.Took = map[string]time.Duration{}
			}
			x.Took[t.Tool] += max(0, t.Ended.Sub(t.Started))
		}
	}
	for _, e := range run.Inner {
		if b, ok := e.Body.(spaces.ToolCalled); ok {
			x.Acts = engine.AppendNew(x.Acts, b.Name)
		}
		if b, ok := e.Body.(spaces.CallDenied); ok {
			x.Denied = engine.AppendNew(x.Denied, b.Denial.Code)
		}
	}
	return x, nil
}
