package hud

import (
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// A FrameTail is the last user message of a frame: what must not stay in the log.
type FrameTail struct {
	Text string
	// Recalled holds older lines that may matter; it stands before Text and is the
	// first thing of the tail to go when a frame is too long.
	Recalled string
	Refs     []spaces.EventID // messages whose words Recalled shows

	lines []Recalled // that Recalled is made of, the worthiest first
	whole string     // of which Recalled and Text are parts; empty: of none
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

// A TailInput is what the shell knows that the log does not hold.
type TailInput struct {
	Now      time.Time // its location is that by whose clock plans and waits go
	Phase    string    // the shell's words on the phase; the end of the message
	Options  string    // the shell's words on what the agent may not or need not do now; empty when nothing is out of the ordinary
	SetUp    string    // the shell's words on setting up the active room; empty where nobody does
	Failures []spaces.Failed
	Pictures []ImageRef // that stand behind the message, in order
	Denials  []spaces.Denial
	Runs     []OpenCycle
	Waits    []spaces.Wait // that last
	Recalled []Recalled
}

// ImageRef is one picture that the model is shown.
type ImageRef struct {
	Message spaces.EventID
	File    spaces.Attachment
}

// An OpenCycle is another open cycle of the mind (BLU-44, BLU-50).
type OpenCycle struct {
	Cycle   spaces.CycleID
	Status  spaces.State
	Wake    string // the gate's reason
	Summary string // what woke it
	Space   spaces.SpaceID
	Active  spaces.SpaceID
	Waiting string // for whom or what; empty: nothing
}

// Tail renders the last message of the next frame.
func (v *View) Tail(in TailInput) FrameTail {
	var t FrameTail
	t.lines = in.Recalled
	on := takeSlate()
	defer on.wipe()
	b, refs := v.appendRecalled(on.bytes, t.lines)
	t.Refs = refs
	recalled := len(b)
	if recalled > 0 {
		b = append(b, '\n')
	}
	text := len(b)
	for i := range in.Failures {
		b = v.appendFailure(b, &in.Failures[i])
	}
	for i := range in.Denials {
		b = appendDenial(b, &in.Denials[i])
	}
	if len(in.Runs)+len(in.Waits) > 0 {
		b = append(b, "ACTIVE RUNS:\n"...)
		for i := range in.Runs {
			b = v.appendRun(b, &in.Runs[i])
		}
		for i := range in.Waits {
			b = v.appendWait(b, &in.Waits[i])
		}
	}
	if len(in.Pictures) > 0 {
		b = append(b, "PICTURES below, in this order:"...)
		for i := range in.Pictures {
			b = v.appendPictured(b, &in.Pictures[i])
		}
		b = append(b, '\n')
	}
	if in.Options != "" {
		b = append(append(b, in.Options...), '\n')
	}
	if in.SetUp != "" {
		b = append(append(b, in.SetUp...), '\n')
	}
	b = append(v.appendActive(b), '\n')
	if !in.Now.IsZero() {
		b = append(in.appendNow(append(b, "TIME: "...)), '\n')
	}
	on.bytes = append(b, in.Phase...)
	t.whole = strings.TrimSuffix(string(on.bytes), "\n")
	t.Recalled, t.Text = t.whole[:recalled], t.whole[text:]
	return t
}

// appendNow appends what time it is: by the clock of the lines of history, and by the
// one that plans and waits go by where that is another.
func (in *TailInput) appendNow(dst []byte) []byte {
	dst = in.Now.UTC().AppendFormat(dst, clock)
	if _, ahead := in.Now.Zone(); ahead != 0 {
		dst = in.Now.AppendFormat(append(dst, ", here "...), clock)
	}
	return dst
}

// appendActive appends the exact text of BLU-40.
func (v *View) appendActive(dst []byte) []byte {
	s := v.Seat(v.Active)
	if s == nil {
		return append(dst, "ACTIVE SPACE: none (call enter_space to set one)"...)
	}
	dst = appendQuoted(append(dst, "ACTIVE SPACE: "...), v.label(s))
	dst = append(append(append(dst, " ("...), s.Short...), ')')
	if v.Branch != "" && v.Branch != spaces.Primary { // SEQ-28
		dst = append(appendQuoted(append(dst, " on branch "...), string(v.Branch)), ", a rehearsal: nothing you do in a room reaches anybody"...)
	}
	return dst
}

func (v *View) appendFailure(dst []byte, f *spaces.Failed) []byte {
	head := "NOT DELIVERED: "
	if f.State == spaces.ActionUnknown {
		head = "DELIVERY UNKNOWN: "
	}
	dst = append(dst, head...)
	if s, m := v.find(f.Message); m != nil {
		dst = append(appendShort(dst, m.Seq), " in "...)
		dst = append(append(dst, s.Short...), ' ')
		dst = append(appendQuoted(dst, clip(m.Text, 60)), ' ')
	}
	dst = append(append(append(dst, '('), word(f.Code)...), ") "...)
	return append(appendQuoted(dst, clip(f.Reason, 160)), '\n')
}

// find returns the message with that id and the seat whose room holds it.
func (v *View) find(id spaces.EventID) (*RoomView, *spaces.Message) {
	if id == "" {
		return nil, nil
	}
	for i := range v.Seats {
		if m := v.Seats[i].Room.Chat.Find(id); m != nil {
			return &v.Seats[i], m
		}
	}
	return nil, nil
}

func appendDenial(dst []byte, d *spaces.Denial) []byte {
	dst = append(dst, "DENIED: "...)
	dst = append(append(dst, word(d.Act)...), " ("...)
	dst = append(append(dst, word(d.Code)...), ") "...)
	dst = appendQuoted(dst, clip(d.Reason, 160))
	if d.Hint != "" {
		dst = appendQuoted(append(dst, " hint "...), clip(d.Hint, 160))
	}
	return append(dst, '\n')
}

// appendPictured appends which message a picture is of: what it is called stands
// in that message's line.
func (v *View) appendPictured(dst []byte, p *ImageRef) []byte {
	dst = append(dst, ' ')
	if _, m := v.find(p.Message); m != nil {
		dst = appendShort(dst, m.Seq)
	}
	return append(append(dst, " +"...), word(p.File.Kind)...)
}

func (v *View) appendRun(dst []byte, r *OpenCycle) []byte {
	dst = append(append(dst, "- "...), word(string(r.Status))...)
	if s := v.Seat(r.Space); s != nil {
		dst = append(append(dst, " in "...), s.Short...)
	}
	dst = append(append(append(dst, " ("...), word(r.Wake)...), ")"...)
	if s := v.Seat(r.Active); s != nil && r.Active != r.Space {
		dst = append(append(dst, " active "...), s.Short...)
	}
	if r.Waiting != "" {
		dst = appendQuoted(append(dst, " waiting for "...), clip(r.Waiting, maxName))
	}
	if r.Summary != "" {
		dst = appendQuoted(append(dst, ": "...), clip(r.Summary, 120))
	}
	return append(dst, '\n')
}

// timesWord returns "1 line", "2 lines".
func timesWord(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
