package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	entityOfIdentity engine.QueryText = `select entity from identities where platform = $1 and scope = $2 and user_id = $3`
	insertToolRun    engine.QueryText = `insert into tool_runs (id, cycle, step, call, agent, circle, space, thread, asker, tool, server, args, risk, repeats, state, code, approvers, expires, proposed, readers)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`
	showToolRun  engine.QueryText = `update tool_runs set shown = 1 where cycle = $1 and call = $2`
	startToolRun engine.QueryText = `update tool_runs set state = 'running', holder = $2, until = $3, attempts = attempts + 1, started = $4 where id = $1`
	renewToolRun engine.QueryText = `update tool_runs set until = $3 where id = $1 and holder = $2 and state = 'running'`
	endToolRun   engine.QueryText = `update tool_runs set state = $2, result = $3, detail = $4, ended = $5 where id = $1`
	holdToolRun  engine.QueryText = `update tool_runs set state = 'awaiting_approval', input = $2, expires = $3, code = $4, approvers = $5 where id = $1`
	inputToolRun engine.QueryText = `update tool_runs set input = $2 where id = $1`
	// parkToolRuns !A run whose result the transcript does not have yet wakes the mind when it ends.
	parkToolRuns engine.QueryText = `update tool_runs set parked = 1 where cycle = $1 and shown = 0 and state <> 'cancelled' returning ` + tables.ToolRunColumns
	// wroteInCycle !A call that was begun may have happened, whatever state it is in.
	wroteInCycle engine.QueryText = `select ` + tables.ToolRunColumns + ` from tool_runs where cycle = $1 and repeats = 0 and (attempts > 0 or state = 'ready') order by proposed, id limit 1`
	// leaveToolRuns !The transcript of a crashed cycle is lost, so its results are shown again.
	leaveToolRuns  engine.QueryText = `update tool_runs set parked = 1 where cycle = $1 and state <> 'cancelled' returning ` + tables.ToolRunColumns
	lastGivenUp    engine.QueryText = `select coalesce(max(seq), 0) from inbox where cycle = $1 and cycle <> '' and state = 'claimed' and crashes >= $2`
	cancelToolRuns engine.QueryText = `update tool_runs set state = 'cancelled', ended = $3, decided_by = $4 where ended = 0
  and (cycle = $1 or $1 = '' and space = $2 and ($5 = '' or agent = $5)) returning ` + tables.ToolRunColumns
	// unattendedToolRuns !Ready runs of open cycles are begun by these cycles.
	unattendedToolRuns engine.QueryText = `select ` + tables.ToolRunColumns + ` from tool_runs where
  ended = 0 and (state = 'ready' and parked = 1 or state = 'running' and until <= $1 or state = 'awaiting_approval' and expires <= $1) order by proposed, id limit $2 + 0`
	codedToolRun  engine.QueryText = `select ` + tables.ToolRunColumns + ` from tool_runs where code = $1 and code <> '' order by proposed desc limit 1`
	decideToolRun engine.QueryText = `update tool_runs set state = $2, decided_by = $3, ended = $4 where id = $1`
	insertGrant   engine.QueryText = `insert into tool_grants (agent, space, tool, by_whom, since) values ($1, $2, $3, $4, $5) on conflict (agent, space, tool) do nothing`
	deleteGrant   engine.QueryText = `delete from tool_grants where agent = $1 and space = $2 and tool = $3`
	allGrants     engine.QueryText = `select agent, space, tool, by_whom, since from tool_grants order by agent, space, tool`
	grantsThere   engine.QueryText = `select tool from tool_grants where agent = $1 and space = $2 order by tool`
	newestRuns    engine.QueryText = `select tool, server, state, proposed, started, ended from tool_runs order by id desc limit $1 + 0`
	countRuns     engine.QueryText = `select coalesce(sum(case when proposed >= $2 then 1 else 0 end), 0), coalesce(sum(case when proposed >= $3 then 1 else 0 end), 0)
from tool_runs where agent = $1 and proposed >= $4`
	waitingRuns engine.QueryText = `select ` + tables.ToolRunColumns + ` from tool_runs where ended = 0 and state = 'awaiting_approval' order by proposed, id`
)

// maxToolAttempts is how often a run is begun whose process ended while it ran.
const maxToolAttempts = 3

// A ToolRunStore stores calls of outside tools and what people decide about them. It
// implements [shell.ToolRunStore].
type ToolRunStore struct{ s *Store }

