package hud

import (
	"strings"
	"testing"
)

// CON-05, BLU-40, BLU-41: the first frame of a direct chat.
func TestFirstFrameIntroducesTheRoom(t *testing.T) {
	w := newWorld(t)
	family := w.room("Family", "kai", "ada")
	w.says(family, "kai", "hello \"Ada\"")
	w.wake(family)
	got := w.frame().golden()
	for _, want := range []string{
		"SPACE s1 \"Family\" (direct): Kai (human), Ada (agent, you)\nINBOX (1 events):\n#1 [Family] Kai (human): \"hello \\\"Ada\\\"\" ← TRIGGER\n",
		"ACTIVE SPACE: \"Family\" (s1)\nTIME: Fri 2026-11-20 14:06 UTC\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("frame lacks\n%s\nin\n%s", want, got)
		}
	}
}
