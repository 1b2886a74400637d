package hud

import (
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/spaces"
)

// A FrameTail is the last user message of a frame: what is rendered anew for each
// frame and not stored in the log.
type FrameTail struct {
	Text string
	// Recalled holds older lines that may matter. It comes before Text and is dropped
	// first when a frame is too long.
	Recalled string
	Refs     []spaces.EventID // messages whose words Recalled shows

	lines []RecalledLine // of Recalled, the best first
	whole string         // the string that Recalled and Text are slices of, or empty
}

// String returns the whole message.
func (t FrameTail) String() string {
	switch {
	case t.Recalled == "":
		return t.Text
	case t.whole != "":
		return t.whole
	}
	return t.Recalled + "\n" + t.Text
}

// A TailInput holds what the tail shows and the view does not hold.
type TailInput struct {
	Now      time.Time // in the location that is shown where no room is active
	Phase    string    // text about the phase, the end of the message
	Options  string    // text about what the agent may not or need not do now; may be empty
	SetUp    string    // text about the onboarding of the active room; may be empty
	List     string    // the open checklist of the active room; may be empty
	Missions string    // missions of the room that woke the agent; may be empty
	Counts   string    // see [LookBack.Counts]; may be empty
	Failures []spaces.SendFailed
	Pictures []ImageRef // attached to the message, in order
	Denials  []spaces.Denial
	Runs     []OpenCycle
	Waits    []spaces.PendingWait // that have not ended
	Recalled []RecalledLine
}

// ImageRef is one picture that the model is shown.
type ImageRef struct {
	Message spaces.EventID
	File    spaces.FileAttachment
}

// An OpenCycle is another open cycle of the mind.
type OpenCycle struct {
	Cycle   spaces.CycleID
	Status  spaces.ShellState
	Wake    string // the gate's reason
	Summary string // what woke it
	Space   spaces.SpaceID
	Active  spaces.SpaceID
	Waiting string // the person or thing it waits for; empty for none
}

// Tail renders the last message of the next frame.
func (v *MindView) Tail(in TailInput) FrameTail {
	t := FrameTail{lines: in.Recalled}
	buf := takeBuffer()
	defer buf.release()
	w := tailWriter{v: v}
	w.b, t.Refs = v.appendRecalled(buf.bytes, t.lines)
	recalled := len(w.b)
	if recalled > 0 {
		w.b = append(w.b, '\n')
	}
	text := len(w.b)
	w.writeText(&in)
	buf.bytes = w.b
	t.whole = strings.TrimSuffix(string(buf.bytes), "\n")
	t.Recalled, t.Text = t.whole[:recalled], t.whole[text:]
	return t
}

// WaitOver returns the turn that reports the end of a wait as the result of the call
// that asked:
//
//	RESULT call_7: partial (1 of 2 needed), of what you asked #o3 in s1. Max (agent) replied #a9; Zoe (agent) left the room ← TRIGGER
//	RESULT call_8: replied, of what you asked #p1 in s1. Kai (human) chose 2 "Wednesday" ← TRIGGER
//	RESULT call_9: replied (1 of 1 needed), of what you asked #q2 in s1. Max (agent) replied #a9. No longer waited for: Zoe (agent) ← TRIGGER
//
// The answers themselves are shown by the inbox that follows.
func (v *MindView) WaitOver(wait *spaces.PendingWait) spaces.TranscriptTurn {
	w := tailWriter{v: v}
	w.waitResult(wait)
	return spaces.TranscriptTurn{Role: spaces.RoleUser, Text: string(append(w.b, triggerMark...))}
}

// A tailWriter renders the parts of a tail, each a line or several.
type tailWriter struct {
	v *MindView
	b []byte
}

