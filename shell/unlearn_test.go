package shell_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// SECURITY S14, DESIGN 2: when a message is deleted, the memory it led to is
// forgotten, and what the agent thought, noted, planned, bookmarked or said with
// its words is shown without them: in no frame, object, search or explanation,
// before and after a restart, also when a person has corrected the memory since.
func TestADeletedMessageTakesAlongWhatItLedTo(t *testing.T) {
	const words = "the safe opens with 8-19-47"
	for n := range 8 {
		restart, spoken, corrected := n&1 != 0, n&2 != 0, n&4 != 0
		t.Run(fmt.Sprintf("restart %v, spoken %v, corrected %v", restart, spoken, corrected), func(t *testing.T) {
			later := false
			k := &keeper{ChatModel: mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				if r.NoCalls {
					return telling("<notes>" + words + "</notes>"), nil
				}
				acted := []struct{ name, args string }{
					{"remember", `{"fact":"Kai's safe opens with 8-19-47","kind":"user_fact"}`},
					{"goal", `{"text":"keep that ` + words + `"}`},
					{"bookmark", `{"label":"` + words + `"}`},
				}
				if later {
					acted = []struct{ name, args string }{
						{"use", `{"object":"memories"}`},
						{"use", `{"object":"agent_notes"}`},
						{"use", `{"object":"goals"}`},
						{"use", `{"object":"context_manager"}`},
						{"search", `{"query":"safe opens"}`},
					}
				}
				if n := acts(r); n < len(acted) {
					return calling(len(r.Messages), acted[n].name, acted[n].args), nil
				}
				return telling("Responded to Kai about the safe. Kept it."), nil
			})}
			play(t, k, func(w *world) {
				room := w.room("kai", direct)
				w.start()
				ref := w.says(room, "Kai", map[bool]string{true: "listen", false: words}[spoken])
				if spoken {
					w.does(room, "Kai", spaces.VoiceTranscribed{Ref: ref, File: "f1", Text: words, Model: "ears"})
				}
				w.settle()
				kept := bodies[spaces.MemoryAdded](w.inner(mind("Ada")))
				if len(kept) != 1 {
					t.Fatalf("%d memories before the delete", len(kept))
				}
				if corrected {
					had, err := w.shell.Correct(w.t.Context(), mind("Ada"), kept[0].ID, "Kai has a safe")
					if err != nil || !had {
						t.Fatalf("corrected: %t, %v", had, err)
					}
				}
				w.does(room, "Kai", spaces.MessageDeleted{Ref: ref})
				w.settle()
				if restart {
					w.crash()
					w.start()
				}
				later = true
				k.ChatModel = mindful(quiet(k.ChatModel))
				before := len(k.asked)
				w.says(room, "Kai", "what do you have?")
				w.settle()
				if len(k.asked) < before+6 {
					t.Fatalf("asked %d times", len(k.asked)-before)
				}
				for i, r := range k.asked[before:] {
					if strings.Contains(whole(r), "8-19-47") {
						t.Errorf("frame %d after the delete has the words:\n%s", i, whole(r))
					}
				}
				if n := len(bodies[spaces.MemoryRemoved](w.inner(mind("Ada")))); n != 1 {
					t.Errorf("%d memories are forgotten in the log", n)
				}
				w.keptNowhere("8-19-47")
				for _, c := range w.lived() {
					run, err := w.store.Console().Run(w.t.Context(), string(c.ID))
					w.ok(err)
					if strings.Contains(fmt.Sprintf("%+v", run), "8-19-47") {
						t.Errorf("run %d is explained with the words: %+v", c.N, run)
					}
				}
			})
		})
	}
}

// quiet is m without its thoughts.
func quiet(m llm.ChatModel) func(context.Context, llm.ModelRequest) (llm.ModelResponse, error) {
	return func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			return telling("hm"), nil
		}
		return m.Generate(ctx, r)
	}
}

// DESIGN 2: what is deleted in another room while the model thinks is in no later
// frame of the run, and what it answered with the words is kept without them.
func TestWordsDeletedDuringARunAreLeftNowhere(t *testing.T) {
	const words = "the safe opens with 8-19-47"
	asked, showed := 0, 0
	var w *world
	var hall spaces.SpaceID
	var ref spaces.MessageRef
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		shows := strings.Contains(whole(r), words)
		switch asked++; {
		case asked == 1:
			if !shows {
				t.Error("the first frame has no words to delete")
			}
			w.does(hall, "Zoe", spaces.MessageDeleted{Ref: ref})
			<-time.After(time.Second) // it is taken back meanwhile
			return calling(1, "note", `{"text":"`+words+`"}`), nil
		case shows:
			showed++
		}
		if asked < 4 {
			return calling(asked, "note", fmt.Sprintf(`{"text":"%d"}`, asked)), nil
		}
		return telling("Responded to Kai about it."), nil
	})
	play(t, m, func(now *world) {
		w = now
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
			s := twoPhases()
			s.Phases = shell.PhasesOne
			return s
		}
		hall = w.room("hall", func(o *spaces.OpenRequest) { o.Wake = spaces.WakeNone })
		room := w.room("kai", direct)
		w.start()
		ref = w.says(hall, "Zoe", words)
		w.settle()
		w.says(room, "Kai", "how does the safe open?")
		w.settle()
		if asked < 4 || showed > 0 {
			t.Errorf("%d of %d frames show the deleted words", showed, asked)
		}
		w.keptNowhere(words)
		for _, c := range w.lived() {
			run, err := w.store.Console().Run(w.t.Context(), string(c.ID))
			w.ok(err)
			if strings.Contains(fmt.Sprintf("%+v", run), words) {
				t.Errorf("run %d is explained with the words", c.N)
			}
		}
	})
}
