package spaces

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	trips  = &OnboardingPlan{Purpose: "planning trips", Facts: []string{"Kai drives"}, Plans: []PlannedTimer{{Cron: "0 9 * * 1", Note: "ask about the week"}}, Wishes: []OnboardingQuestion{{"wake", "answer everything"}}}
	told   = NoteAdded{SetUp: &OnboardingNote{Space: "den", State: SetUpOffered, Seen: 1}}
	opened = NoteAdded{SetUp: &OnboardingNote{Space: "den", State: SetUpOpened, Seen: 3, Sources: []EventID{"r3"}, Readers: []EntityID{"ada", "kai", "lu"}}}
	heard  = NoteAdded{SetUp: &OnboardingNote{Space: "den", State: SetUpHeard, Seen: 5, Sources: []EventID{"r5"}, Readers: []EntityID{"ada", "kai"}}}
	asked  = NoteAdded{SetUp: &OnboardingNote{
		Space: "den", State: SetUpProposed, Seen: 5, Message: "r6", Plan: trips, Sources: []EventID{"r3", "r5"}, Readers: []EntityID{"ada", "kai"},
	}}
	was  = OnboardingNote{Space: "den", State: SetUpProposed, Plan: trips, Sources: []EventID{"r3", "r5"}}
	done = NoteAdded{SetUp: &OnboardingNote{Space: "den", State: SetUpDone, Seen: 7}}
)

// PRD-6.5-2, PRD-6.5-A5: a room's set-up has the stage of its newest note; people's
// answers on the way are kept beside it, and a proposal replaces the one before. None
// of it is a note of the agent's, and a log without it folds as before.
func TestASetUpStandsWhereItsNewestNoteSays(t *testing.T) {
	for name, c := range map[string]struct {
		log  []EventBody
		want RoomOnboarding
	}{
		"none":      {[]EventBody{NoteAdded{Text: "n"}}, RoomOnboarding{}},
		"offered":   {[]EventBody{told}, RoomOnboarding{OnboardingNote: *told.SetUp, At: minute(1)}},
		"elsewhere": {[]EventBody{NoteAdded{SetUp: &OnboardingNote{Space: "hall", State: SetUpOpened}}}, RoomOnboarding{}},
		"opened": {[]EventBody{told, opened}, RoomOnboarding{
			OnboardingNote: OnboardingNote{Space: "den", State: SetUpOpened, Seen: 3, Readers: []EntityID{"ada", "kai", "lu"}}, At: minute(2), Heard: []EventID{"r3"},
		}},
		"gone on with": {[]EventBody{opened, heard, heard}, RoomOnboarding{
			OnboardingNote: OnboardingNote{Space: "den", State: SetUpOpened, Seen: 5, Readers: []EntityID{"ada", "kai"}}, At: minute(1), Heard: []EventID{"r3", "r5"},
		}},
		"proposed":       {[]EventBody{opened, heard, asked}, RoomOnboarding{OnboardingNote: *asked.SetUp, At: minute(3), Heard: []EventID{"r3", "r5"}}},
		"proposed again": {[]EventBody{asked, asked}, RoomOnboarding{OnboardingNote: *asked.SetUp, At: minute(2), Former: []OnboardingNote{was}}},
		"offered late":   {[]EventBody{asked, told}, RoomOnboarding{OnboardingNote: *asked.SetUp, At: minute(1)}},
		"done":           {[]EventBody{opened, asked, done}, RoomOnboarding{OnboardingNote: *done.SetUp, At: minute(3), Former: []OnboardingNote{was}}},
		"opened anew": {[]EventBody{asked, done, opened}, RoomOnboarding{
			OnboardingNote: OnboardingNote{Space: "den", State: SetUpOpened, Seen: 3, Readers: []EntityID{"ada", "kai", "lu"}}, At: minute(3), Heard: []EventID{"r3"}, Former: []OnboardingNote{was},
		}},
		"opened anew after nobody decided": {[]EventBody{asked, opened}, RoomOnboarding{
			OnboardingNote: OnboardingNote{Space: "den", State: SetUpOpened, Seen: 3, Plan: trips, Sources: []EventID{"r3", "r5"}, Readers: []EntityID{"ada", "kai"}}, At: minute(2), Heard: []EventID{"r3"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := self(c.log...)
			if diff := cmp.Diff(c.want, s.SetUps.In("den")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if want := name == "none"; len(s.Notes.All) > 0 != want {
				t.Errorf("the notes are %v", s.Notes.All)
			}
		})
	}
}

// A proposal goes with any message that led to it, and loses the words
// of every other one; what is given stays as it is.
func TestAProposalGoesWithWhatLedToIt(t *testing.T) {
	hush := func(text string) string {
		if text == "Kai drives" {
			return "[deleted]"
		}
		return text
	}
	for id, want := range map[EventID]*OnboardingPlan{"r5": nil, "r9": {Purpose: trips.Purpose, Facts: []string{"[deleted]"}, Plans: trips.Plans, Wishes: trips.Wishes}} {
		s, _ := self(opened, heard, asked, asked)
		gone := func(x EventID) bool { return x == id }
		folded := s.SetUps.In("den").Without(gone, hush)
		note := asked
		left := note.SetUp.Without(gone, hush)
		note.SetUp = &left
		again, _ := self(opened, heard, note, note)
		if diff := cmp.Diff(folded, again.SetUps.In("den")); diff != "" {
			t.Errorf("without %s the fold is another than that of the log (-fold +log):\n%s", id, diff)
		}
		if diff := cmp.Diff(want, folded.Plan); diff != "" {
			t.Errorf("without %s (-want +got):\n%s", id, diff)
		}
		if words := s.SetUps.In("den").Words(gone); len(words) > 0 != (want == nil) {
			t.Errorf("%s led to %q", id, words)
		}
		if (folded.State == SetUpOpened) != (want == nil) {
			t.Errorf("without %s it stands as %s", id, folded.State)
		}
	}
	shout := trips.Reworded(strings.ToUpper)
	if words := strings.Join(shout.Words(), "; "); words != "PLANNING TRIPS; KAI DRIVES; ASK ABOUT THE WEEK; ANSWER EVERYTHING" {
		t.Errorf("reworded they are %q", words)
	}
	if words := trips.Words(); !slices.Equal(words, []string{"planning trips", "Kai drives", "ask about the week", "answer everything"}) {
		t.Errorf("its words are %q", words)
	}
}
