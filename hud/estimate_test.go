package hud

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

// rendered counts recalled lines as they are rendered, row by row: the end of the last
// line is a token of its own.
func rendered(v *MindView, rs []RecalledLine) int {
	text, _ := v.appendRecalled(nil, rs)
	n := 1
	for row := range strings.Lines(string(text)) {
		n += new(TokenCounter).Count(row)
	}
	return n
}

// What recalled lines are measured to have is what they have once they are
// rendered: in any order, told twice, some of them deleted meanwhile, and answers.
func TestAMeasureIsWhatIsRendered(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		live(rt, w, func() {})
		var rs []RecalledLine
		for i := range w.v.Seats {
			s := &w.v.Seats[i]
			for k := range s.Room.Chat.Messages {
				m := &s.Room.Chat.Messages[k]
				rs = append(rs, RecalledLine{s.Uplink.Space, m.ID, k})
				if rapid.IntRange(0, 3).Draw(rt, "answered") == 0 {
					e := w.add(s.Uplink.Space, "nova", spaces.MessagePosted{Text: drawText(rt)}, replyTo(m.ID))
					rs = append(rs, RecalledLine{s.Uplink.Space, e.ID, len(s.Room.Chat.Messages) - 1})
				}
			}
		}
		rs = rapid.Permutation(append(rs, rs[0])).Draw(rt, "order")
		for _, l := range rs[:rapid.IntRange(0, len(rs)).Draw(rt, "deleted")/3] {
			w.add(l.Space, "kai", spaces.MessageDeleted{Target: l.Event})
		}
		m := newTokenEstimator(w.v, rs)
		for range 3 {
			n := rapid.IntRange(1, len(rs)).Draw(rt, "n")
			if got, want := m.tokens(n), rendered(w.v, rs[:n]); got != want {
				text, _ := w.v.appendRecalled(nil, rs[:n])
				rt.Fatalf("%d lines are measured to have %d tokens, and have %d:\n%s", n, got, want, text)
			}
		}
		budget := rapid.IntRange(-10, 1500).Draw(rt, "budget")
		if kept := w.v.fitRecalled(rs, budget); len(kept) > 0 && rendered(w.v, kept) > budget {
			rt.Fatalf("%d lines have %d tokens, and may have %d", len(kept), rendered(w.v, kept), budget)
		} else if len(kept) < len(rs) && rendered(w.v, rs[:len(kept)+1]) <= budget {
			rt.Fatalf("of %d lines %d are kept, and one more would fit", len(rs), len(kept))
		}
	})
}

// Lines whose words alone would fit are left out as well where their heads do not.
func TestShortLinesFitTheirBudget(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "ada")
	var rs []RecalledLine
	for i := range 20 {
		e := w.says(id, []string{"kai", "nova"}[i%2], "y")
		rs = append(rs, RecalledLine{id, e.ID, i})
	}
	for budget := range rendered(w.v, rs) {
		if kept := w.v.fitRecalled(rs, budget); len(kept) == len(rs) || len(kept) > 0 && rendered(w.v, kept) > budget {
			t.Errorf("within %d tokens are %d lines", budget, len(kept))
		}
	}
}

// The text of a line is counted again once it has changed.
func TestWhatALineSaysIsCountedAgainWhenItChanged(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	e := w.says(id, "kai", "the piano is on Friday.")
	s := w.v.Seat(id)
	count := func() {
		t.Helper()
		if got, want := w.v.wordTokens(s, 0), w.v.Counter.Count(" "+gutter(s.Room.Chat.Messages[0].Text)+"\n"); got != want {
			t.Errorf("%q has %d tokens, want %d", s.Room.Chat.Messages[0].Text, got, want)
		}
	}
	count()
	w.add(id, "kai", spaces.MessageEdited{Target: e.ID, Text: "the piano is on Saturday, at nine or so. [sic]"})
	count()
	w.add(id, "kai", spaces.MessageEdited{Target: e.ID, Text: strings.Repeat("a b\n", 40_000)})
	count()
	count()
}
