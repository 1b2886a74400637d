package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/trestle-bridge/trestle/internal/failpoint"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/tables"
	"github.com/trestle-bridge/trestle/spaces"
)

const (
	storeMission engine.QueryText = `insert into missions (id, space, state, created, ended, body) values ($1, $2, $3, $4, $5, $6)
on conflict (id) do update set state = excluded.state, ended = excluded.ended, body = excluded.body`
	insertMove  engine.QueryText = `insert into mission_moves (mission, n, body) values ($1, $2, $3)`
	dropTimer   engine.QueryText = `delete from timers where id = $1`
	mindHere    engine.QueryText = `select circle from uplinks where space = $1 and agent = $2 and live = 1`
	taskOfCycle engine.QueryText = `select mission, task from cycles where id = $1`
	headOfLog   engine.QueryText = `select head_seq from branches where space = $1 and id = $2`
	// leaveTasks !Runs that are under way or may go on have nothing left to do for their task.
	leaveTasks engine.QueryText = `update cycles set task = $2 where mission = $1 and mission <> '' and task > 0
  and (state = 'open' or stop = 'waiting_reply' or stop = 'waiting_tool' or stop = 'sleeping')`
	openOfMission engine.QueryText = `select id from cycles where mission = $1 and mission <> '' and state = 'open' and id <> $2 order by id`
)

// A missionTx moves missions and wakes agents with their tasks.
type missionTx struct {
	*writeTx
	outbox *outboxTx
}

