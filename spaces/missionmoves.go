package spaces

import (
	"cmp"
	"fmt"
	"slices"
)

// A missionRun is the application of one step to a mission.
type missionRun struct {
	*Mission
	step  MissionStep
	moves []MissionMove
	calls []TaskCall
}

// Apply does a step to the mission. It returns the moves that the step and what follows from
// it have made, in order, and the agents that are to be woken. With [ErrMissionStep] nothing
// has changed.
func (m *Mission) Apply(s MissionStep) ([]MissionMove, []TaskCall, error) {
	r := &missionRun{Mission: m, step: s}
	if err := r.take(); err != nil {
		return nil, nil, err
	}
	r.advance()
	return r.moves, r.calls, nil
}

// take makes the move that the step is about.
func (r *missionRun) take() error {
	switch s := r.step; s.Kind {
	case MissionPropose:
		r.enter(MissionProposed, "", "")
		r.moves[0].Plan = copyTasks(r.Tasks)
	case MissionStart:
		if r.State != MissionProposed {
			return r.refuse()
		}
		r.Allowed = 1
		r.enter(MissionRunning, "", s.Text)
		r.mark()
	case MissionResume:
		if s.From != 0 {
			return r.goBack()
		}
		if r.State != MissionPaused {
			return r.refuse()
		}
		if r.Stop == StopBudget {
			r.Allowed++
		}
		r.enter(MissionRunning, "", s.Text)
		r.recall()
	case MissionPause:
		return r.halt(MissionPaused, StopCancelled)
	case MissionOverdrew:
		return r.halt(MissionPaused, StopBudget)
	case MissionOverdue:
		if r.State != MissionPaused {
			return r.halt(MissionFailed, StopTimeout)
		}
		r.enter(MissionFailed, StopTimeout, "")
	case MissionCancel:
		if r.State.Over() {
			return r.refuse()
		}
		stop := StopCancelled
		if s.By == "" {
			stop = StopSuperseded
		}
		r.enter(MissionCancelled, stop, s.Text)
	case MissionSubmit, MissionReturn, MissionVerify, MissionReject, MissionLapse:
		return r.takeTask()
	}
	return nil
}

// halt pauses or ends a mission that runs.
func (r *missionRun) halt(to MissionState, stop StopReason) error {
	if r.State != MissionRunning {
		return r.refuse()
	}
	r.enter(to, stop, r.step.Text)
	return nil
}

// takeTask makes the move of a task that its holder decided on.
func (r *missionRun) takeTask() error {
	t := r.Task(r.step.Task)
	who, isAgent := r.step.By.IsAgent()
	if t == nil || !isAgent || r.Holder(t) != who {
		return r.refuse()
	}
	working, kind := t.State == TaskWorking, r.step.Kind
	if working && (kind == MissionVerify || kind == MissionReject) || !working && (kind == MissionSubmit || kind == MissionReturn) {
		return r.refuse()
	}
	switch text := r.step.Text; kind {
	case MissionSubmit:
		t.Result, t.Runs = text, 0
		r.move(t, TaskSubmitted, "", "")
		r.moves[len(r.moves)-1].Result = text
		if by := r.Verifier(t); by != "" {
			r.call(by, t.N)
		} else {
			r.move(t, TaskVerified, "", "no other agent is here to verify it")
			r.mark()
		}
	case MissionReturn:
		r.reassign(t, text)
	case MissionVerify:
		t.Runs = 0
		r.move(t, TaskVerified, "", text)
		r.mark()
	case MissionReject:
		t.Runs = 0
		if t.Rejected++; t.Rejected >= maxRejected {
			r.reassign(t, text)
			return nil
		}
		r.move(t, TaskWorking, "", text)
		r.call(t.Agent, t.N)
	case MissionLapse:
		t.Runs++
		switch {
		case t.Runs < maxTaskRuns:
			r.call(who, t.N)
		case working:
			r.reassign(t, cmp.Or(text, fmt.Sprintf("%d runs ended without a result", t.Runs)))
		default:
			r.enter(MissionPaused, StopMaxRetries, fmt.Sprintf("%s has not verified task %d", r.Name(who), t.N))
		}
	case MissionPropose, MissionStart, MissionPause, MissionResume, MissionCancel, MissionOverdue, MissionOverdrew: // of no task
	}
	return nil
}

