package shell_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A sage knows that a zither and a price in Italian belong together, and of all
// else that it has nothing in common.
type sage struct {
	mu    sync.Mutex // guards all below
	asked [][]string
	fails error
	slow  time.Duration
}

func (s *sage) Embed(ctx context.Context, _ string, texts []string) ([][]float32, llm.TokenUsage, error) {
	s.mu.Lock()
	s.asked = append(s.asked, texts)
	slow, fails := s.slow, s.fails
	s.mu.Unlock()
	select {
	case <-ctx.Done():
		return nil, llm.TokenUsage{}, llm.Interrupted(ctx)
	case <-time.After(slow):
	}
	var made [][]float32
	for _, text := range texts {
		seed := uint64(len(text))
		for _, r := range text {
			seed = seed*31 + uint64(r)
		}
		if strings.Contains(text, "zither") || strings.Contains(text, "costava") {
			seed = 1
		}
		r := rand.New(rand.NewPCG(seed, 7))
		v := make([]float32, 64)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		made = append(made, v)
	}
	return made, llm.TokenUsage{Prompt: 10 * len(texts)}, fails
}

// texts returns what was asked about so far.
func (s *sage) texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat(s.asked...)
}

// A ponderer takes a second for each answer.
type ponderer struct{ llm.ChatModel }

func (p ponderer) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	<-time.After(time.Second)
	return p.ChatModel.Generate(ctx, r)
}

// gossip opens a group in which much was said that the agent was not asked about.
func gossip(w *world, set func(*shell.AgentSettings)) (room spaces.SpaceID, sold spaces.MessageRef) {
	w.t.Helper()
	w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
		s := twoPhases()
		s.ContextTokens, s.MaxOutput, s.RecallTokens, s.Phases, s.MeaningModel = 8_000, 500, 300, shell.PhasesOne, "small"
		set(&s)
		return s
	}
	room = w.room("band")
	w.says(room, "Nova", "the room is open")
	sold = w.says(room, "Nova", "somebody else has the zither now, I think")
	for n := range 200 {
		w.says(room, "Kai", fmt.Sprintf("line %d is about nothing much, like the others before and after it", n))
	}
	return room, sold
}

const costava = "@Ada Quanto costava?"

// CONTEXT 1.2: while a mind rests a model is asked where its lines stand, each once,
// also over a restart; afterwards a line is found that shares no word with what is
// asked. What is deleted is not found and its vector is gone. All of it is counted.
func TestOldLinesAreFoundByWhatTheyMean(t *testing.T) {
	k, s := &keeper{ChatModel: ponderer{replier("noted")}}, &sage{}
	play(t, k, func(w *world) {
		w.agents[0].Embedder = s
		room, sold := gossip(w, func(*shell.AgentSettings) {})
		w.start()
		ask := func() string {
			w.says(room, "Kai", costava)
			w.settle()
			pass(6 * time.Minute)
			w.settle()
			return k.frame()
		}
		if first := ask(); strings.Contains(first, "somebody else has the zither now, I think") {
			t.Fatalf("words alone recall the line:\n%s", first)
		}
		lines := s.texts()
		if n := strings.Count(strings.Join(lines, "\n"), "line 17 is"); n != 1 || !slices.Contains(lines, "somebody else has the zither now, I think") {
			t.Fatalf("asked %d times about a line, of %d texts", n, len(lines))
		}
		spent, err := w.store.Shell().Spent(w.t.Context(), time.Now(), "ada", room)
		w.ok(err)
		if got := spent.All.Tokens - spent.Agent.Tokens; got != 10*len(lines) || spent.Space != spent.All {
			t.Errorf("%d texts are counted as %d tokens of %+v", len(lines), got, spent)
		}
		w.crash()
		w.start()
		if later := ask(); !strings.Contains(later, "somebody else has the zither now, I think") {
			t.Errorf("the line is not recalled:\n%s", later)
		}
		if n := strings.Count(strings.Join(s.texts(), "\n"), "line 17 is"); n != 1 {
			t.Errorf("asked %d times about a line", n)
		}
		w.does(room, "Nova", spaces.MessageDeleted{Ref: sold})
		if gone := ask(); strings.Contains(gone, "zither") {
			t.Errorf("a deleted line is recalled:\n%s", gone)
		}
		kept, err := w.store.Shell().Meanings(w.t.Context(), room, "small", 0, 1<<40)
		w.ok(err)
		if len(kept) < 200 || slices.ContainsFunc(kept, func(m spaces.MessageEmbedding) bool { return m.Seq == 2 }) {
			t.Errorf("%d vectors are kept, that of the deleted line among them or not", len(kept))
		}
	})
}

