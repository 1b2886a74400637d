package shell_test

import (
	"context"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/spaces"
)

// CON-13, BLU-50: an agent is shown the time by the clock that its plans and waits go by,
// that of its machine's zone where no other is set. A plan for noon is due at noon by that
// clock.
func TestAnAgentIsShownTheClockOfItsPlans(t *testing.T) {
	k := &keeper{ChatModel: mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if r.NoCalls {
			return telling("hm"), nil
		}
		switch acts(r) {
		case 0:
			return calling(1, "plan", `{"at":"2000-01-01 12:00","note":"lunch"}`), nil
		case 1:
			return calling(2, "view", `{"what":"plans"}`), nil
		case 2:
			return calling(3, "send_message", `{"text":"@Kai hungry?","wait":true}`), nil
		}
		return telling("Nothing to add."), nil
	})}
	play(t, k, func(w *world) {
		w.zone = time.FixedZone("IST", 5*3600+1800)
		room, beside := w.room("hall"), w.room("den")
		w.start()
		w.says(room, "Kai", "@Ada plan lunch")
		w.settle()
		w.says(beside, "Nova", "@Ada what are you at?")
		w.settle()
		plans, err := w.store.Shell().Plans(w.t.Context(), mind("Ada"), 9)
		w.ok(err)
		if noon := time.Date(2000, 1, 1, 6, 30, 0, 0, time.UTC); len(plans) == 0 || !slices.ContainsFunc(plans, func(p spaces.WakeTimer) bool { return p.Due.Equal(noon) }) {
			t.Errorf("planned are %+v, want noon in India", plans)
		}
		shown := map[string]bool{}
		for _, r := range k.asked {
			for _, found := range regexp.MustCompile(`(TIME:|next|until) \w+ 2000-01-01 \d\d:\d\d ([A-Z]+)`).FindAllStringSubmatch(whole(r)+"\n", -1) {
				if shown[found[1]] = true; found[2] != "IST" {
					t.Errorf("shown is %s", found[0])
				}
			}
		}
		if len(shown) != 3 {
			t.Errorf("of times only %v are shown", shown)
		}
	})
}
