package shell_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// narrow is a model with a window of its own, which it learns from its refusals as a
// client of an endpoint does.
type narrow struct {
	llm.ChatModel
	window int

	mu      sync.Mutex // guards the rest
	known   int
	refused int
	largest int // request that was answered, in tokens
}

func (n *narrow) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	n.mu.Lock()
	if r.Tokens+r.MaxOutput > n.window {
		n.known = min(n.window, (r.Tokens+r.MaxOutput)*3/4)
		n.refused++
		n.mu.Unlock()
		return llm.ModelResponse{}, &llm.Error{Kind: llm.TooLong, Window: n.known}
	}
	n.largest = max(n.largest, r.Tokens)
	n.mu.Unlock()
	return n.ChatModel.Generate(ctx, r)
}

// Capability returns the window that was learned.
func (n *narrow) Capability(string) llm.ModelCapability {
	n.mu.Lock()
	defer n.mu.Unlock()
	return llm.ModelCapability{Window: n.known}
}

// A prompt that is longer than the window is cut to it within the same answer, through
// the wrappers of a model, and later prompts fit at once.
func TestPromptIsCutToTheWindowAtOnce(t *testing.T) {
	n := &narrow{ChatModel: replier("noted"), window: 9000}
	m := &llm.RetryingModel{Model: llm.CallObserver{Model: n, Saw: func(llm.ModelRequest, llm.ModelResponse, time.Duration, error) {}}}
	play(t, m, func(w *world) {
		set := shell.DefaultSettings()
		set.ContextTokens = 60_000
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		office, family := w.room("office", direct), w.room("family")
		for i := range 400 {
			w.says(family, "Maya", fmt.Sprintf("report %d: there is a leak in the cellar of the old archive, near the third shelf on the left", i))
		}
		w.start()
		w.says(office, "Maya", "are you there?")
		w.settle()
		first := n.refused
		if n.largest == 0 || first == 0 || first > 3 {
			t.Fatalf("%d refusals, largest answered %d tokens", first, n.largest)
		}
		if n.largest < 3000 {
			t.Errorf("the prompt was cut to %d of %d tokens", n.largest, n.window)
		}
		w.says(office, "Maya", "and now?")
		w.settle()
		if n.refused != first {
			t.Errorf("%d more refusals", n.refused-first)
		}
		if lived := w.lived(); len(lived) < 2 || lived[0].Stop == spaces.StopModelError {
			t.Errorf("cycles: %+v", lived)
		}
	})
}
