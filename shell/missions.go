package shell

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// A missionView is what a cycle knows of the missions of its room, and what a step does to
// them.
type missionView struct {
	here     []spaces.Mission // that have not ended, and the one whose end woke the cycle
	currency string           // of budgets
	priced   bool             // what a run costs is known
	steps    []spaces.MissionStep
}

// ofWake returns the mission that the cycle works for; nil for none.
func (v *missionView) ofWake(ref spaces.TaskRef) *spaces.Mission {
	for i := range v.here {
		if v.here[i].ID == ref.Mission && ref.Mission != "" {
			return &v.here[i]
		}
	}
	return nil
}

// learnMissions reads the missions of the room that the cycle is in.
func (c *cycle) learnMissions(ctx context.Context) (err error) {
	room := c.home()
	if room == "" {
		return nil
	}
	now := c.shell.Now()
	since := now.Add(time.Hour) // none that has ended
	if t := c.wake.Timer; c.wake.Task.Mission != "" {
		since = c.wake.Cycle.Started
		if t != nil && t.SetAt.Before(since) {
			since = t.SetAt // the mission ended with it
		}
	}
	if c.missions.here, err = c.shell.Record.MissionsIn(ctx, room, since); err != nil {
		return err
	}
	c.missions.here = slices.DeleteFunc(c.missions.here, func(m spaces.Mission) bool {
		ended := m.State.Over() && m.ID != c.wake.Task.Mission
		return ended || m.State == spaces.MissionProposed && now.Sub(m.Created) > setUpLasts
	})
	price := c.agent.Price
	if price != nil {
		p := price(c.settings.ModelName)
		c.missions.currency, c.missions.priced = p.Currency, p.Known()
	}
	return nil
}

// missionWords are words by which people ask for a mission.
var missionWords = []string{"mission", "missione", "misión", "mision", "missão", "missao", "missie", "миссия", "миссию", "任务", "任務", "ミッション", "미션"}

// asksForMission reports whether a person asks for a mission in the words that woke the cycle.
func (c *cycle) asksForMission(seat *hud.RoomView) bool {
	return slices.ContainsFunc(c.wake.Events, func(e spaces.Event) bool {
		said, byPerson := personal(seat.Room, e)
		text := strings.ToLower(said.Text)
		return byPerson && slices.ContainsFunc(missionWords, func(w string) bool { return strings.Contains(text, w) })
	})
}

// missionSection is what a frame shows of the missions of the cycle's room, and offers the
// tools that the agent can use on them: nothing in most rooms. c.mind.mu is held.
func (c *cycle) missionSection(v *hud.MindView) string {
	seat := v.Seat(c.home())
	self := c.mind.id.Agent
	if seat == nil || c.branch != "" || slices.Contains(c.shell.Settings(self, c.home()).Without, "propose_mission") {
		return ""
	}
	var tools []string
	if c.asksForMission(seat) {
		tools = append(tools, "propose_mission")
	}
	var b strings.Builder
	for i := range c.missions.here {
		m := &c.missions.here[i]
		if !m.State.Over() && m.Coordinator == self && len(c.wake.Events) > 0 {
			tools = append(tools, "mission")
			if m.State == spaces.MissionProposed {
				tools = append(tools, "propose_mission")
			}
		}
		c.showMission(&b, m)
		if m.ID == c.wake.Task.Mission {
			tools = append(tools, c.showTask(&b, m)...)
		}
	}
	c.offer(tools...)
	return strings.TrimRight(b.String(), "\n")
}

// offer has the model offered tools that the situation asks for.
func (c *cycle) offer(names ...string) {
	if tools := c.tools.offering(names...); tools != c.tools {
		c.setUp.tokens += tools.extra - c.tools.extra
		c.tools = tools
	}
}

// showMission writes how far a mission has come, with its tasks for who leads it or works on
// it now. Its words are quoted: people's may be in them.
func (c *cycle) showMission(b *strings.Builder, m *spaces.Mission) {
	lead := m.Name(m.Coordinator)
	if m.Coordinator == c.mind.id.Agent {
		lead = "you"
	}
	fmt.Fprintf(b, "MISSION %s %s: %s, led by %s. The program shows people how far it is; do not repeat that.\n", m.Number(), hud.Quote(m.Goal), m.State, lead)
	if m.From > 0 {
		b.WriteString(m.WentBack() + " Results that are not shown here do not count.\n")
	}
	if m.Coordinator != c.mind.id.Agent && m.ID != c.wake.Task.Mission {
		return
	}
	for i := range m.Tasks {
		t := &m.Tasks[i]
		fmt.Fprintf(b, "%d %s, %s: %s", t.N, t.State, m.Name(t.Agent), hud.Quote(t.Title))
		if t.State == spaces.TaskFailed {
			b.WriteString(", " + string(t.Stop) + " " + hud.Quote(t.Why))
		}
		b.WriteByte('\n')
	}
}

