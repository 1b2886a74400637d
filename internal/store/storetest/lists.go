package storetest

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var listTests = map[string]func(*testing.T, *world){
	"RoomsAreListedTheLiveliestFirst": roomsListed,
	"MindsAreListedAsTheyRan":         mindsListed,
	"ALateRoomIsToldAsAllRoomsAre":    roomsFurnished,
	"RunsListWhatABeginningCouldBe":   ambiguousRuns,
}

// rooms opens n rooms of a chat each, with a circle of their own. They are called
// room 0 and so on.
func (w *world) rooms(n int) []spaces.SpaceID {
	w.t.Helper()
	var ids []spaces.SpaceID
	for i := range n {
		o := opening("", "ada")
		o.Name, o.Circle, o.Chats[0].Chat = "room "+strconv.Itoa(i), "", "-9"+strconv.Itoa(i)
		ids = append(ids, w.open(o))
	}
	return ids
}

// paged reads a list in pages of two, and ends the test unless all pages together
// are what one page is that holds everything.
func paged[T any](w *world, latest func(console.Cursor, int) ([]T, error), cursor func(T) console.Cursor) []string {
	w.t.Helper()
	var got []string
	for behind, more := (console.Cursor{}), true; more && len(got) < 100; {
		rows, err := latest(behind, 2)
		w.ok(err)
		for _, r := range rows {
			behind = cursor(r)
			got = append(got, behind.ID)
		}
		more = len(rows) > 0
	}
	rows, err := latest(console.Cursor{}, 100)
	w.ok(err)
	var whole []string
	for _, r := range rows {
		whole = append(whole, cursor(r).ID)
	}
	if diff := cmp.Diff(whole, got); diff != "" {
		w.t.Errorf("pages hold something else than the list (-list +pages):\n%s", diff)
	}
	return got
}

// PRD-5.4: of thousands of rooms an operator sees those first in which something
// happened last, a page at a time, and none is left out because others are of the
// same moment.
func roomsListed(t *testing.T, w *world) {
	ids := w.rooms(5)
	w.now = w.now.Add(time.Minute)
	w.say(ids[3], "zoe", "first")
	w.say(ids[1], "zoe", "second, in the same moment")
	w.now = w.now.Add(time.Minute)
	w.say(ids[4], "zoe", "last")
	got := paged(w, func(behind console.Cursor, limit int) ([]console.Room, error) {
		return w.s.Latest.LatestRooms(t.Context(), behind, limit)
	}, func(o console.Room) console.Cursor { return console.Cursor{At: o.Last, ID: string(o.Space.ID)} })
	want := []string{string(ids[4]), string(ids[1]), string(ids[3]), string(ids[0]), string(ids[2])}
	slices.Sort(want[1:3])
	slices.Sort(want[3:])
	testutil.Same(t, "rooms", want, got)
}

// The same of minds, by when they ran last.
func mindsListed(t *testing.T, w *world) {
	ids := w.rooms(4)
	mind := func(i int) spaces.Mind { return spaces.Mind{Agent: "ada", Circle: spaces.OwnCircle(ids[i])} }
	for _, i := range []int{2, 0} {
		w.now = w.now.Add(time.Minute)
		w.say(ids[i], "zoe", "hello")
		w.woken(mind(i), ids[i])
	}
	name := func(m console.Mind) console.Cursor {
		c := console.Cursor{ID: m.Mind.String()}
		if m.Last != nil {
			c.At = m.Last.Started
		}
		return c
	}
	got := paged(w, func(behind console.Cursor, limit int) ([]console.Mind, error) {
		return w.s.Latest.LatestMinds(t.Context(), w.now, behind, limit)
	}, name)
	want := []string{mind(0).String(), mind(2).String(), mind(1).String(), mind(3).String()}
	slices.Sort(want[2:])
	testutil.Same(t, "minds", want, got)
	all, err := w.s.Latest.Minds(t.Context(), w.now)
	w.ok(err)
	latest, err := w.s.Latest.LatestMinds(t.Context(), w.now, console.Cursor{}, math.MaxInt32)
	w.ok(err)
	slices.SortFunc(latest, func(a, b console.Mind) int {
		return slices.Index(got, a.Mind.String()) - slices.Index(got, b.Mind.String())
	})
	slices.SortFunc(all, func(a, b console.Mind) int {
		return slices.Index(got, a.Mind.String()) - slices.Index(got, b.Mind.String())
	})
	if diff := cmp.Diff(all, latest); diff != "" {
		t.Errorf("the latest minds are told otherwise than all (-all +latest):\n%s", diff)
	}
}

// A page of rooms says of each what the list of all rooms says.
func roomsFurnished(t *testing.T, w *world) {
	w.rooms(3)
	w.family("ada", "bea")
	all, err := w.s.Latest.Rooms(t.Context())
	w.ok(err)
	latest, err := w.s.Latest.LatestRooms(t.Context(), console.Cursor{}, 100)
	w.ok(err)
	names, err := w.s.Latest.RoomNames(t.Context())
	w.ok(err)
	by := func(a, b console.Room) int { return strings.Compare(string(a.Space.ID), string(b.Space.ID)) }
	slices.SortFunc(all, by)
	slices.SortFunc(latest, by)
	if diff := cmp.Diff(all, latest); diff != "" {
		t.Errorf("the latest rooms are told otherwise than all (-all +latest):\n%s", diff)
	}
	for _, o := range all {
		if names[o.Space.ID] != o.Space.Name {
			t.Errorf("%s is called %q, want %q", o.Space.ID, names[o.Space.ID], o.Space.Name)
		}
	}
	if len(names) != len(all) {
		t.Errorf("%d names of %d rooms", len(names), len(all))
	}
}

// ambiguousRuns are named by the beginning of an id that several runs have.
func ambiguousRuns(t *testing.T, w *world) {
	room := w.family()
	var ids []string
	for range 2 {
		w.say(room, "zoe", "hello")
		wake := w.woken(ada, room)
		ids = append(ids, string(wake.Cycle.ID))
		w.rest(wake, 0)
	}
	_, err := w.s.Run(t.Context(), "id-")
	several, ok := errors.AsType[console.AmbiguousNameError](err)
	if !ok || !errors.Is(err, console.ErrUnknown) {
		t.Fatalf("error %v", err)
	}
	testutil.Same(t, "runs that it could be", ids, several.Could)
	if run, err := w.s.Run(t.Context(), ids[0]); err != nil || string(run.Cycle.ID) != ids[0] {
		t.Errorf("the run of a whole id: %v, %v", run.Cycle.ID, err)
	}
}
