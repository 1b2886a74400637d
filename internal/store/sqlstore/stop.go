package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	openRun engine.QueryText = `select id, agent, circle, space from cycles where id = $1 and state = 'open'`
	// runsBegunHere !What waits for an answer or for a tool, or goes on with its result, began there as well. Open waits, and
	// those that woke a run, are found by partial indexes. The time is that of the first message of the run.
	runsBegunHere engine.QueryText = `select r.id, coalesce(min(e.at), 0) from (
select y.id from cycles y join inbox i on i.cycle = y.id
join events e on e.space = i.space and e.branch = 'main' and e.seq = i.seq
where y.state = 'open' and y.space = $1 and i.cycle <> '' and (e.thread = $2
  or e.id in (select m.event from messages m where m.account = $3 and m.chat = $4 and m.message = $5 and m.space = $1))
union select w.cycle from waits w where w.space = $1 and w.thread = $2 and w.state = 'open' and w.state <> 'told'
union select c.cycle from tool_runs c where c.space = $1 and c.thread = $2 and c.ended = 0
union select y.id from cycles y join timers t on t.id = y.timer join tool_runs c on c.id = t.note where y.state = 'open' and y.space = '' and t.kind = 'tool' and c.space = $1 and c.thread = $2
union select y.id from uplinks u cross join cycles y cross join waits w cross join inbox i cross join events e
where u.space = $1 and y.agent = u.agent and y.circle = u.circle and y.state = 'open' and w.woke = y.id and w.woke <> '' and w.space = $1 and i.cycle = w.cycle and i.cycle <> ''
and e.space = i.space and e.branch = 'main' and e.seq = i.seq and (e.thread = $2
  or e.id in (select m.event from messages m where m.account = $3 and m.chat = $4 and m.message = $5 and m.space = $1))
) r left join inbox i on i.cycle = r.id and i.cycle <> '' left join events e on e.space = i.space and e.branch = 'main' and e.seq = i.seq
group by r.id order by r.id`
	// runsAfter !The result of a call woke a run that goes on with the one that called.
	runsAfter engine.QueryText = `select y.id from cycles x join cycles y on y.agent = x.agent and y.circle = x.circle and y.state = 'open'
join timers t on t.id = y.timer and t.cycle = x.id where x.id = $1 and y.id <> x.id`
	rowsOfMessage = `from events e join uplinks u on u.space = e.space and ($2 = '' or u.agent = $2)
join inbox i on i.agent = u.agent and i.circle = u.circle and i.space = e.space and i.seq = e.seq
where e.id = $1 and e.branch = 'main' and e.space = $3`
	runsOfMessage engine.QueryText = `select distinct i.cycle ` + rowsOfMessage + ` and i.cycle <> '' order by i.cycle`
	messageThread engine.QueryText = `select distinct e.thread ` + rowsOfMessage + ` and i.state = 'ready'`
	stopMessage   engine.QueryText = `insert into roots (root, stopped) select distinct i.root, 1 ` + rowsOfMessage + ` and i.state = 'ready'
on conflict (root) do update set stopped = 1`
	ignoreMessage engine.QueryText = `update inbox set state = 'ignored', reason = 'stopped'
where (agent, circle, space, seq) in (select i.agent, i.circle, i.space, i.seq ` + rowsOfMessage + ` and i.state = 'ready')`
	retriedMessages engine.QueryText = `select i.agent, i.event from uplinks u
join inbox i on i.agent = u.agent and i.circle = u.circle and i.space = u.space and i.state = 'ready' and i.not_before > 0
where u.space = $1 and ($2 = '' or u.agent = $2) and ($3 = '' or i.event = $3)`
	// runSpace !A run that a timer woke is in the room of the timer.
	runSpace engine.QueryText = `select coalesce(nullif(y.space, ''), t.space, '') from cycles y left join timers t on t.id = y.timer where y.id = $1`
	// openRunsHere !Open cycles and waiting rows are found by partial indexes first.
	openRunsHere engine.QueryText = `select distinct y.id, y.agent, y.circle, y.space from uplinks u
join cycles o on o.agent = u.agent and o.circle = u.circle and o.state = 'open'
join cycles y on y.id = o.id and (y.space = u.space or y.active = u.space or exists (select 1 from timers t where t.id = y.timer and t.space = u.space))
where u.space = $1 and ($2 = '' or u.agent = $2) order by y.id`
	haltRun engine.QueryText = `update cycles set halted = case when halted < $2 then $2 else halted end where id = $1`
	// stopChains !A row that waits for another attempt is part of a chain as well.
	stopChains engine.QueryText = `insert into roots (root, stopped) select distinct root, 1 from inbox where cycle = $1 and cycle <> ''
on conflict (root) do update set stopped = 1`
	stopWaiting engine.QueryText = `insert into roots (root, stopped) select distinct i.root, 1 from inbox i
join inbox w on w.agent = i.agent and w.circle = i.circle and w.space = i.space and w.seq = i.seq
join uplinks u on u.agent = w.agent and u.circle = w.circle and u.space = w.space
where u.space = $1 and ($2 = '' or u.agent = $2) and w.state = 'ready' on conflict (root) do update set stopped = 1`
	ignoreWaiting engine.QueryText = `update inbox set state = 'ignored', reason = 'stopped'
where (agent, circle, space, seq) in (select i.agent, i.circle, i.space, i.seq from uplinks u
  join inbox i on i.agent = u.agent and i.circle = u.circle and i.space = u.space and i.state = 'ready'
  where u.space = $1 and ($2 = '' or u.agent = $2))`

	unsentOfRun engine.QueryText = `select ` + tables.ActionColumns + ` from outbox o
where o.cycle = $1 and o.cycle <> '' and (o.state = 'ready' or o.state = 'sending') order by o.n`
	unsentOfRoom engine.QueryText = `select ` + tables.ActionColumns + ` from outbox o
join mappings m on m.account = o.account and m.chat = o.chat and m.space = $1
where o.state in ('ready', 'sending') and o.space = $1 and o.cycle <> '' and ($2 = '' or o.agent = $2) order by o.n`
	// newestWords !Checklists are looked for among the last messages of a room and the changes to them.
	newestWords engine.QueryText = `select ` + tables.EventColumns + ` from events e
where e.space = $1 and e.branch = 'main' and e.seq > $2 and e.kind in ('said', 'edited', 'deleted', 'failed') order by e.seq desc`
	runAgent  engine.QueryText = `select agent from cycles where id = $1`
	isHalted  engine.QueryText = `select halted from cycles where id = $1`
	runThread engine.QueryText = `select coalesce((select e.thread from inbox i join events e on e.space = i.space and e.branch = 'main' and e.seq = i.seq
where i.cycle = $1 and i.cycle <> '' order by i.seq desc limit 1),
(select r.thread from cycles y join timers t on t.id = y.timer join tool_runs r on r.id = t.note where y.id = $1), '')`
)

