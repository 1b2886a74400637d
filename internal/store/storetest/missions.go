package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var missionTests = map[string]func(*testing.T, *world){
	"MissionWakesEachAgentWithItsTask":           missionWakes,
	"MissionThatWaitsWakesNobody":                missionWaits,
	"MissionWithoutBudgetWaits":                  missionOverdrawn,
	"MissionCostsWhatItsRunsDid":                 missionCosts,
	"MissionFailsAtItsDeadline":                  missionOverdue,
	"RunOverATaskThatSaysNothingIsFollowedByOne": taskLapses,
	"TaskOfAnAgentThatLeavesGoesToAnother":       taskOfTheGone,
	"TaskIsInheritedOverACrash":                  taskResumed,
	"NewPlanTakesThePlaceOfTheOldOne":            planReplaced,
	"StopInARoomPausesItsMissions":               missionStopped,
	"MissionGoesOnFromACheckpoint":               missionGoesBack,
}

const missionID spaces.MissionID = "mission-0001"

// mission has ada propose a mission of two tasks for bea, one after the other, and a person
// start it, within limits.
func (w *world) mission(limit int, deadline time.Duration) (room spaces.SpaceID) {
	w.t.Helper()
	room = w.family("ada", "bea")
	w.proposes(room, missionID, limit, deadline)
	w.steps(spaces.MissionStep{Kind: spaces.MissionStart, By: "kai"}, true)
	return room
}

// proposes has ada propose a mission in a cycle of its own.
func (w *world) proposes(room spaces.SpaceID, id spaces.MissionID, limit int, deadline time.Duration) {
	w.t.Helper()
	w.say(room, "zoe", "a mission, please")
	wake := w.woken(ada, room)
	m := &spaces.Mission{
		ID: id, Space: room, Goal: "a goal", Coordinator: "ada", Cycle: wake.Cycle.ID, State: spaces.MissionProposed, Created: w.now, Limit: money.SpendLimit{Tokens: limit},
		Team:  []spaces.MissionAgent{{ID: "ada", Name: "Ada"}, {ID: "bea", Name: "Bea"}},
		Tasks: []spaces.MissionTask{{N: 1, Title: "one", Agent: "bea", State: spaces.TaskPending}, {N: 2, Title: "two", Agent: "bea", After: []int{1}, State: spaces.TaskPending}},
	}
	if deadline > 0 {
		m.Deadline = w.now.Add(deadline)
	}
	c := w.step(wake, 0)
	c.Missions = []spaces.MissionStep{{Mission: id, Kind: spaces.MissionPropose, By: ada.Agent.Entity(), Plan: m}}
	w.commit(c)
	w.rest(wake, 1)
	for m := w.claim(bea, room); m != nil; m = w.claim(bea, room) {
		w.rest(m, 0)
	}
}

// steps does a person's step to the mission and expects whether it is taken.
func (w *world) steps(s spaces.MissionStep, want bool) {
	w.t.Helper()
	s.Mission, s.At = missionID, w.now
	_, taken, err := w.s.Shell.StepMission(w.t.Context(), s)
	w.ok(err)
	testutil.Same(w.t, string(s.Kind)+" taken", want, taken)
}

// taken fires the timers and returns the one wake, which must be of an agent for a task.
func (w *world) taken(agent spaces.AgentID, task int) *spaces.Wake {
	w.t.Helper()
	due := w.fire()
	if len(due) != 1 || due[0].Cycle.Mind.Agent != agent || due[0].Task != (spaces.TaskRef{Mission: missionID, Task: task}) || due[0].Cycle.Wake != "task" {
		w.t.Fatalf("woken: %s, want %s with task %d", describeWakes(due), agent, task)
	}
	return &due[0]
}

func describeWakes(all []spaces.Wake) string {
	var b strings.Builder
	for _, w := range all {
		fmt.Fprintf(&b, "%s by %s with %v; ", w.Cycle.Mind, w.Cycle.Wake, w.Task)
	}
	return b.String()
}

// acts ends a wake over a task with a step to it.
func (w *world) acts(wake *spaces.Wake, kind spaces.MissionStepKind) {
	w.t.Helper()
	c := w.step(wake, 0)
	c.Missions = []spaces.MissionStep{{Mission: wake.Task.Mission, Kind: kind, Task: wake.Task.Task, By: wake.Cycle.Mind.Agent.Entity(), Text: "because"}}
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Rest: "Did it."}
	w.commit(c)
}

// stands returns how the mission of the room stands.
func (w *world) stands(room spaces.SpaceID) spaces.Mission {
	w.t.Helper()
	all, err := w.s.Shell.MissionsIn(w.t.Context(), room, time.Time{})
	w.ok(err)
	if len(all) == 0 {
		w.t.Fatal("there is no mission")
	}
	return all[0]
}

func (w *world) quiet() {
	w.t.Helper()
	if due := w.fire(); len(due) > 0 {
		w.t.Errorf("woken: %s", describeWakes(due))
	}
}

