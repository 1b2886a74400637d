package spaces

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// taskMarks are the signs of the states of tasks, as people see them.
var taskMarks = map[TaskState]string{TaskPending: "☐", TaskWorking: "▶", TaskSubmitted: "◷", TaskVerified: "☑", TaskFailed: "☒", TaskSkipped: "⊘"}

// NoticeKey returns the key of the notice by which people are shown the mission.
func (m *Mission) NoticeKey() string { return "mission|" + string(m.ID) }

// Number returns the end of the mission's id, by which people name it.
func (m *Mission) Number() string { return string(m.ID[max(0, len(m.ID)-4):]) }

// Buttons returns the buttons below a proposal.
func (m *Mission) Buttons() []ChoiceButton {
	return []ChoiceButton{
		{Label: "Start", Value: MissionButton(MissionStart, m.ID)},
		{Label: "No", Value: MissionButton(MissionCancel, m.ID)},
	}
}

// MissionButton returns the value of a button that does a step to a mission.
func MissionButton(kind MissionStepKind, id MissionID) string {
	return "mission " + string(kind) + " " + string(id)
}

// ParseMissionButton returns the step that the value of a button stands for, and whether it
// is one that a person may do to a mission: a client may send a value that no button has.
func ParseMissionButton(value string) (MissionStep, bool) {
	words := strings.Fields(value)
	if len(words) != 3 || words[0] != "mission" {
		return MissionStep{}, false
	}
	s := MissionStep{Kind: MissionStepKind(words[1]), Mission: MissionID(words[2])}
	return s, slices.Contains(PeopleSteps(), s.Kind)
}

// Verified counts the tasks that are verified.
func (m *Mission) Verified() int { return countVerified(m.Tasks) }

// Done counts the tasks that were verified by then.
func (c *MissionCheckpoint) Done() int { return countVerified(c.Tasks) }

func countVerified(tasks []MissionTask) (n int) {
	for i := range tasks {
		if tasks[i].State == TaskVerified {
			n++
		}
	}
	return n
}

// pausedBy say why a mission is paused.
var pausedBy = map[StopReason]string{StopBudget: "its budget is used up", StopCancelled: "a person stopped it"}

// Text returns the mission as people see it, CommonMark: its goal, how far it has come, and
// each task with its agent. While it is proposed the last line says how to decide.
func (m *Mission) Text() string {
	var b strings.Builder
	head := fmt.Sprintf("%d of %d", m.Verified(), len(m.Tasks))
	switch m.State {
	case MissionProposed:
		head = "proposed"
	case MissionPaused:
		head += ", paused: " + cmp.Or(m.Detail, pausedBy[m.Stop])
	case MissionCancelled:
		head += ", cancelled"
	case MissionFailed:
		head += ", not completed"
		if m.Stop == StopTimeout {
			head += ": its deadline has passed"
		}
	case MissionRunning, MissionCompleted:
	}
	if m.From > 0 && !m.State.Over() {
		head += fmt.Sprintf(", from checkpoint %d", m.From)
	}
	fmt.Fprintf(&b, "**Mission %s: %s** (%s)\n", m.Number(), PlainText(m.Goal), head)
	for i := range m.Tasks {
		m.writeTask(&b, &m.Tasks[i])
	}
	if !m.State.Over() {
		b.WriteString(m.bounds())
	}
	if m.State == MissionPaused {
		fmt.Fprintf(&b, "\nWrite `mission resume %s` or `mission cancel %[1]s`.", m.Number())
		if m.Stop == StopBudget {
			b.WriteString(" Resuming allows as much again.")
		}
	}
	if m.State == MissionProposed {
		fmt.Fprintf(&b, "\nPress Start, write `mission start %s` or `mission cancel %[1]s`, or say what to change.", m.Number())
	}
	return b.String()
}

// WentBack says in one line that the mission goes on from a checkpoint; empty if it does not.
func (m *Mission) WentBack() string {
	if m.From == 0 {
		return ""
	}
	text := fmt.Sprintf("Mission %s goes on from checkpoint %d, with %d of %d tasks done. What was said and sent after it stays", m.Number(), m.From, m.Verified(), len(m.Tasks))
	if m.State == MissionRunning {
		text += "; the other tasks begin once more"
	}
	return text + "."
}

// maxShownResult is how much of a result people are shown.
const maxShownResult = 240

// writeTask writes the line of a task, and below it why it is where it is, or its result.
func (m *Mission) writeTask(b *strings.Builder, t *MissionTask) {
	fmt.Fprintf(b, "\n%s %d %s — %s", taskMarks[t.State], t.N, PlainText(t.Title), PlainText(m.Name(t.Agent)))
	if len(t.After) > 0 && m.State == MissionProposed {
		b.WriteString(", after " + TaskNumbers(t.After))
	}
	switch note := t.Why; {
	case t.State == TaskVerified && t.Result != "":
		b.WriteString(": " + TruncateText(oneLine(t.Result), maxShownResult))
	case t.State == TaskSubmitted:
		b.WriteString(": to be verified by " + PlainText(m.Name(m.Verifier(t))))
	case t.State == TaskFailed && len(t.Tried) > 0:
		b.WriteString(": no agent could do it")
		for _, x := range t.Tried {
			b.WriteString("; " + m.said(x))
		}
	case t.State == TaskFailed && note == "":
		b.WriteString(": " + string(t.Stop))
	case t.State == TaskWorking && len(t.Tried) > 0 && t.Tried[len(t.Tried)-1].Why == note:
		b.WriteString("; " + m.said(t.Tried[len(t.Tried)-1]))
	case t.State == TaskWorking && note != "":
		b.WriteString(": once more, because " + TruncateText(oneLine(note), maxShownResult))
	case note != "" && t.State != TaskVerified:
		b.WriteString(": " + TruncateText(oneLine(note), maxShownResult))
	}
}

// said says why an agent did not do a task.
func (m *Mission) said(x TaskTrial) string {
	return PlainText(m.Name(x.Agent)) + " gave it back: " + TruncateText(oneLine(x.Why), maxShownResult)
}

// bounds says what the mission may use and until when.
func (m *Mission) bounds() string {
	var parts []string
	switch l := m.Spendable(); {
	case l.Amount.Micros > 0:
		parts = append(parts, "at most "+l.Amount.String())
	case l.Tokens > 0:
		parts = append(parts, fmt.Sprintf("at most %d tokens", l.Tokens))
	}
	if !m.Deadline.IsZero() {
		parts = append(parts, "until "+m.Deadline.Format("Mon 2 Jan 15:04 MST"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "\n" + strings.Join(parts, ", ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// TaskNumbers writes numbers of tasks as a list.
func TaskNumbers(ns []int) string {
	words := make([]string, len(ns))
	for i, n := range ns {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}
