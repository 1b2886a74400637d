package shell_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// CON-24, /new: a digest that was made of cycles in a room where a person began afresh
// since is left behind with them, and does not come back where the cycles of other rooms
// that it was made of too make a group with the same ends.
func TestAFreshStartLeavesDigestsBehind(t *testing.T) {
	k := digester(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if strings.Contains(r.Messages[1].Text, "topic-2") {
			return telling("Kai has a greenhouse full of secrets."), nil
		}
		return telling("Kai asked about this and that."), nil
	})
	play(t, k, func(w *world) {
		w.settings = shortLayers
		kai, nova := w.room("kai", direct), w.room("nova", direct)
		w.start()
		rests(w, nova, 1, 1)
		rests(w, kai, 2, 2)
		rests(w, nova, 3, 7)
		if ds := w.digests(); len(ds) != 1 || ds[0].First != 1 || ds[0].Last != 3 {
			t.Fatalf("kept are %+v", ds)
		}
		w.ok(w.store.Shell().Renew(w.t.Context(), kai, time.Now()))
		rests(w, nova, 8, 8)
		if frame := k.frame(); strings.Contains(frame, "greenhouse") || strings.Contains(frame, "topic-2") {
			t.Errorf("the frame has what was left behind:\n%s", frame)
		}
		rests(w, nova, 9, 14)
		asked := k.tinies()
		for _, r := range asked[1:] {
			if strings.Contains(r.Messages[1].Text, "topic-2") {
				t.Errorf("the cheaper model is asked about what was left behind:\n%s", r.Messages[1].Text)
			}
		}
		if frame := k.frame(); !strings.Contains(frame, "Cycles 1–4 (3): Kai asked about this and that.") {
			t.Errorf("the frame has no digest of what was not left behind:\n%s", frame)
		}
	})
}