// writeText renders all parts but the recalled lines.
func (w *tailWriter) writeText(in *TailInput) {
	for i := range in.Failures {
		w.failure(&in.Failures[i])
	}
	for i := range in.Denials {
		w.denial(&in.Denials[i])
	}
	if len(in.Runs)+len(in.Waits) > 0 {
		w.b = append(w.b, "ACTIVE RUNS:\n"...)
		for i := range in.Runs {
			w.openCycle(&in.Runs[i])
		}
		for i := range in.Waits {
			w.wait(&in.Waits[i])
		}
	}
	if len(in.Pictures) > 0 {
		w.b = append(w.b, "PICTURES below, in this order:"...)
		for i := range in.Pictures {
			w.picture(&in.Pictures[i])
		}
		w.b = append(w.b, '\n')
	}
	for _, text := range []string{in.Options, in.SetUp, in.List, in.Missions, in.Counts} {
		if text != "" {
			w.b = append(append(w.b, text...), '\n')
		}
	}
	w.activeSpace()
	if !in.Now.IsZero() {
		w.time(in.Now)
	}
	w.b = append(w.b, in.Phase...)
}

// time renders the current time by the clocks of the active room.
func (w *tailWriter) time(now time.Time) {
	w.b = append(append(w.b, "TIME: "...), ClockIn(w.v.Seat(w.v.Active).local(now))...)
	w.b = append(w.b, '\n')
}

// activeSpace renders the active space.
func (w *tailWriter) activeSpace() {
	s := w.v.Seat(w.v.Active)
	if s == nil {
		w.b = append(w.b, "ACTIVE SPACE: none (call enter_space to set one)\n"...)
		return
	}
	dst := appendQuoted(append(w.b, "ACTIVE SPACE: "...), w.v.label(s))
	dst = append(append(append(dst, " ("...), s.Short...), ')')
	if branch := w.v.Branch; branch != "" && branch != spaces.Primary {
		dst = append(appendQuoted(append(dst, " on branch "...), string(branch)), ", a rehearsal: nothing you do in a room reaches anybody"...)
	}
	if s.Room.space.Guest {
		dst = append(dst, ", where you are a guest: you can send one message, of words alone, and strangers may read it"...)
	}
	w.b = append(dst, '\n')
}

func (w *tailWriter) failure(f *spaces.SendFailed) {
	head := "NOT DELIVERED: "
	if f.State == spaces.ActionUnknown {
		head = "DELIVERY UNKNOWN: "
	}
	dst := append(w.b, head...)
	if s, m := w.v.find(f.Message); m != nil {
		dst = append(appendMessageID(dst, m, w.v.me()), " in "...)
		dst = append(append(dst, s.Short...), ' ')
		dst = append(appendQuoted(dst, textformat.ClipRunes(m.Text, 60)), ' ')
	}
	dst = append(append(append(dst, '('), word(f.Code)...), ") "...)
	w.b = append(appendQuoted(dst, textformat.ClipRunes(f.Reason, 160)), '\n')
}

func (w *tailWriter) denial(d *spaces.Denial) {
	dst := append(w.b, "DENIED: "...)
	dst = append(append(dst, word(d.Act)...), " ("...)
	dst = append(append(dst, word(d.Code)...), ") "...)
	dst = appendQuoted(dst, textformat.ClipRunes(d.Reason, 160))
	if d.Hint != "" {
		dst = appendQuoted(append(dst, " hint "...), textformat.ClipRunes(d.Hint, 160))
	}
	w.b = append(dst, '\n')
}

// picture renders which message a picture belongs to; that message's line names the file.
func (w *tailWriter) picture(p *ImageRef) {
	w.b = append(w.b, ' ')
	if _, m := w.v.find(p.Message); m != nil {
		w.b = appendShort(w.b, m.Seq)
	}
	w.b = append(append(w.b, " +"...), word(p.File.Kind)...)
}

func (w *tailWriter) openCycle(r *OpenCycle) {
	dst := append(append(w.b, "- "...), word(string(r.Status))...)
	if s := w.v.Seat(r.Space); s != nil {
		dst = append(append(dst, " in "...), s.Short...)
	}
	dst = append(append(append(dst, " ("...), word(r.Wake)...), ")"...)
	if s := w.v.Seat(r.Active); s != nil && r.Active != r.Space {
		dst = append(append(dst, " active "...), s.Short...)
	}
	if r.Waiting != "" {
		dst = appendQuoted(append(dst, " waiting for "...), textformat.ClipRunes(r.Waiting, maxName))
	}
	if r.Summary != "" {
		dst = appendQuoted(append(dst, ": "...), textformat.ClipRunes(r.Summary, 120))
	}
	w.b = append(dst, '\n')
}

