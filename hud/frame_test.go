package hud

import (
	"strings"
	"testing"
)

// CON-05, CON-15, BLU-38 … BLU-41: the first frame of a direct chat; the time and what woke the
// agent stand in it.
func TestFirstFrameIntroducesTheRoom(t *testing.T) {
	w := newWorld(t)
	family := w.room("Family", "kai", "ada")
	w.says(family, "kai", "hello \"Ada\"")
	w.wake(family)
	got := w.frame().golden()
	for _, want := range []string{
		"SPACE s1 \"Family\" (direct): Kai (human), Ada (agent, you)\nINBOX (1 events), Fri 20 Nov 2026 14:06 UTC:\n#1 14:06 [Family] Kai (human): \"hello \\\"Ada\\\"\" ← TRIGGER\n",
		"ACTIVE SPACE: \"Family\" (s1)\nTIME: Fri 2026-11-20 14:06 UTC\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("frame lacks\n%s\nin\n%s", want, got)
		}
	}
}

// BLU-42: of the rooms that are listed the active one is marked, and no other.
func TestTheActiveRoomIsMarked(t *testing.T) {
	w := newWorld(t)
	family, _ := w.room("Family", "kai", "ada"), w.room("Work", "sage", "ada")
	w.v.Active = family
	want := "YOUR SPACES:\ns1 \"Family\" (direct): Kai (human), Ada (agent, you) [ACTIVE]\ns2 \"Work\" (direct): Sage (human), Ada (agent, you)"
	if got, _ := SpacesText(w.v); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Tails are rendered where others were before, and hold nothing of them.
func TestATailHoldsNothingOfTheOneBefore(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "ada")
	for i := range 200 {
		w.says(id, []string{"kai", "nova"}[i%2], strings.Repeat("the garden and the "+words[i%len(words)]+" ", 1+i%5))
	}
	w.v.Active = id
	short := TailInput{Now: w.at, Phase: "ENGAGEMENT"}
	before := w.v.Tail(short).String()
	long := w.v.Tail(TailInput{Recalled: w.v.Recall("what about the garden?", 1000)})
	was := strings.Clone(long.String())
	if after := w.v.Tail(short).String(); after != before || len(was) < 1000 {
		t.Errorf("behind a tail of %d bytes it becomes %q, want %q", len(was), after, before)
	}
	if long.String() != was {
		t.Errorf("later it became %q, want %q", long.String(), was)
	}
}
