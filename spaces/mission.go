package spaces

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/money"
)

// A MissionID names a mission; it is unique for ever.
type MissionID string

// A MissionState is how far a mission has come.
type MissionState string

// The states of missions.
const (
	MissionProposed  MissionState = "proposed" // people are shown its plan
	MissionRunning   MissionState = "running"
	MissionPaused    MissionState = "paused"
	MissionCompleted MissionState = "completed"
	MissionFailed    MissionState = "failed"
	MissionCancelled MissionState = "cancelled"
)

// Over reports whether a mission in this state has come to its end.
func (s MissionState) Over() bool {
	return s == MissionCompleted || s == MissionFailed || s == MissionCancelled
}

// A TaskState is how far a task of a mission has come.
type TaskState string

// The states of tasks.
const (
	TaskPending   TaskState = "pending"   // the mission has not begun, or an earlier task is not verified
	TaskWorking   TaskState = "working"   // its agent was woken with it
	TaskSubmitted TaskState = "submitted" // there is a result, which is not verified
	TaskVerified  TaskState = "verified"
	TaskFailed    TaskState = "failed"
	TaskSkipped   TaskState = "skipped" // a task that it needs failed, or the mission ended before it
	// TaskSuperseded is what a task is left in by a mission that goes on from a checkpoint
	// before it; in the same instant it begins once more.
	TaskSuperseded TaskState = "superseded"
)

// Over reports whether nothing is left to do for a task in this state.
func (s TaskState) Over() bool { return s == TaskVerified || s == TaskFailed || s == TaskSkipped }

// Limits of missions.
const (
	MaxTasks    = 20
	maxTaskRuns = 3 // runs in a row that end without a word on the task
	maxRejected = 2 // results of one agent that are not accepted
)

// In place of the number of a task.
const (
	WholeMission = 0  // its end is to be told
	TaskDeadline = -1 // its deadline has passed
	TaskGone     = -2 // the mission has gone on from a checkpoint before it
)

// A MissionAgent is an agent of the room in which a mission is.
type MissionAgent struct {
	ID   AgentID `json:"id"`
	Name string  `json:"name"` // as people call it
}

// A Mission is a goal that is split into tasks over the agents of a room. It is a value
// that [Mission.Apply] alone changes. It is not safe for concurrent use.
type Mission struct {
	ID          MissionID        `json:"id"`
	Space       SpaceID          `json:"space"`
	Thread      ThreadID         `json:"thread,omitempty"`
	Goal        string           `json:"goal"`
	Owner       EntityID         `json:"owner"` // the person who asked for it
	Coordinator AgentID          `json:"coordinator"`
	Cycle       CycleID          `json:"cycle"` // that proposed it
	Team        []MissionAgent   `json:"team"`  // agents of the room when it was proposed, the coordinator among them
	Tasks       []MissionTask    `json:"tasks"`
	Limit       money.SpendLimit `json:"limit"`             // of what its runs may use; zero: none
	Allowed     int              `json:"allowed"`           // how many times Limit people have allowed
	Deadline    time.Time        `json:"deadline,omitzero"` // zero: none
	State       MissionState     `json:"state"`
	Stop        StopReason       `json:"stop,omitempty"` // why it ended or is paused
	Detail      string           `json:"detail,omitempty"`
	Moves       int              `json:"moves"`                 // made so far
	Checkpoints int              `json:"checkpoints,omitempty"` // there are so far
	From        int              `json:"from,omitempty"`        // the checkpoint that it went on from last
	Created     time.Time        `json:"created"`
	Ended       time.Time        `json:"ended,omitzero"`
}

// A MissionTask is one piece of a mission.
type MissionTask struct {
	N        int         `json:"n"` // from 1
	Title    string      `json:"title"`
	DoneWhen string      `json:"doneWhen"` // how one can tell that it is done
	Agent    AgentID     `json:"agent"`
	After    []int       `json:"after,omitempty"` // tasks that must be verified before it begins
	State    TaskState   `json:"state"`
	Stop     StopReason  `json:"stop,omitempty"` // why it failed or was skipped
	Result   string      `json:"result,omitempty"`
	Why      string      `json:"why,omitempty"`   // what was said of its last move
	Tried    []TaskTrial `json:"tried,omitempty"` // agents that gave it back
	Runs     int         `json:"runs,omitempty"`  // in a row that ended without a word on it
	Rejected int         `json:"rejected,omitempty"`
}

// A TaskTrial says why an agent did not do a task.
type TaskTrial struct {
	Agent AgentID `json:"agent"`
	Why   string  `json:"why"`
}

// A MissionStepKind is what a person, an agent or the program does to a mission.
type MissionStepKind string

// The kinds of steps.
const (
	MissionPropose  MissionStepKind = "propose" // in place of an open proposal of the same coordinator in the room
	MissionStart    MissionStepKind = "start"
	MissionPause    MissionStepKind = "pause"
	MissionResume   MissionStepKind = "resume"
	MissionCancel   MissionStepKind = "cancel"
	MissionSubmit   MissionStepKind = "submit"
	MissionReturn   MissionStepKind = "return"
	MissionVerify   MissionStepKind = "verify"
	MissionReject   MissionStepKind = "reject"
	MissionLapse    MissionStepKind = "lapse"    // a run over a task ended without a word on it
	MissionOverdue  MissionStepKind = "overdue"  // its deadline has passed
	MissionOverdrew MissionStepKind = "overdrew" // its limit is used up
)

