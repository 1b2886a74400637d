package hud

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// lived plays many cycles in two rooms, cuts, and has one more line wake the mind.
func lived(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	work, home := w.room("Work", "kai", "sage", "ada"), w.room("Family", "kai", "nova", "ada")
	self(w)
	for i := range 30 {
		w.says(work, "sage", fmt.Sprintf("work line %d", i))
	}
	for i := range 16 {
		w.says(home, "kai", fmt.Sprintf("home line %d", i))
		w.wake(home)
		w.rests(fmt.Sprintf("Responded to Kai about day %d.", i))
	}
	w.cut(CutHighWater)
	w.says(home, "nova", "the newest line of all")
	w.wake(home)
	return w
}

// GTS-03, GTS-06, GTS-09, CON-04, CON-39, CON-43, SEQ-77, SEQ-102: a frame begins with who the agent
// is and ends with what to do; between them what changes least comes first: rooms, what it wants and
// knows, its own past before what it has seen elsewhere, and the room it is in last. Lines keep the
// order of the log. The message that woke the agent is a line of the inbox and appears nowhere else;
// nothing is marked as seen or new.
func TestAFrameBeginsWithWhoAndEndsWithWhat(t *testing.T) {
	w := lived(t)
	f := w.frame()
	if first, last := f.Messages()[0], f.Messages()[f.Len()-1]; first.Role != spaces.RoleSystem || first.Text != w.v.System ||
		last.Role != spaces.RoleUser || !strings.Contains(last.Text, "ACTIVE SPACE") {
		t.Errorf("the frame begins with %+v and ends with %+v", first, last)
	}
	text := f.golden()
	at := -1
	for _, part := range []string{
		"You are Ada.", "YOUR SPACES:", "GOALS:", "MEMORIES:", "NOTES:", "BOOKMARKS", summariesHeader + "\n", `HISTORY s1 "Work"`, "work line 3", "work line 29",
		`HISTORY s2 "Family"`, "home line 3", "home line 5", "home line 15", "the newest line of all", "ACTIVE SPACE:",
	} {
		next := strings.Index(text, part)
		if next <= at {
			t.Errorf("%q stands at %d, what comes before it at %d:\n%s", part, next, at, text)
		}
		at = next
	}
	if n := strings.Count(text, "the newest line of all"); n != 1 {
		t.Errorf("what woke the agent stands there %d times", n)
	}
	for _, mark := range []string{"[SEEN]", "[NEW]"} {
		if strings.Contains(text, mark) {
			t.Errorf("the frame has %s", mark)
		}
	}
}

// SEQ-58, CON-44: what is in a turn that is kept is not shown again in the history
// of its room.
func TestALineOfAKeptTurnIsNotShownAgain(t *testing.T) {
	w := lived(t)
	text := w.frame().golden()
	for i := range 16 {
		if n := strings.Count(text, fmt.Sprintf("home line %d\"", i)) + strings.Count(text, fmt.Sprintf(": home line %d\n", i)); n != 1 {
			t.Errorf("line %d stands there %d times", i, n)
		}
	}
}

// SEQ-64, SEQ-27, SEQ-77: what was said in rooms and what the agent lived through are
// compressed apart: however much was said, no cycle of its own and no account goes for
// it, and however much it lived through, the newest lines of its room stay.
func TestRoomsAndTheInnerLogAreCompressedApart(t *testing.T) {
	kept := func(lines int) (cycles, accounts, shown int) {
		w := newWorld(t)
		w.v.Limits = ViewLimits{ContextTokens: 9_000, MaxOutputTokens: 500}
		id := w.room("Family", "kai", "ada")
		other := w.room("Town", "kai", "nova", "ada")
		for i := range 24 {
			w.says(id, "kai", fmt.Sprintf("home line %d", i))
			w.wake(id)
			w.rests(fmt.Sprintf("Responded to Kai about day %d.", i))
		}
		for i := range lines {
			w.says(other, "nova", fmt.Sprintf("town line %d and so on and so on", i))
		}
		w.v.Seat(other).Uplink.Cursor = w.v.Seat(other).Room.Upto()
		w.cut(CutHighWater)
		return len(w.v.Closed), strings.Count(w.v.Keyframe.Text, "\nCycle "), strings.Count(w.v.Keyframe.Text, "home line")
	}
	cycles, accounts, shown := kept(0)
	if cycles != 10 || accounts != 14 || shown == 0 {
		t.Fatalf("%d cycles, %d accounts, %d lines", cycles, accounts, shown)
	}
	if c, a, s := kept(2_000); c != cycles || a != accounts || s == 0 {
		t.Errorf("beside 2,000 lines of another room %d cycles, %d accounts and %d lines stay, without them %d, %d and %d", c, a, s, cycles, accounts, shown)
	}
}

