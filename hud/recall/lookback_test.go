package recall

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	godiff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

// Questions about a stretch of talk are told from those about one thing, and from statements.
func TestLooksBackAreToldFromQuestionsAboutOneThing(t *testing.T) {
	now := time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC) // a Saturday
	day := func(m time.Month, d int) time.Time { return time.Date(2026, m, d, 0, 0, 0, 0, time.UTC) }
	for text, want := range map[string]LookBack{
		"Catch me up: what happened, what was decided?": {Kind: LookOverview},
		"tl;dr":                                          {Kind: LookOverview},
		"What did I miss this week?":                     {Kind: LookOverview, From: day(3, 9), To: day(3, 16)},
		"What did we decide in February?":                {Kind: LookDecisions, From: day(2, 1), To: day(3, 1)},
		"which decisions did Kai make":                   {Kind: LookDecisions, Names: []string{"kai"}},
		"what was settled since the trip?":               {Kind: LookDecisions, Anchor: "trip"},
		"list all open questions":                        {Kind: LookQuestions},
		"which links were shared yesterday?":             {Kind: LookLinks, From: day(3, 13), To: day(3, 14)},
		"files from this month":                          {Kind: LookFiles, From: day(3, 1), To: day(4, 1)},
		"who talks the most here?":                       {Kind: LookCounts},
		"Was haben wir letzte Woche beschlossen?":        {Kind: LookDecisions, From: day(3, 2), To: day(3, 9)},
		"Quelles décisions avons-nous prises en janvier": {Kind: LookDecisions, From: day(1, 1), To: day(2, 1), Names: []string{"pris"}},
		"¿qué pasó ayer?":                                {Kind: LookOverview, From: day(3, 13), To: day(3, 14)},
		"what did we decide about the boiler?":           {Kind: LookDecisions, Names: []string{"boiler"}},
		"what happened to my bike?":                      {Kind: LookOverview, Names: []string{"bik"}},
		"ok, agreed":                                     {},
		"we decided to go":                               {},
		"where is the spare key?":                        {},
		"thanks for the help":                            {},
		"":                                               {},
		strings.Repeat("what happened then? ", 40):       {},
	} {
		got, ok := ParseLookBack(text, now)
		if diff := godiff.Diff(want, got); ok != (want.Kind != "") || ok && diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// Any text is read without a fault, and a stretch does not end before it begins.
func FuzzParseLookBack(f *testing.F) {
	for _, text := range []string{"catch me up since the trip", "what did we decide between May and March?", "'’'?", "was ist seit Montag passiert", "since"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		look, ok := ParseLookBack(text, time.Date(2026, 3, 14, 10, 0, 0, 0, time.UTC))
		if ok && !look.To.IsZero() && look.To.Before(look.From) {
			t.Errorf("%q looks back at %v to %v", text, look.From, look.To)
		}
		if d := Decisiveness(text); d < 0 || d > 1 {
			t.Errorf("%q decides with %v", text, d)
		}
	})
}

// A line that tells a decision counts more than one that proposes, asks or doubts it.
func TestDecisionsCountMoreThanProposals(t *testing.T) {
	for told, proposed := range map[string]string{
		"We decided to move the meeting to Friday": "Should we move the meeting to Friday?",
		"ok so we're going with the blue tiles":    "maybe the blue tiles, what do you think",
		"Anna takes over the bookkeeping in June":  "could anyone do the bookkeeping in June",
		"The trip is cancelled":                    "I hope the trip is not cancelled, not sure yet",
		"Wir nehmen das Zelt, abgemacht":           "Vielleicht sollten wir das Zelt nehmen?",
		"on part sur samedi, c'est validé":         "on pourrait partir samedi ?",
		"quedamos en el martes":                    "¿quizás el martes?",
	} {
		if a, b := Decisiveness(told), Decisiveness(proposed); a <= b+0.1 {
			t.Errorf("%q has %.2f, %q %.2f", told, a, proposed, b)
		}
	}
}

// testLines returns the lines of a file.
func testLines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash(name)) //nolint:gosec // a file of ours
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// The lines of these files were written without knowledge of the words and weights by which
// decisions are told from other talk: a miss is no reason to add its words to the lists.
func TestMostDecisionsAreToldFromOtherTalk(t *testing.T) {
	decided, undecided := testLines(t, "../../internal/corpus/decisions.txt"), testLines(t, "../../internal/corpus/undecided.txt")
	found, mistaken := 0, 0
	for _, text := range decided {
		if Decisiveness(text) >= LeastDecision {
			found++
		}
	}
	for _, text := range undecided {
		if Decisiveness(text) >= LeastDecision {
			mistaken++
		}
	}
	if n := len(decided); found < n*80/100 {
		t.Errorf("%d of %d decisions are found, want four of five", found, n)
	}
	if n := len(undecided); mistaken > n*15/100 { // all of them name times, sums or plans
		t.Errorf("%d of %d other lines are taken for decisions, want at most one of seven", mistaken, n)
	}
}

