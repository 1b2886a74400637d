package hud

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// CON-20, CON-24, CON-53: below the mark nothing is cut and nothing is even counted.
func TestBelowTheMarkNothingIsCounted(t *testing.T) {
	ForgetVocabulary()
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	for range 5 {
		w.says(id, "kai", "hello")
		w.wake(id)
		w.frame()
		w.answers(id, "hello to you")
		w.rests("Responded to Kai.")
		if cause, need := w.v.NeedsCut(200); need {
			t.Fatalf("cut because of %s", cause)
		}
	}
	if vocabulary.codec != nil {
		t.Error("the vocabulary was loaded although the bytes prove that all fits")
	}
}

// CON-17, CON-19, CON-22, CON-28: past the mark the cut goes down to
// the low-water mark; recent cycles stay verbatim, older ones leave their
// numbered accounts, the oldest are grouped.
func TestCutIsRareAndDeep(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	w.v.Limits = ViewLimits{ContextTokens: 9000, MaxOutputTokens: 1000}
	cuts, last := 0, 0
	for i := range 200 {
		w.says(id, "kai", fmt.Sprintf("what about the %s of day %d?", words[i%len(words)], i))
		w.wake(id)
		w.answers(id, "It is ready.")
		w.rests(fmt.Sprintf("Responded to Kai about the %s of day %d.", words[i%len(words)], i))
		cause, need := w.v.NeedsCut(200)
		if !need {
			continue
		}
		before := len(w.v.Closed)
		w.cut(cause)
		low := w.v.Budget() / 2
		if got := w.v.Counter.keyframe(w.v.Keyframe) + w.v.Counter.turns(flat(w.v.Closed)); cause != CutHighWater || got > low {
			t.Errorf("cut %d because of %s left %d tokens, want at most %d", cuts, cause, got, low)
		}
		if len(w.v.Closed) != 10 || before-len(w.v.Closed) < 5 {
			t.Errorf("%d cycles stay of %d, want 10", len(w.v.Closed), before)
		}
		if cuts > 0 && i-last < 10 {
			t.Errorf("cut after %d cycles", i-last)
		}
		cuts, last = cuts+1, i
	}
	if cuts < 2 {
		t.Fatalf("%d cuts", cuts)
	}
	k := w.v.Keyframe
	for _, want := range []string{summariesHeader, "\nCycle ", "\nCycles 1–30 (30)"} {
		if !strings.Contains(k.Text, want) {
			t.Errorf("the keyframe lacks %q:\n%s", want, k.Text)
		}
	}
	if k.Upto != w.v.Closed[0].N-1 {
		t.Errorf("the keyframe absorbed %d cycles, the first shown is %d", k.Upto, w.v.Closed[0].N)
	}
}

func flat(cs []spaces.ClosedCycle) (ts []spaces.TranscriptTurn) {
	for i := range cs {
		ts = append(ts, cs[i].Turns...)
	}
	return ts
}

// CON-27, PRD-10-11: what was said 200 cycles ago comes back when it matters again.
func TestFactOfTwoHundredCyclesAgoIsRecalled(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	w.v.Limits = ViewLimits{ContextTokens: 9000, MaxOutputTokens: 1000}
	for i := range 201 {
		text := fmt.Sprintf("the %s of day %d is fine", words[i%len(words)], i)
		if i == 0 {
			text = "grandmother's maiden name is Lindqvist"
		}
		w.says(id, "kai", text)
		w.wake(id)
		w.rests("Stayed silent.")
		if cause, need := w.v.NeedsCut(200); need {
			w.cut(cause)
		}
	}
	w.says(id, "kai", "what was the maiden name of grandmother?")
	w.wake(id)
	if got := w.frame().golden(); !strings.Contains(got, "Lindqvist") {
		t.Errorf("not recalled:\n%s", got)
	}
}

// SEQ-24: an existing room is shown to a mind that comes to it late.
func TestHistoryBeforeTheFirstCycleNeedsAKeyframe(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	w.says(id, "kai", "long before")
	if _, need := w.v.NeedsCut(0); need {
		t.Error("cut although the line is still to be shown as new")
	}
	w.v.Seats[0].Uplink.Cursor = 1
	if cause, _ := w.v.NeedsCut(0); cause != CutFirst {
		t.Errorf("cause %q", cause)
	}
	w.cut(CutFirst)
	if !strings.Contains(w.v.Keyframe.Text, " Kai: long before") {
		t.Errorf("keyframe:\n%s", w.v.Keyframe.Text)
	}
}