// A toolRunTx stores the runs of outside tools.
type toolRunTx struct {
	*writeTx
	outbox *outboxTx
	usage  *usageTx
}

// store records the calls that a step asks for, and which results it shows.
func (t *toolRunTx) store(ctx context.Context, c *spaces.StepCommit) error {
	for _, run := range c.Runs {
		expires := int64(0)
		if !run.Expires.IsZero() {
			expires = engine.CeilMillis(t.Clock().ToShared(run.Expires))
		}
		err := t.Run(ctx, insertToolRun, run.ID, string(run.Cycle), run.Step, run.Call, string(run.Mind.Agent), string(run.Mind.Circle), string(run.Space), string(run.Thread),
			string(run.Asker), run.Tool, run.Server, run.Args, string(run.Risk), run.Repeats, string(run.State), run.Code, engine.EncodeList(run.Approvers),
			expires, engine.ToMillis(run.Proposed), engine.EncodeList(run.Readers))
		if err != nil {
			return fmt.Errorf("store tool run: %w", err)
		}
	}
	for _, call := range c.Shown {
		if err := t.Run(ctx, showToolRun, string(c.Step.Cycle), call); err != nil {
			return fmt.Errorf("mark tool result as shown: %w", err)
		}
	}
	return nil
}

// settle leaves the calls of a cycle that ends without their results to wake the mind
// later; those that have ended meanwhile wake it at once. The calls of a cycle that is
// given up are cancelled: what woke it is tried again.
func (t *toolRunTx) settle(ctx context.Context, c *spaces.StepCommit) error {
	if c.Close.Back {
		_, err := t.outbox.cancelTools(ctx, spaces.StopRequest{Run: c.Step.Cycle, At: c.At})
		return err
	}
	parked, err := engine.AllRows(ctx, t, parkToolRuns, []any{string(c.Step.Cycle)}, tables.ScanToolRun)
	if err != nil {
		return fmt.Errorf("park tool runs: %w", err)
	}
	for i := range parked {
		if parked[i].State.Ended() {
			if err := t.wake(ctx, &parked[i], c.At); err != nil {
				return err
			}
		}
	}
	return nil
}

// What a room is told of a cycle that crashed too often.
const (
	crashedWithTools = "The program ended several times while I worked on the last messages here, and I will not begin again, because I had called tools. I will tell what came of these calls; ask again for the rest."
	crashedAlone     = "The program ended several times while I worked on the last messages here, and I will not begin again. Ask again if you still need an answer."
	crashedUnread    = "The program ended several times while I read what came of %s. %s"
)

// outcomes say what came of a call, for people.
var outcomes = map[spaces.ToolRunState]string{
	spaces.ToolDone:      "It is done.",
	spaces.ToolFailed:    "It failed.",
	spaces.ToolDenied:    "It was not called.",
	spaces.ToolExpired:   "It was not called.",
	spaces.ToolCancelled: "It was cancelled.",
	spaces.ToolUnknown:   "It may have happened, or not.",
}

