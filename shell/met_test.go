package shell_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// A faltering record fails to say who is in a room, as often as it is told to.
type faltering struct {
	ports
	fails *atomic.Int32
}

func (f faltering) Space(ctx context.Context, id spaces.SpaceID) (spaces.Space, []spaces.SpaceMember, error) {
	if f.fails.Add(-1) >= 0 {
		return spaces.Space{}, nil, errors.New("the record is away")
	}
	return f.ports.Space(ctx, id)
}

// SECURITY S5, DELIVERY 2.3: who is in a room is known before anything is shown or said
// there, also when the record failed right after its events were read.
func TestWhoIsInARoomIsReadUntilItIsKnown(t *testing.T) {
	k := &keeper{ChatModel: replier("hi")}
	var fails atomic.Int32
	play(t, k, func(w *world) {
		w.ports = func(s sqlstore.AgentStore) ports { return faltering{s, &fails} }
		hall := w.room("hall")
		w.start()
		for _, who := range []string{"Kai", "Zoe"} { // the first of all, and one more
			fails.Store(1)
			w.says(hall, who, "@Ada are you there?")
			w.settle()
			if fails.Load() > 0 {
				t.Fatal("nothing has failed")
			}
		}
		for i, r := range k.asked {
			if shown := whole(r); !strings.Contains(shown, "[hall] Kai (human)") {
				t.Errorf("request %d does not know who speaks where:\n%s", i, shown)
			}
		}
		if last := whole(k.asked[len(k.asked)-1]); !strings.Contains(last, "[hall] Zoe (human)") {
			t.Errorf("who came last is not known:\n%s", last)
		}
	})
}
