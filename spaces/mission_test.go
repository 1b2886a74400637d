package spaces_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// team are the agents of missions in tests; the first leads them.
var team = []spaces.MissionAgent{{ID: "ada", Name: "Ada"}, {ID: "max", Name: "Max"}, {ID: "eve", Name: "Eve"}}

// planned returns a proposed mission whose tasks are for Max, one after the other.
func planned(agents, tasks int) *spaces.Mission {
	m := &spaces.Mission{ID: "mission-0001", Goal: "a goal", Owner: "kai", Coordinator: "ada", Team: team[:agents], State: spaces.MissionProposed, Limit: money.SpendLimit{Tokens: 100}}
	for n := 1; n <= tasks; n++ {
		t := spaces.MissionTask{N: n, Title: fmt.Sprintf("task %d", n), DoneWhen: "it is", Agent: team[min(1, agents-1)].ID, State: spaces.TaskPending}
		if n > 1 {
			t.After = []int{n - 1}
		}
		m.Tasks = append(m.Tasks, t)
	}
	return m
}

// step does a step that the mission must take, and returns who is woken with which task.
func step(t *testing.T, m *spaces.Mission, kind spaces.MissionStepKind, task int, by spaces.EntityID) string {
	t.Helper()
	_, calls, err := m.Apply(spaces.MissionStep{Mission: m.ID, Kind: kind, Task: task, By: by, Text: "because"})
	testutil.OK(t, err)
	var woken []string
	for _, c := range calls {
		woken = append(woken, fmt.Sprintf("%s %d", c.Agent, c.Task))
	}
	return strings.Join(woken, ", ")
}

// MISSIONS 2: a task begins when those before it are verified; each move wakes who
// has to act next, and the end wakes the coordinator.
func TestEachMoveWakesWhoActsNext(t *testing.T) {
	m := planned(3, 2)
	lead, worker := spaces.AgentID("ada").Entity(), spaces.AgentID("max").Entity()
	for _, c := range []struct {
		kind  spaces.MissionStepKind
		task  int
		by    spaces.EntityID
		woken string
	}{
		{spaces.MissionStart, 0, "kai", "max 1"},
		{spaces.MissionSubmit, 1, worker, "ada 1"},
		{spaces.MissionReject, 1, lead, "max 1"},
		{spaces.MissionSubmit, 1, worker, "ada 1"},
		{spaces.MissionVerify, 1, lead, "max 2"},
		{spaces.MissionSubmit, 2, worker, "ada 2"},
		{spaces.MissionPause, 0, "kai", ""},
		{spaces.MissionResume, 0, "kai", "ada 2"},
		{spaces.MissionVerify, 2, lead, "ada 0"},
	} {
		testutil.Same(t, string(c.kind), c.woken, step(t, m, c.kind, c.task, c.by))
	}
	testutil.Same(t, "state", spaces.MissionCompleted, m.State)
}

// PRD-5.1-6: a task that its agent cannot do goes to each other agent, the coordinator last;
// then it fails, and what needs it is skipped.
func TestATaskGoesToEachAgentOfTheTeam(t *testing.T) {
	m := planned(3, 2)
	step(t, m, spaces.MissionStart, 0, "kai")
	for _, c := range []struct {
		by    spaces.AgentID
		woken string
	}{{"max", "eve 1"}, {"eve", "ada 1"}, {"ada", "ada 0"}} {
		testutil.Same(t, string(c.by)+" returns it", c.woken, step(t, m, spaces.MissionReturn, 1, c.by.Entity()))
	}
	testutil.Same(t, "state", spaces.MissionFailed, m.State)
	testutil.Same(t, "why", spaces.StopNoCapableAgent, m.Stop)
	testutil.Same(t, "the other task", []any{spaces.TaskSkipped, spaces.StopDependencyFailed}, []any{m.Tasks[1].State, m.Tasks[1].Stop})
}

// Where one agent is alone its results are accepted as they are.
func TestALoneAgentVerifiesNothing(t *testing.T) {
	m := planned(1, 2)
	testutil.Same(t, "start", "ada 1", step(t, m, spaces.MissionStart, 0, "kai"))
	testutil.Same(t, "first", "ada 2", step(t, m, spaces.MissionSubmit, 1, spaces.AgentID("ada").Entity()))
	testutil.Same(t, "second", "ada 0", step(t, m, spaces.MissionSubmit, 2, spaces.AgentID("ada").Entity()))
}

