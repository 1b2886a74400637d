package spaces

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

// self folds the bodies as one inner log.
func self(bodies ...EventBody) (*InnerState, []Event) {
	var w teller
	s := &InnerState{}
	for _, b := range bodies {
		s.Apply(*w.tell("agent:ada", b))
	}
	return s, w.log
}

// SEQ-84
func TestNotesStandInTheOrderTheyWereWritten(t *testing.T) {
	s, _ := self(NoteAdded{Text: "b", Label: "notes"}, GoalSet{Text: "x", Status: "active"}, NoteAdded{Text: "a", Label: "questions"})
	want := []Note{{"v1", "notes", "b", minute(1)}, {"v3", "questions", "a", minute(3)}}
	if diff := cmp.Diff(want, s.Notes.All); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// CON-11
func TestGoalIsItsTextAndItsNewestStatus(t *testing.T) {
	s, _ := self(
		GoalSet{Text: "learn Go", Status: "active"},
		GoalSet{Text: "rest", Status: "long-term"},
		GoalSet{Text: "write", Status: "active"},
		GoalSet{Text: "read", Status: "active"},
		GoalSet{Text: "learn Go", Status: "done"},
		GoalSet{Text: "read", Status: "dropped"},
		GoalSet{Text: "rest", Status: "active"},
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
	tea := MemoryAdded{ID: "m1", Fact: "Kai likes tea", What: "user_fact", Sources: []EventID{"v1"}, Readers: []EntityID{"kai"}}
	vote := MemoryAdded{ID: "m2", Fact: "We meet on Monday", What: "decision", Sources: []EventID{"v2"}, Readers: []EntityID{"kai"}, Space: "den"}
	s, _ := self(MemoryRemoved{ID: "m1"}, tea, vote, MemoryRemoved{ID: "m9"}, MemoryRemoved{ID: "m1"})
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
	s, _ := self(BookmarkSet{Label: "plan", Space: "den", Object: ChatObject, Events: view, Cycle: "c1"})
	want := []Bookmark{{Label: "plan", Space: "den", Object: ChatObject, Events: view, Cycle: "c1", At: minute(1)}}
	if diff := cmp.Diff(want, s.Bookmarks.Bookmarks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// CON-34
func TestSelfIsTheSameAfterARestart(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "c"})
	body := rapid.Custom(func(t *rapid.T) EventBody {
		n := name.Draw(t, "name")
		return rapid.SampledFrom([]EventBody{
			NoteAdded{Text: n},
			GoalSet{Text: n, Status: "active"},
			GoalSet{Text: n, Status: "done"},
			MemoryAdded{ID: n, Fact: n},
			MemoryRemoved{ID: n},
			BookmarkSet{Label: n},
			ThoughtRecorded{Text: n},
			NoteAdded{SetUp: &OnboardingNote{Space: SpaceID(n), State: SetUpOpened, Seen: 1, Sources: []EventID{"v1"}, Readers: []EntityID{"kai"}}},
			NoteAdded{SetUp: &OnboardingNote{Space: SpaceID(n), State: SetUpHeard, Seen: 2, Sources: []EventID{"v2"}}},
			NoteAdded{SetUp: &OnboardingNote{Space: SpaceID(n), State: SetUpProposed, Plan: &OnboardingPlan{Purpose: n}, Sources: []EventID{"v1", "v2"}}},
			NoteAdded{SetUp: &OnboardingNote{Space: SpaceID(n), State: SetUpDone}},
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
	w.tell("kai", SpaceRenamed{Title: "Den"})
	w.tell("kai", SpaceRenamed{Title: "Plans"}).Thread = "t1"
	w.tell("kai", MessagePosted{Text: "hi"})
	w.tell("kai", SpaceRenamed{Title: "The den"})
	w.tell("kai", SpaceRenamed{Title: "Plans for May"}).Thread = "t1"
	var got RoomInfo
	for _, e := range w.log {
		got.Apply(e)
	}
	if got.Title != "The den" {
		t.Errorf("it is called %q, want %q", got.Title, "The den")
	}
}

// A person is a member from the first joining or message since they last left.
func TestMembersAreWhoCameOrSpokeAndDidNotLeave(t *testing.T) {
	who := rapid.SampledFrom([]EntityID{"kai", "mo", "lu"})
	rapid.Check(t, func(t *rapid.T) {
		var w teller
		for range rapid.IntRange(0, 20).Draw(t, "events") {
			e := w.tell(who.Draw(t, "actor"), nil)
			e.Body = rapid.SampledFrom([]EventBody{
				MessagePosted{Text: "hi"},
				MemberJoined{Who: who.Draw(t, "joins")},
				MemberLeft{Who: who.Draw(t, "leaves")},
				ReactionAdded{Target: "v0", Emoji: "👍"},
				SpaceRenamed{Title: fmt.Sprint(e.Seq)},
			}).Draw(t, "body")
		}
		got, want := MemberList{}, MemberList{}
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
		if b, ok := e.Body.(MemberLeft); ok && b.Who == m {
			seq = e.Seq
		}
	}
	return seq
}

func came(e Event, m EntityID) bool {
	switch b := e.Body.(type) {
	case MemberJoined:
		return b.Who == m
	case MessagePosted:
		return e.Actor == m
	default:
		return false
	}
}

func TestWhoeverSpeaksWithoutANameIsNoMember(t *testing.T) {
	got := MemberList{}
	got.Apply(Event{Seq: 1, Body: MessagePosted{Text: "from the platform"}})
	if len(got) > 0 {
		t.Errorf("members: %v", got)
	}
}