// Questions about a whole stretch of talk are known in many words, with the time that
// they name.
func TestLooksBackAreKnownInManyWords(t *testing.T) {
	now := time.Date(2025, 5, 2, 10, 0, 0, 0, time.UTC)
	for _, row := range testLines(t, "testdata/asked.txt") {
		want, text, _ := strings.Cut(row, " | ")
		got := "-"
		if look, ok := ParseLookBack(text, now); ok && len(look.Names) == 0 {
			got = string(look.Kind)
			for _, at := range []time.Time{look.From, look.To} {
				if got += " "; at.IsZero() {
					got += "-"
				} else {
					got += at.Format("01-02")
				}
			}
		}
		if got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// lookedBack returns the texts of the lines that a look back finds.
func lookedBack(rooms []*testRoom, look LookBack, budget int, shown ...spaces.EventID) []string {
	r := LookBackRequest{LookBack: look}
	for _, room := range rooms {
		r.Rooms = append(r.Rooms, room.SearchRoom)
	}
	r.Weights, r.Budget, r.Tokens = DefaultWeights(), budget, r.tokensOf
	r.Shown = func(yield func([]spaces.EventID)) { yield(shown) }
	var texts []string
	for _, l := range FindLookBack(&r) {
		texts = append(texts, r.Rooms[l.Room].Index.chat.Messages[l.Number].Text)
	}
	return texts
}

// A look back shows what its kind and its bounds name, and nothing else.
func TestALookBackKeepsToItsKindAndBounds(t *testing.T) {
	room, other := newTestRoom("garden", 1), newTestRoom("attic", 0.35)
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	first := room.says(at, "kai", "we agreed on a green fence", "")
	room.says(at.AddDate(0, 0, 1), "zoe", "the trip to the coast was lovely", "")
	room.says(at.AddDate(0, 0, 2), "kai", "who has the big ladder?", "")
	room.says(at.AddDate(0, 0, 3), "zoe", "see https://example.org/sheds for sheds", "")
	gone := room.says(at.AddDate(0, 0, 4), "kai", "the shed is ordered, final decision", "")
	room.says(at.AddDate(0, 0, 5), "zoe", "we decided to plant beans in April", "")
	other.says(at.AddDate(0, 0, 5), "max", "the weather is nice", "")
	other.says(at.AddDate(0, 0, 6), "max", "decided: the roof gets fixed in May, budget 900", "")
	room.chat.Apply(spaces.Event{ID: "x", Space: "garden", Branch: spaces.Primary, Seq: 7, At: at.AddDate(0, 0, 5), Actor: "kai", Body: spaces.MessageDeleted{Target: gone}})
	rooms := []*testRoom{room, other}
	for name, c := range map[string]struct {
		look  LookBack
		shown []spaces.EventID
		want  []string
	}{
		"all": {LookBack{Kind: LookOverview}, nil, []string{
			"decided: the roof gets fixed in May, budget 900", "see https://example.org/sheds for sheds", "the trip to the coast was lovely",
			"we agreed on a green fence", "we decided to plant beans in April", "who has the big ladder?",
		}},
		"bounded":   {LookBack{Kind: LookDecisions, From: at.AddDate(0, 0, 3), To: at.AddDate(0, 0, 6)}, nil, []string{"see https://example.org/sheds for sheds", "we decided to plant beans in April"}},
		"anchored":  {LookBack{Kind: LookLinks, Anchor: "trip"}, nil, []string{"see https://example.org/sheds for sheds"}},
		"open":      {LookBack{Kind: LookQuestions}, nil, []string{"who has the big ladder?"}},
		"shown yet": {LookBack{Kind: LookDecisions, To: at.AddDate(0, 0, 2)}, []spaces.EventID{first}, []string{"the trip to the coast was lovely"}},
	} {
		got := lookedBack(rooms, c.look, 4000, c.shown...)
		slices.Sort(got)
		if diff := godiff.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// With little room the decisions come first, and the same lines are found whatever was
// asked before.
func TestALookBackShowsDecisionsFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := newTestRoom("garden", 1)
		at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		var decisions []string
		n := rapid.IntRange(40, 160).Draw(t, "lines")
		places := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 4, 4, rapid.ID[int]).Draw(t, "places")
		for i := range n {
			at = at.Add(time.Duration(rapid.IntRange(1, 300).Draw(t, "pause")) * time.Minute)
			text := fmt.Sprintf("the cat sat near fence post %d and looked around for a while", i)
			if slices.Contains(places, i) {
				text = fmt.Sprintf("we decided on plan %d, starting Monday", i)
				decisions = append(decisions, text)
			}
			room.says(at, spaces.EntityID([]string{"kai", "zoe", "max"}[i%3]), text, "")
		}
		found := lookedBack([]*testRoom{room}, LookBack{Kind: LookDecisions}, 60)
		for _, d := range decisions {
			if !slices.Contains(found, d) {
				t.Fatalf("%q is not among %q", d, found)
			}
		}
		lookedBack([]*testRoom{room}, LookBack{Kind: LookOverview}, 500)
		if diff := godiff.Diff(found, lookedBack([]*testRoom{room}, LookBack{Kind: LookDecisions}, 60)); diff != "" {
			t.Fatalf("asked again (-first +again):\n%s", diff)
		}
	})
}
