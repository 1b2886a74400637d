package shell_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// keeper passes requests on and keeps them.
type keeper struct {
	llm.ChatModel
	mu    sync.Mutex // guards asked while the shell runs
	asked []llm.ModelRequest
}

func (k *keeper) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	k.mu.Lock()
	k.asked = append(k.asked, llmtest.CopyRequest(r))
	k.mu.Unlock()
	return k.ChatModel.Generate(ctx, r)
}

// times returns how often the model was asked, while the shell runs.
func (k *keeper) times() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.asked)
}

// What a model is asked stays as it is until the model has answered, whoever is asked
// beside it and before.
func TestARequestIsItsModelsUntilItIsAnswered(t *testing.T) {
	answers, asked := replier("noted"), atomic.Int64{}
	m := mindful(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		was := llmtest.CopyRequest(r).Messages
		asked.Add(1)
		<-time.After(time.Second)
		if diff := cmp.Diff(was, r.Messages); diff != "" {
			t.Errorf("meanwhile it became (-was +is):\n%s", diff)
		}
		return answers.Generate(ctx, r)
	})
	play(t, m, func(w *world) {
		one, two := w.room("one", direct), w.room("two", direct)
		w.start()
		for turn := range 5 {
			w.says(one, "Kai", fmt.Sprint("one ", turn))
			pass(300 * time.Millisecond)
			w.says(two, "Kai", fmt.Sprint("two ", turn))
			pass(time.Minute)
		}
		if n := asked.Load(); n < 20 {
			t.Errorf("it was asked %d times: the story shows nothing", n)
		}
	})
}

// CONTEXT 2, CON-47, CON-49, R-1, PRD-9-I3: between cuts every frame begins
// with the whole of the one before but its tail, over forty turns in two rooms.
func TestFramesGrowAtTheEndAlone(t *testing.T) {
	k := &keeper{ChatModel: replier("noted")}
	play(t, k, func(w *world) {
		one, two := w.room("one", direct), w.room("two", direct)
		w.start()
		broken, cuts := 0, 0
		for turn := range 40 {
			before, compacted := len(k.asked), len(bodies[spaces.ContextCompacted](w.inner(mind("Ada"))))
			w.says([]spaces.SpaceID{one, two}[turn%2], "Kai", fmt.Sprintf("turn %d: %s", turn, strings.Repeat("word ", 30)))
			w.settle()
			if n := len(bodies[spaces.ContextCompacted](w.inner(mind("Ada")))); n > compacted {
				cuts += n - compacted
			}
			for i := max(before, 1); i < len(k.asked); i++ {
				was, is := k.asked[i-1].Messages, k.asked[i].Messages
				if len(is) < len(was)-1 || !cmp.Equal(was[:len(was)-1], is[:len(was)-1]) {
					broken++
				}
				if !cmp.Equal(k.asked[i].Tools, k.asked[0].Tools) {
					t.Errorf("turn %d has other tools", turn)
				}
			}
		}
		if broken >= cuts {
			t.Errorf("%d frames do not begin with the one before, after %d cuts of which the first was no break", broken, cuts)
		}
	})
}

// CONTEXT 4 Y7, PRD-6.4-A1 … -A4, PRD-11-6: with a small window the frames stay
// within the budget, the context is cut with its cause told, and the last
// turns stay word for word.
func TestFramesStayWithinASmallWindow(t *testing.T) {
	k := &keeper{ChatModel: replier("noted, every word of it, and nothing is forgotten")}
	play(t, k, func(w *world) {
		set := twoPhases()
		set.ContextTokens, set.MaxOutput = 7000, 1000
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		room := w.room("kai", direct)
		w.start()
		var count hud.TokenCounter
		for turn := range 60 {
			w.says(room, "Kai", fmt.Sprintf("turn-%d %s", turn, strings.Repeat("weather and gardens ", 20+turn%40)))
			w.settle()
			last := whole(k.asked[len(k.asked)-1])
			for back := range min(turn+1, 4) {
				if !strings.Contains(last, fmt.Sprintf("turn-%d weather", turn-back)) {
					t.Errorf("turn %d does not show turn %d any more", turn, turn-back)
				}
			}
		}
		for i, r := range k.asked {
			tokens := 0
			for _, m := range r.Messages {
				tokens += count.Count(m.Text)
				for _, c := range m.Calls {
					tokens += count.Count(c.Name) + count.Count(c.Args)
				}
			}
			for _, tool := range r.Tools {
				tokens += count.Count(tool.Name) + count.Count(tool.Description) + count.Count(string(tool.Schema))
			}
			if tokens > set.ContextTokens-set.MaxOutput {
				t.Errorf("request %d takes %d tokens, the window leaves %d", i, tokens, set.ContextTokens-set.MaxOutput)
			}
		}
		cuts := bodies[spaces.ContextCompacted](w.inner(mind("Ada")))
		if len(cuts) < 3 {
			t.Fatalf("the context was cut %d times", len(cuts))
		}
		told := 0
		for _, l := range w.bus.live {
			if l.kind == "context_compacted" && l.content != hud.CutFrame {
				told++
			}
		}
		if told != len(cuts) {
			t.Errorf("%d cuts were told, %d recorded", told, len(cuts))
		}
		for _, c := range cuts[1:] {
			if c.Cause != hud.CutHighWater || c.Cycles == 0 || c.TokensAfter >= c.TokensBefore {
				t.Errorf("cut %+v", c)
			}
		}
	})
}

