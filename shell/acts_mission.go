package shell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/money"
	"github.com/trestle-bridge/trestle/spaces"
)

// Bounds of a plan.
const (
	maxGoal       = 300 // bytes
	maxDoneWhen   = 300
	maxTaskResult = 16 << 10
)

type proposeMission struct {
	Goal     string        `json:"goal"`
	Tasks    []plannedTask `json:"tasks"`
	Budget   string        `json:"budget,omitempty" jsonschema:"such as 2 EUR or 500000 (tokens)"`
	Deadline string        `json:"deadline,omitempty" jsonschema:"from the start, such as 2h or 3d"`
}

type plannedTask struct {
	Title    string `json:"title"`
	Agent    string `json:"agent" jsonschema:"name of an agent here, or me"`
	DoneWhen string `json:"done_when" jsonschema:"how one can tell that it is done"`
	After    []int  `json:"after,omitempty" jsonschema:"numbers of tasks, from 1, whose results it needs"`
}

func (a proposeMission) perform(s *stepContext) toolResult {
	room, out := s.room("")
	if room == nil {
		return out
	}
	owner := personOf(s, room, "")
	if owner == "" || s.wake.Task.Mission != "" {
		return s.deny("not_asked", "No person has asked for a mission in this wake.", "Propose one when a person here asks for it.")
	}
	m, out := a.plan(s, room)
	if m == nil {
		return out
	}
	m.Owner = owner
	if text, out := s.speech(room, m.Text()); text == "" {
		return out
	}
	if s.branch != "" {
		return s.done(map[string]any{"rehearsed": true})
	}
	s.missions.steps = append(s.missions.steps, spaces.MissionStep{Mission: m.ID, Kind: spaces.MissionPropose, By: s.self(), Plan: m})
	s.stop, s.stopDetail = spaces.StopCompleted, "proposed mission "+m.Number()
	s.account = "Proposed mission " + m.Number() + "; people decide whether it starts."
	return s.done(map[string]any{"mission": m.Number(), "next": "People see the plan and start it by its button or in words."})
}

// plan returns the mission that is proposed, or a denial.
func (a proposeMission) plan(s *stepContext, room *hud.SharedRoom) (*spaces.Mission, toolResult) {
	self, _ := s.self().IsAgent()
	m := &spaces.Mission{
		ID: spaces.MissionID(s.newID()), Space: room.ID(), Thread: s.effect(spaces.ActSend, room).Thread, Goal: clipLine(a.Goal, maxGoal), Coordinator: self, Cycle: s.wake.Cycle.ID, Created: s.now, State: spaces.MissionProposed,
	}
	for _, x := range room.Members() {
		if id, is := x.ID.IsAgent(); is {
			m.Team = append(m.Team, spaces.MissionAgent{ID: id, Name: hud.CleanName(x.Name)})
		}
	}
	for i, t := range a.Tasks {
		who := teamMember(m, t.Agent)
		if who == "" {
			return nil, s.deny("unknown_agent", "There is no agent "+hud.Quote(t.Agent)+" here.", "Here are "+teamNames(m)+".")
		}
		task := spaces.MissionTask{N: i + 1, Title: clipLine(t.Title, mostStepBytes), DoneWhen: clipLine(t.DoneWhen, maxDoneWhen), Agent: who, After: t.After, State: spaces.TaskPending}
		if task.Title == "" || task.DoneWhen == "" {
			return nil, s.deny("bad_task", "Task "+strconv.Itoa(task.N)+" needs a title and done_when.", "Say how one can tell that it is done.")
		}
		m.Tasks = append(m.Tasks, task)
	}
	if m.Goal == "" {
		return nil, s.deny("bad_plan", "A mission needs a goal.", "Say in one line what people want to have at its end.")
	}
	if err := m.Check(); err != nil {
		return nil, s.deny("bad_plan", "The plan cannot be carried out: "+err.Error()+".", "after has the numbers of tasks before it.")
	}
	return a.bound(s, room, m)
}