// MissionOperator is in place of a person in the steps of who runs the program.
const MissionOperator EntityID = "operator"

// PeopleSteps returns what people do to missions.
func PeopleSteps() []MissionStepKind {
	return []MissionStepKind{MissionStart, MissionPause, MissionResume, MissionCancel}
}

// A MissionStep is one thing that a person, an agent or the program does to a mission.
type MissionStep struct {
	Mission MissionID
	Kind    MissionStepKind
	Task    int
	By      EntityID // who did it; empty: the program
	Text    string   // the result, or why
	At      time.Time
	Plan    *Mission // with [MissionPropose]
	// From is the checkpoint that the mission goes on from, with [MissionResume]: it may then
	// run or have ended, too. 0: as it stands. The store sets Then to that checkpoint.
	From int
	Then *MissionCheckpoint
}

// A MissionMove is one change of state of a mission or of one of its tasks. It is never
// changed.
type MissionMove struct {
	N     int        `json:"n"`              // within the mission, from 1
	Task  int        `json:"task,omitempty"` // 0: the mission
	From  string     `json:"from"`
	To    string     `json:"to"`
	Agent AgentID    `json:"agent,omitempty"` // of the task from then on
	By    EntityID   `json:"by,omitempty"`    // empty: the program
	Why   string     `json:"why,omitempty"`
	Stop  StopReason `json:"stop,omitempty"`
	At    time.Time  `json:"at"`

	Result     string            `json:"result,omitempty"`     // of a task that is submitted
	Plan       []MissionTask     `json:"plan,omitempty"`       // of a mission that is proposed
	Back       int               `json:"back,omitempty"`       // the checkpoint that the mission goes on from
	Checkpoint int               `json:"checkpoint,omitempty"` // that it makes
	Heads      map[SpaceID]int64 `json:"heads,omitempty"`      // see [MissionCheckpoint]
}

// A TaskRef names a task of a mission; 0 is the mission as a whole. The zero value names
// none.
type TaskRef struct {
	Mission MissionID
	Task    int
}

// String returns the reference in the form that [ParseTaskRef] reads.
func (r TaskRef) String() string { return string(r.Mission) + " " + strconv.Itoa(r.Task) }

// ParseTaskRef reads a reference; the zero value is returned for what is none.
func ParseTaskRef(text string) TaskRef {
	mission, task, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(task)
	if err != nil {
		return TaskRef{}
	}
	return TaskRef{MissionID(mission), n}
}

// A TaskCall says that an agent is to be woken with a task, or with the end of the mission.
type TaskCall struct {
	Agent AgentID
	Task  int
}

// ErrMissionStep is returned for a step that a mission does not take in its state.
var ErrMissionStep = errors.New("the mission does not take this step now")

// Task returns a task by its number; nil if there is none.
func (m *Mission) Task(n int) *MissionTask {
	if n < 1 || n > len(m.Tasks) {
		return nil
	}
	return &m.Tasks[n-1]
}

// Check returns an error when the plan cannot be carried out: a task without an agent of the
// team, or one that comes after a task that does not exist or comes after it.
func (m *Mission) Check() error {
	if len(m.Tasks) == 0 || len(m.Tasks) > MaxTasks {
		return fmt.Errorf("a mission has 1 to %d tasks", MaxTasks)
	}
	for i := range m.Tasks {
		t := &m.Tasks[i]
		for _, n := range t.After {
			if n < 1 || n >= t.N {
				return fmt.Errorf("task %d can only come after tasks with lower numbers, not after %d", t.N, n)
			}
		}
		if m.member(t.Agent) == nil {
			return fmt.Errorf("task %d is for an agent that is not here", t.N)
		}
	}
	return nil
}

func (m *Mission) member(id AgentID) *MissionAgent {
	if i := slices.IndexFunc(m.Team, func(a MissionAgent) bool { return a.ID == id }); i >= 0 {
		return &m.Team[i]
	}
	return nil
}

// Name returns how people call an agent of the team.
func (m *Mission) Name(id AgentID) string {
	if a := m.member(id); a != nil {
		return a.Name
	}
	return string(id)
}

// Verifier returns who verifies a task: the coordinator, or for a task of its own the first
// other agent of the team. It is empty where there is no other agent: then a result is
// accepted as it is.
func (m *Mission) Verifier(t *MissionTask) AgentID {
	if t.Agent != m.Coordinator {
		return m.Coordinator
	}
	for _, a := range m.Team {
		if a.ID != t.Agent {
			return a.ID
		}
	}
	return ""
}

// Holder returns the agent that has to act on a task now; empty when none has.
func (m *Mission) Holder(t *MissionTask) AgentID {
	switch {
	case m.State != MissionRunning:
	case t.State == TaskWorking:
		return t.Agent
	case t.State == TaskSubmitted:
		return m.Verifier(t)
	}
	return ""
}

// Wants reports whether an agent is still to be woken with a task, or, for task 0, with the
// end of the mission.
func (m *Mission) Wants(agent AgentID, task int) bool {
	if task == WholeMission {
		return agent == m.Coordinator && (m.State == MissionCompleted || m.State == MissionFailed)
	}
	t := m.Task(task)
	return t != nil && m.Holder(t) == agent
}

// Spendable returns what the runs of the mission may use in all, with what people have
// allowed beside its first limit.
func (m *Mission) Spendable() money.SpendLimit {
	l := m.Limit
	l.Tokens *= max(m.Allowed, 1)
	l.Amount.Micros *= int64(max(m.Allowed, 1))
	return l
}