// Each time that people have a mission go on whose limit was used up, it may use as much again.
func TestResumingAllowsTheSameAgain(t *testing.T) {
	m := planned(2, 1)
	step(t, m, spaces.MissionStart, 0, "kai")
	for n, want := range []int{200, 300} {
		step(t, m, spaces.MissionOverdrew, 0, "")
		step(t, m, spaces.MissionResume, 0, "kai")
		testutil.Same(t, fmt.Sprintf("limit after %d", n+1), want, m.Spendable().Tokens)
	}
	step(t, m, spaces.MissionPause, 0, "kai")
	step(t, m, spaces.MissionResume, 0, "kai")
	testutil.Same(t, "limit after a pause", 300, m.Spendable().Tokens)
}

// What cannot be carried out is refused before people see it.
func TestPlansAreChecked(t *testing.T) {
	for name, spoil := range map[string]func(*spaces.Mission){
		"no tasks":          func(m *spaces.Mission) { m.Tasks = nil },
		"after itself":      func(m *spaces.Mission) { m.Tasks[0].After = []int{1} },
		"after a later one": func(m *spaces.Mission) { m.Tasks[0].After = []int{2} },
		"after nothing":     func(m *spaces.Mission) { m.Tasks[1].After = []int{0} },
		"for nobody":        func(m *spaces.Mission) { m.Tasks[1].Agent = "zoe" },
		"too many":          func(m *spaces.Mission) { *m = *planned(3, spaces.MaxTasks+1) },
	} {
		m := planned(3, 2)
		testutil.OK(t, m.Check())
		if spoil(m); m.Check() == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// PRD-6.3-1, PRD-6.3-3, PRD-6.3-A1: whatever is done to a mission in whatever order, it stays what it can be: a step
// that it does not take changes nothing; the moves lead from each state to the next; a running
// mission has an agent that was woken and has not acted; who is woken is wanted; and it comes
// to its end after a bounded number of steps of agents.
func TestMissionsStaySound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := planned(rapid.IntRange(1, 3).Draw(t, "agents"), rapid.IntRange(1, 5).Draw(t, "tasks"))
		for i := range m.Tasks {
			m.Tasks[i].Agent = m.Team[rapid.IntRange(0, len(m.Team)-1).Draw(t, "agent")].ID
			m.Tasks[i].After = nil
			for n := 1; n <= i; n++ {
				if rapid.Bool().Draw(t, "after") {
					m.Tasks[i].After = append(m.Tasks[i].After, n)
				}
			}
		}
		kinds := []spaces.MissionStepKind{
			spaces.MissionStart, spaces.MissionSubmit, spaces.MissionSubmit, spaces.MissionVerify, spaces.MissionVerify, spaces.MissionReject, spaces.MissionReturn, spaces.MissionLapse,
			spaces.MissionPause, spaces.MissionResume, spaces.MissionResume, spaces.MissionOverdrew, spaces.MissionOverdue, spaces.MissionCancel,
		}
		states, taken, most := map[int]string{}, 0, len(m.Tasks)*len(m.Team)*5
		record, _, err := m.Apply(spaces.MissionStep{Mission: m.ID, Kind: spaces.MissionPropose, By: "agent:ada", Plan: m})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			s := spaces.MissionStep{Mission: m.ID, Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), At: time.Unix(1, 0)}
			switch s.Kind {
			case spaces.MissionSubmit, spaces.MissionVerify, spaces.MissionReject, spaces.MissionReturn, spaces.MissionLapse:
				s.Task = rapid.IntRange(0, len(m.Tasks)+1).Draw(t, "task")
				s.By = m.Team[rapid.IntRange(0, len(m.Team)-1).Draw(t, "by")].ID.Entity()
			case spaces.MissionOverdue, spaces.MissionOverdrew:
			default:
				s.By = "kai"
			}
			if s.Kind == spaces.MissionResume && rapid.IntRange(0, 3).Draw(t, "back") == 0 {
				all := spaces.MissionCheckpoints(record)
				s.From = rapid.IntRange(spaces.LatestCheckpoint, len(all)+1).Draw(t, "from")
				s.Then = spaces.FindCheckpoint(all, s.From)
			}
			before, _ := json.Marshal(m)
			moves, calls, err := m.Apply(s)
			after, _ := json.Marshal(m)
			if err != nil {
				if !errors.Is(err, spaces.ErrMissionStep) || len(moves)+len(calls) > 0 {
					t.Fatalf("refused with %v and %d moves", err, len(moves))
				}
				if diff := cmp.Diff(string(before), string(after)); diff != "" {
					t.Fatalf("a refused step changed it: %s", diff)
				}
				continue
			}
			if s.Task > 0 && s.Kind != spaces.MissionLapse {
				taken++
			}
			if s.From != 0 {
				most += len(m.Tasks) * len(m.Team) * 5
			}
			record = append(record, moves...)
			sameAsRecord(t, m, record)
			for _, v := range moves {
				if from, known := states[v.Task]; known && from != v.From {
					t.Fatalf("move %+v begins where it was not: %s", v, from)
				}
				states[v.Task] = v.To
			}
			for _, c := range calls {
				if !m.Wants(c.Agent, c.Task) {
					t.Fatalf("%s woken with %d, which is not wanted: %s", c.Agent, c.Task, after)
				}
			}
			held := slices.ContainsFunc(m.Tasks, func(x spaces.MissionTask) bool { return m.Holder(&x) != "" })
			if m.State == spaces.MissionRunning && !held {
				t.Fatalf("it runs and nobody has to act: %s", after)
			}
			if m.State.Over() && slices.ContainsFunc(m.Tasks, func(x spaces.MissionTask) bool { return !x.State.Over() }) {
				t.Fatalf("it is over and a task is not: %s", after)
			}
			if m.Text() == "" {
				t.Fatal("nothing is shown")
			}
		}
		// An agent submits a task twice at most, each time with one verdict, or gives it back.
		if taken > most {
			t.Fatalf("%d steps of agents, more than %d", taken, most)
		}
	})
}