// bound adds the limits of a mission to its plan.
func (a proposeMission) bound(s *stepContext, room *hud.SharedRoom, m *spaces.Mission) (*spaces.Mission, toolResult) {
	m.Limit = money.SpendLimit{Tokens: s.settings.Budget.Cycle.Tokens * len(m.Tasks)}
	if b := strings.TrimSpace(a.Budget); b != "" {
		tokens, isNumber := strconv.Atoi(strings.NewReplacer("_", "", ",", "", " ", "", "tokens", "").Replace(b))
		amount, err := money.ParseAmount(b)
		switch {
		case isNumber == nil && tokens > 0:
			m.Limit = money.SpendLimit{Tokens: tokens}
		case err == nil && amount.Micros > 0 && amount.Currency == s.missions.currency:
			m.Limit.Amount = amount
			m.Limit = m.Limit.Priced(s.missions.priced)
		default:
			return nil, s.deny("bad_budget", "The budget is a number of tokens, or an amount in "+s.missions.currency+".", "Such as 500000 or 2 "+s.missions.currency+"; without one it is "+strconv.Itoa(m.Limit.Tokens)+" tokens.")
		}
	}
	if a.Deadline != "" {
		after, ok := readSpan(a.Deadline)
		if !ok || after < minAsk {
			return nil, s.deny("bad_deadline", "The deadline is a length of time of a minute or more.", "Such as 2h or 3d.")
		}
		m.Deadline = s.now.Add(after).In(s.clockOf(s.asker(), room.ID()))
	}
	return m, toolResult{}
}

// teamMember returns the agent of a mission's room that a name means; empty for none.
func teamMember(m *spaces.Mission, name string) spaces.AgentID {
	name = strings.TrimPrefix(strings.TrimSpace(name), "@")
	if name == "" || strings.EqualFold(name, "me") || strings.EqualFold(name, "self") {
		return m.Coordinator
	}
	for _, a := range m.Team {
		if strings.EqualFold(name, a.Name) || strings.EqualFold(name, string(a.ID)) || strings.EqualFold(name, string(a.ID.Entity())) {
			return a.ID
		}
	}
	return ""
}

func teamNames(m *spaces.Mission) string {
	names := make([]string, len(m.Team))
	for i, a := range m.Team {
		names[i] = a.Name
	}
	return strings.Join(names, ", ")
}

type mission struct {
	Step    string `json:"step"`
	Mission string `json:"mission,omitempty" jsonschema:"its number; default: the only one it can be done to"`
	Why     string `json:"why,omitempty"`
	From    int    `json:"from_checkpoint,omitempty" jsonschema:"with resume: begin again what came after this checkpoint; -1: the latest"`
}

func (mission) values() map[string][]string {
	return map[string][]string{"step": {string(spaces.MissionStart), string(spaces.MissionPause), string(spaces.MissionResume), string(spaces.MissionCancel)}}
}

func (a mission) perform(s *stepContext) toolResult {
	room, out := s.room("")
	if room == nil {
		return out
	}
	kind, number := spaces.MissionStepKind(a.Step), strings.TrimPrefix(strings.TrimSpace(a.Mission), "#")
	var fit []spaces.Mission
	for _, m := range s.missions.here {
		if a.takes(m, s.now) && (number == "" || strings.EqualFold(m.Number(), number)) {
			fit = append(fit, m)
		}
	}
	if len(fit) != 1 {
		return s.deny("which_mission", fmt.Sprintf("There are %d missions here that can be done that to.", len(fit)), "Give its number, as the frame shows it.")
	}
	m := fit[0]
	if a.From > m.Checkpoints {
		return s.deny("no_checkpoint", fmt.Sprintf("The mission has %d checkpoints.", m.Checkpoints), "Give one of them, or -1 for the latest.")
	}
	by := personOf(s, room, m.Owner)
	if by == "" {
		return s.deny("not_asked", "No person here has asked for that in this wake.", "To start or resume it, the person who asked for it has to say so, or an admin with /mission.")
	}
	if (kind == spaces.MissionStart || kind == spaces.MissionResume) && by != m.Owner {
		return s.deny("not_the_owner", "Only the person who asked for the mission can have you "+a.Step+" it.", "An admin can press the button or write /mission "+a.Step+".")
	}
	if s.branch != "" {
		return s.done(map[string]any{"rehearsed": true})
	}
	s.missions.steps = append(s.missions.steps, spaces.MissionStep{Mission: m.ID, Kind: kind, By: by, Text: clipLine(a.Why, mostStepBytes), From: a.From})
	s.account = "Did " + a.Step + " to mission " + m.Number() + "."
	s.stop, s.stopDetail = spaces.StopCompleted, string(kind)+" mission "+m.Number()
	return s.done(map[string]any{"mission": m.Number()})
}

