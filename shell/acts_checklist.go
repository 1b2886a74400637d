package shell

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// A checklist is a message of the agent in which each line is a step with its state. The
// message is all that is kept of it: the log of the room has its newest text, which a restart,
// a deletion and a rehearsal treat like any other.

const (
	mostSteps     = 30
	mostStepBytes = 200
	checklistAge  = 7 * 24 * time.Hour // after which an open list is not shown any more
	checklistBack = 1000               // messages behind the newest in which one is looked for
)

// A stepState is how far a step of a checklist has come.
type stepState string

const (
	stepToDo    stepState = "todo"
	stepDoing   stepState = "doing"
	stepDone    stepState = "done"
	stepFailed  stepState = "failed"
	stepSkipped stepState = "skipped"
)

// stepMarks are the signs of the states, as people see them.
var stepMarks = map[stepState]string{stepToDo: "☐", stepDoing: "▶", stepDone: "☑", stepFailed: "☒", stepSkipped: "⊘"}

// over reports whether nothing is left to do for the step.
func (s stepState) over() bool { return s != stepToDo && s != stepDoing }

// A checklistStep is one line of a checklist.
type checklistStep struct {
	mark stepState
	text string
	note string // why it failed, or what came of it
}

// A stepList is what a checklist says.
type stepList struct {
	title  string
	steps  []checklistStep
	paused bool // a person stopped the agent, which has not marked a step since
}

// done counts the steps that are over.
func (l stepList) done() (n int) {
	for _, s := range l.steps {
		if s.mark.over() {
			n++
		}
	}
	return n
}

// text returns the list as a message, which [readStepList] reads.
func (l stepList) text() string {
	var b strings.Builder
	paused := ""
	if l.paused {
		paused = pausedHead
	}
	fmt.Fprintf(&b, "%s (%d of %d%s)", l.title, l.done(), len(l.steps), paused)
	for _, s := range l.steps {
		b.WriteString("\n" + stepMarks[s.mark] + " " + s.text)
		if s.note != "" {
			b.WriteString(" — " + s.note)
		}
	}
	return b.String()
}

// pausedHead is how the first line of a list ends that is paused.
const pausedHead = ", paused"

var (
	listHead = regexp.MustCompile(`^(.+) \(\d+ of \d+(, paused)?\)$`)
	listStep = regexp.MustCompile(`^([☐▶☑☒⊘]) (.+?)(?: — (.+))?$`)
)

// readStepList reads a message; false when it is no checklist.
func readStepList(text string) (l stepList, ok bool) {
	head, rest, _ := strings.Cut(text, "\n")
	if rest == "" || !strings.HasSuffix(head, ")") { // as nearly every message of an agent
		return l, false
	}
	m := listHead.FindStringSubmatch(head)
	if m == nil {
		return l, false
	}
	l.title, l.paused = m[1], m[2] != ""
	for line := range strings.SplitSeq(rest, "\n") {
		m := listStep.FindStringSubmatch(line)
		if m == nil {
			return l, false
		}
		for state, mark := range stepMarks {
			if mark == m[1] {
				l.steps = append(l.steps, checklistStep{state, m[2], m[3]})
			}
		}
	}
	return l, true
}

// PauseChecklist returns the text of a checklist as it is to be while the work on it is
// paused: the same where no step is left, or it is paused already. list is false for a text that
// is no checklist. The next step that the agent marks takes the word away.
func PauseChecklist(text string) (paused string, list bool) {
	l, list := readStepList(text)
	if !list || l.done() == len(l.steps) {
		return text, list
	}
	l.paused = true
	return l.text(), true
}

// line returns text on one line, without what separates a note in a checklist.
func line(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "—", "-")), " ")
	return textformat.ClipBytes(text, mostStepBytes)
}

// openList returns the agent's newest checklist in a room and thread, where it has steps left
// to do.
func openList(room *hud.SharedRoom, self spaces.EntityID, thread spaces.ThreadID, now time.Time) (m *spaces.ChatMessage, l stepList) {
	all := room.Chat.Messages
	for i := len(all) - 1; i >= max(0, len(all)-checklistBack); i-- {
		m := &all[i]
		if m.Sender != self || m.Deleted || m.Notice != nil || m.Thread != thread || now.Sub(m.At) > checklistAge {
			continue
		}
		if l, ok := readStepList(m.Text); ok {
			if l.done() == len(l.steps) {
				return nil, l
			}
			return m, l
		}
	}
	return nil, l
}

// listThread is the thread of a room in which a wake's checklist is: that of the message that
// woke the agent, or that of the tool's call whose end did.
func listThread(w *spaces.Wake, call spaces.ThreadID, room spaces.SpaceID) spaces.ThreadID {
	switch n, t := len(w.Events), w.Timer; {
	case t != nil && (t.Kind == spaces.TimerTool || t.Kind == spaces.TimerTask) && t.Space == room:
		return call
	case n > 0 && w.Cycle.Space == room:
		return w.Events[n-1].Thread
	}
	return ""
}

type checklist struct {
	Title string   `json:"title"`
	Items []string `json:"items"`
}

