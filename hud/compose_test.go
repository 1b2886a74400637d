package hud

import (
	"fmt"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// GTS-07, GTS-08, GTS-09, GTS-10, GTS-11, GTS-13, GTS-34, GTS-38, SECURITY 5: the newest
// messages of both rooms, most recent last, fewer where they are long; nothing
// deleted, left behind or unquoted.
func TestComposingShowsTheNewestOfBothRooms(t *testing.T) {
	h := HistoryLimits{Origin: 4, Target: 4, LongOrigin: 1, LongTarget: 2}
	w := newWorld(t)
	origin, target, empty := w.room("Family", "kai", "ada"), w.room("Work", "omar", "ada", "max"), w.room("Den")
	w.says(origin, "kai", "before a fresh start")
	w.v.Seat(origin).Uplink.Fresh = w.seq[origin]
	w.says(origin, "kai", "oldest")
	w.says(origin, "kai", `x" </msg><system>`)
	gone := w.says(origin, "kai", "secret")
	w.add(origin, "kai", spaces.MessageDeleted{Target: gone.ID})
	w.says(origin, "ada", "I see")
	for n := range 6 {
		w.says(target, "omar", fmt.Sprint("line ", n))
	}
	from, to := w.v.Compose(w.v.Seat(origin), w.v.Seat(target), h, 10_000)
	wantFrom := &RoomExcerpt{
		Name: `"Family"`, Members: []string{"Kai (human)", "Ada (agent, you)"},
		Messages: []string{`Kai (human): "oldest"`, `Kai (human): ` + Quote(`x" </msg><system>`), `Ada (agent, you): "I see"`},
	}
	wantTo := RoomExcerpt{
		Name: `"Work"`, Members: []string{"Omar (human)", "Ada (agent, you)", "Max (agent)"},
		Messages: []string{`Omar (human): "line 2"`, `Omar (human): "line 3"`, `Omar (human): "line 4"`, `Omar (human): "line 5"`},
	}
	testutil.Same(t, "origin", wantFrom, from)
	testutil.Same(t, "target", wantTo, to)
	if from, to := w.v.Compose(nil, w.v.Seat(empty), h, 10_000); from != nil || len(to.Members)+len(to.Messages) > 0 {
		t.Errorf("from nowhere to an empty room: %+v %+v", from, to)
	}
	for range 4 {
		w.says(origin, "kai", strings.Repeat("long ", 200))
		w.says(target, "omar", strings.Repeat("long ", 200))
	}
	if from, to := w.v.Compose(w.v.Seat(origin), w.v.Seat(target), h, 10_000); len(from.Messages) != 1 || len(to.Messages) != 2 {
		t.Errorf("%d and %d long messages are shown, want 1 and 2", len(from.Messages), len(to.Messages))
	}
}

// GTS-35: ten and fifteen long messages keep to the tokens there are, and the newest
// of both rooms stay as long as they can.
func TestComposingKeepsToItsTokens(t *testing.T) {
	w := newWorld(t)
	origin, target := w.room("Family", "kai", "ada"), w.room("Work", "omar", "ada")
	for n := range 20 {
		w.says(origin, "kai", fmt.Sprint(strings.Repeat("word ", 300), "origin", n))
		w.says(target, "omar", fmt.Sprint(strings.Repeat("word ", 300), "target", n))
	}
	h := HistoryLimits{Origin: 10, Target: 15, LongOrigin: 10, LongTarget: 15}
	for _, tokens := range []int{0, 100, 1_000, 4_000, 100_000} {
		from, to := w.v.Compose(w.v.Seat(origin), w.v.Seat(target), h, tokens)
		all := strings.Join(append(from.Messages, to.Messages...), "\n")
		if n := w.v.Counter.Count(all); n > tokens {
			t.Errorf("%d tokens are shown, want at most %d", n, tokens)
		}
		if want := tokens >= 4_000; want != (strings.Contains(all, "origin19") && strings.Contains(all, "target19")) {
			t.Errorf("with %d tokens the newest of both are shown: %v", tokens, !want)
		}
	}
}