func missionWakes(t *testing.T, w *world) {
	room := w.mission(0, 0)
	w.acts(w.taken("bea", 1), spaces.MissionSubmit)
	w.acts(w.taken("ada", 1), spaces.MissionVerify)
	w.acts(w.taken("bea", 2), spaces.MissionSubmit)
	w.acts(w.taken("ada", 2), spaces.MissionVerify)
	testutil.Same(t, "state", spaces.MissionCompleted, w.stands(room).State)
	last := w.taken("ada", spaces.WholeMission)
	w.endTimer(last)
	w.quiet()
}

// A person who holds a mission back stops its runs; what was due wakes nobody until it goes
// on.
func missionWaits(t *testing.T, w *world) {
	w.mission(0, 0)
	run := w.taken("bea", 1)
	w.steps(spaces.MissionStep{Kind: spaces.MissionPause, By: "kai"}, true)
	w.steps(spaces.MissionStep{Kind: spaces.MissionPause, By: "kai"}, false)
	c := w.step(run, 0)
	c.Missions = []spaces.MissionStep{{Mission: missionID, Kind: spaces.MissionSubmit, Task: 1, By: bea.Agent.Entity(), Text: "too late"}}
	if _, err := w.s.Shell.Commit(t.Context(), c); err == nil {
		t.Error("a run of a mission that waits went on")
	}
	stopped := w.step(run, 0)
	stopped.Close = &spaces.CycleClose{Stop: spaces.StopCancelled, Rest: "Stopped."}
	w.commit(stopped)
	w.quiet()
	w.steps(spaces.MissionStep{Kind: spaces.MissionResume, By: "kai"}, true)
	w.acts(w.taken("bea", 1), spaces.MissionSubmit)
	w.steps(spaces.MissionStep{Kind: spaces.MissionCancel, By: "kai"}, true)
	w.quiet()
}

// PRD-5.2-4: with its budget used up a mission waits for a person, who allows as much again.
func missionOverdrawn(t *testing.T, w *world) {
	room := w.mission(120, 0) // one step
	w.acts(w.taken("bea", 1), spaces.MissionSubmit)
	w.quiet()
	m := w.stands(room)
	testutil.Same(t, "mission", []any{spaces.MissionPaused, spaces.StopBudget}, []any{m.State, m.Stop})
	w.steps(spaces.MissionStep{Kind: spaces.MissionResume, By: "kai"}, true)
	w.acts(w.taken("ada", 1), spaces.MissionVerify)
	w.quiet()
}

// What a mission used is what its runs did, with those that went on after an answer.
func missionCosts(t *testing.T, w *world) {
	room := w.mission(0, 0)
	w.acts(w.taken("bea", 1), spaces.MissionSubmit)
	w.acts(w.taken("ada", 1), spaces.MissionReject)
	again := w.taken("bea", 1)
	c := w.step(again, 0)
	c.Effect = []spaces.RoomEffect{{
		Kind: spaces.ActSend, Space: room, ID: "which", Text: "which one?", Policy: spaces.ResendOnce, Chain: spaces.NextChain(nil, "", "which"), Expires: w.now.Add(time.Hour),
		Wait: &spaces.WaitSpec{People: true, Due: w.now.Add(time.Hour)},
	}}
	c.Close = &spaces.CycleClose{Stop: spaces.StopWaitingReply, Rest: "Asked."}
	w.commit(c)
	w.quiet()
	w.say(room, "zoe", "the other")
	goesOn := w.woken(bea, room)
	testutil.Same(t, "task of the run that goes on", spaces.TaskRef{Mission: missionID, Task: 1}, goesOn.Task)
	s := w.step(goesOn, 0)
	s.Missions = []spaces.MissionStep{{Mission: missionID, Kind: spaces.MissionSubmit, Task: 1, By: bea.Agent.Entity(), Text: "the other"}}
	w.commit(s)
	w.rest(goesOn, 1)
	used, err := w.s.Shell.MissionSpent(t.Context(), missionID)
	w.ok(err)
	testutil.Same(t, "used", money.UsedTokens{Tokens: 5 * 120, Cost: 5 * stepCost}, used)
}

func missionOverdue(t *testing.T, w *world) {
	room := w.mission(0, time.Hour)
	w.acts(w.taken("bea", 1), spaces.MissionSubmit)
	w.endTimer(w.taken("ada", 1))
	w.now = w.now.Add(time.Hour)
	for _, wake := range w.fire() {
		w.endTimer(&wake)
	}
	w.endTimer(w.taken("ada", spaces.WholeMission))
	m := w.stands(room)
	testutil.Same(t, "mission", []any{spaces.MissionFailed, spaces.StopTimeout, spaces.TaskSkipped}, []any{m.State, m.Stop, m.Tasks[1].State})
	w.quiet()
}

// A run that ends without a word on its task is followed by another, three times; then the
// next agent gets it.
func taskLapses(t *testing.T, w *world) {
	room := w.mission(0, 0)
	for range 3 {
		w.endTimer(w.taken("bea", 1))
	}
	w.acts(w.taken("ada", 1), spaces.MissionSubmit)
	w.acts(w.taken("bea", 1), spaces.MissionVerify)
	testutil.Same(t, "first task", spaces.TaskVerified, w.stands(room).Tasks[0].State)
}