// leave tells people of a crashed cycle. It has the calls of the cycle wake the mind at
// their ends, where one of them writes; calls that people were not asked about end. Where
// none writes, all are cancelled. The messages are not shown as new again.
func (t *toolRunTx) leave(ctx context.Context, y *spaces.Cycle, at time.Time) error {
	id := y.ID
	wrote, err := engine.FirstRow(ctx, t, wroteInCycle, []any{string(id)}, tables.ScanToolRun)
	if err != nil {
		return fmt.Errorf("find tool runs that write: %w", err)
	}
	if wrote == nil {
		_, err = t.outbox.cancelTools(ctx, spaces.StopRequest{Run: id, At: at})
		return errors.Join(err, t.tellCrashed(ctx, y, at))
	}
	notice := spaces.RoomNotice{Room: wrote.Space, Thread: wrote.Thread, Key: "crashed|" + string(id), Text: crashedWithTools, At: at}
	if err := errors.Join(t.outbox.announce(ctx, notice), t.passOver(ctx, y)); err != nil {
		return err
	}
	left, err := engine.AllRows(ctx, t, leaveToolRuns, []any{string(id)}, tables.ScanToolRun)
	if err != nil {
		return fmt.Errorf("leave tool runs: %w", err)
	}
	for i := range left {
		switch run := &left[i]; {
		case run.State.Ended():
			err = t.wake(ctx, run, at)
		case run.State == spaces.ToolAsked && run.Input.Question == "":
			_, err = t.end(ctx, run, spaces.ToolRunEnd{ID: run.ID, State: spaces.ToolExpired, Detail: "its cycle crashed before a person was asked", At: at})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tellCrashed tells the room whose messages a crashed cycle gives up.
func (t *toolRunTx) tellCrashed(ctx context.Context, y *spaces.Cycle, at time.Time) error {
	if y.Space == "" {
		return nil
	}
	var thread spaces.ThreadID
	if _, err := engine.ScanRow(ctx, t, runThread, []any{string(y.ID)}, &thread); err != nil {
		return err
	}
	return t.outbox.announce(ctx, spaces.RoomNotice{Room: y.Space, Thread: thread, Key: "crashed|" + string(y.ID), Text: crashedAlone, At: at})
}

// passOver moves the cursor of the mind past the messages that a crashed cycle gives up.
func (t *toolRunTx) passOver(ctx context.Context, y *spaces.Cycle) error {
	var last int64
	if _, err := engine.ScanRow(ctx, t, lastGivenUp, []any{string(y.ID), maxCrashes}, &last); err != nil || last == 0 {
		return err
	}
	event, err := tables.EventIDAtSeq(ctx, t, y.Space, last)
	if err != nil {
		return err
	}
	return t.Run(ctx, moveCursor, string(y.Mind.Agent), string(y.Mind.Circle), string(y.Space), last, string(event))
}

// tellUnread tells people what came of a call whose end woke a cycle that crashed too often.
func (t *toolRunTx) tellUnread(ctx context.Context, id spaces.CycleID, timer string, at time.Time) error {
	if timer == "" {
		return nil
	}
	woke, err := timerOf(ctx, t, timer)
	if err != nil || woke == nil || woke.Kind != spaces.TimerTool {
		return err
	}
	run, err := tables.ToolRunByID(ctx, t, woke.Note)
	if err != nil || run == nil {
		return err
	}
	text := fmt.Sprintf(crashedUnread, run.Tool, outcomes[run.State])
	return t.outbox.announce(ctx, spaces.RoomNotice{Room: run.Space, Thread: run.Thread, Key: "crashed|" + string(id) + "|" + run.ID, Text: text, At: at})
}

// cancelTools cancels the calls of a cycle, or of a space, that have not ended, and returns
// their ids. What people were asked about them says so.
func (t *outboxTx) cancelTools(ctx context.Context, h spaces.StopRequest) (ids []string, err error) {
	if h.Run == "" && h.Space == "" {
		return nil, nil
	}
	cancelled, err := engine.AllRows(ctx, t, cancelToolRuns, []any{string(h.Run), string(h.Space), engine.ToMillis(h.At), "", string(h.Agent)}, tables.ScanToolRun)
	if err != nil {
		return nil, fmt.Errorf("cancel tool runs: %w", err)
	}
	for i := range cancelled {
		ids = append(ids, cancelled[i].ID)
		if err := t.withdraw(ctx, cancelled[i].Space, cancelled[i].StatusKey(), "", h.At); err != nil {
			return nil, err
		}
		if cancelled[i].Code == "" {
			continue
		}
		if err := t.closeChoices(ctx, cancelled[i].RequestKey(), undecided[spaces.ToolCancelled], h.At); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// wake sets a timer that is due at once and shows the mind the result of the run.
func (t *toolRunTx) wake(ctx context.Context, run *spaces.ToolRun, at time.Time) error {
	charged, err := t.usage.accountsOf(ctx, run.Cycle)
	if err != nil {
		return fmt.Errorf("find who a tool run is counted for: %w", err)
	}
	timer := spaces.WakeTimer{
		ID: t.newID(), Mind: run.Mind, Kind: spaces.TimerTool, Space: run.Space, Note: run.ID, Due: t.Clock().ToShared(at), Cycle: run.Cycle, SetBy: run.Asker, SetAt: run.Proposed,
	}
	if err := t.Run(ctx, insertTimer, timerValues(timer, charged.people)...); err != nil {
		return fmt.Errorf("wake for a tool result: %w", err)
	}
	return nil
}

// StartRun implements [shell.ToolRunStore].
func (r ToolRunStore) StartRun(ctx context.Context, id, holder string, ttl time.Duration, orphan bool, at time.Time) (run spaces.ToolRun, err error) {
	err = r.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		found, err := tables.ToolRunByID(ctx, t, id)
		if err != nil || found == nil {
			return err
		}
		run, err = t.toolRun.start(ctx, found, holder, ttl, orphan, at)
		return err
	})
	if err != nil {
		return spaces.ToolRun{}, fmt.Errorf("start tool run %s: %w", id, err)
	}
	return run, failpoint.Point("tool.claimed")
}

// start begins a run that is ready, or one whose process has ended: again where the tool
// may be called twice, else its outcome is unknown.
func (t *toolRunTx) start(ctx context.Context, run *spaces.ToolRun, holder string, ttl time.Duration, orphan bool, at time.Time) (spaces.ToolRun, error) {
	now := t.SharedMillis(at)
	left := run.State == spaces.ToolRunning && run.Holder != holder && (orphan || engine.ToMillis(run.Until) <= now)
	if left && (!run.Repeats || run.Attempt >= maxToolAttempts) {
		end := spaces.ToolRunEnd{ID: run.ID, State: spaces.ToolUnknown, Detail: "the process ended while the tool ran", At: at}
		_, err := t.end(ctx, run, end)
		run.State, run.Detail, run.Ended = end.State, end.Detail, at
		return *run, err
	}
	if run.State != spaces.ToolReady && !left {
		return *run, nil
	}
	run.State, run.Holder, run.Started, run.Attempt = spaces.ToolRunning, holder, at, run.Attempt+1
	return *run, t.Run(ctx, startToolRun, run.ID, holder, now+ttl.Milliseconds(), engine.ToMillis(at))
}

// RenewRun implements [shell.ToolRunStore].
func (r ToolRunStore) RenewRun(ctx context.Context, id, holder string, ttl time.Duration, at time.Time) (held bool, err error) {
	err = r.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		n, err := t.Exec(ctx, renewToolRun, id, holder, t.SharedMillis(at)+ttl.Milliseconds())
		held = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("renew tool run %s: %w", id, err)
	}
	return held, nil
}

// EndRun implements [shell.ToolRunStore].
func (r ToolRunStore) EndRun(ctx context.Context, e spaces.ToolRunEnd) (ended bool, err error) {
	if err := failpoint.Point("tool.before_result"); err != nil {
		return false, err
	}
	err = r.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		run, err := tables.ToolRunByID(ctx, t, e.ID)
		if err != nil || run == nil {
			return err
		}
		if e.Holder != "" && run.Holder != e.Holder || !run.State.MayBecome(e.State) {
			return nil // another process, or a person, was faster
		}
		if e.State == spaces.ToolAsked {
			ended = true
			return t.toolRun.hold(ctx, e)
		}
		ended, err = t.toolRun.end(ctx, run, e)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("end tool run %s: %w", e.ID, err)
	}
	return ended, failpoint.Point("tool.after_result")
}

// hold has a run wait for a person's choice, and asks for it.
func (t *toolRunTx) hold(ctx context.Context, e spaces.ToolRunEnd) error {
	err := t.Run(ctx, holdToolRun, e.ID, engine.EncodeList([]spaces.ToolInput{e.Input}), engine.CeilMillis(t.Clock().ToShared(e.Expires)), e.Code, engine.EncodeList(e.Approvers))
	if err != nil {
		return err
	}
	e.Notice.At = e.At
	return t.outbox.announce(ctx, e.Notice)
}

// end stores how a run ended. A parked one wakes its mind.
func (t *toolRunTx) end(ctx context.Context, run *spaces.ToolRun, e spaces.ToolRunEnd) (bool, error) {
	if err := t.Run(ctx, endToolRun, run.ID, string(e.State), e.Result, e.Detail, engine.ToMillis(e.At)); err != nil {
		return false, err
	}
	if run.State == spaces.ToolAsked {
		said := undecided[e.State]
		if run.Input.Question != "" {
			said = strings.Replace(said, "Not called", "Not finished", 1)
		}
		if err := t.outbox.closeChoices(ctx, run.RequestKey(), said, e.At); err != nil {
			return false, err
		}
	}
	if !run.Parked {
		return true, nil
	}
	return true, t.wake(ctx, run, e.At)
}

// undecided is what a request says at its end when no person decided.
var undecided = map[spaces.ToolRunState]string{
	spaces.ToolExpired:   "Not called: no one decided in time.",
	spaces.ToolCancelled: "Not called: it was cancelled.",
}

// TellProgress implements [shell.ToolRunStore].
func (r ToolRunStore) TellProgress(ctx context.Context, run spaces.ToolRun, text string, at time.Time) error {
	err := r.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		return t.outbox.changeNotice(ctx, run.StatusKey(), text, at)
	})
	if err != nil {
		return fmt.Errorf("tell progress of tool run %s: %w", run.ID, err)
	}
	return nil
}