// reassign gives a task to the next agent of the team that has not tried it, the coordinator
// last. The task fails when there is none.
func (r *missionRun) reassign(t *MissionTask, why string) {
	t.Tried = append(t.Tried, TaskTrial{t.Agent, why})
	t.Result, t.Runs, t.Rejected = "", 0, 0
	untried := func(a MissionAgent) bool {
		return !slices.ContainsFunc(t.Tried, func(x TaskTrial) bool { return x.Agent == a.ID })
	}
	next := AgentID("")
	for _, a := range r.Team {
		if untried(a) && (next == "" || next == r.Coordinator) {
			next = a.ID
		}
	}
	if next == "" {
		r.move(t, TaskFailed, StopNoCapableAgent, why)
		return
	}
	t.Agent = next
	r.move(t, TaskWorking, "", why)
	r.call(next, t.N)
}

// advance begins tasks whose turn has come, skips those that need one that failed, and ends
// the mission when all are over.
func (r *missionRun) advance() {
	if r.State.Over() {
		for i := range r.Tasks {
			if t := &r.Tasks[i]; !t.State.Over() {
				r.move(t, TaskSkipped, r.Stop, "")
			}
		}
		return
	}
	if r.State != MissionRunning {
		return
	}
	over, failed := true, StopReason("")
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if t.State == TaskPending {
			switch ready, lost := r.before(t); {
			case lost > 0:
				r.move(t, TaskSkipped, StopDependencyFailed, fmt.Sprintf("it needs task %d", lost))
			case ready:
				r.move(t, TaskWorking, "", "")
				r.call(t.Agent, t.N)
			}
		}
		over = over && t.State.Over()
		if t.State == TaskFailed {
			failed = cmp.Or(failed, t.Stop)
		}
	}
	switch {
	case !over:
		return
	case failed != "":
		r.enter(MissionFailed, failed, "")
	default:
		r.enter(MissionCompleted, StopCompleted, "")
	}
	r.call(r.Coordinator, WholeMission)
}

// before reports whether all tasks before t are verified, and which of them will not be.
func (r *missionRun) before(t *MissionTask) (ready bool, lost int) {
	ready = true
	for _, n := range t.After {
		switch r.Task(n).State {
		case TaskVerified:
		case TaskFailed, TaskSkipped:
			return false, n
		case TaskPending, TaskWorking, TaskSubmitted, TaskSuperseded:
			ready = false
		}
	}
	return ready, 0
}

// recall wakes those who had to act when the mission was paused.
func (r *missionRun) recall() {
	for i := range r.Tasks {
		t := &r.Tasks[i]
		if who := r.Holder(t); who != "" {
			t.Runs = 0
			r.call(who, t.N)
		}
	}
}

func (r *missionRun) call(agent AgentID, task int) {
	r.calls = append(r.calls, TaskCall{agent, task})
}

// enter moves the mission itself.
func (r *missionRun) enter(to MissionState, stop StopReason, why string) {
	from := string(r.State)
	r.State, r.Stop, r.Detail = to, stop, why
	if to.Over() {
		r.Ended = r.step.At
	}
	r.note(MissionMove{From: from, To: string(to), Why: why, Stop: stop})
}

// move moves a task.
func (r *missionRun) move(t *MissionTask, to TaskState, stop StopReason, why string) {
	from := string(t.State)
	t.State, t.Stop, t.Why = to, stop, why
	r.note(MissionMove{Task: t.N, From: from, To: string(to), Agent: t.Agent, Why: why, Stop: stop})
}

func (r *missionRun) note(m MissionMove) {
	r.Moves++
	m.N, m.By, m.At = r.Moves, r.step.By, r.step.At
	r.moves = append(r.moves, m)
}

// mark makes a checkpoint of the last move.
func (r *missionRun) mark() {
	r.Checkpoints++
	r.moves[len(r.moves)-1].Checkpoint = r.Checkpoints
}

func (r *missionRun) refuse() error {
	if r.step.Task > 0 {
		return fmt.Errorf("%w: %s task %d while the mission is %s", ErrMissionStep, r.step.Kind, r.step.Task, r.State)
	}
	return fmt.Errorf("%w: %s while it is %s", ErrMissionStep, r.step.Kind, r.State)
}
