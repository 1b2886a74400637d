package spaces

import (
	"slices"
	"strconv"
	"time"
)

// LatestCheckpoint is in place of the number of a checkpoint.
const LatestCheckpoint = -1

// A MissionCheckpoint is how a mission stood when its plan took effect or a task was verified:
// it can go on from there again. It is computed from the moves of the mission.
type MissionCheckpoint struct {
	N      int               `json:"n"`              // within the mission, from 1
	Task   int               `json:"task,omitempty"` // that was verified; 0: the plan took effect
	Move   int               `json:"move"`           // by which it came to be
	At     time.Time         `json:"at"`
	Tasks  []MissionTask     `json:"tasks"`           // as they stood
	Heads  map[SpaceID]int64 `json:"heads,omitempty"` // last event of the room's log and of each agent's own
	Left   bool              `json:"left,omitempty"`  // the mission has gone on from an earlier one since
	Tokens int               `json:"tokens"`          // that its runs had used, weighted as budgets count them
	Cost   int64             `json:"cost"`            // in millionths of the currency
}

// MissionCheckpoints returns the checkpoints that are in the moves of a mission, in the order
// of their numbers. What was used by then is not in the moves.
func MissionCheckpoints(moves []MissionMove) []MissionCheckpoint {
	all, _ := replayMission(moves)
	return all
}

// FindCheckpoint returns a checkpoint by its number, or the latest one on the way that the
// mission goes; nil for none.
func FindCheckpoint(all []MissionCheckpoint, n int) *MissionCheckpoint {
	i := slices.IndexFunc(all, func(c MissionCheckpoint) bool { return c.N == n })
	if n == LatestCheckpoint {
		for i = len(all) - 1; i >= 0 && all[i].Left; i-- {
		}
	}
	if i < 0 {
		return nil
	}
	return &all[i]
}

// ParseCheckpoint reads the number of a checkpoint, or the word latest.
func ParseCheckpoint(text string) (n int, ok bool) {
	if text == "latest" {
		return LatestCheckpoint, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0
}

// replayMission computes the checkpoints of a mission from its moves, and its tasks as they
// stand after the last one.
func replayMission(moves []MissionMove) (all []MissionCheckpoint, tasks []MissionTask) {
	var before []int // the checkpoint before each on its way; 0: none
	last := 0
	for _, v := range moves {
		switch {
		case v.Plan != nil:
			tasks = copyTasks(v.Plan)
		case v.Back > 0 && v.Back <= len(all):
			tasks, last = tasksAnew(all[v.Back-1].Tasks), v.Back
		}
		if v.Task > 0 && v.Task <= len(tasks) && v.To != string(TaskSuperseded) && v.From != string(TaskSuperseded) {
			replayTask(&tasks[v.Task-1], v)
		}
		if v.Checkpoint > 0 {
			all = append(all, MissionCheckpoint{N: v.Checkpoint, Task: v.Task, Move: v.N, At: v.At, Tasks: copyTasks(tasks), Heads: v.Heads, Left: true})
			before, last = append(before, last), v.Checkpoint
		}
	}
	for ; last > 0; last = before[last-1] {
		all[last-1].Left = false
	}
	return all, tasks
}

// replayTask does a move to a task.
func replayTask(t *MissionTask, v MissionMove) {
	to := TaskState(v.To)
	if to == TaskFailed || to == TaskWorking && t.State != TaskPending && v.Agent != t.Agent {
		t.Tried = append(t.Tried, TaskTrial{t.Agent, v.Why})
		t.Result = ""
	}
	if to == TaskSubmitted {
		t.Result = v.Result
	}
	t.State, t.Agent, t.Stop, t.Why = to, v.Agent, v.Stop, v.Why
}

// tasksAnew returns tasks as they were, those that were not over to be begun once more.
func tasksAnew(tasks []MissionTask) []MissionTask {
	tasks = copyTasks(tasks)
	for i := range tasks {
		if t := &tasks[i]; !t.State.Over() {
			t.State, t.Stop, t.Why, t.Result = TaskPending, "", "", ""
		}
	}
	return tasks
}

func copyTasks(tasks []MissionTask) []MissionTask {
	tasks = slices.Clone(tasks)
	for i := range tasks {
		tasks[i].Tried = slices.Clone(tasks[i].Tried)
		tasks[i].Runs, tasks[i].Rejected = 0, 0
	}
	return tasks
}

// goBack has the mission go on from a checkpoint: what came of tasks after it is superseded,
// and they are begun once more.
func (r *missionRun) goBack() error {
	c := r.step.Then
	if c == nil {
		return r.refuse()
	}
	if r.Stop == StopBudget {
		r.Allowed++
	}
	if r.Deadline.Before(r.step.At) {
		r.Deadline = time.Time{}
	}
	r.From, r.Ended = c.N, time.Time{}
	r.enter(MissionRunning, "", r.step.Text)
	r.moves[len(r.moves)-1].Back = c.N
	now := r.Tasks
	r.Tasks = tasksAnew(c.Tasks)
	for i := range now {
		t, then := now[i], MissionTask{}
		if i < len(r.Tasks) {
			then = r.Tasks[i]
		}
		if t.State == then.State && t.Agent == then.Agent && t.Result == then.Result {
			continue
		}
		r.move(&t, TaskSuperseded, StopSuperseded, "")
		if then.N > 0 {
			r.note(MissionMove{Task: then.N, From: string(TaskSuperseded), To: string(then.State), Agent: then.Agent, Why: then.Why, Stop: then.Stop})
		}
	}
	return nil
}
