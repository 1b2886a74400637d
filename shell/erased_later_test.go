package shell_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// A stubborn record does not redact so many times.
type stubborn struct {
	sqlstore.AgentStore
	times *atomic.Int32
}

func (s stubborn) Redact(ctx context.Context, m spaces.Mind, es ...shell.RedactionRequest) error {
	if s.times.Add(-1) >= 0 {
		return errors.New("disk full")
	}
	return s.AgentStore.Redact(ctx, m, es...)
}

// DESIGN 2: deleted words that the record could not be rid of, while a run was under
// way or none, are shown by no later frame and go when the record can, also after a
// restart.
func TestWhatCouldNotBeErasedIsErasedLater(t *testing.T) {
	const words = "the safe opens with 8-19-47"
	for _, times := range []int32{1, 2, 5} {
		for n := range 4 {
			meanwhile, restart := n&1 != 0, n&2 != 0
			t.Run(fmt.Sprintf("%d times, meanwhile %v, restart %v", times, meanwhile, restart), func(t *testing.T) {
				k := &keeper{ChatModel: ponderer{replier("noted")}}
				play(t, k, func(w *world) {
					var left atomic.Int32
					w.ports = func(s sqlstore.AgentStore) ports { return stubborn{s, &left} }
					room := w.room("kai", direct)
					w.start()
					ref := w.says(room, "Kai", words)
					if meanwhile {
						<-time.After(1500 * time.Millisecond)
					} else {
						w.settle()
					}
					left.Store(times)
					w.does(room, "Kai", spaces.MessageDeleted{Ref: ref})
					if meanwhile {
						<-time.After(200 * time.Millisecond)
					} else {
						w.settle()
					}
					if restart {
						w.crash()
						w.start()
					}
					before := k.times()
					w.says(room, "Kai", "what do you know of the safe?")
					w.settle()
					<-time.After(time.Hour)
					w.settle()
					if k.times() == before || left.Load() >= 0 {
						t.Fatalf("%d calls since, to fail %d times more", k.times()-before, left.Load())
					}
					if last := k.frame(); strings.Contains(last, "8-19-47") {
						t.Errorf("the last frame has the words:\n%s", last)
					}
					w.keptNowhere("8-19-47")
				})
			})
		}
	}
}