// CONTEXT 1.2, PRD-5.2: nobody waits for a model of meanings, and one that fails, or
// that the day's budget has no room for, changes nothing.
func TestNobodyWaitsForMeanings(t *testing.T) {
	for name, c := range map[string]struct {
		sage *sage
		set  func(*shell.AgentSettings)
		asks bool
	}{
		"it hangs":       {&sage{slow: 50 * time.Hour}, func(*shell.AgentSettings) {}, true},
		"it fails":       {&sage{fails: &llm.Error{Kind: llm.NoModel}}, func(*shell.AgentSettings) {}, true},
		"all is spent":   {&sage{}, func(s *shell.AgentSettings) { s.Budget.All.Tokens = 500 }, false},
		"none is wanted": {&sage{}, func(s *shell.AgentSettings) { s.MeaningModel = "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := &keeper{ChatModel: replier("noted")}
			play(t, k, func(w *world) {
				w.agents[0].Embedder = c.sage
				room, _ := gossip(w, c.set)
				if name == "all is spent" {
					w.ok(w.store.Shell().Mean(w.t.Context(), spaces.EmbeddingResult{Space: room, Usage: spaces.TokenUsage{Prompt: 500}, At: time.Now()}))
				}
				w.start()
				began := time.Now()
				w.says(room, "Kai", costava)
				w.settle()
				if took := time.Since(began); took > time.Minute || (len(w.spoken(room)) == 0) != (name == "all is spent") {
					t.Errorf("after %s the agent has said %q", took, w.spoken(room))
				}
				pass(6 * time.Minute)
				if asked := len(c.sage.texts()) > 0; asked != c.asks {
					t.Errorf("asked: %v, want %v", asked, c.asks)
				}
				kept, err := w.store.Shell().Meanings(w.t.Context(), room, "small", 0, 1<<40)
				w.ok(err)
				if len(kept) > 0 {
					t.Errorf("%d vectors are kept", len(kept))
				}
			})
		})
	}
}

// SECURITY S13: what it takes to find out what a timer is about is counted for the room
// where the timer was set.
func TestMeaningOfATimerIsCountedInItsRoom(t *testing.T) {
	set, s := false, &sage{}
	m := answering(func(n int, _ llm.ModelRequest) (llm.ModelResponse, error) {
		<-time.After(time.Second) // what is asked beside a run ends with it
		if !set {
			set = true
			return calling(n, "timer", `{"seconds":3600,"note":"feed the cat"}`), nil
		}
		return telling("Nothing to add."), nil
	})
	play(t, m, func(w *world) {
		w.poll, w.agents[0].Embedder = time.Minute, s
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
			settings := twoPhases()
			settings.MeaningModel = "small"
			return settings
		}
		room := w.room("kai", direct)
		w.start()
		w.says(room, "Kai", "remind me")
		w.settle()
		pass(2 * time.Hour)
		w.settle()
		if !slices.Contains(s.texts(), "feed the cat") {
			t.Fatalf("asked about %q", s.texts())
		}
		spent, err := w.store.Shell().Spent(w.t.Context(), time.Now(), "ada", room)
		if w.ok(err); spent.Space != spent.All {
			t.Errorf("of %d tokens %d are the room's", spent.All, spent.Space)
		}
	})
}