// Values of the column halted.
const (
	haltedRun    = 1 // the run is stopped
	haltedUnsent = 2 // and its unsent actions are cancelled
)

// Halt implements [shell.CycleStore].
func (s RunStore) Halt(ctx context.Context, h spaces.StopRequest) (spaces.StopResult, error) {
	var done spaces.StopResult
	err := s.s.write(ctx, func(ctx context.Context, t *storeTx) (err error) {
		done, err = t.stop.stop(ctx, h)
		return err
	})
	if err != nil {
		return spaces.StopResult{}, fmt.Errorf("halt: %w", err)
	}
	return done, nil
}

// Stopped reports whether a run was stopped with all that it had not sent.
func (b OutboxStore) Stopped(ctx context.Context, run spaces.CycleID) (bool, error) {
	var reach int
	if _, err := engine.ScanRow(ctx, b.s.engine, isHalted, []any{string(run)}, &reach); err != nil {
		return false, fmt.Errorf("look for a stop of run %s: %w", run, err)
	}
	return reach >= haltedUnsent, nil
}

// A stopTx stops runs for a person.
type stopTx struct {
	*writeTx
	outbox  *outboxTx
	wait    *waitTx
	mission *missionTx
}

func (t *stopTx) stop(ctx context.Context, h spaces.StopRequest) (done spaces.StopResult, err error) {
	switch {
	case h.Run != "":
	case h.Here != nil:
		return t.stopHere(ctx, h)
	case h.Event != "":
		return t.stopMessage(ctx, h)
	}
	q, key := openRunsHere, []any{string(h.Space), string(h.Agent)}
	var space spaces.SpaceID
	if h.Run != "" {
		if _, err := engine.ScanRow(ctx, t, runSpace, []any{string(h.Run)}, &space); err != nil || h.Space != "" && space != h.Space {
			return done, err
		}
		q, key = openRun, []any{string(h.Run)}
	}
	done.Runs, err = engine.AllRows(ctx, t, q, key, func(r engine.ResultRow) (run spaces.StoppedRun, err error) {
		return run, r.Scan(&run.Run, &run.Mind.Agent, &run.Mind.Circle, &run.Space)
	})
	if err != nil {
		return done, err
	}
	for _, run := range done.Runs {
		if err := t.stopRun(ctx, run, h); err != nil {
			return done, fmt.Errorf("run %s: %w", run.Run, err)
		}
	}
	if h.Run != "" {
		if done.Waits, err = t.wait.dropOfRun(ctx, h.Run, h.At); err != nil {
			return done, err
		}
	}
	if done.Calls, err = t.outbox.cancelTools(ctx, h); err != nil {
		return done, err
	}
	if h.Run == "" && h.Space != "" {
		if err := t.withdrawWaiting(ctx, h); err != nil {
			return done, err
		}
		if _, err := engine.ScanRow(ctx, t, tables.CountReadyRows, []any{string(h.Space), string(h.Agent)}, &done.Waiting); err != nil {
			return done, err
		}
		for _, q := range []engine.QueryText{stopWaiting, stopWaits, ignoreWaiting} {
			if err := t.Run(ctx, q, string(h.Space), string(h.Agent)); err != nil {
				return done, err
			}
		}
		if done.Waits, err = t.wait.dropInSpace(ctx, h.Space, h.Agent, h.At); err != nil {
			return done, err
		}
		if h.Agent == "" {
			if done.Paused, err = t.mission.pauseAll(ctx, h.Space, h.At); err != nil {
				return done, err
			}
		}
	}
	if h.Unsent {
		if done.Unsent, err = t.cancelUnsent(ctx, h); err != nil {
			return done, err
		}
	}
	if err := t.pauseLists(ctx, h, done); err != nil {
		return done, err
	}
	if h.Run == "" || len(done.Runs) > 0 {
		return done, nil
	}
	if done.Waits+len(done.Calls)+done.Unsent > 0 {
		if err := t.tell(ctx, spaces.StoppedRun{Run: h.Run, Space: space}, h); err != nil {
			return done, err
		}
	}
	after, err := engine.AllRows(ctx, t, runsAfter, []any{string(h.Run)}, scanCycleID)
	if err != nil {
		return done, err
	}
	return t.stopEach(ctx, done, h, after)
}