// takes reports whether the step can be done to a mission.
func (a mission) takes(m spaces.Mission, now time.Time) bool {
	kind := spaces.MissionStepKind(a.Step)
	if a.From != 0 {
		return kind == spaces.MissionResume && m.Checkpoints > 0
	}
	m.Tasks = slices.Clone(m.Tasks)
	_, _, err := m.Apply(spaces.MissionStep{Kind: kind, At: now})
	return err == nil
}

// personOf returns the person of the room whose words woke the cycle: the preferred one if
// their words are among them, else the newest one; empty where none did.
func personOf(s *stepContext, room *hud.SharedRoom, preferred spaces.EntityID) (who spaces.EntityID) {
	for _, e := range s.wake.Events {
		if _, byPerson := personal(room, e); byPerson && e.Space == room.ID() && (who == "" || who != preferred) {
			who = e.Actor
		}
	}
	return who
}

type submitTask struct {
	Result string `json:"result" jsonschema:"what came of it, whole: others work with it"`
}

func (a submitTask) perform(s *stepContext) toolResult {
	return stepTask(s, spaces.MissionSubmit, a.Result, "Submitted")
}

type returnTask struct {
	Why string `json:"why"`
}

func (a returnTask) perform(s *stepContext) toolResult {
	return stepTask(s, spaces.MissionReturn, a.Why, "Gave back")
}

type verifyTask struct {
	OK  bool   `json:"ok"`
	Why string `json:"why" jsonschema:"what is missing, or how you know"`
}

func (a verifyTask) perform(s *stepContext) toolResult {
	if a.OK {
		return stepTask(s, spaces.MissionVerify, a.Why, "Verified")
	}
	return stepTask(s, spaces.MissionReject, a.Why, "Did not accept")
}

// stepTask does a step to the task that woke the cycle, which ends with it.
func stepTask(s *stepContext, kind spaces.MissionStepKind, text, did string) toolResult {
	m := s.missions.ofWake(s.wake.Task)
	if m == nil || s.wake.Task.Task < 1 {
		return s.deny("no_task", "No task of a mission woke you.", "Say it in the room instead.")
	}
	room, out := s.room(string(m.Space))
	if room == nil {
		return out
	}
	if text = strings.TrimSpace(text); len(text) > maxTaskResult {
		return s.deny("too_long", "The text is longer than 16 KB.", "Say what matters, and where the rest is.")
	}
	if text, out = s.speech(room, text); text == "" {
		return out
	}
	step := spaces.MissionStep{Mission: m.ID, Kind: kind, Task: s.wake.Task.Task, By: s.self(), Text: text}
	try := *m
	try.Tasks = slices.Clone(m.Tasks)
	if _, _, err := try.Apply(step); err != nil || len(s.missions.steps) > 0 {
		return s.deny("task_moved", "The task is not in your hands in that way any more.", "The frame shows how far the mission is; rest if nothing is left for you.")
	}
	if s.branch != "" {
		return s.done(map[string]any{"rehearsed": true})
	}
	s.missions.steps = append(s.missions.steps, step)
	s.account = fmt.Sprintf("%s task %d of mission %s: %s", did, step.Task, m.Number(), m.Task(step.Task).Title)
	s.stop, s.stopDetail = spaces.StopCompleted, strings.ToLower(did)+" a task"
	return s.done(map[string]any{})
}

// clipLine returns text on one line of so many bytes at most.
func clipLine(text string, limit int) string {
	return spaces.TruncateText(strings.Join(strings.Fields(text), " "), limit)
}
