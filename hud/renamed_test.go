package hud

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/spaces"
)

// Who takes another name is found by it in what they wrote before.
func TestOlderLinesAreFoundByANewName(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "ada")
	w.says(id, "kai", "the boat leaves at nine")
	w.says(id, "nova", "fine")
	find := func(name string) string {
		text, _ := SearchLines(w.v, SearchQuery{Text: name, Limit: 5})
		return text
	}
	if got := find("kai"); !strings.Contains(got, "boat") {
		t.Fatalf("found %q", got)
	}
	r := w.v.Seat(id).Room
	members := []spaces.SpaceMember{}
	for _, m := range r.Members() {
		if m.ID == entity("kai").ID {
			m.Name = "Skipper"
		}
		members = append(members, m)
	}
	r.SetMembers(members)
	if got := find("skipper"); !strings.Contains(got, "Skipper: the boat") {
		t.Errorf("by the new name %q is found", got)
	}
	if got := find("kai"); strings.Contains(got, "boat") {
		t.Errorf("by the old name %q is found", got)
	}
}
