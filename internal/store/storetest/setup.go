package storetest

import (
	"testing"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

var setUpTests = map[string]func(*testing.T, *world){
	"SetUpSurvivesARestart":        setUpReadBack,
	"ProposalGoesWithWhatLedToIt":  setUpRedacted,
	"RoomKnowsWhetherItIsNamed":    roomConfigured,
	"ProposalLosesWordsOfAnybodys": setUpReworded,
}

// setUp is a proposal that a message led to.
func setUp(room spaces.SpaceID, from spaces.EventID) *spaces.OnboardingNote {
	return &spaces.OnboardingNote{
		Space: room, State: spaces.SetUpProposed, Seen: 3, Message: "p1", Sources: []spaces.EventID{from}, Readers: []spaces.EntityID{"zoe"},
		Plan: &spaces.OnboardingPlan{
			Purpose: "looking after the summer house", Facts: []string{"The key is under the third pot"},
			Plans:  []spaces.PlannedTimer{{Cron: "0 9 * * 1", Note: "ask who goes there this week"}},
			Wishes: []spaces.OnboardingQuestion{{Key: "wake", Want: "to be told of every message"}},
		},
	}
}

// noted has the mind commit a set-up in a cycle that a message of the room woke.
func (w *world) noted(room spaces.SpaceID, asked spaces.Event, note *spaces.OnboardingNote) {
	w.t.Helper()
	c := w.step(w.woken(ada, room), 0)
	c.Inner = []spaces.EventBody{spaces.NoteAdded{Text: "set-up: proposed", Label: "setup", SetUp: note}}
	c.Turns = []spaces.TranscriptTurn{{Role: spaces.RoleUser, Text: "INBOX", Refs: []spaces.EventID{asked.ID}}}
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted}
	w.commit(c)
}

// setUpOf is the room's set-up as a mind that is read anew has it.
func (w *world) setUpOf(room spaces.SpaceID) spaces.RoomOnboarding {
	w.t.Helper()
	var self spaces.InnerState
	own, err := w.s.Shell.Self(w.t.Context(), ada)
	w.ok(err)
	for _, e := range own {
		self.Apply(e)
	}
	if len(self.Notes.All) > 0 {
		w.t.Errorf("a set-up is a note as well: %v", self.Notes.All)
	}
	return self.SetUps.In(room)
}

// PRD-6.5-2: how far a set-up has come is in the log and nowhere else.
func setUpReadBack(t *testing.T, w *world) {
	room := w.family()
	asked := w.say(room, "zoe", "set up this room")
	want := setUp(room, asked.ID)
	w.noted(room, asked, want)
	at := w.now
	w.s = w.s.Restart(t, false)
	testutil.Same(t, "after a restart", spaces.RoomOnboarding{OnboardingNote: *want, At: at}, w.setUpOf(room))
}

// SECURITY S14: with a message that led to it a proposal is gone from all that the
// mind has.
func setUpRedacted(t *testing.T, w *world) {
	room := w.family()
	asked := w.say(room, "zoe", "the key lies where it always does")
	w.noted(room, asked, setUp(room, asked.ID))
	by := hud.NewRedaction("the key lies where it always does")
	w.ok(w.s.Shell.Redact(t.Context(), ada, shell.RedactionRequest{Event: asked.ID, Shown: by, Repeated: by}))
	got := w.setUpOf(room)
	if got.State != spaces.SetUpOpened || got.Plan != nil || got.Message != "" {
		t.Errorf("left is %+v", got)
	}
}

// SECURITY S14: a proposal that a message did not lead to loses only its words.
func setUpReworded(t *testing.T, w *world) {
	room := w.family()
	other := w.say(room, "zoe", "under the third pot")
	asked := w.say(room, "zoe", "set up this room")
	want := setUp(room, asked.ID)
	w.noted(room, other, want)
	by := hud.NewRedaction("under the third pot")
	w.ok(w.s.Shell.Redact(t.Context(), ada, shell.RedactionRequest{Event: other.ID, Shown: by, Repeated: by}))
	got := w.setUpOf(room)
	if got.State != spaces.SetUpProposed || got.Plan == nil || got.Plan.Facts[0] != "The key is [deleted]" {
		t.Errorf("left is %+v", got.Plan)
	}
}

// PRD-6.5-1, PRD-6.5-A8: a room says whether an entry of the configuration is about it,
// also when that came later.
func roomConfigured(t *testing.T, w *world) {
	o := spaces.OpenRequest{Name: "Hall", Agents: []spaces.AgentID{"ada"}, Chats: []spaces.ChatMapping{{Account: account, Chat: "-77", Live: true}}, At: w.now}
	for n, key := range []string{"", "hall", ""} {
		o.Key = key
		room := w.open(o)
		for range 2 {
			s, _, err := w.s.Shell.Space(t.Context(), room)
			w.ok(err)
			if s.Configured != (n > 0) {
				t.Errorf("opened with key %q as the %d. time it is configured: %t", key, n+1, s.Configured)
			}
			w.s = w.s.Restart(t, true)
		}
	}
}