// stopHere stops each run that began at a place, but none that began after the press.
func (t *stopTx) stopHere(ctx context.Context, h spaces.StopRequest) (done spaces.StopResult, err error) {
	type begun struct {
		run spaces.CycleID
		at  time.Time
	}
	key := []any{string(h.Space), string(h.Here.Thread), h.Here.Message.Account, h.Here.Message.Chat, h.Here.Message.Message}
	found, err := engine.AllRows(ctx, t, runsBegunHere, key, func(r engine.ResultRow) (b begun, err error) { return b, r.Scan(&b.run, engine.ScanTime(&b.at)) })
	if err != nil {
		return done, err
	}
	var runs []spaces.CycleID
	for _, b := range found {
		if !h.Here.Pressed.IsZero() && b.at.After(h.Here.Pressed) {
			done.Later++
			continue
		}
		runs = append(runs, b.run)
	}
	return t.stopEach(ctx, done, h, runs)
}

// stopMessage stops each run that works on a message, and has it wake an agent no more.
func (t *stopTx) stopMessage(ctx context.Context, h spaces.StopRequest) (done spaces.StopResult, err error) {
	key := []any{string(h.Event), string(h.Agent), string(h.Space)}
	runs, err := engine.AllRows(ctx, t, runsOfMessage, key, scanCycleID)
	if err != nil {
		return done, err
	}
	if done, err = t.stopEach(ctx, done, h, runs); err != nil {
		return done, err
	}
	var thread spaces.ThreadID
	waits, err := engine.ScanRow(ctx, t, messageThread, key, &thread)
	if err != nil || !waits {
		return done, err
	}
	done.Waiting = 1
	err = errors.Join(t.withdrawWaiting(ctx, h), t.Run(ctx, stopMessage, key...), t.Run(ctx, ignoreMessage, key...),
		t.outbox.pauseLists(ctx, listPlace{h.Space, h.Agent, &thread}, h.At))
	if err != nil || h.Say == "" {
		return done, err
	}
	return done, t.outbox.announce(ctx, spaces.RoomNotice{Room: h.Space, Key: "halt|" + string(h.Event), Thread: thread, Text: h.Say, At: h.At})
}