// sameAsRecord compares the tasks of a mission with what its moves say of them.
func sameAsRecord(t *rapid.T, m *spaces.Mission, record []spaces.MissionMove) {
	// A checkpoint after all moves holds what they say.
	probe := append(slices.Clone(record), spaces.MissionMove{Checkpoint: m.Checkpoints + 1})
	all := spaces.MissionCheckpoints(probe)
	if len(all) != m.Checkpoints+1 {
		t.Fatalf("%d checkpoints in the moves, %d in the mission", len(all)-1, m.Checkpoints)
	}
	want := slices.Clone(m.Tasks)
	for i := range want {
		want[i].Runs, want[i].Rejected = 0, 0
	}
	if diff := cmp.Diff(want, all[m.Checkpoints].Tasks, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("the tasks are not those of the moves (-mission +moves): %s", diff)
	}
}

// goesBack has a mission go on from a checkpoint and returns who is woken.
func goesBack(t *testing.T, m *spaces.Mission, record *[]spaces.MissionMove, from int) string {
	t.Helper()
	s := spaces.MissionStep{Mission: m.ID, Kind: spaces.MissionResume, By: "kai", From: from, Then: spaces.FindCheckpoint(spaces.MissionCheckpoints(*record), from), At: time.Unix(9, 0)}
	moves, calls, err := m.Apply(s)
	testutil.OK(t, err)
	*record = append(*record, moves...)
	var woken []string
	for _, c := range calls {
		woken = append(woken, fmt.Sprintf("%s %d", c.Agent, c.Task))
	}
	return strings.Join(woken, ", ")
}