// StepMission does a person's step to a mission. It returns the mission as it is afterwards,
// nil if there is none; taken is false when the mission does not take the step in its state.
func (r RunStore) StepMission(ctx context.Context, step spaces.MissionStep) (m *spaces.Mission, taken bool, err error) {
	err = r.s.write(ctx, func(ctx context.Context, t *storeTx) (err error) {
		m, err = t.timer.mission.apply(ctx, step, "")
		if taken = err == nil && m != nil; errors.Is(err, spaces.ErrMissionStep) {
			return nil
		}
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("%s mission %s: %w", step.Kind, step.Mission, err)
	}
	return m, taken, failpoint.Point("mission.stepped")
}

// heldBack are the steps that end what is under way for a mission.
var heldBack = []spaces.MissionStepKind{spaces.MissionPause, spaces.MissionCancel, spaces.MissionOverdrew, spaces.MissionOverdue}

// apply does a step to a mission: it stores the moves, wakes the agents whose turn it is, and
// shows people how far the mission has come. A step that holds the mission back ends its
// runs, but for the given one. It returns nil if there is no such mission.
func (t *missionTx) apply(ctx context.Context, s spaces.MissionStep, run spaces.CycleID) (*spaces.Mission, error) {
	m, err := t.load(ctx, &s)
	if err != nil || m == nil {
		return nil, err
	}
	if s.Kind != spaces.MissionResume {
		s.From = 0
	}
	if s.From != 0 {
		moves, err := tables.MovesOfMission(ctx, t, m.ID)
		if err != nil {
			return nil, err
		}
		s.Then = spaces.FindCheckpoint(spaces.MissionCheckpoints(moves), s.From)
	}
	moves, calls, err := m.Apply(s)
	if err != nil {
		return m, err
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode mission: %w", err)
	}
	if err := t.Run(ctx, storeMission, string(m.ID), string(m.Space), string(m.State), engine.ToMillis(m.Created), engine.ToMillis(m.Ended), string(body)); err != nil {
		return nil, fmt.Errorf("store mission: %w", err)
	}
	if err := t.storeMoves(ctx, m, moves); err != nil {
		return nil, err
	}
	if err := t.show(ctx, m, s); err != nil {
		return nil, err
	}
	if slices.Contains(heldBack, s.Kind) || s.From != 0 {
		if err := t.haltRuns(ctx, m, run, s.At); err != nil {
			return nil, err
		}
	}
	if s.From != 0 {
		if err := t.Run(ctx, leaveTasks, string(m.ID), spaces.TaskGone); err != nil {
			return nil, fmt.Errorf("leave tasks of mission: %w", err)
		}
	}
	if s.Kind == spaces.MissionStart && !m.Deadline.IsZero() {
		calls = append(calls, spaces.TaskCall{Agent: m.Coordinator, Task: spaces.TaskDeadline})
	}
	for _, c := range calls {
		if m, err = t.call(ctx, m, c, s.At); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// storeMoves stores moves of a mission, those that make a checkpoint with how far the logs are.
func (t *missionTx) storeMoves(ctx context.Context, m *spaces.Mission, moves []spaces.MissionMove) (err error) {
	for _, move := range moves {
		if move.Checkpoint > 0 {
			if move.Heads, err = t.heads(ctx, m); err != nil {
				return err
			}
		}
		body, err := json.Marshal(move)
		if err != nil {
			return fmt.Errorf("encode move: %w", err)
		}
		if err := t.Run(ctx, insertMove, string(m.ID), move.N, string(body)); err != nil {
			return fmt.Errorf("store move: %w", err)
		}
	}
	return nil
}

// heads returns how far the log of the mission's room is, and that of each of its agents.
func (t *missionTx) heads(ctx context.Context, m *spaces.Mission) (map[spaces.SpaceID]int64, error) {
	heads := map[spaces.SpaceID]int64{}
	add := func(space spaces.SpaceID, branch spaces.BranchID) error {
		var seq int64
		found, err := engine.ScanRow(ctx, t, headOfLog, []any{string(space), string(branch)}, &seq)
		if found {
			heads[space] = seq
		}
		return err
	}
	if err := add(m.Space, spaces.Primary); err != nil {
		return nil, fmt.Errorf("how far %s is: %w", m.Space, err)
	}
	for _, a := range m.Team {
		mind := spaces.Mind{Agent: a.ID}
		here, err := engine.ScanRow(ctx, t, mindHere, []any{string(m.Space), string(a.ID)}, &mind.Circle)
		if err == nil && here {
			err = add(mind.Inner(), mind.Branch())
		}
		if err != nil {
			return nil, fmt.Errorf("how far %s is: %w", a.ID, err)
		}
	}
	return heads, nil
}

// load returns the mission that a step is about. A proposal takes the place of those that the
// same agent has made in the room and that nobody has decided about.
func (t *missionTx) load(ctx context.Context, s *spaces.MissionStep) (*spaces.Mission, error) {
	if s.Kind != spaces.MissionPropose {
		return tables.MissionByID(ctx, t, s.Mission)
	}
	m := *s.Plan
	m.Tasks, s.Mission = slices.Clone(m.Tasks), m.ID
	open, err := tables.MissionsIn(ctx, t, m.Space, s.At)
	if err != nil {
		return nil, err
	}
	for i := range open {
		if open[i].State == spaces.MissionProposed && open[i].Coordinator == m.Coordinator {
			old := spaces.MissionStep{Mission: open[i].ID, Kind: spaces.MissionCancel, Text: "a new plan takes its place", At: s.At}
			if _, err := t.apply(ctx, old, ""); err != nil {
				return nil, err
			}
		}
	}
	return &m, nil
}

// missionTTL is how long an edit of what people are shown of a mission may wait to be sent.
const missionTTL = 24 * time.Hour

// show tells people in the room how far the mission has come: by one message, which is edited.
func (t *missionTx) show(ctx context.Context, m *spaces.Mission, s spaces.MissionStep) error {
	if s.Kind == spaces.MissionPropose {
		return t.outbox.announce(ctx, spaces.RoomNotice{Room: m.Space, Thread: m.Thread, Key: m.NoticeKey(), Text: m.Text(), Choices: m.Buttons(), At: s.At})
	}
	if s.From != 0 {
		back := spaces.RoomNotice{Room: m.Space, Thread: m.Thread, Key: fmt.Sprintf("went back|%s|%d", m.ID, m.Moves), Text: m.WentBack(), At: s.At}
		if err := t.outbox.announce(ctx, back); err != nil {
			return err
		}
	}
	edit := noticeEdit{tag: fmt.Sprintf("move|%d", m.Moves), text: m.Text(), ttl: missionTTL}
	return t.outbox.editNotice(ctx, m.NoticeKey(), edit, s.At)
}

// haltRuns stops the runs of a mission but for one: what they decide is not taken any more.
func (t *missionTx) haltRuns(ctx context.Context, m *spaces.Mission, run spaces.CycleID, at time.Time) error {
	open, err := engine.AllRows(ctx, t, openOfMission, []any{string(m.ID), string(run)}, scanCycleID)
	if err != nil {
		return fmt.Errorf("find runs of mission: %w", err)
	}
	for _, id := range open {
		if err := t.Run(ctx, haltRun, string(id), haltedRun); err != nil {
			return fmt.Errorf("halt run of mission: %w", err)
		}
		if _, err := t.outbox.cancelTools(ctx, spaces.StopRequest{Run: id, At: at}); err != nil {
			return err
		}
		if err := t.outbox.pauseListsOf(ctx, id, m.Thread, at); err != nil {
			return err
		}
	}
	return nil
}

// call sets a timer that wakes an agent with a task. An agent that has left the room gives
// the task back. It returns the mission as it is then.
func (t *missionTx) call(ctx context.Context, m *spaces.Mission, c spaces.TaskCall, at time.Time) (*spaces.Mission, error) {
	mind := spaces.Mind{Agent: c.Agent}
	here, err := engine.ScanRow(ctx, t, mindHere, []any{string(m.Space), string(c.Agent)}, &mind.Circle)
	switch {
	case err != nil:
		return nil, fmt.Errorf("find agent of a task: %w", err)
	case !here && c.Task > 0:
		return m, t.giveBack(ctx, m, c.Agent, at)
	case !here:
		return m, nil
	}
	due := t.Clock().ToShared(at)
	if c.Task == spaces.TaskDeadline {
		due = t.Clock().ToShared(m.Deadline)
	}
	timer := spaces.WakeTimer{
		ID: t.newID(), Mind: mind, Kind: spaces.TimerTask, Space: m.Space, Note: spaces.TaskRef{Mission: m.ID, Task: c.Task}.String(), Due: due, Cycle: m.Cycle, SetBy: m.Owner, SetAt: at,
	}
	var payers []spaces.EntityID
	if m.Owner != "" {
		payers = append(payers, m.Owner)
	}
	if err := t.Run(ctx, insertTimer, timerValues(timer, payers)...); err != nil {
		return nil, fmt.Errorf("wake for a task: %w", err)
	}
	return m, nil
}

// giveBack takes an agent's tasks of a mission from it because it has left the room. Where it
// was to verify one, the mission waits for a person.
func (t *missionTx) giveBack(ctx context.Context, m *spaces.Mission, agent spaces.AgentID, at time.Time) error {
	for i := range m.Tasks {
		task := &m.Tasks[i]
		if m.Holder(task) != agent {
			continue
		}
		s := spaces.MissionStep{Mission: m.ID, Kind: spaces.MissionReturn, Task: task.N, By: agent.Entity(), Text: m.Name(agent) + " has left the room", At: at}
		if task.State == spaces.TaskSubmitted {
			s = spaces.MissionStep{Mission: m.ID, Kind: spaces.MissionPause, Text: m.Name(agent) + ", who verifies the results, has left the room", At: at}
		}
		if _, err := t.apply(ctx, s, ""); err != nil && !errors.Is(err, spaces.ErrMissionStep) {
			return err
		}
	}
	return nil
}

// leave takes the tasks of an agent in a room from it.
func (t *missionTx) leave(ctx context.Context, space spaces.SpaceID, agent spaces.AgentID, at time.Time) error {
	running, err := t.running(ctx, space, at)
	for i := range running {
		err = errors.Join(err, t.giveBack(ctx, &running[i], agent, at))
	}
	return err
}

func (t *missionTx) running(ctx context.Context, space spaces.SpaceID, at time.Time) ([]spaces.Mission, error) {
	all, err := tables.MissionsIn(ctx, t, space, at)
	if err != nil {
		return nil, fmt.Errorf("list missions in %s: %w", space, err)
	}
	return slices.DeleteFunc(all, func(m spaces.Mission) bool { return m.State != spaces.MissionRunning }), nil
}

// pauseAll pauses the missions of a room that run, and returns how many.
func (t *missionTx) pauseAll(ctx context.Context, space spaces.SpaceID, at time.Time) (int, error) {
	running, err := t.running(ctx, space, at)
	if err != nil {
		return 0, err
	}
	for i := range running {
		if _, err := t.apply(ctx, spaces.MissionStep{Mission: running[i].ID, Kind: spaces.MissionPause, At: at}, ""); err != nil {
			return 0, err
		}
	}
	return len(running), nil
}

// due returns what a timer of a mission is about, and whether it is still to wake its agent.
// A mission whose deadline has passed fails with it; one whose limit is used up is paused.
func (t *missionTx) due(ctx context.Context, timer spaces.WakeTimer, at time.Time) (ref spaces.TaskRef, wanted bool, err error) {
	ref = spaces.ParseTaskRef(timer.Note)
	m, err := tables.MissionByID(ctx, t, ref.Mission)
	if err != nil || m == nil {
		return ref, false, err
	}
	if ref.Task == spaces.TaskDeadline {
		ref.Task = spaces.WholeMission
		if m.State != spaces.MissionRunning && m.State != spaces.MissionPaused {
			return ref, false, nil
		}
		_, err = t.apply(ctx, spaces.MissionStep{Mission: m.ID, Kind: spaces.MissionOverdue, At: at}, "")
		return ref, err == nil, err
	}
	if !m.Wants(timer.Mind.Agent, ref.Task) {
		return ref, false, nil
	}
	if ref.Task > 0 {
		if over, err := t.overdrawn(ctx, m, at, ""); over || err != nil {
			return ref, false, err
		}
	}
	return ref, true, nil
}

// overdrawn pauses a mission whose limit is used up.
func (t *missionTx) overdrawn(ctx context.Context, m *spaces.Mission, at time.Time, run spaces.CycleID) (bool, error) {
	tokens, cost, _, err := tables.MissionSpent(ctx, t, m.ID)
	if err != nil || !m.Spendable().Reached(money.UsedTokens{Tokens: tokens, Cost: cost}) {
		return false, err
	}
	_, err = t.apply(ctx, spaces.MissionStep{Mission: m.ID, Kind: spaces.MissionOverdrew, At: at}, run)
	return err == nil, err
}

// inherited returns the task that a cycle works for which goes on with another one.
func (t *missionTx) inherited(ctx context.Context, from spaces.CycleID) (ref spaces.TaskRef, err error) {
	if _, err := engine.ScanRow(ctx, t, taskOfCycle, []any{string(from)}, &ref.Mission, &ref.Task); err != nil {
		return ref, fmt.Errorf("find task of %s: %w", from, err)
	}
	return ref, nil
}

// crashed takes in that a run over a task crashed too often.
func (t *missionTx) crashed(ctx context.Context, y *spaces.Cycle, at time.Time) error {
	ref, err := t.inherited(ctx, y.ID)
	if err != nil || ref.Task < 1 {
		return err
	}
	return t.lapse(ctx, ref, y.Mind.Agent, y.ID, at)
}

func (t *missionTx) lapse(ctx context.Context, ref spaces.TaskRef, agent spaces.AgentID, run spaces.CycleID, at time.Time) error {
	_, err := t.apply(ctx, spaces.MissionStep{Mission: ref.Mission, Kind: spaces.MissionLapse, Task: ref.Task, By: agent.Entity(), At: at}, run)
	if errors.Is(err, spaces.ErrMissionStep) {
		return nil // it has said what came of the task
	}
	return err
}

// store does the steps to missions that a cycle decided on. What a mission does not take any
// more, because people were faster, is left out.
func (t *missionTx) store(ctx context.Context, c *spaces.StepCommit) error {
	for _, s := range c.Missions {
		s.At = c.At
		if _, err := t.apply(ctx, s, c.Step.Cycle); err != nil && !errors.Is(err, spaces.ErrMissionStep) {
			return fmt.Errorf("%s mission: %w", s.Kind, err)
		}
	}
	return nil
}

// settle takes in that a run over a task ends: one that a person stopped pauses the mission,
// and one that ends without a word on the task is followed by another.
func (t *missionTx) settle(ctx context.Context, c *spaces.StepCommit, ref spaces.TaskRef) error {
	if ref.Task < 1 || slices.ContainsFunc(c.Timers, func(t spaces.WakeTimer) bool { return t.Kind == spaces.TimerTask }) {
		return nil
	}
	run := c.Step.Cycle
	switch c.Close.Stop {
	case spaces.StopWaitingReply, spaces.StopWaitingTool, spaces.StopSleeping:
		return nil
	case spaces.StopCancelled:
		_, err := t.apply(ctx, spaces.MissionStep{Mission: ref.Mission, Kind: spaces.MissionPause, At: c.At}, run)
		if errors.Is(err, spaces.ErrMissionStep) {
			return nil
		}
		return err
	case spaces.StopBudget:
		m, err := tables.MissionByID(ctx, t, ref.Mission)
		if err != nil || m == nil || m.State != spaces.MissionRunning {
			return err
		}
		if over, err := t.overdrawn(ctx, m, c.At, run); over || err != nil {
			return err
		}
	default:
	}
	return t.lapse(ctx, ref, c.Lease.Mind.Agent, run, c.At)
}