// withdrawWaiting takes back what people were told of messages that wait for another
// attempt, before that is stopped.
func (t *stopTx) withdrawWaiting(ctx context.Context, h spaces.StopRequest) error {
	type wait struct {
		agent spaces.AgentID
		event spaces.EventID
	}
	waiting, err := engine.AllRows(ctx, t, retriedMessages, []any{string(h.Space), string(h.Agent), string(h.Event)}, func(r engine.ResultRow) (w wait, err error) {
		return w, r.Scan(&w.agent, &w.event)
	})
	for _, w := range waiting {
		err = errors.Join(err, t.outbox.withdraw(ctx, h.Space, spaces.WaitingKey(w.agent, h.Space, w.event), "", h.At))
	}
	return err
}

func scanCycleID(r engine.ResultRow) (id spaces.CycleID, err error) { return id, r.Scan(&id) }

// stopEach stops runs, and adds what that ended.
func (t *stopTx) stopEach(ctx context.Context, done spaces.StopResult, h spaces.StopRequest, runs []spaces.CycleID) (spaces.StopResult, error) {
	for _, h.Run = range runs {
		one, err := t.stop(ctx, h)
		if err != nil {
			return done, err
		}
		done.Runs = append(done.Runs, one.Runs...)
		done.Calls = append(done.Calls, one.Calls...)
		done.Waits, done.Unsent = done.Waits+one.Waits, done.Unsent+one.Unsent
	}
	return done, nil
}

// stopRun stops a run and its causal chains, and queues the notice about it.
func (t *stopTx) stopRun(ctx context.Context, run spaces.StoppedRun, h spaces.StopRequest) error {
	reach := haltedRun
	if h.Unsent {
		reach = haltedUnsent
	}
	if err := t.Run(ctx, haltRun, string(run.Run), reach); err != nil {
		return err
	}
	if err := t.Run(ctx, stopChains, string(run.Run)); err != nil {
		return err
	}
	return t.tell(ctx, run, h)
}

// tell says in the room of a run who stopped it, once.
func (t *stopTx) tell(ctx context.Context, run spaces.StoppedRun, h spaces.StopRequest) error {
	if h.Say == "" {
		return nil
	}
	if _, err := engine.ScanRow(ctx, t, runSpace, []any{string(run.Run)}, &run.Space); err != nil || run.Space == "" {
		return err
	}
	var thread spaces.ThreadID
	if _, err := engine.ScanRow(ctx, t, runThread, []any{string(run.Run)}, &thread); err != nil {
		return err
	}
	return t.outbox.announce(ctx, spaces.RoomNotice{Room: run.Space, Key: "halt|" + string(run.Run), Thread: thread, Text: h.Say, At: h.At})
}

// pauseLists has the checklists of what a request stopped say so.
func (t *stopTx) pauseLists(ctx context.Context, h spaces.StopRequest, done spaces.StopResult) error {
	switch {
	case h.Run == "" && h.Space != "":
		return t.outbox.pauseLists(ctx, listPlace{h.Space, h.Agent, nil}, h.At)
	case h.Run != "" && len(done.Runs)+done.Waits+len(done.Calls) > 0:
		var thread spaces.ThreadID
		if _, err := engine.ScanRow(ctx, t, runThread, []any{string(h.Run)}, &thread); err != nil {
			return err
		}
		return t.outbox.pauseListsOf(ctx, h.Run, thread, h.At)
	}
	return nil
}