func taskOfTheGone(t *testing.T, w *world) {
	room := w.mission(0, 0)
	w.ok(w.s.Border.Dismiss(t.Context(), spaces.AgentRemoval{Space: room, Agents: []spaces.AgentID{"bea"}, At: w.now}))
	w.acts(w.taken("ada", 1), spaces.MissionSubmit)
	m := w.stands(room)
	testutil.Same(t, "task", []any{spaces.AgentID("ada"), "Bea has left the room"}, []any{m.Tasks[0].Agent, m.Tasks[0].Tried[0].Why})
}

// A run that a crash interrupts goes on with its task; one that crashes too often is followed
// by another.
func taskResumed(t *testing.T, w *world) {
	room := w.mission(0, 0)
	run := w.taken("bea", 1)
	for range 2 {
		w.now = w.now.Add(2 * ttl)
		again := w.claim(bea, "")
		if again == nil || again.Cycle.ID != run.Cycle.ID || again.Task != run.Task {
			t.Fatalf("resumed %+v", again)
		}
	}
	w.now = w.now.Add(2 * ttl)
	if again := w.claim(bea, ""); again != nil {
		t.Fatalf("resumed once more: %+v", again)
	}
	w.acts(w.taken("bea", 1), spaces.MissionSubmit)
	testutil.Same(t, "runs without a word", 0, w.stands(room).Tasks[0].Runs)
}

func planReplaced(t *testing.T, w *world) {
	room := w.family("ada", "bea")
	w.proposes(room, missionID, 0, 0)
	w.now = w.now.Add(time.Second)
	w.proposes(room, "mission-0002", 0, 0)
	testutil.Same(t, "the first plan", spaces.MissionCancelled, w.stands(room).State)
	w.steps(spaces.MissionStep{Kind: spaces.MissionStart, By: "kai"}, false)
	w.quiet()
}

func missionStopped(t *testing.T, w *world) {
	room := w.mission(0, 0)
	done, err := w.s.Shell.Halt(t.Context(), spaces.StopRequest{Space: room, Unsent: true, At: w.now})
	w.ok(err)
	testutil.Same(t, "paused", 1, done.Paused)
	testutil.Same(t, "state", spaces.MissionPaused, w.stands(room).State)
	w.quiet()
}

// PRD-7.1-A1: a mission that goes on from one ends the run that is under way, whose close leaves the mission
// as it is, and a run that waits for an answer goes on without the task.
func missionGoesBack(t *testing.T, w *world) {
	room := w.mission(0, 0)
	w.now = w.now.Add(time.Second)
	w.acts(w.taken("bea", 1), spaces.MissionSubmit)
	w.now = w.now.Add(time.Second)
	w.acts(w.taken("ada", 1), spaces.MissionVerify)
	w.now = w.now.Add(time.Second)
	asks := w.taken("bea", 2)
	c := w.step(asks, 0)
	c.Effect = []spaces.RoomEffect{{
		Kind: spaces.ActSend, Space: room, ID: "which", Text: "which one?", Policy: spaces.ResendOnce, Chain: spaces.NextChain(nil, "", "which"), Expires: w.now.Add(time.Hour),
		Wait: &spaces.WaitSpec{People: true, Due: w.now.Add(time.Hour)},
	}}
	c.Close = &spaces.CycleClose{Stop: spaces.StopWaitingReply, Rest: "Asked."}
	w.commit(c)

	w.steps(spaces.MissionStep{Kind: spaces.MissionResume, By: "kai", From: 3}, false)
	w.steps(spaces.MissionStep{Kind: spaces.MissionResume, By: "kai", From: 1}, true)
	run := w.taken("bea", 1)
	w.say(room, "zoe", "the other")
	w.steps(spaces.MissionStep{Kind: spaces.MissionResume, By: "kai", From: spaces.LatestCheckpoint}, true)
	late := w.step(run, 0)
	late.Missions = []spaces.MissionStep{{Mission: missionID, Kind: spaces.MissionSubmit, Task: 1, By: bea.Agent.Entity(), Text: "too late"}}
	if _, err := w.s.Shell.Commit(t.Context(), late); err == nil {
		t.Error("a run went on after the mission had gone back")
	}
	stopped := w.step(run, 0)
	stopped.Close = &spaces.CycleClose{Stop: spaces.StopCancelled, Rest: "Stopped."}
	w.commit(stopped)
	goesOn := w.woken(bea, room)
	testutil.Same(t, "task of the run that goes on", spaces.TaskRef{Mission: missionID, Task: spaces.TaskGone}, goesOn.Task)
	w.rest(goesOn, 0)
	testutil.Same(t, "state", spaces.MissionRunning, w.stands(room).State)
	w.acts(w.taken("bea", 1), spaces.MissionSubmit)
	testutil.Same(t, "first task", spaces.TaskSubmitted, w.stands(room).Tasks[0].State)
}
