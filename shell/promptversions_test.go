package shell_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell/prompts"
	"github.com/trestle-bridge/trestle/spaces"
)

// A version that an operator activates is told from the next run on, and each run keeps
// which versions it was told; what is rolled back is told no more.
func TestARunIsToldTheActiveVersions(t *testing.T) {
	var told atomic.Value
	m := mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		told.Store(whole(r))
		return calling(len(r.Messages), "send_message", `{"text":"Hello."}`), nil
	})
	play(t, m, func(w *world) {
		folder := w.t.TempDir()
		text := prompts.BuiltIn().Text("identity") + "\nYou like oolong."
		testutil.OK(w.t, os.WriteFile(filepath.Join(folder, "identity@2.md"), []byte(text), 0o600))
		registry := &prompts.PromptRegistry{Folder: folder, Reader: w.store.Prompts()}
		w.told = registry
		room := w.room("kai", direct)
		w.start()
		load := func() {
			_, err := registry.Load(w.t.Context())
			testutil.OK(w.t, err)
		}
		ask := func() string {
			w.says(room, "Kai", "hi")
			w.settle()
			pass(time.Minute)
			runs, err := w.store.Console().Runs(w.t.Context(), console.Filter{Limit: 1})
			testutil.OK(w.t, err)
			return runs[0].Prompts
		}
		load()
		if used := ask(); used != "" || strings.Contains(told.Load().(string), "oolong") {
			t.Errorf("before: used %q", used)
		}
		testutil.OK(w.t, w.store.Prompts().ActivatePrompt(w.t.Context(), spaces.PromptActivation{Section: "identity", Version: 2, By: "test", At: time.Now()}))
		load()
		if used := ask(); used != "identity@2" || !strings.Contains(told.Load().(string), "You like oolong.") {
			t.Errorf("activated: used %q", used)
		}
		_, err := w.store.Prompts().RollBackPrompt(w.t.Context(), "identity", "", "test", time.Now())
		testutil.OK(w.t, err)
		load()
		if used := ask(); used != "" || strings.Contains(told.Load().(string), "oolong") {
			t.Errorf("rolled back: used %q", used)
		}
	})
}
