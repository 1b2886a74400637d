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
	WaitReplied      WaitOutcome = "replied"
	WaitDeclined     WaitOutcome = "declined" // will not answer: muted, stopped, failed, or gone
	WaitSilent       WaitOutcome = "silent"   // an agent read it and said nothing
	WaitNotDelivered WaitOutcome = "not_delivered"
	WaitBudget       WaitOutcome = "budget_stopped" // a limit keeps it from answering
	WaitTimeout      WaitOutcome = "timeout"
)

// A WaitSpec says which answers a message waits for.
type WaitSpec struct {
	Call string // of the act that asked
	// Who must all answer. When it is empty, the first answer ends the wait: of a person
	// if People is set, else of any sender.
	Who    []EntityID
	People bool
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

// Take notes what became of one who was asked, and reports whether the wait is over
// with that. Who was not named ends it only by an answer. A wait that some of many
// answered is replied.
func (w *PendingWait) Take(a WaitAnswer) bool {
	if w.Outcome != "" || len(w.Who) > 0 && !w.Awaits(a.Who) {
		return false
	}
	if len(w.Who) == 0 && a.Outcome != WaitReplied && a.Outcome != WaitNotDelivered {
		return false
	}
	w.Answers = append(w.Answers, a)
	if len(w.Answers) < len(w.Who) {
		return false
	}
	w.Outcome = w.Answers[0].Outcome
	if slices.ContainsFunc(w.Answers, func(a WaitAnswer) bool { return a.Outcome == WaitReplied }) {
		w.Outcome = WaitReplied
	}
	return true
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

// AnsweredBy reports whether an event is among the answers.
func (w *PendingWait) AnsweredBy(e EventID) bool {
	return e != "" && slices.ContainsFunc(w.Answers, func(a WaitAnswer) bool { return a.Event == e })
}

// Consumed returns the cause of the wake that ends the wait: the question.
func (w *PendingWait) Consumed() ConsumedRow {
	return ConsumedRow{Event: w.Message, Root: w.Root, Depth: w.Depth, At: w.Seq}
}
