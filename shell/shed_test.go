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

// DESIGN 2, SECURITY S14: deleted words go from a stored frame, too, that was too long
// and showed them in a keyframe of its own, and from what the agent had repeated of them.
func TestDeletedWordsGoFromAShortenedFrame(t *testing.T) {
	const words = "the picnic has moved to the mill of Aunt Number29"
	shown, long := false, ""
	k := &keeper{ChatModel: mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		<-time.After(time.Second)
		if r.NoCalls {
			return telling("hm" + long), nil
		}
		if shown = shown || strings.Contains(whole(r), words); !shown {
			return telling("Responded to Kai. Greeted."), nil
		}
		return telling("Responded to Kai: " + words), nil
	})}
	play(t, k, func(w *world) {
		set := twoPhases()
		set.ContextTokens, set.MaxOutput, set.RecallTokens = 7731, 600, 1
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
		office, family := w.room("office", direct), w.room("family")
		for n := range 120 {
			w.says(family, "Maya", fmt.Sprintf("report %d. It is in the cellar of the old archive", n))
		}
		w.start()
		w.says(office, "Kai", "hello")
		w.settle()
		var ref spaces.MessageRef
		for n := range 30 {
			ref = w.says(family, "Maya", fmt.Sprintf("the picnic has moved to the mill of Aunt Number%d", n))
		}
		shown, long = false, strings.Repeat(" I have to think about this for a long while.", 260)
		w.says(office, "Kai", "where has the picnic moved to?")
		w.settle()
		if !shown {
			t.Fatal("the words were not shown")
		}
		w.does(family, "Maya", spaces.MessageDeleted{Ref: ref})
		w.settle()
		frame, err := w.store.Console().Frame(w.t.Context(), w.lived()[1].ID, 1)
		w.ok(err)
		if text := fmt.Sprint(frame); strings.Contains(text, words) {
			t.Errorf("the stored frame has the words:\n%s", text)
		}
		w.keptNowhere(words)
	})
}
