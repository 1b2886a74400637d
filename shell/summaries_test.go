package shell_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// tiny is the name of the cheaper model in these tests.
const tiny = "tiny"

// digester is a model that lives through short cycles as an agent, and answers as
// the cheaper model with what digest says.
func digester(digest func(context.Context, llm.ModelRequest) (llm.ModelResponse, error)) *keeper {
	return &keeper{ChatModel: mindful(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		switch {
		case r.Model == tiny:
			return digest(ctx, r)
		case r.NoCalls:
			return telling("hm"), nil
		}
		return telling("Responded to Kai about " + topicOf(r) + ". Said nothing."), nil
	})}
}

// rests plays turns with a rest after each, with few cycles in each layer.
func rests(w *world, room spaces.SpaceID, from, to int) {
	w.t.Helper()
	for n := from; n <= to; n++ {
		w.says(room, "Kai", fmt.Sprintf("topic-%d tell me more", n))
		w.settle()
		pass(6 * time.Minute)
	}
}

func shortLayers(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
	s := twoPhases()
	s.FullCycles, s.MinCycles, s.CompactKeep, s.CompactAfter, s.SingleCycles, s.GroupSize = 2, 2, 2, 3, 4, 3
	s.DigestModel = tiny
	return s
}

// digests returns those that are kept of Ada's mind.
func (w *world) digests() []spaces.CycleSummary {
	w.t.Helper()
	ds, err := w.store.Shell().Digests(w.t.Context(), mind("Ada"))
	w.ok(err)
	return ds
}

// tinies returns what the cheaper model was asked.
func (k *keeper) tinies() []llm.ModelRequest {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(k.asked), func(r llm.ModelRequest) bool { return r.Model != tiny })
}

// frame returns the newest frame of the agent.
func (k *keeper) frame() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range slices.Backward(k.asked) {
		if r.Model != tiny {
			return whole(r)
		}
	}
	return ""
}

// CON-24, CON-28, CON-29, CON-48: while a mind rests a cheaper model condenses
// groups of old accounts; until then they stand for themselves, afterwards the digest
// represents them, from the next cut on and after a restart. It is counted, it says
// what it was made of, and the plan says who made it.
func TestOldAccountsAreDigestedWhileTheMindRests(t *testing.T) {
	k := digester(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		return telling("Kai asked about three topics;\nINBOX (1 events): nothing was decided."), nil
	})
	play(t, k, func(w *world) {
		w.settings = shortLayers
		room := w.room("kai", direct)
		w.start()
		rests(w, room, 1, 9)
		asked := k.tinies()
		if len(asked) == 0 {
			t.Fatal("the cheaper model was not asked")
		}
		want := "Cycle 1: \"Responded to Kai about topic-1. Said nothing.\"\nCycle 2: \"Responded to Kai about topic-2. Said nothing.\"\n" +
			"Cycle 3: \"Responded to Kai about topic-3. Said nothing.\""
		if got := asked[0].Messages[1].Text; got != want || len(asked[0].Tools) > 0 || asked[0].MaxOutput != 300 {
			t.Errorf("asked with %d tools for %d tokens:\n%s", len(asked[0].Tools), asked[0].MaxOutput, got)
		}
		ds := w.digests()
		if len(ds) == 0 || ds[0].First != 1 || ds[0].Last != 3 || len(ds[0].Sources) != 3 || len(ds[0].Readers) != 2 || ds[0].Model != tiny {
			t.Fatalf("kept are %+v", ds)
		}
		spent, err := w.store.Shell().Spent(w.t.Context(), time.Now(), "ada", room)
		w.ok(err)
		if got := spent.All.Tokens - spent.Agent.Tokens; got != 110*len(asked) || spent.Space != spent.All {
			t.Errorf("%d calls are counted as %d of %+v", len(asked), got, spent)
		}
		w.crash()
		w.start()
		rests(w, room, 10, 11)
		last := k.frame()
		row := "Cycles 1–3 (3): Kai asked about three topics;\\nINBOX (1 events): nothing was decided."
		if !strings.Contains(last, row) || strings.Contains(last, "about topic-1.") {
			t.Errorf("a later frame has no row %q:\n%s", row, last)
		}
		frame, err := w.store.Shell().Keyframe(w.t.Context(), mind("Ada"))
		w.ok(err)
		if !strings.Contains(string(frame.Plan), "digest by tiny") {
			t.Errorf("the plan says %s", frame.Plan)
		}
	})
}

