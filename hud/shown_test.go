package hud

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

// What a frame shows is known by the refs of the keyframe, of the turns, and its
// own, also where it was too long and its keyframe was rendered anew: by them a message
// that is deleted later is found in what is stored.
func TestEveryMessageInAFrameIsKnown(t *testing.T) {
	w := newWorld(t)
	w.v.Limits = ViewLimits{ContextTokens: 4000, MaxOutputTokens: 300}
	office, family := w.room("Office", "kai", "nova", "ada"), w.room("Family", "kai", "maya", "ada")
	for n := range 60 {
		w.says(office, "nova", fmt.Sprintf("report %d. It is in the cellar of the old archive", n))
	}
	w.v.Seat(office).Uplink.Cursor = w.v.Seat(office).Room.Upto()
	w.v.Active = office
	w.cut(CutFirst)
	w.v.Keyframe.Tokens = w.v.Counter.MessageTokens(w.v.Keyframe.Text)
	for n := range 20 {
		w.says(family, "maya", fmt.Sprintf("the picnic has moved to hill %d!", n))
	}
	w.says(office, "kai", "where has the picnic moved to?")
	w.wake(office)
	w.v.Current = append(w.v.Current,
		spaces.TranscriptTurn{Role: spaces.RoleAssistant, Text: strings.Repeat("I have to think about this for a long while. ", 180)})
	f, err := w.v.Frame(w.v.Tail(TailInput{Now: w.at, Phase: "ENGAGEMENT."}))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Plan.Shed) == 0 {
		t.Fatal("nothing was shed")
	}
	known := slices.Clone(f.Refs())
	w.v.eachRefs(func(ids []spaces.EventID) { known = append(known, ids...) })
	text := f.golden()
	for _, s := range w.v.Seats {
		for _, m := range s.Room.Chat.Messages {
			if strings.Contains(text, m.Text) && !slices.Contains(known, m.ID) {
				t.Errorf("nobody knows that %q is shown", m.Text)
			}
		}
	}
}

// What a frame claims to show whole is in its text: for each such message there is a
// row of its sender that ends with all of its words, another one for each.
func TestWhatAFrameClaimsToShowIsInItsText(t *testing.T) {
	counter := &TokenCounter{}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.v.Counter = counter
		w.v.Limits = ViewLimits{ContextTokens: rapid.IntRange(1500, 9000).Draw(rt, "context"), MaxOutputTokens: 300}
		live(rt, w, func() {
			tail := w.tail()
			f, err := w.v.Frame(tail)
			if err != nil {
				return // it is too small for what woke the agent
			}
			claimed := map[string]int{}
			for _, m := range w.v.ShownWhole(&f, tail) {
				claimed[m.Text]++
			}
			for text, n := range claimed {
				rows := 0
				for row := range strings.Lines(f.golden()) {
					row = strings.TrimSuffix(row, "\n")
					if strings.HasSuffix(row, ": "+gutter(text)) || strings.Contains(row, ": "+Quote(text)) {
						rows++
					}
				}
				if rows < n {
					rt.Fatalf("%q is claimed %d times, there are %d rows of it in\n%s", text, n, rows, f.golden())
				}
			}
		})
	})
}
