package shell_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/model"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// DESIGN 2, DELIVERY 2.2 (2): two processes run one mind in two rooms, and again and
// again its context must be cut, for which one of them needs it whole. Neither waits
// for the other's lease to run out, and every message is handled.
func TestAMindInTwoProcessesIsCutAndGoesOn(t *testing.T) {
	answers := replier("noted, every word of it, and nothing is forgotten")
	slow := mindful(func(ctx context.Context, r model.Request) (model.Response, error) {
		<-time.After(700 * time.Millisecond)
		return answers.Generate(ctx, r)
	})
	play(t, slow, func(w *world) {
		set := shell.DefaultSettings()
		set.ContextTokens, set.MaxOutput, set.Parallel = 7000, 1000, 1 // so that a second room is the other process's
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.Settings { return set }
		rooms := []spaces.SpaceID{w.room("kai", direct), w.room("zoe", direct)}
		w.start()
		first := w.end
		pass(300 * time.Millisecond) // they do not look at the same time
		w.start()
		const turns = 60
		for turn := range turns {
			for i, room := range rooms {
				w.says(room, "Kai", fmt.Sprintf("turn-%d-%d %s", turn, i, strings.Repeat("weather and gardens ", 20+turn%40)))
			}
			pass(1500 * time.Millisecond)
		}
		pass(time.Minute)
		for _, room := range rooms {
			if n := w.consumed(room); n != turns {
				t.Errorf("of %d messages in %s %d were handled", turns, room, n)
			}
		}
		cuts := bodies[spaces.Compacted](w.inner(mind("Ada")))
		high := 0
		for _, c := range cuts {
			if c.Cause == hud.CutHighWater {
				high++
			}
		}
		if high < 2 {
			t.Errorf("the context was cut %d times: the story shows nothing", high)
		}
		first()
	})
}