const (
	maxShownTask   = 4000 // characters of a result, for who works with it
	taskVerifyHead = "You verify task %d: %s. It is done when %s. Its result:\n%s\nCheck it, and call verify_task. If you cannot call tools, answer OK, or what is missing.\n"
	taskWorkHead   = "Your task %d: %s. It is done when %s.\n"
	taskWorkEnd    = "Do it now, then call submit_task with the result, or return_task if you cannot do it. Say nothing in the room about it.\n"
	taskPhase      = "Work on the task that woke you, with the tools you have, and end with the call that it names."
	notHandedIn    = "RESULT: this was not handed in. End with the call that your task names. If you cannot call tools, write the result again, and nothing else: it is handed in as it is."
	taskGone       = "Nothing is left for you to do on it now: rest.\n"
	missionEnd     = "The mission is over: tell people in one message what came of it, with what they need of the results.\n"
)

// showTask writes what the agent is to do for the mission that woke it, and returns the tools
// for it.
func (c *cycle) showTask(b *strings.Builder, m *spaces.Mission) []string {
	t := m.Task(c.wake.Task.Task)
	if c.wake.Task.Task == spaces.TaskGone {
		b.WriteString(taskGone)
		return nil
	}
	if t == nil {
		if m.State.Over() && m.Coordinator == c.mind.id.Agent {
			c.showResults(b, m, nil)
			b.WriteString(missionEnd)
		}
		return nil
	}
	if m.Holder(t) != c.mind.id.Agent {
		b.WriteString(taskGone)
		return nil
	}
	if t.State == spaces.TaskSubmitted {
		c.showResults(b, m, t.After)
		fmt.Fprintf(b, taskVerifyHead, t.N, hud.Quote(t.Title), hud.Quote(t.DoneWhen), hud.Quote(textformat.ClipRunes(t.Result, maxShownTask)))
		return []string{"verify_task"}
	}
	c.showResults(b, m, t.After)
	fmt.Fprintf(b, taskWorkHead, t.N, hud.Quote(t.Title), hud.Quote(t.DoneWhen))
	if t.Why != "" {
		b.WriteString("It comes back to you: " + hud.Quote(t.Why) + "\n")
	}
	b.WriteString(taskWorkEnd)
	return []string{"submit_task", "return_task"}
}

// showResults writes the results of tasks, of all with nil.
func (c *cycle) showResults(b *strings.Builder, m *spaces.Mission, of []int) {
	for i := range m.Tasks {
		if t := &m.Tasks[i]; t.State == spaces.TaskVerified && (of == nil || slices.Contains(of, t.N)) {
			fmt.Fprintf(b, "Result of task %d by %s: %s\n", t.N, m.Name(t.Agent), hud.Quote(textformat.ClipRunes(t.Result, maxShownTask)))
		}
	}
}

// taskLine is the line of the log by which a task wakes the agent.
func (c *cycle) taskLine() string {
	m := c.missions.ofWake(c.wake.Task)
	if m == nil {
		return "MISSION: it is not kept any more."
	}
	t := m.Task(c.wake.Task.Task)
	if c.wake.Task.Task == spaces.TaskGone {
		return "MISSION " + m.Number() + " " + hud.Quote(m.Goal) + " goes on from an earlier checkpoint, without this."
	}
	if t == nil {
		return "MISSION " + m.Number() + " " + hud.Quote(m.Goal) + " is over: " + string(m.State)
	}
	return fmt.Sprintf("TASK %d of mission %s: %s", t.N, m.Number(), hud.Quote(t.Title))
}

// taskWords are the words of the task that woke the cycle, to recall old lines by.
func (c *cycle) taskWords() string {
	m := c.missions.ofWake(c.wake.Task)
	if m == nil {
		return ""
	}
	if t := m.Task(c.wake.Task.Task); t != nil {
		return m.Goal + "\n" + t.Title
	}
	return m.Goal
}

// plainTaskCall returns the tool call that a plain answer stands for in a run over a task: its
// result, or the verdict about one. ok is false for another run.
func (c *cycle) plainTaskCall(words string) (call ToolCall, ok bool, err error) {
	m := c.missions.ofWake(c.wake.Task)
	if m == nil {
		return call, false, nil
	}
	t := m.Task(c.wake.Task.Task)
	if t == nil || m.Holder(t) != c.mind.id.Agent {
		return call, false, nil
	}
	call.Name = "submit_task"
	args := map[string]any{"result": words}
	if t.State == spaces.TaskSubmitted {
		first, _, _ := strings.Cut(strings.TrimLeft(words, "*_# "), " ")
		call.Name, args = "verify_task", map[string]any{"ok": strings.EqualFold(strings.Trim(first, ".,!*:\n"), "ok"), "why": words}
	}
	call.ID = fmt.Sprintf("words_%d", c.step)
	call.Args, err = marshalPlain(args)
	return call, true, err
}

// overMission returns that the limit of the mission is used up which the cycle works for, or
// "".
func (c *cycle) overMission(ctx context.Context) (detail string, err error) {
	m := c.missions.ofWake(c.wake.Task)
	if m == nil || !m.Limit.Limited() {
		return "", nil
	}
	used, err := c.shell.Record.MissionSpent(ctx, m.ID)
	if err != nil {
		return "", err
	}
	limit := m.Spendable()
	c.warn("mission "+m.Number(), used, limit)
	if limit.Reached(used) {
		return "mission " + m.Number() + " has used " + limit.Compare(used), nil
	}
	return "", nil
}