// CON-18: a log takes no more than its own limit, whatever the window has;
// by default that is 100,000 tokens.
func TestTheLogHasALimitOfItsOwn(t *testing.T) {
	for _, c := range []struct{ window, limit, want int }{
		{1_000_000, 0, 100_000}, {1_000_000, 30_000, 30_000}, {32_000, 0, 32_000 - 4_000 - 1_000},
	} {
		w := newWorld(t)
		w.v.Limits = ViewLimits{ContextTokens: c.window, MaxOutputTokens: 4_000, MaxLogTokens: c.limit}
		if got := w.v.Budget(); got != c.want {
			t.Errorf("a window of %d and a limit of %d leave %d, want %d", c.window, c.limit, got, c.want)
		}
	}
}

// SEQ-51, SEQ-55, SEQ-56, SEQ-57, SEQ-61: each kind of thing has its own ways to be
// shown shorter: rooms name fewer members and then count them, files likewise, notes
// lose their ends, old cycles share a line, lines lose their ends; goals that are done
// are not shown.
func TestEachKindHasItsOwnForms(t *testing.T) {
	w := lived(t)
	names := make([]string, 0, 21)
	for i := range 20 {
		names = append(names, fmt.Sprint("p", i))
	}
	town := w.room("Town", append(names, "ada")...)
	w.says(town, "p1", strings.Repeat("a long line ", 60))
	w.v.Seat(town).Uplink.Cursor = w.v.Seat(town).Room.Upto()
	for i := range 9 {
		w.add(town, "p2", spaces.MessagePosted{Attachments: []spaces.FileAttachment{{Kind: "photo", Name: fmt.Sprint(i)}}})
	}
	w.v.Self.Apply(spaces.Event{Seq: w.v.Self.Upto + 1, At: w.at, Body: spaces.NoteAdded{Text: strings.Repeat("a long note ", 60), Label: "notes"}})
	old := make([]spaces.ClosedCycle, 90)
	for i := range old {
		old[i] = spaces.ClosedCycle{N: int64(i + 1), Rest: strings.Repeat("Responded to Kai about this and that. ", 5)}
	}
	w.v.Earlier, w.v.Closed = old, nil
	forms := map[string]map[FormName]bool{}
	for _, d := range (&keyframeBuilder{v: w.v, tokens: 8_000}).delegates() {
		for _, e := range d.Elements() {
			if strings.Contains(e.What, "done thing") {
				t.Errorf("a goal that is done is shown: %s", e.What)
			}
			area, _, _ := strings.Cut(e.Area, " ")
			if forms[area] == nil {
				forms[area] = map[FormName]bool{}
			}
			for _, f := range e.Forms {
				forms[area][f.Name] = true
			}
		}
	}
	for area, want := range map[string][]FormName{
		"spaces": {Full, Trimmed, CountOnly}, "files": {Full, OneLine, CountOnly}, "notes": {Full, OneLine},
		"summaries": {Full, Essential, OneLine, CountOnly}, "history": {Full, Trimmed, OneLine}, "goals": {Full}, "memories": {Full}, "bookmarks": {Full},
	} {
		for _, f := range want {
			if !forms[area][f] {
				t.Errorf("%s have no form %s: %v", area, f, forms[area])
			}
		}
	}
}
