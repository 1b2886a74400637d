package hud

import (
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// SEQ-03, SEQ-94, SEQ-52: bookmarks are found by topic, room and time, each with
// what was in view when it was set, and with what is there pinned; what was deleted
// is not shown.
func TestBookmarksAreFoundByTopicRoomAndTime(t *testing.T) {
	w := newWorld(t)
	home, work := w.room("Family", "kai", "ada"), w.room("Work", "sage", "ada")
	mark := func(label string, room spaces.SpaceID, in ...spaces.Event) {
		b := spaces.BookmarkSet{Label: label, Space: room, Object: spaces.ChatObject}
		for _, e := range in {
			b.Events = append(b.Events, e.ID)
		}
		w.v.Self.Apply(spaces.Event{Seq: w.v.Self.Upto + 1, At: w.at, Body: b})
	}
	tree, gone := w.says(home, "kai", "the pear tree needs water"), w.says(home, "kai", "a secret of the tree")
	mark("garden plan", home, tree, gone)
	w.add(home, "kai", spaces.MessageDeleted{Target: gone.ID})
	w.at = w.at.AddDate(0, 0, 7)
	bill := w.says(work, "sage", "the invoice is due on Friday")
	mark("money", work, bill)
	w.add(work, "sage", spaces.MessagePinned{Target: bill.ID})

	for input, want := range map[string][]string{
		"":                              {"garden plan", "money", "PINNED in s2", "invoice is due"},
		"garden":                        {"garden plan", "pear tree"},
		"pear":                          {"garden plan", "pear tree"},
		"invoice":                       {"money", "invoice is due", "PINNED in s2"},
		"in:s1":                         {"garden plan", "pear tree"},
		"since:2026-11-25":              {"money", "invoice is due", "PINNED in s2"},
		"before:2026-11-25":             {"garden plan", "pear tree", "PINNED in s2"},
		"tree in:s1 since:2026-11-25":   {"BOOKMARKS: none"},
		"something that nobody knows":   {"BOOKMARKS: none"},
		"before:someday money since:it": {"money", "invoice is due"},
	} {
		text, refs, ok := ObjectText(w.v, string(spaces.ContextObject), input)
		for _, part := range want {
			if !ok || !strings.Contains(text, part) {
				t.Errorf("%q lacks %q:\n%s", input, part, text)
			}
		}
		for _, label := range []string{"garden plan", "money"} {
			if strings.Contains(text, label) != slices.Contains(want, label) {
				t.Errorf("%q: %q stands there %v:\n%s", input, label, strings.Contains(text, label), text)
			}
		}
		if strings.Contains(text, "secret") || slices.Contains(refs, gone.ID) {
			t.Errorf("%q shows what was deleted:\n%s", input, text)
		}
		if strings.Contains(text, "pear tree") != slices.Contains(refs, tree.ID) {
			t.Errorf("%q names %v for\n%s", input, refs, text)
		}
	}
}