func (a checklist) perform(s *stepContext) toolResult {
	room, out := s.room("")
	if room == nil {
		return out
	}
	l := stepList{title: line(a.Title)}
	for _, item := range a.Items {
		if item = line(item); item != "" {
			l.steps = append(l.steps, checklistStep{stepToDo, item, ""})
		}
	}
	switch {
	case l.title == "" || len(l.steps) == 0:
		return s.deny("empty_list", "A checklist has a title and steps.", "Name the steps; for one step none is needed.")
	case len(l.steps) > mostSteps:
		return s.deny("too_many_steps", "A checklist has at most "+strconv.Itoa(mostSteps)+" steps.", "Put steps together.")
	}
	s.more = true
	if m, before := openList(room, s.self(), listThread(s.wake, s.outside.thread, room.ID()), s.now); m != nil {
		for i := range l.steps {
			if k := slices.IndexFunc(before.steps, func(b checklistStep) bool { return b.text == l.steps[i].text }); k >= 0 {
				l.steps[i] = before.steps[k]
			}
		}
		return s.keepList(room, m, l)
	}
	text, out := s.speech(room, l.text())
	if text == "" {
		return out
	}
	e := s.effect(spaces.ActSend, room)
	e.Text = text
	s.speaks(&e, room, "")
	return s.do(e)
}

type check struct {
	Item  int    `json:"item" jsonschema:"number of the step, from 1"`
	State string `json:"state,omitempty"`
	Note  string `json:"note,omitempty" jsonschema:"why it failed, or what came of it, in a few words"`
}

// stepStates are the states of a step, the default first.
var stepStates = []string{string(stepDone), string(stepDoing), string(stepFailed), string(stepSkipped), string(stepToDo)}

func (check) values() map[string][]string { return map[string][]string{"state": stepStates} }

func (a check) perform(s *stepContext) toolResult {
	room, out := s.room("")
	if room == nil {
		return out
	}
	if muted(s, room.ID()) {
		return s.deny("muted", "You are muted there: you follow that space in silence.", "Do not say it elsewhere instead. An admin may lift it with /unmute.")
	}
	m, l := openList(room, s.self(), listThread(s.wake, s.outside.thread, room.ID()), s.now)
	if m == nil {
		return s.deny("no_list", "You have no open checklist here.", "Post one with checklist, or call check in the next step.")
	}
	if i := editOf(m.ID, s.effects); i >= 0 {
		l, _ = readStepList(s.effects[i].Text)
	}
	if a.Item < 1 || a.Item > len(l.steps) {
		return s.deny("no_step", "The checklist has the steps 1 to "+strconv.Itoa(len(l.steps))+".", "Call checklist to change the steps.")
	}
	step := &l.steps[a.Item-1]
	step.mark, step.note = stepState(cmp.Or(a.State, string(stepDone))), line(a.Note)
	s.more = s.more || l.done() < len(l.steps)
	return s.keepList(room, m, l)
}

// editOf returns the index of the edit of a message; -1 when there is none.
func editOf(m spaces.EventID, effects []spaces.RoomEffect) int {
	return slices.IndexFunc(effects, func(e spaces.RoomEffect) bool { return e.Kind == spaces.ActEdit && e.Target == m })
}

// keepList edits a checklist's message, once in a step. The work on it goes on with that.
func (s *stepContext) keepList(room *hud.SharedRoom, m *spaces.ChatMessage, l stepList) toolResult {
	l.paused = false
	text, out := s.speech(room, l.text())
	if text == "" {
		return out
	}
	left := map[string]any{"left": len(l.steps) - l.done()}
	if i := editOf(m.ID, s.effects); i >= 0 {
		s.effects[i].Text = text
		return s.done(left)
	}
	e := s.effect(spaces.ActEdit, room)
	e.Target, e.Thread, e.Text = m.ID, m.Thread, text
	e.Chain = spaces.NextChain(s.wake.Consumed, m.ID, e.ID)
	out = s.do(e)
	if out.ok {
		out.body["left"] = left["left"]
	}
	return out
}

// checklistSection is what a frame shows of the agent's open checklist in the active room,
// with the steps numbered as check counts them: nothing where there is none.
func (c *cycle) checklistSection(v *hud.MindView) string {
	seat := v.Seat(v.Active)
	if seat == nil {
		return ""
	}
	m, l := openList(seat.Room, v.Agent.Entity(), listThread(c.wake, c.outsideView().thread, v.Active), c.shell.Now())
	if m == nil || slices.Contains(c.shell.Settings(c.mind.id.Agent, v.Active).Without, "check") {
		return ""
	}
	c.offer("check")
	var b strings.Builder
	fmt.Fprintf(&b, "YOUR CHECKLIST here, of which %d steps are left: go on with it, and mark steps with check. What people say goes before it.", len(l.steps)-l.done())
	if l.paused {
		b.WriteString(" A person stopped you, and it says that you pause: when you go on, first mark the step that you go on with as doing.")
	}
	for i, s := range l.steps {
		fmt.Fprintf(&b, "\n%d %s %s", i+1, s.mark, hud.Quote(s.text))
		if s.note != "" {
			b.WriteString(" " + hud.Quote(s.note))
		}
	}
	return b.String()
}
