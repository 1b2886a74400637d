package spaces

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A WaitOutcome is the outcome of a question.
type WaitOutcome string

// The outcomes of a wait.
const (
	WaitReplied      WaitOutcome = "replied" // of a whole wait: as many as it needs
	WaitPartial      WaitOutcome = "partial" // of a whole wait alone: some replied, fewer than it needs, and no more will
	WaitLeft         WaitOutcome = "left"    // the room
	WaitStopped      WaitOutcome = "stopped" // by a person
	WaitDenied       WaitOutcome = "denied"  // muted, or the question may not wake the agent
	WaitFailed       WaitOutcome = "failed"  // an agent's run ended with an error
	WaitSilent       WaitOutcome = "silent"  // an agent read it and said nothing
	WaitNotDelivered WaitOutcome = "not_delivered"
	WaitBudget       WaitOutcome = "budget_stopped" // a limit keeps it from answering
	WaitTimeout      WaitOutcome = "timeout"
)

// A WaitSpec says which answers a message waits for.
type WaitSpec struct {
	Call string // of the act that asked
	// Who are asked. When it is empty, anyone is: any person if People is set, else any
	// sender.
	Who    []EntityID
	People bool
	// Need is how many of those asked must answer. With 0 the wait lasts until it is known
	// of each in Who whether they answer, and with an empty Who until the first answer.
	Need int
	// Options are what one person chooses from, by a button or in words; none for a
	// question that any words answer.
	Options []string
	Due     time.Time
}

// OptionList returns options as the numbered list that follows a question; empty for none.
func OptionList(options []string) string {
	var b strings.Builder
	for i, o := range options {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("\n" + strconv.Itoa(i+1) + ". " + o)
	}
	return b.String()
}

