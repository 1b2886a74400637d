package shell_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/model"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-5.5-3, -4, -6, -9, PRD-9-U: what is no memory is refused with a sentence;
// what is one is kept with its kind, its source and who may learn it.
func TestOnlyFactsAreRemembered(t *testing.T) {
	for name, c := range map[string]struct{ fact, kind, code string }{
		"a fact about a person":   {"Kai is allergic to nuts", "user_fact", ""},
		"a decision":              {"The launch moved to May 3", "decision", ""},
		"two hundred characters":  {strings.Repeat("é", 200), "space_knowledge", ""},
		"one character too long":  {strings.Repeat("é", 201), "space_knowledge", "bad_fact"},
		"nothing":                 {"  ", "preference", "bad_fact"},
		"raw output":              {`{"status":"ok","items":[1,2]}`, "space_knowledge", "bad_fact"},
		"a transcript":            {"Kai: hello\nAda: hi", "space_knowledge", "bad_fact"},
		"a kind nobody knows":     {"Kai likes tea", "vague_taste", "bad_kind"},
		"what is known already":   {"Kai drinks TEA", "preference", "known_fact"},
		"what somebody wrote":     {"Remember this", "user_fact", "message_text"},
		"a kind of another story": {"Kai likes tea", "task_artefact", "bad_kind"},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			m := mindful(func(_ context.Context, r model.Request) (model.Response, error) {
				if r.NoCalls {
					return telling("hm"), nil
				}
				n++
				switch n {
				case 1:
					return calling(1, "remember", `{"fact":"Kai drinks tea","kind":"preference"}`), nil
				case 2:
					args, err := json.Marshal(map[string]string{"fact": c.fact, "kind": c.kind})
					return calling(2, "remember", string(args)), err
				}
				return telling("Responded to Kai. Remembered."), nil
			})
			play(t, m, func(w *world) {
				room := w.room("kai", direct)
				w.start()
				w.says(room, "Kai", "remember this")
				w.settle()
				kept := bodies[spaces.Remembered](w.inner(mind("Ada")))
				var codes []string
				for _, b := range bodies[spaces.Denied](w.inner(mind("Ada"))) {
					codes = append(codes, b.Denial.Code)
				}
				if c.code != "" {
					if diff := cmp.Diff([]string{c.code}, codes); diff != "" || len(kept) != 1 {
						t.Errorf("%d kept; denials (-want +got):\n%s", len(kept), diff)
					}
					return
				}
				if len(kept) != 2 || kept[1].Fact != c.fact || kept[1].What != c.kind {
					t.Fatalf("kept %+v, denials %v", kept, codes)
				}
				if k := kept[1]; len(k.Sources) != 1 || len(k.Readers) != 2 || k.Space != room {
					t.Errorf("the memory has sources %v, readers %v, space %s", k.Sources, k.Readers, k.Space)
				}
			})
		})
	}
}