// PRD-6.4-1, -2, CONTEXT 2: a mind that rested longer than the provider's cache
// lives is cut after eight turns, keeping four; a hot conversation is not.
func TestRestedMindsAreCutByTurns(t *testing.T) {
	for rest, want := range map[time.Duration][]string{time.Second: {"first"}, 6 * time.Minute: {"first", "turns", "turns", "turns"}} {
		t.Run(rest.String(), func(t *testing.T) {
			k := &keeper{ChatModel: replier("noted")}
			play(t, k, func(w *world) {
				room := w.room("kai", direct)
				w.start()
				for turn := range 16 {
					w.says(room, "Kai", fmt.Sprintf("turn-%d.", turn))
					w.settle()
					pass(rest)
				}
				var causes []string
				for _, c := range bodies[spaces.ContextCompacted](w.inner(mind("Ada"))) {
					causes = append(causes, c.Cause)
				}
				if diff := cmp.Diff(want, causes); diff != "" {
					t.Errorf("cuts (-want +got):\n%s", diff)
				}
				last := whole(k.asked[len(k.asked)-1])
				for i, r := range k.asked { // CON-25
					if n := strings.Count(whole(r), "\nCycle 1: "); n > 1 {
						t.Fatalf("frame %d shows the summary of the first cycle %d times", i, n)
					}
				}
				for turn := 12; turn < 16; turn++ {
					if !strings.Contains(last, fmt.Sprintf("turn-%d.", turn)) {
						t.Errorf("turn %d is not shown word for word", turn)
					}
				}
			})
		})
	}
}

// secretWords are what is deleted in these tests; nothing else says them.
const secretWords = "the safe opens with 8-19-47"

// DESIGN 2, SECURITY S14: deleted words stand in no later frame, turn, keyframe or
// search result, before and after a restart, also when the agent had repeated
// them and when they were edited before.
func TestDeletedWordsAreGone(t *testing.T) {
	for _, cut := range []bool{false, true} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("cut %v restart %v", cut, restart), func(t *testing.T) {
				heard, deleted := false, false
				k := &keeper{ChatModel: mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
					switch n := acts(r); {
					case r.NoCalls && !heard:
						return telling("Kai says " + secretWords), nil
					case r.NoCalls:
						return telling("hm"), nil
					case n == 0 && !heard:
						heard = true
						return calling(len(r.Messages), "send_message", `{"text":"Noted: `+secretWords+`"}`), nil
					case n == 0 && deleted:
						return calling(len(r.Messages), "search", `{"query":"safe opens"}`), nil
					case n == 1 && deleted:
						return calling(len(r.Messages), "read_messages", `{}`), nil
					}
					return telling("Responded to Kai about " + secretWords[:8] + ". Done."), nil
				})}
				play(t, k, func(w *world) {
					set := twoPhases()
					set.CacheTTL, set.CompactAfter = time.Second, 100
					w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
					room := w.room("kai", direct)
					w.start()
					ref := w.says(room, "Kai", secretWords+", I think")
					w.settle()
					w.does(room, "Kai", spaces.MessageEdited{Ref: ref, Text: secretWords})
					w.settle()
					if cut {
						set.CompactAfter, set.CompactKeep, set.MinCycles = 1, 0, 0
						for i := range 4 {
							pass(time.Minute)
							w.says(room, "Kai", "something else "+strconv.Itoa(i))
							w.settle()
						}
					}
					own := w.log(room)
					said := own[slices.IndexFunc(own, func(e spaces.Event) bool {
						_, agent := e.Actor.IsAgent()
						return agent && e.Body.Kind() == spaces.KindSaid
					})]
					deleted = true
					w.does(room, "Kai", spaces.MessageDeleted{Ref: ref})
					w.does(room, "Kai", spaces.MessageDeleted{Target: said.ID})
					w.settle()
					if restart {
						w.crash()
						w.start()
					}
					before := len(k.asked)
					w.says(room, "Kai", "what do you know of the safe?")
					w.settle()
					if before == len(k.asked) {
						t.Fatal("nobody woke")
					}
					for i, r := range k.asked[before:] {
						if strings.Contains(whole(r), "8-19-47") {
							t.Errorf("frame %d after the delete has the words:\n%s", i, whole(r))
						}
					}
					w.keptNowhere("8-19-47")
				})
			})
		}
	}
}

// keptNowhere fails when a stored turn, summary or keyframe has the words.
func (w *world) keptNowhere(words string) {
	w.t.Helper()
	closed, err := w.store.Shell().Cycles(w.t.Context(), mind("Ada"), 0, true, 1000)
	w.ok(err)
	for _, c := range closed {
		if strings.Contains(c.Rest, words) {
			w.t.Errorf("the summary of cycle %d has the words: %s", c.N, c.Rest)
		}
		for _, turn := range c.Turns {
			if strings.Contains(fmt.Sprint(turn), words) {
				w.t.Errorf("cycle %d keeps the words: %+v", c.N, turn)
			}
		}
	}
	key, err := w.store.Shell().Keyframe(w.t.Context(), mind("Ada"))
	w.ok(err)
	if key != nil && strings.Contains(key.Text, words) {
		w.t.Errorf("the keyframe has the words:\n%s", key.Text)
	}
}
