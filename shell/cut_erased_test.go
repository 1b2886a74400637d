package shell_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A halting record has a hook before it stores a keyframe.
type halting struct {
	sqlstore.AgentStore
	before func()
}

func (h halting) Cut(ctx context.Context, holder string, k spaces.Keyframe, c spaces.ContextCompacted) error {
	h.before()
	return h.AgentStore.Cut(ctx, holder, k, c)
}

// DESIGN 2, SECURITY S14: what is erased while a keyframe is being stored is not in it
// afterwards: here a run ends meanwhile that had noted words after they were deleted.
func TestWhatIsErasedDuringACutIsNotInIt(t *testing.T) {
	const words = "the safe opens with 8-19-47"
	var halls, cuts int
	var hall spaces.SpaceID
	var ends chan struct{}
	k := &keeper{ChatModel: mindful(func(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		if !strings.Contains(r.Messages[len(r.Messages)-1].Text, `"hall"`) {
			return telling("Responded to Kai. Greeted."), nil
		}
		switch halls++; halls {
		case 1:
			<-time.After(10 * time.Second)
			return calling(1, "note", `{"text":"`+words+`"}`), nil
		case 2:
			<-ends
		}
		return telling("Responded to Kai. Noted it."), nil
	})}
	play(t, k, func(w *world) {
		ends = make(chan struct{})
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings {
			s := twoPhases()
			s.Phases, s.CompactAfter, s.CompactKeep, s.CacheTTL = shell.PhasesOne, 1, 0, 5*time.Second
			return s
		}
		w.ports = func(s sqlstore.AgentStore) ports {
			return halting{s, func() {
				if halls == 2 && cuts == 0 { // the words are noted, and the run goes on
					cuts++
					close(ends)
					<-time.After(time.Second)
				}
			}}
		}
		hall = w.room("hall", direct)
		office := w.room("office", direct)
		w.start()
		ref := w.says(hall, "Kai", words)
		pass(time.Second)
		w.does(hall, "Kai", spaces.MessageDeleted{Ref: ref})
		w.says(office, "Kai", "hello")
		pass(20 * time.Second)
		w.says(office, "Kai", "hello again")
		w.settle()
		if cuts != 1 || halls != 2 {
			t.Fatalf("%d cuts, asked %d times in the hall", cuts, halls)
		}
		if last := k.frame(); !strings.Contains(last, "hello again") || strings.Contains(last, words) {
			t.Errorf("the frame after the cut has the words:\n%s", last)
		}
		w.keptNowhere(words)
	})
}
