package shell

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// What a checklist says is read back from its message as it was.
func TestAChecklistIsReadBackFromItsMessage(t *testing.T) {
	words := rapid.StringMatching(`[a-zA-Zäß字0-9☐*()—.,-][a-zA-Zäß字0-9☐▶*() —.,-]{0,30}`)
	rapid.Check(t, func(t *rapid.T) {
		l := stepList{title: line(words.Draw(t, "title")), paused: rapid.Bool().Draw(t, "paused")}
		for range rapid.IntRange(1, mostSteps).Draw(t, "steps") {
			state := stepState(rapid.SampledFrom(stepStates).Draw(t, "state"))
			text := line(words.Draw(t, "text"))
			note := line(rapid.OneOf(rapid.Just(""), words).Draw(t, "note"))
			l.steps = append(l.steps, checklistStep{state, text, note})
		}
		got, ok := readStepList(l.text())
		if !ok || got.title != l.title || got.paused != l.paused || got.text() != l.text() || got.done() != l.done() {
			t.Fatalf("%q is read as %+v, %t", l.text(), got, ok)
		}
		for i := range l.steps {
			if got.steps[i] != l.steps[i] {
				t.Fatalf("step %d of %q is read as %+v", i+1, l.text(), got.steps[i])
			}
		}
	})
}

// What is paused is a list with steps left, once; another text stays as it is.
func TestAChecklistIsPausedOnce(t *testing.T) {
	for text, want := range map[string]struct {
		paused string
		list   bool
	}{
		"The party (0 of 1)\n☐ a":         {"The party (0 of 1, paused)\n☐ a", true},
		"The party (0 of 1, paused)\n☐ a": {"The party (0 of 1, paused)\n☐ a", true},
		"The party (1 of 1)\n☑ a":         {"The party (1 of 1)\n☑ a", true},
		"The party":                       {"The party", false},
	} {
		paused, list := PauseChecklist(text)
		if paused != want.paused || list != want.list {
			t.Errorf("%q is paused as %q, %t", text, paused, list)
		}
	}
}

func TestWhatIsNoChecklist(t *testing.T) {
	for _, text := range []string{"", "The party (0 of 2)", "The party\n☐ a", "The party (0 of 1)\na", "The party (0 of 1)\n☐ a\nand more", "(0 of 1)\n☐ a"} {
		if l, ok := readStepList(text); ok {
			t.Errorf("%q is read as %+v", text, l)
		}
	}
	testutil.Same(t, "a line", "a - b c", line(" a — b\n c "))
	testutil.Same(t, "a long line", true, len(line(strings.Repeat("x", 1000))) < 2*mostStepBytes)
}