// pauseListsOf has the checklist of a run, in its room, say that it is paused.
func (t *outboxTx) pauseListsOf(ctx context.Context, run spaces.CycleID, thread spaces.ThreadID, at time.Time) error {
	p := listPlace{thread: &thread}
	if _, err := engine.ScanRow(ctx, t, runAgent, []any{string(run)}, &p.agent); err != nil {
		return err
	}
	if _, err := engine.ScanRow(ctx, t, runSpace, []any{string(run)}, &p.space); err != nil || p.space == "" {
		return err
	}
	return t.pauseLists(ctx, p, at)
}

// A listPlace is where checklists are.
type listPlace struct {
	space  spaces.SpaceID
	agent  spaces.AgentID   // empty: every agent
	thread *spaces.ThreadID // nil: every thread
}

// listBack is how many events behind the newest one a checklist is looked for.
const listBack = 2000

// pauseLists has the newest checklist of each agent in each thread of a place say that it is
// paused, where steps of it are left.
func (t *outboxTx) pauseLists(ctx context.Context, p listPlace, at time.Time) error {
	head, err := t.event.branch.headSeq(ctx, p.space)
	if err != nil {
		return err
	}
	words, err := engine.AllRows(ctx, t, newestWords, []any{string(p.space), head - listBack}, tables.ScanEvent)
	if err != nil {
		return fmt.Errorf("look for checklists in %s: %w", p.space, err)
	}
	type place struct {
		who    spaces.EntityID
		thread spaces.ThreadID
	}
	found, later := map[place]bool{}, tables.SupersededMessages{}
	for _, e := range words {
		if f, ok := e.Body.(spaces.SendFailed); ok && f.State == spaces.ActionCancelled {
			later.Add(f.Message, spaces.MessageRef{}) // people never saw it
		}
		text, stands := later.Observe(e)
		agent, is := e.Actor.IsAgent()
		here := place{e.Actor, e.Thread}
		if !stands || !is || found[here] || p.agent != "" && p.agent != agent || p.thread != nil && *p.thread != e.Thread {
			continue
		}
		target, _ := spaces.Target(e.Body)
		paused, list := shell.PauseChecklist(text)
		if found[here] = list; paused == text {
			continue
		}
		err := t.wait.edit(ctx, spaces.OutsideMessage{Agent: agent, At: at, Effect: spaces.RoomEffect{
			Kind: spaces.ActEdit, Space: e.Space, Thread: e.Thread, ID: spaces.EventID(t.newID()), Target: cmp.Or(target, e.ID), Text: paused,
			Chain: spaces.CausalChain{Cause: e.ID, Root: e.Root, Depth: e.Depth}, Expires: at.Add(missionTTL),
		}})
		if err != nil {
			return fmt.Errorf("pause checklist %s: %w", e.ID, err)
		}
	}
	return nil
}

// cancelUnsent cancels the actions that are not being sent. One that is being sent is
// cancelled if it comes back unsent.
func (t *stopTx) cancelUnsent(ctx context.Context, h spaces.StopRequest) (cancelled int, err error) {
	q, key := unsentOfRoom, []any{string(h.Space), string(h.Agent)}
	if h.Run != "" {
		q, key = unsentOfRun, []any{string(h.Run)}
	}
	left, err := engine.AllRows(ctx, t, q, key, tables.ScanAction)
	if err != nil {
		return 0, err
	}
	for _, o := range left {
		if o.State == spaces.ActionSending {
			if err := t.Run(ctx, haltRun, string(o.Cycle), haltedUnsent); err != nil {
				return cancelled, err
			}
			continue
		}
		if err := t.outbox.cancel(ctx, o, h.At); err != nil {
			return cancelled, err
		}
		cancelled++
	}
	return cancelled, nil
}

// cancel cancels an action because a person stopped its run.
func (t *outboxTx) cancel(ctx context.Context, o tables.StoredAction, at time.Time) error {
	o.State, o.Code, o.Reason = spaces.ActionCancelled, "cancelled", "A person stopped this before it was sent."
	return t.finish(ctx, o, at)
}
