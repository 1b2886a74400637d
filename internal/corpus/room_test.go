package corpus

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// CONTEXT 4: a seed makes the same room for ever, and another one another.
func TestASeedIsARoom(t *testing.T) {
	for _, style := range []WritingStyle{Written, Chat} {
		a, b := Make(7, "hall", style), Make(7, "hall", style)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s differs from itself:\n%s", style, diff)
		}
		if cmp.Equal(a.Lines, Make(8, "hall", style).Lines) {
			t.Errorf("another seed makes the same %s room", style)
		}
	}
}

// CONTEXT 4: rooms have all kinds of question, and their evidence is an earlier line.
func TestEvidenceStandsInTheRoom(t *testing.T) {
	kinds, words := map[string]int{}, 0
	for seed := range uint64(6) {
		for _, style := range []WritingStyle{Written, Chat} {
			r := Make(seed, "hall", style)
			said := map[string]RoomLine{}
			for i, l := range r.Lines {
				if _, twice := said[l.ID]; twice || l.From == "" || l.Text == "" || i > 0 && l.At.Before(r.Lines[i-1].At) {
					t.Fatalf("line %+v", l)
				}
				if _, ok := said[l.ReplyTo]; l.ReplyTo != "" && !ok {
					t.Errorf("%s answers %s, which nobody said", l.ID, l.ReplyTo)
				}
				if strings.ContainsAny(l.Text, "{}|") {
					t.Errorf("a gap was not filled in: %s", l.Text)
				}
				said[l.ID] = l
				words += len(l.Text)
			}
			for _, q := range r.Questions {
				kinds[q.Kind]++
				if (q.Kind == "never") != (len(q.Evidence) == 0) || strings.ContainsAny(q.Text, "{}|") {
					t.Errorf("question %+v", q)
				}
				for _, id := range q.Evidence {
					if l, ok := said[id]; !ok || !l.At.Before(q.At) {
						t.Errorf("evidence %s of %s stands at %v", id, q.ID, l.At)
					}
				}
			}
		}
	}
	for _, kind := range Kinds {
		if kinds[kind] == 0 {
			t.Errorf("there is no question of the kind %s", kind)
		}
	}
	if mean := words / 12 / 4; mean < 15_000 || mean > 32_000 {
		t.Errorf("a room has about %d tokens", mean)
	}
}

// Every domain of the word list is whole, or a room would lack a kind of line.
func TestDomainsAreWhole(t *testing.T) {
	all := domains()
	if len(all) < 10 {
		t.Errorf("there are %d domains", len(all))
	}
	for _, d := range all {
		for what, list := range map[string][]string{
			"value": d.values, "say": d.says, "ask": d.asks, "all": d.alls, "when": d.whens, "who": d.whos, "change": d.changes,
			"now": d.nows, "chat": d.chats, "near": d.near, "tag": d.tags,
		} {
			if len(list) == 0 || slices.Contains(list, "") {
				t.Errorf("%s has no %s", d.name, what)
			}
		}
		if len(d.pairs) == 0 {
			t.Errorf("%s has no pair", d.name)
		}
	}
}

// A room to look back at holds its decisions, each in the stretch that is asked about.
func TestARoomToLookBackAtHoldsItsDecisions(t *testing.T) {
	r := MakeLookBack(3, "hall")
	if diff := cmp.Diff(r, MakeLookBack(3, "hall")); diff != "" {
		t.Errorf("it differs from itself:\n%s", diff)
	}
	at := map[string]RoomLine{}
	for i, l := range r.Lines {
		if at[l.ID] = l; i > 0 && l.At.Before(r.Lines[i-1].At) {
			t.Fatalf("line %+v is older than the one before it", l)
		}
	}
	found := map[string]int{}
	for _, q := range r.Questions {
		found[q.Kind] += len(q.Evidence)
		for _, id := range q.Evidence {
			if l, ok := at[id]; !ok || q.Kind == "month" && !strings.Contains(q.Text, l.At.Month().String()) {
				t.Errorf("%q is answered by %+v", q.Text, l)
			}
		}
	}
	if want := map[string]int{"overview": 24, "decisions": 24, "month": 24}; !cmp.Equal(found, want) {
		t.Errorf("evidence %v, want %v", found, want)
	}
}