// wait renders a wait as one of the agent's runs.
func (w *tailWriter) wait(wait *spaces.PendingWait) {
	w.b = append(w.b, "- waiting_reply to "...)
	w.question(wait)
	w.b = append(w.b, ", from "...)
	switch left, s := wait.Missing(), w.v.Seat(wait.Space); {
	case len(left) > 0 && s != nil:
		if more := wait.Needed() - wait.Replies(); more < len(left) {
			w.b = append(strconv.AppendInt(w.b, int64(more), 10), " of "...)
		}
		w.b = s.Room.appendPeople(w.b, left, w.v.me())
	case wait.Need > 1:
		w.b = append(strconv.AppendInt(w.b, int64(wait.Need-wait.Replies()), 10), " more"...)
	case wait.People:
		w.b = append(w.b, "a person"...)
	default:
		w.b = append(w.b, "anybody"...)
	}
	w.b = append(wait.Due.AppendFormat(append(w.b, ", until "...), clockFormat), '\n')
}

// question renders the question of a wait and its room.
func (w *tailWriter) question(wait *spaces.PendingWait) {
	w.b = append(w.b, Handle(wait.Message)...)
	if s := w.v.Seat(wait.Space); s != nil {
		w.b = append(append(w.b, " in "...), s.Short...)
	}
}

// waitResult renders the outcome of a wait.
func (w *tailWriter) waitResult(wait *spaces.PendingWait) {
	w.b = append(append(append(w.b, "RESULT "...), callName(wait.Call)...), ": "...)
	w.b = append(w.b, word(string(wait.Outcome))...)
	if len(wait.Who) > 1 || wait.Need > 1 {
		w.b = strconv.AppendInt(append(w.b, " ("...), int64(wait.Replies()), 10)
		w.b = append(strconv.AppendInt(append(w.b, " of "...), int64(wait.Needed()), 10), " needed)"...)
	}
	w.b = append(w.b, ", of what you asked "...)
	w.question(wait)
	s := w.v.Seat(wait.Space)
	b := w.b
	for i, a := range wait.Answers {
		if i == 0 {
			b = append(b, ". "...)
		} else {
			b = append(b, "; "...)
		}
		if s != nil && a.Who != "" {
			b = append(s.Room.appendSpeaker(b, a.Who, w.v.me()), ' ')
		}
		if a.Choice > 0 && a.Choice <= len(wait.Options) {
			b = strconv.AppendInt(append(b, "chose "...), int64(a.Choice), 10)
			b = appendQuoted(append(b, ' '), wait.Options[a.Choice-1])
		} else {
			b = append(b, outcomeText(a.Outcome)...)
		}
		if s == nil {
			continue
		}
		if m := s.Room.Chat.Find(a.Event); a.Event != "" && m != nil {
			b = appendShort(append(b, ' '), m.Seq)
		}
	}
	if left := wait.Missing(); len(left) > 0 && s != nil {
		b = append(b, ". No longer waited for: "...)
		b = s.Room.appendPeople(b, left, w.v.me())
	}
	w.b = b
}

// outcomeText says what became of one who was asked.
func outcomeText(o spaces.WaitOutcome) string {
	switch o {
	case spaces.WaitLeft:
		return "left the room"
	case spaces.WaitStopped:
		return "was stopped"
	case spaces.WaitDenied:
		return "is muted or was not woken"
	case spaces.WaitFailed:
		return "failed"
	case spaces.WaitSilent:
		return "read it and said nothing"
	case spaces.WaitNotDelivered:
		return "was not reached"
	case spaces.WaitBudget:
		return "was held back by a limit"
	case spaces.WaitTimeout:
		return "did not answer in time"
	case spaces.WaitReplied, spaces.WaitPartial:
	}
	return word(string(o))
}

// callName returns the id of a call without the characters that could break a line:
// models choose the ids.
func callName(id string) string {
	return textformat.ClipRunes(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, id), 40)
}