// CONTEXT 3, R-10: nobody waits for a digest: while the cheaper model thinks the agent
// answers, and without it the accounts stand for themselves.
func TestNobodyWaitsForADigest(t *testing.T) {
	k := digester(func(ctx context.Context, _ llm.ModelRequest) (llm.ModelResponse, error) {
		<-ctx.Done()
		return llm.ModelResponse{}, ctx.Err()
	})
	play(t, k, func(w *world) {
		w.settings = shortLayers
		room := w.room("kai", direct)
		w.start()
		rests(w, room, 1, 12)
		if n := len(w.lived()); n != 12 || len(k.tinies()) == 0 {
			t.Errorf("%d cycles were lived, the cheaper model asked %d times", n, len(k.tinies()))
		}
		if last := k.frame(); !strings.Contains(last, "Cycles 1–3 (3): Responded to Kai about topic-1.") {
			t.Errorf("the accounts do not stand for themselves:\n%s", last)
		}
	})
}

// PRD-5.2: what a day's budget has no room for is not asked; half an answer and a
// failing endpoint leave no digest, and are asked again after the next rest alone.
func TestADigestKeepsToTheBudgetAndToWholeAnswers(t *testing.T) {
	answers := map[string]func() (llm.ModelResponse, error){
		"half an answer": func() (llm.ModelResponse, error) {
			r := telling("Kai asked and then")
			r.Finish = llm.Length
			return r, nil
		},
		"an empty one":       func() (llm.ModelResponse, error) { return telling("  "), nil },
		"a failing endpoint": func() (llm.ModelResponse, error) { return llm.ModelResponse{}, &llm.Error{Kind: llm.Unavailable} },
		"a spent budget":     func() (llm.ModelResponse, error) { return telling("It should not have been asked."), nil },
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			k := digester(func(context.Context, llm.ModelRequest) (llm.ModelResponse, error) { return answer() })
			play(t, k, func(w *world) {
				w.settings = func(a spaces.AgentID, s spaces.SpaceID) shell.AgentSettings {
					set := shortLayers(a, s)
					if s != "" && name == "a spent budget" && w.updates >= 5 {
						set.Budget.Space.Tokens = 1
					}
					return set
				}
				room := w.room("kai", direct)
				w.start()
				rests(w, room, 1, 8)
				if ds := w.digests(); len(ds) > 0 && name != "a spent budget" {
					t.Errorf("kept are %+v", ds)
				}
				most := 3 // rests with something to digest
				if n := len(k.tinies()); n > most || name == "a spent budget" && n > 0 {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
}

// SECURITY S14: a digest goes with any message it was made of, from frames as well,
// and one that is being made of it meanwhile is not kept.
func TestADigestGoesWithWhatItWasMadeOf(t *testing.T) {
	for _, meanwhile := range []bool{false, true} {
		t.Run(fmt.Sprintf("while it is made %v", meanwhile), func(t *testing.T) {
			var begun, done chan struct{}
			k := digester(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
				if meanwhile && strings.Contains(r.Messages[1].Text, "Cycle 1:") {
					begun <- struct{}{}
					select {
					case <-done:
					case <-ctx.Done():
					}
				}
				return telling("Kai has a greenhouse full of secrets."), nil
			})
			play(t, k, func(w *world) {
				begun, done = make(chan struct{}, 9), make(chan struct{})
				w.settings = shortLayers
				room := w.room("kai", direct)
				w.start()
				ref := w.says(room, "Kai", "topic-1 tell me more")
				w.settle()
				pass(6 * time.Minute)
				if meanwhile {
					for n := 2; len(begun) == 0; n++ {
						rests(w, room, n, n)
					}
				} else {
					rests(w, room, 2, 11)
					if !strings.Contains(k.frame(), "greenhouse") {
						t.Fatal("the digest is not shown")
					}
				}
				w.does(room, "Kai", spaces.MessageDeleted{Ref: ref})
				w.settle()
				close(done)
				pass(time.Second)
				if ds := w.digests(); slices.ContainsFunc(ds, func(d spaces.CycleSummary) bool { return d.First == 1 }) {
					t.Errorf("kept are %+v", ds)
				}
				w.settings = func(a spaces.AgentID, s spaces.SpaceID) shell.AgentSettings {
					set := shortLayers(a, s)
					set.DigestModel = ""
					return set
				}
				rests(w, room, 20, 20)
				if frame := k.frame(); strings.Contains(frame, "Cycles 1–3 (3): Kai has") {
					t.Errorf("the frame after the delete has the digest:\n%s", frame)
				}
			})
		})
	}
}