// UnattendedRuns implements [shell.ToolRunStore].
func (r ToolRunStore) UnattendedRuns(ctx context.Context, at time.Time, limit int) ([]spaces.ToolRun, error) {
	runs, err := engine.AllRows(ctx, r.s.engine, unattendedToolRuns, []any{engine.ToMillis(r.s.clock().ToShared(at)), limit}, tables.ScanToolRun)
	if err != nil {
		return nil, fmt.Errorf("list unattended tool runs: %w", err)
	}
	return runs, nil
}

// RunsOfCycle implements [shell.ToolRunReader].
func (r ToolRunStore) RunsOfCycle(ctx context.Context, id spaces.CycleID) ([]spaces.ToolRun, error) {
	runs, err := engine.AllRows(ctx, r.s.engine, tables.ToolRunsOfCycle, []any{string(id)}, tables.ScanToolRun)
	if err != nil {
		return nil, fmt.Errorf("list tool runs of %s: %w", id, err)
	}
	return runs, nil
}

// ToolRun implements [shell.ToolRunReader].
func (r ToolRunStore) ToolRun(ctx context.Context, id string) (*spaces.ToolRun, error) {
	run, err := tables.ToolRunByID(ctx, r.s.engine, id)
	if err != nil {
		return nil, fmt.Errorf("read tool run %s: %w", id, err)
	}
	return run, nil
}

