package shell_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// DESIGN 2, DELIVERY 2.2 (2): two processes run one mind in two rooms, and again and
// again its context must be cut, for which one of them needs it whole. Neither waits
// for the other's lease to run out, and every message is handled.
func TestAMindInTwoProcessesIsCutAndGoesOn(t *testing.T) { splits(t, nil) }

// DELIVERY 2.2 (2): a place that could not be given back is nobody's to wait for.
func TestAMindGoesOnThatCouldNotBeLeft(t *testing.T) {
	var yields atomic.Int64
	splits(t, func(s sqlstore.AgentStore) ports { return &clung{ports: s, yields: &yields} })
	if yields.Load() < 2 {
		t.Error("hardly anything was given back: the story shows nothing")
	}
}

// clung are ports whose record is away every other time that a place is given back.
type clung struct {
	ports
	yields *atomic.Int64
}

func (c *clung) Yield(ctx context.Context, l spaces.MindLease) error {
	if c.yields.Add(1)%2 == 1 {
		return errors.New("the record is away")
	}
	return c.ports.Yield(ctx, l)
}

func splits(t *testing.T, through func(sqlstore.AgentStore) ports) {
	t.Helper()
	answers := replier("noted, every word of it, and nothing is forgotten")
	slow := mindful(func(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
		<-time.After(700 * time.Millisecond)
		return answers.Generate(ctx, r)
	})
	play(t, slow, func(w *world) {
		if through != nil {
			w.ports = through
		}
		set := twoPhases()
		set.ContextTokens, set.MaxOutput, set.Parallel = 7000, 1000, 1 // so that a second room is the other process's
		w.settings = func(spaces.AgentID, spaces.SpaceID) shell.AgentSettings { return set }
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
		cuts := bodies[spaces.ContextCompacted](w.inner(mind("Ada")))
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
