package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// PRD-5.5-3, -4, -6, -9, PRD-9-U, PRD-10-1: what is no memory is refused with a sentence;
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
			m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
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
				kept := bodies[spaces.MemoryAdded](w.inner(mind("Ada")))
				var codes []string
				for _, b := range bodies[spaces.CallDenied](w.inner(mind("Ada"))) {
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

// SECURITY S5, ADR 15: a memory carries who is in all the rooms it may come from, and
// stays in its circle: the person who was there when it was made is not shown it in
// their own chat, in no frame, look or search, though they are shown the words
// it was made of.
func TestAMemoryStaysInItsCircle(t *testing.T) {
	const fact = "Nova prefers the heron design"
	looked := []struct{ name, args string }{
		{"use", `{"object":"memories"}`}, {"use", `{"object":"agent_notes"}`}, {"use", `{"object":"goals"}`}, {"search", `{"query":"heron design"}`},
	}
	k := &keeper{ChatModel: mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		studio, acted := strings.Contains(r.CacheKey, "studio"), looked
		switch {
		case r.NoCalls && studio:
			return telling("<notes>" + fact + "</notes>"), nil
		case r.NoCalls:
			return telling("hm"), nil
		case studio:
			acted = []struct{ name, args string }{
				{"enter_space", `{"space":"s1"}`}, {"remember", `{"fact":"` + fact + `","kind":"preference"}`}, {"goal", `{"text":"` + fact + `"}`},
			}
		}
		if n := acts(r); n < len(acted) {
			return calling(len(r.Messages), acted[n].name, acted[n].args), nil
		}
		return telling("Responded to Kai. Looked."), nil
	})}
	play(t, k, func(w *world) {
		team, small := w.room("team", circle("studio")), w.room("small", circle("studio"))
		own := w.room("kai", direct, circle(""))
		w.start()
		w.says(team, "Kai", "what do we know?")
		w.says(team, "Nova", "I would take the heron")
		w.says(small, "Kai", "@Ada what does Nova take?")
		w.settle()
		studio := spaces.Mind{Agent: "ada", Circle: "studio"}
		kept := bodies[spaces.MemoryAdded](w.inner(studio))
		if len(kept) != 1 || len(kept[0].Readers) != 2 {
			t.Fatalf("remembered are %+v", kept)
		}
		if readers := fmt.Sprint(kept[0].Readers); !strings.Contains(readers, string(spaces.AgentID("ada").Entity())) {
			t.Errorf("readers are %s, want Ada and Kai, who is in both rooms", readers)
		}
		before := len(k.asked)
		w.says(own, "Kai", "which design, the heron?")
		w.settle()
		if len(k.asked) < before+len(looked) {
			t.Fatalf("asked %d times", len(k.asked)-before)
		}
		crossed := false
		for _, r := range k.asked[before:] {
			text := whole(r)
			if strings.Contains(text, fact) {
				t.Errorf("a frame of the direct chat has the memory:\n%s", text)
			}
			crossed = crossed || strings.Contains(text, "I would take the heron")
		}
		if !crossed {
			t.Error("the words it was made of, which Kai read, are not shown either: the test shows nothing")
		}
	})
}

// PRD-5.5-7, CON-45, CON-46: what is remembered is beside the conversation, which is
// kept whatever is remembered or forgotten; and so is why the agent acted, with the
// cycle that it thought it in.
func TestForgettingAMemoryLeavesTheConversation(t *testing.T) {
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		text := whole(r)
		_, after, kept := strings.Cut(text, "- user_fact ~") // it is shown under a short name
		id, _, _ := strings.Cut(after, ":")
		switch {
		case r.NoCalls:
			return telling("Kai wants this settled, so I settle it."), nil
		case acts(r) > 1:
			return telling("Responded to Kai. Settled it."), nil
		case acts(r) == 1 && kept:
			return calling(len(r.Messages), "forget", `{"id":"~`+id+`"}`), nil
		case acts(r) == 1 || !strings.Contains(text, "forget it"):
			return calling(len(r.Messages), "remember", `{"fact":"Kai drinks tea","kind":"user_fact"}`), nil
		}
		return calling(len(r.Messages), "use", `{"object":"memories"}`), nil
	})
	play(t, m, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "I drink tea, always")
		w.settle()
		w.says(room, "Kai", "forget it")
		w.settle()
		inner := w.inner(mind("Ada"))
		if a, b := len(bodies[spaces.MemoryAdded](inner)), len(bodies[spaces.MemoryRemoved](inner)); a != 1 || b != 1 {
			t.Fatalf("%d memories, %d forgotten", a, b)
		}
		var said []string
		for _, b := range bodies[spaces.MessagePosted](w.log(room)) {
			said = append(said, b.Text)
		}
		if diff := cmp.Diff([]string{"I drink tea, always", "forget it"}, said); diff != "" {
			t.Errorf("the conversation (-want +got):\n%s", diff)
		}
		thoughts := bodies[spaces.ThoughtRecorded](inner)
		cycles := w.lived()
		if len(thoughts) != 2 || len(cycles) != 2 || thoughts[1].Cycle != cycles[1].ID || thoughts[1].Text != "Kai wants this settled, so I settle it." {
			t.Errorf("thoughts %+v of cycles %+v", thoughts, cycles)
		}
	})
}

// ECOSYSTEM 6: what a person has a mind forget is in none of its later frames, and what
// they corrected as they said it; what was said, and what it remembers besides, is.
func TestWhatAPersonHasForgottenIsShownNoMore(t *testing.T) {
	k := &keeper{ChatModel: mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		facts := []string{"Kai drinks tea", "Kai has two cats", "Kai plays the flute"}
		switch n := acts(r); {
		case r.NoCalls:
			return telling("hm"), nil
		case strings.Contains(whole(r), "and now?") && n == 0:
			return calling(len(r.Messages), "use", `{"object":"memories"}`), nil
		case !strings.Contains(whole(r), "and now?") && n < len(facts):
			return calling(len(r.Messages), "remember", `{"fact":"`+facts[n]+`","kind":"user_fact"}`), nil
		}
		return telling("Responded to Kai."), nil
	})}
	play(t, k, func(w *world) {
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "I like it warm, and soft")
		w.settle()
		kept := bodies[spaces.MemoryAdded](w.inner(mind("Ada")))
		if len(kept) != 3 {
			t.Fatalf("remembered are %+v", kept)
		}
		for id, want := range map[string]bool{kept[2].ID: true, "m0": false} {
			if had, err := w.shell.Correct(w.t.Context(), mind("Ada"), id, "Kai plays the cello"); err != nil || had != want {
				t.Errorf("correcting %s: %t, %v, want %t", id, had, err, want)
			}
		}
		for _, x := range []struct {
			id   string
			want bool
		}{{kept[0].ID, true}, {kept[0].ID, false}, {"m0", false}} {
			if had, err := w.shell.Forget(w.t.Context(), mind("Ada"), x.id); err != nil || had != x.want {
				t.Errorf("forgetting %s: %t, %v, want %t", x.id, had, err, x.want)
			}
		}
		w.says(room, "Kai", "and now?")
		w.settle()
		last := k.asked[len(k.asked)-1].Messages
		shown := last[len(last)-1].Text + last[len(last)-2].Text
		if strings.Contains(shown, "Kai drinks tea") || !strings.Contains(shown, "Kai has two cats") || !strings.Contains(shown, "Kai plays the cello") || strings.Contains(shown, "flute") {
			t.Errorf("it is shown:\n%s", shown)
		}
	})
}