// ToolsAllowed implements [shell.ToolRunReader].
func (r ToolRunStore) ToolsAllowed(ctx context.Context, agent spaces.AgentID, space spaces.SpaceID) ([]string, error) {
	tools, err := engine.AllRows(ctx, r.s.engine, grantsThere, []any{string(agent), string(space)}, engine.ScanValue[string])
	if err != nil {
		return nil, fmt.Errorf("list tools that are always allowed: %w", err)
	}
	return tools, nil
}

// CountRuns implements [shell.ToolRunReader].
func (r ToolRunStore) CountRuns(ctx context.Context, agent spaces.AgentID, day, minute time.Time) (today, lately int, err error) {
	key := []any{string(agent), engine.ToMillis(day), engine.ToMillis(minute), min(engine.ToMillis(day), engine.ToMillis(minute))}
	if _, err := engine.ScanRow(ctx, r.s.engine, countRuns, key, &today, &lately); err != nil {
		return 0, 0, fmt.Errorf("count calls of tools: %w", err)
	}
	return today, lately, nil
}

// ToolTimings returns when the newest calls were made and how they ended.
func (r ToolRunStore) ToolTimings(ctx context.Context, limit int) ([]console.ToolTiming, error) {
	found, err := engine.AllRows(ctx, r.s.engine, newestRuns, []any{limit}, func(r engine.ResultRow) (t console.ToolTiming, err error) {
		return t, r.Scan(&t.Tool, &t.Server, &t.State, engine.ScanTime(&t.Proposed), engine.ScanTime(&t.Started), engine.ScanTime(&t.Ended))
	})
	if err != nil {
		return nil, fmt.Errorf("list calls of tools: %w", err)
	}
	return found, nil
}

// RunsToDecide returns the calls that a person has to decide about, oldest first.
func (r ToolRunStore) RunsToDecide(ctx context.Context) ([]spaces.ToolRun, error) {
	runs, err := engine.AllRows(ctx, r.s.engine, waitingRuns, nil, tables.ScanToolRun)
	if err != nil {
		return nil, fmt.Errorf("list tool runs to decide: %w", err)
	}
	return runs, nil
}

// RunByCode returns the newest call that people decide about by a code; nil if there is
// none.
func (r ToolRunStore) RunByCode(ctx context.Context, code string) (*spaces.ToolRun, error) {
	run, err := engine.FirstRow(ctx, r.s.engine, codedToolRun, []any{code}, tables.ScanToolRun)
	if err != nil {
		return nil, fmt.Errorf("find tool run %s: %w", code, err)
	}
	return run, nil
}