// PRD-7.1-A1: each verified task is a checkpoint, and so is the start. A mission that goes on
// from one begins later tasks once more, without their results; also after it has ended, and
// back on the way that it had left.
func TestAMissionGoesOnFromACheckpoint(t *testing.T) {
	m := planned(2, 3)
	lead, worker := spaces.AgentID("ada").Entity(), spaces.AgentID("max").Entity()
	record, _, err := m.Apply(spaces.MissionStep{Kind: spaces.MissionPropose, Plan: m})
	testutil.OK(t, err)
	does := func(kind spaces.MissionStepKind, task int, by spaces.EntityID, text string) {
		t.Helper()
		moves, _, err := m.Apply(spaces.MissionStep{Kind: kind, Task: task, By: by, Text: text})
		testutil.OK(t, err)
		record = append(record, moves...)
	}
	does(spaces.MissionStart, 0, "kai", "")
	for n := 1; n <= 3; n++ {
		does(spaces.MissionSubmit, n, worker, fmt.Sprintf("first %d", n))
		does(spaces.MissionVerify, n, lead, "good")
	}
	testutil.Same(t, "state", spaces.MissionCompleted, m.State)
	all := spaces.MissionCheckpoints(record)
	var made []string
	for _, c := range all {
		made = append(made, fmt.Sprintf("%d task %d, %d of %d", c.N, c.Task, c.Done(), len(c.Tasks)))
	}
	testutil.Same(t, "checkpoints", "1 task 0, 0 of 3; 2 task 1, 1 of 3; 3 task 2, 2 of 3; 4 task 3, 3 of 3", strings.Join(made, "; "))

	testutil.Same(t, "woken", "max 2", goesBack(t, m, &record, 2))
	testutil.Same(t, "results", []string{"first 1", "", ""}, []string{m.Tasks[0].Result, m.Tasks[1].Result, m.Tasks[2].Result})
	testutil.Same(t, "states", []any{spaces.MissionRunning, spaces.TaskWorking, spaces.TaskPending, true}, []any{m.State, m.Tasks[1].State, m.Tasks[2].State, m.Ended.IsZero()})
	if text := m.Text(); !strings.Contains(text, "(1 of 3, from checkpoint 2)") {
		t.Errorf("people read %s", text)
	}
	superseded := 0
	for _, v := range record {
		if v.To == string(spaces.TaskSuperseded) && v.Stop == spaces.StopSuperseded {
			superseded++
		}
	}
	testutil.Same(t, "superseded", 2, superseded)

	does(spaces.MissionSubmit, 2, worker, "second 2")
	does(spaces.MissionVerify, 2, lead, "good")
	var way []int
	all = spaces.MissionCheckpoints(record)
	for _, c := range all {
		if !c.Left {
			way = append(way, c.N)
		}
	}
	testutil.Same(t, "its way", []int{1, 2, 5}, way)
	testutil.Same(t, "the latest", 5, spaces.FindCheckpoint(all, spaces.LatestCheckpoint).N)
	testutil.Same(t, "the results kept in the left one", "first 2", all[2].Tasks[1].Result)

	testutil.Same(t, "woken on the left way", "max 3", goesBack(t, m, &record, 3))
	testutil.Same(t, "result of the left way", "first 2", m.Tasks[1].Result)
	if _, _, err = m.Apply(spaces.MissionStep{Kind: spaces.MissionResume, From: 9}); !errors.Is(err, spaces.ErrMissionStep) {
		t.Errorf("from no checkpoint: %v", err)
	}
}

// A mission whose budget is used up may use as much again from a checkpoint; one whose
// deadline has passed has none any more.
func TestACheckpointLiftsWhatEndedTheMission(t *testing.T) {
	for kind, want := range map[spaces.MissionStepKind][]any{spaces.MissionOverdrew: {2, false}, spaces.MissionOverdue: {1, true}, spaces.MissionCancel: {1, false}} {
		m := planned(2, 1)
		m.Deadline = time.Unix(10, 0)
		record, _, err := m.Apply(spaces.MissionStep{Kind: spaces.MissionPropose, Plan: m})
		testutil.OK(t, err)
		moves, _, err := m.Apply(spaces.MissionStep{Kind: spaces.MissionStart, By: "kai"})
		testutil.OK(t, err)
		record = append(record, moves...)
		if kind == spaces.MissionOverdue {
			m.Deadline = time.Unix(8, 0)
		}
		step(t, m, kind, 0, "kai")
		testutil.Same(t, string(kind)+": woken", "max 1", goesBack(t, m, &record, spaces.LatestCheckpoint))
		testutil.Same(t, string(kind)+": allowed, without a deadline", want, []any{m.Allowed, m.Deadline.IsZero()})
	}
}

// The buttons of a proposal come back as the steps that they stand for.
func TestButtonsOfAProposal(t *testing.T) {
	m := planned(2, 1)
	for _, b := range m.Buttons() {
		s, ok := spaces.ParseMissionButton(b.Value)
		if !ok || s.Mission != m.ID || s.Kind != spaces.MissionStart && s.Kind != spaces.MissionCancel {
			t.Errorf("%q is read as %+v", b.Value, s)
		}
	}
	for _, value := range []string{"stop mission-0001", "mission propose mission-0001", "mission overdue mission-0001", "mission verify mission-0001", "mission start", ""} {
		if s, ok := spaces.ParseMissionButton(value); ok {
			t.Errorf("%q is read as %+v", value, s)
		}
	}
	testutil.Same(t, "reference", spaces.TaskRef{Mission: m.ID, Task: spaces.TaskDeadline}, spaces.ParseTaskRef(spaces.TaskRef{Mission: m.ID, Task: spaces.TaskDeadline}.String()))
}
