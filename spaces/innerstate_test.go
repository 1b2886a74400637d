package spaces

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// self folds the bodies as one inner log.
func self(bodies ...Body) (*InnerState, []Event) {
	var w teller
	s := &InnerState{}
	for _, b := range bodies {
		s.Apply(*w.tell("agent:ada", b))
	}
	return s, w.log
}

// SEQ-84
func TestNotesStandInTheOrderTheyWereWritten(t *testing.T) {
	s, _ := self(Noted{Text: "b", Label: "notes"}, Goal{Text: "x", Status: "active"}, Noted{Text: "a", Label: "questions"})
	want := []Note{{"v1", "notes", "b", minute(1)}, {"v3", "questions", "a", minute(3)}}
	if diff := cmp.Diff(want, s.Notes.All); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// CON-11
func TestGoalIsItsTextAndItsNewestStatus(t *testing.T) {
	s, _ := self(
		Goal{Text: "learn Go", Status: "active"},
		Goal{Text: "rest", Status: "long-term"},
		Goal{Text: "write", Status: "active"},
		Goal{Text: "read", Status: "active"},
		Goal{Text: "learn Go", Status: "done"},
		Goal{Text: "read", Status: "dropped"},
		Goal{Text: "rest", Status: "active"},
	)
	want := []GoalItem{
		{"learn Go", "done", minute(5)},
		{"rest", "active", minute(7)},
		{"write", "active", minute(3)},
		{"read", "dropped", minute(6)},
	}
	testutil.Same(t, "all", want, s.Goals.All)
	testutil.Same(t, "open", want[1:3], s.Goals.Open())
	testutil.Same(t, "asking for the open ones changed all", want, s.Goals.All)
}

// CON-12
func TestForgottenMemoryIsGone(t *testing.T) {
	tea := Remembered{ID: "m1", Fact: "Kai likes tea", What: "user_fact", Sources: []EventID{"v1"}, Readers: []EntityID{"kai"}}
	vote := Remembered{ID: "m2", Fact: "We meet on Monday", What: "decision", Sources: []EventID{"v2"}, Readers: []EntityID{"kai"}, Space: "den"}
	s, _ := self(Forgot{ID: "m1"}, tea, vote, Forgot{ID: "m9"}, Forgot{ID: "m1"})
	if diff := cmp.Diff([]Memory{{
		ID: "m2", Fact: "We meet on Monday", What: "decision", Sources: []EventID{"v2"}, Readers: []EntityID{"kai"}, Space: "den",
		Event: "v3", At: minute(3),
	}}, s.Memories.All); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// SEQ-03, SEQ-94: a bookmark names what was in view and copies none of it (SEQ-103).
func TestBookmarkKeepsTheEventsInView(t *testing.T) {
	view := []EventID{"r1", "r2"}
	s, _ := self(Bookmarked{Label: "plan", Space: "den", Object: ChatObject, Events: view, Cycle: "c1"})
	want := []Bookmark{{Label: "plan", Space: "den", Object: ChatObject, Events: view, Cycle: "c1", At: minute(1)}}
	if diff := cmp.Diff(want, s.Bookmarks.Bookmarks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// CON-34
func TestSelfIsTheSameAfterARestart(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	body := rapid.Custom(func(t *rapid.T) Body {
		n := name.Draw(t, "name")
		return rapid.SampledFrom([]Body{
			Noted{Text: n},
			Goal{Text: n, Status: "active"},
			Goal{Text: n, Status: "done"},
			Remembered{ID: n, Fact: n},
			Forgot{ID: n},
			Bookmarked{Label: n},
			Thought{Text: n},
			Noted{SetUp: &OnboardingNote{Space: SpaceID(n), State: SetUpOpened, Seen: 1, Sources: []EventID{"v1"}, Readers: []EntityID{"kai"}}},
			Noted{SetUp: &OnboardingNote{Space: SpaceID(n), State: SetUpHeard, Seen: 2, Sources: []EventID{"v2"}}},
			Noted{SetUp: &OnboardingNote{Space: SpaceID(n), State: SetUpProposed, Plan: &OnboardingPlan{Purpose: n}, Sources: []EventID{"v1", "v2"}}},
			Noted{SetUp: &OnboardingNote{Space: SpaceID(n), State: SetUpDone}},
		}).Draw(t, "body")
	})
	rapid.Check(t, func(t *rapid.T) {
		whole, log := self(rapid.SliceOf(body).Draw(t, "log")...)
		stop := rapid.IntRange(0, len(log)).Draw(t, "stop")
		again := rapid.IntRange(0, stop).Draw(t, "again from")
		resumed := &InnerState{}
		for _, e := range append(log[:stop:stop], log[again:]...) {
			resumed.Apply(e)
		}
		if diff := cmp.Diff(whole, resumed); diff != "" {
			t.Errorf("(-whole +resumed):\n%s", diff)
		}
	})
}

func TestInfoIsTheRoomAsItStandsNow(t *testing.T) {
	var w teller
	w.tell("kai", Renamed{Title: "Den"})
	w.tell("kai", Renamed{Title: "Plans"}).Thread = "t1"
	w.tell("kai", Said{Text: "hi"})
	w.tell("kai", Renamed{Title: "The den"})
	w.tell("kai", Renamed{Title: "Plans for May"}).Thread = "t1"
	var got RoomInfo
	for _, e := range w.log {
		got.Apply(e)
	}
	if got.Title != "The den" {
		t.Errorf("it is called %q, want %q", got.Title, "The den")
	}
}

// Somebody is a member from the first joining or speaking since they last
// left.
func TestMembersAreWhoCameOrSpokeAndDidNotLeave(t *testing.T) {
	who := rapid.SampledFrom([]EntityID{"kai", "mo", "lu"})
	rapid.Check(t, func(t *rapid.T) {
		var w teller
		for range rapid.IntRange(0, 20).Draw(t, "events") {
			e := w.tell(who.Draw(t, "actor"), nil)
			e.Body = rapid.SampledFrom([]Body{
				Said{Text: "hi"},
				Joined{Who: who.Draw(t, "joins")},
				Left{Who: who.Draw(t, "leaves")},
				Reacted{Target: "v0", Emoji: "👍"},
				Renamed{Title: fmt.Sprint(e.Seq)},
			}).Draw(t, "body")
		}
		got, want := Members{}, Members{}
		for _, e := range w.log {
			got.Apply(e)
		}
		for _, m := range []EntityID{"kai", "mo", "lu"} {
			for _, e := range w.log[left(w.log, m):] {
				if came(e, m) {
					want[m] = e.Seq
					break
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// left returns the seq at which m left for the last time, 0 if never.
func left(log []Event, m EntityID) (seq int64) {
	for _, e := range log {
		if b, ok := e.Body.(Left); ok && b.Who == m {
			seq = e.Seq
		}
	}
	return seq
}

func came(e Event, m EntityID) bool {
	switch b := e.Body.(type) {
	case Joined:
		return b.Who == m
	case Said:
		return e.Actor == m
	default:
		return false
	}
}

func TestWhoeverSpeaksWithoutANameIsNoMember(t *testing.T) {
	got := Members{}
	got.Apply(Event{Seq: 1, Body: Said{Text: "from the platform"}})
	if len(got) > 0 {
		t.Errorf("members: %v", got)
	}
}