// DecideRun stores a person's decision about the call with a code, once. The run is
// returned as it is afterwards; decided is false when it was decided before, or came too
// late. The caller checks who may decide.
func (r ToolRunStore) DecideRun(ctx context.Context, d spaces.ToolDecision) (run *spaces.ToolRun, decided bool, err error) {
	err = r.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		run, err = engine.FirstRow(ctx, t, codedToolRun, []any{d.Code}, tables.ScanToolRun)
		if err != nil || run == nil || run.State != spaces.ToolAsked {
			return err
		}
		decided, err = t.toolRun.decide(ctx, run, d)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("decide about %s: %w", d.Code, err)
	}
	if decided {
		err = failpoint.Point("tool.decided")
	}
	return run, decided, err
}

func (t *toolRunTx) decide(ctx context.Context, run *spaces.ToolRun, d spaces.ToolDecision) (bool, error) {
	if late := engine.ToMillis(run.Expires) <= t.SharedMillis(d.At); late {
		_, err := t.end(ctx, run, spaces.ToolRunEnd{ID: run.ID, State: spaces.ToolExpired, At: d.At})
		run.State = spaces.ToolExpired
		return false, err
	}
	if d.Allow && (run.Input.Question != "") != (d.Choice > 0) || d.Choice > len(run.Input.Options) {
		return false, nil // it was meant for another request of the run
	}
	run.State, run.DecidedBy = spaces.ToolDenied, d.By
	ended := engine.ToMillis(d.At)
	if d.Allow {
		run.State, ended = spaces.ToolReady, 0
	}
	if err := t.Run(ctx, decideToolRun, run.ID, string(run.State), string(d.By), ended); err != nil {
		return false, err
	}
	if d.Allow && d.Choice > 0 {
		run.Input.Choice = d.Choice
		if err := t.Run(ctx, inputToolRun, run.ID, engine.EncodeList([]spaces.ToolInput{run.Input})); err != nil {
			return false, err
		}
	}
	if d.Allow && d.Always {
		if err := t.Run(ctx, insertGrant, string(run.Mind.Agent), string(run.Space), run.Tool, string(d.By), engine.ToMillis(d.At)); err != nil {
			return false, err
		}
	}
	if err := t.outbox.closeChoices(ctx, run.RequestKey(), d.Outcome, d.At); err != nil {
		return false, err
	}
	if d.Say {
		notice := spaces.RoomNotice{Room: run.Space, Thread: run.Thread, Key: "decided|" + run.ID, Text: d.Outcome, At: d.At}
		if err := t.outbox.announce(ctx, notice); err != nil {
			return false, err
		}
	}
	if !d.Allow && run.Parked {
		return true, t.wake(ctx, run, d.At)
	}
	return true, nil
}

// ToolGrants returns the tools that people always allow, by agent, space and tool.
func (r ToolRunStore) ToolGrants(ctx context.Context) ([]spaces.ToolGrant, error) {
	grants, err := engine.AllRows(ctx, r.s.engine, allGrants, nil, func(row engine.ResultRow) (g spaces.ToolGrant, err error) {
		return g, row.Scan(&g.Agent, &g.Space, &g.Tool, &g.By, engine.ScanTime(&g.Since))
	})
	if err != nil {
		return nil, fmt.Errorf("list tool grants: %w", err)
	}
	return grants, nil
}

// RevokeToolGrant takes back what a person always allowed, and reports whether it was
// allowed.
func (r ToolRunStore) RevokeToolGrant(ctx context.Context, g spaces.ToolGrant) (revoked bool, err error) {
	err = r.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		n, err := t.Exec(ctx, deleteGrant, string(g.Agent), string(g.Space), g.Tool)
		revoked = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("revoke tool grant: %w", err)
	}
	return revoked, nil
}

// PersonOf returns who an identity is; empty when it is unknown.
func (r ToolRunStore) PersonOf(ctx context.Context, who spaces.PlatformIdentity) (spaces.EntityID, error) {
	e, err := engine.FirstRow(ctx, r.s.engine, entityOfIdentity, []any{who.Platform, who.Scope, who.User}, func(row engine.ResultRow) (id spaces.EntityID, err error) {
		return id, row.Scan(&id)
	})
	if err != nil || e == nil {
		return "", err
	}
	return *e, nil
}

// EntityOf returns who an identity is. A person who is new is stored.
func (r ToolRunStore) EntityOf(ctx context.Context, who spaces.PlatformIdentity) (id spaces.EntityID, err error) {
	err = r.s.write(ctx, func(ctx context.Context, t *storeTx) error {
		id, err = t.entity.resolve(ctx, who)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("find who %s is on %s: %w", who.User, who.Platform, err)
	}
	return id, nil
}