// ChoiceIn returns which option the words of a person mean, from 1: its text or its
// number, also behind the name of who is answered. It is 0 when they mean none.
func (w *WaitSpec) ChoiceIn(words string) int {
	words = strings.TrimSpace(strings.ReplaceAll(words, `\`, "")) // Markdown has "2\." for "2."
	for strings.HasPrefix(words, "@") {
		_, rest, _ := strings.Cut(words, " ")
		words = strings.TrimSpace(rest)
	}
	words = strings.TrimRight(words, ".!) ")
	i := slices.IndexFunc(w.Options, func(o string) bool { return strings.EqualFold(strings.TrimRight(o, ".!) "), words) })
	if n, err := strconv.Atoi(strings.TrimPrefix(words, "#")); i < 0 && err == nil && n >= 1 && n <= len(w.Options) {
		return n
	}
	return i + 1
}

// A WaitAnswer is the outcome for one of those who were asked.
type WaitAnswer struct {
	Who     EntityID    `json:"who"`
	Outcome WaitOutcome `json:"outcome"`
	Event   EventID     `json:"event,omitempty"`  // the answer, with replied; empty for a pressed button
	Choice  int         `json:"choice,omitempty"` // the option that was chosen, from 1; 0: none
}

// A QuestionAnswer is a person's choice by a button below a question.
type QuestionAnswer struct {
	Run    CycleID   // that asked
	Spaces []SpaceID // that the chat of the button belongs to
	Who    EntityID
	Choice int // from 1
	At     time.Time
}

// A PendingWait is an expectation that outlives the run that asked: a row, not a blocked
// goroutine. It ends once, and then it wakes its mind in its room.
type PendingWait struct {
	WaitSpec
	Cycle   CycleID // that asked; it has no other wait
	Mind    Mind
	Space   SpaceID
	Thread  ThreadID
	Message EventID // the question
	Seq     int64   // of it
	Root    EventID // its chain, which the wake goes on with
	Depth   int
	Started time.Time
	Outcome WaitOutcome // empty as long as it lasts
	Answers []WaitAnswer
}

// Counts reports whether a message answers the question. A question that names no one
// is answered by a message in its thread or a reply to it. One with options is answered
// by a reply, by an option in its thread, and in the person's own chat by any words.
func (w *PendingWait) Counts(e Event, person, direct bool) bool {
	switch {
	case e.Actor == w.Mind.Agent.Entity() || e.Actor == "":
		return false
	case len(w.Options) > 0:
		here := e.Thread == w.Thread && (direct || w.chosenBy(e) > 0)
		return person && (e.ReplyTo == w.Message || here) && (len(w.Who) == 0 || w.Awaits(e.Actor))
	case len(w.Who) > 0:
		return w.Awaits(e.Actor)
	case e.Thread != w.Thread && e.ReplyTo != w.Message:
		return false
	}
	return person || !w.People
}

// AnswerOf returns the answer that a message is which counts.
func (w *PendingWait) AnswerOf(e Event) WaitAnswer {
	return WaitAnswer{Who: e.Actor, Outcome: WaitReplied, Event: e.ID, Choice: w.chosenBy(e)}
}

func (w *PendingWait) chosenBy(e Event) int {
	said, _ := e.Body.(MessagePosted)
	return w.ChoiceIn(said.Text)
}

// Awaits reports whether the entity was named and has no outcome yet.
func (w *PendingWait) Awaits(who EntityID) bool {
	return w.Outcome == "" && slices.Contains(w.Who, who) && !slices.ContainsFunc(w.Answers, func(a WaitAnswer) bool { return a.Who == who })
}

// Needed returns how many answers make the wait replied.
func (w *PendingWait) Needed() int {
	if w.Need == 0 {
		return max(1, len(w.Who))
	}
	return w.Need
}

// Replies returns how many of those who were asked have answered.
func (w *PendingWait) Replies() (n int) {
	for _, a := range w.Answers {
		if a.Outcome == WaitReplied {
			n++
		}
	}
	return n
}

// Take notes what became of one who was asked, once for each, and reports whether the wait
// is over with that: as many as it needs have answered, or fewer can. Who was not named
// changes it only by an answer. A wait that no one answered has the outcome of the first
// of whom it knows.
func (w *PendingWait) Take(a WaitAnswer) bool {
	known := slices.ContainsFunc(w.Answers, func(b WaitAnswer) bool { return a.Who == b.Who })
	if w.Outcome != "" || known || len(w.Who) > 0 && !w.Awaits(a.Who) {
		return false
	}
	if len(w.Who) == 0 && a.Outcome != WaitReplied && a.Outcome != WaitNotDelivered {
		return false
	}
	w.Answers = append(w.Answers, a)
	replied, left := w.Replies(), len(w.Who)-len(w.Answers)
	switch {
	case replied >= w.Needed():
		w.Outcome = WaitReplied
	case len(w.Who) == 0 && a.Outcome == WaitReplied, w.Need == 0 && left > 0, len(w.Who) > 0 && replied+left >= w.Needed():
		return false
	case replied > 0:
		w.Outcome = WaitPartial
	default:
		w.Outcome = w.Answers[0].Outcome
	}
	return true
}

// Expire ends the wait at its time: who has not answered by then did not.
func (w *PendingWait) Expire() {
	for _, who := range w.Missing() {
		w.Answers = append(w.Answers, WaitAnswer{Who: who, Outcome: WaitTimeout})
	}
	w.Outcome = WaitTimeout
}

// Missing returns those that were named and of whom nothing is known.
func (w *PendingWait) Missing() []EntityID {
	var out []EntityID
	for _, who := range w.Who {
		if !slices.ContainsFunc(w.Answers, func(a WaitAnswer) bool { return a.Who == who }) {
			out = append(out, who)
		}
	}
	return out
}

// EndedBy reports whether an event is the answer that ended the wait.
func (w *PendingWait) EndedBy(e EventID) bool {
	return w.Outcome != "" && e != "" && len(w.Answers) > 0 && w.Answers[len(w.Answers)-1].Event == e
}

// AnsweredBy reports whether an event is among the answers.
func (w *PendingWait) AnsweredBy(e EventID) bool {
	return e != "" && slices.ContainsFunc(w.Answers, func(a WaitAnswer) bool { return a.Event == e })
}

// Consumed returns the cause of the wake that ends the wait: the question.
func (w *PendingWait) Consumed() ConsumedRow {
	return ConsumedRow{Event: w.Message, Root: w.Root, Depth: w.Depth, At: w.Seq}
}