// Of a long message of its own the agent sees the beginning in the history, with the id
// by which it can read the rest. Those of others are whole where there is room.
func TestHistoryClipsTheAgentsOwnLongMessages(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	w.says(id, "kai", "theirs "+strings.Repeat("tell me more ", 100))
	own := w.says(id, "ada", "mine "+strings.Repeat("so it is ", 900)+"the end")
	w.v.Seats[0].Uplink.Cursor = 2
	w.cut(CutFirst)
	text := w.v.Keyframe.Text
	if want := " " + Handle(own.ID) + " Ada (you) beginning: mine "; !strings.Contains(text, want) || strings.Contains(text, "the end") {
		t.Errorf("the history lacks %q, or has the end:\n%s", want, text)
	}
	if n := strings.Count(text, "tell me more"); n != 100 {
		t.Errorf("the history has %d of 100 repetitions", n)
	}
	if n := strings.Count(text, "so it is"); n < 30 || n > ownClip/len("so it is ") {
		t.Errorf("the history has %d repetitions", n)
	}
}

// The tail is small when nothing is recalled.
func TestTailIsSmall(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	w.says(id, "kai", "hello")
	w.wake(id)
	tail := w.v.Tail(TailInput{Now: w.at, Phase: "ENGAGEMENT: act now, or rest with one line.", Recalled: w.v.Recall("", 1500)})
	if n := len(tail.String()); n > 160 || tail.Recalled != "" {
		t.Errorf("%d bytes: %s", n, tail)
	}
}

// SEQ-53: the ids the HUD shows lead back to their messages.
func TestShownIDsAreFoundAgain(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	r := w.v.Seat(id).Room
	for range 50 {
		w.says(id, "kai", "x")
	}
	e := w.says(id, "ada", "mine")
	for _, name := range []string{ShortID(e.Seq), strings.ToUpper(ShortID(e.Seq)), Handle(e.ID)} {
		if m := r.FindShort(name); m == nil || m.ID != e.ID {
			t.Errorf("%s leads to %v", name, m)
		}
	}
	edit := w.add(id, "ada", spaces.MessageEdited{Target: e.ID, Text: "mine now"}) // what answers the edit answers the message
	if m := r.FindShort(ShortID(edit.Seq)); m == nil || m.ID != e.ID {
		t.Errorf("the edit leads to %v", m)
	}
	for _, name := range []string{"", "#", "#-1", "#0", "~", "#zzzz", "~abc", "1.5"} {
		if m := r.FindShort(name); m != nil {
			t.Errorf("%q leads to %v", name, m.ID)
		}
	}
}

// SEQ-74: an answer right below its question points up; apart from it,
// it names the question, which has an id then.
func TestAnAnswerBelowItsQuestionNeedsNoID(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "ada")
	first := w.says(id, "kai", "who has the keys?")
	w.add(id, "nova", spaces.MessagePosted{Text: "I do"}, replyTo(first.ID))
	w.says(id, "kai", "fine")
	w.add(id, "nova", spaces.MessagePosted{Text: "no, Max does"}, replyTo(first.ID))
	s := w.v.Seat(id)
	render := func(lines ...int) string {
		c := newCompact(w.v, s)
		c.refer(lines)
		for _, i := range lines {
			c.line(i, noLimit)
		}
		_, rows, _ := strings.Cut(c.text(), "\n")
		return rows
	}
	if got, want := render(0, 1), " Kai: who has the keys?\n Nova ↩: I do"; got != want {
		t.Errorf("together: %q, want %q", got, want)
	}
	if got, want := render(0, 1, 2, 3), " #1 Kai: who has the keys?\n Nova ↩: I do\n Kai: fine\n Nova ↩#1: no, Max does"; got != want {
		t.Errorf("one of them apart: %q, want %q", got, want)
	}
	if got, want := render(0, 3), " #1 Kai: who has the keys?\n…\n Nova ↩#1: no, Max does"; got != want {
		t.Errorf("with a gap: %q, want %q", got, want)
	}
}
