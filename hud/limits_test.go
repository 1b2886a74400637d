package hud

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

// SEQ-37, SEQ-39: of 20 lines all are shown before anything is chosen, of 21 the
// newest 15, but never more than half of the tokens; both numbers are settings.
func TestTheNewestLinesAreShownBeforeAnyIsChosen(t *testing.T) {
	for _, c := range []struct {
		name   string
		lines  int
		set    func(*ViewLimits)
		newest int
	}{
		{"at the threshold", 20, nil, 20},
		{"above it", 21, nil, 15},
		{"another threshold", 21, func(l *ViewLimits) { l.SummariseAbove = 21 }, 21},
		{"fewer kept", 21, func(l *ViewLimits) { l.KeepRecent = 4 }, 4},
		{"more than half", 600, func(l *ViewLimits) { l.KeepRecent = 600 }, 300},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			id := w.room("Family", "kai", "nova", "ada")
			for range c.lines {
				w.says(id, "kai", "all lines are of one length")
			}
			w.v.Active = id
			w.v.Seats[0].Uplink.Cursor = w.v.Seats[0].Room.Upto()
			if c.set != nil {
				c.set(&w.v.Limits)
			}
			first := 0
			all := 0
			for i := range c.lines {
				all += w.v.lineTokens(&w.v.Seats[0], i)
			}
			h := (&keyframeBuilder{v: w.v}).history(&w.v.Seats[0], recall.LineQuery{}, func(spaces.EventID) bool { return false }, max(4_000, all), 0)
			for k, e := range h.Elements() {
				if newest := strings.HasSuffix(e.Why, ", newest"); newest != (k >= c.lines-c.newest) {
					t.Errorf("line %d of %d is among the newest: %v", k+1, c.lines, newest)
				} else if !newest {
					first = k + 1
				}
			}
			if first != c.lines-c.newest {
				t.Errorf("%d lines stand before the newest", first)
			}
		})
	}
}

// SEQ-29: the open span is one of those that are shown, or is beside them.
func TestTheOpenSpanIsOneOfThoseShown(t *testing.T) {
	shown := func(beside bool) (ids []int64) {
		w, _, _ := weeks(t)
		w.v.Limits.SpansShown, w.v.Limits.ActiveSpanBeside = 1, beside
		for _, b := range w.look(6_000).Bundles {
			ids = append(ids, b.Span)
		}
		return ids
	}
	if got, want := shown(false), []int64{0, 3}; !slices.Equal(got, want) {
		t.Errorf("one of them: spans %v, want %v", got, want)
	}
	if got, want := shown(true), []int64{0, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("beside them: spans %v, want %v", got, want)
	}
}

// SEQ-45, SEQ-59, SEQ-67, SEQ-68, SEQ-69, SEQ-70: a conversation is kept, kept in part, or left to
// its count, by how much it has to do with what is asked; of one that is kept in
// part the first question and the last line count in full. The three shares are
// settings.
func TestConversationsAreKeptByWhatTheyHaveToDoWithTheQuestion(t *testing.T) {
	w := newWorld(t)
	id := w.room("Garden", "kai", "nova", "ada")
	talks := [][]string{
		{"the pump is loud", "the pump of the greenhouse broke again", "so it did"},
		{"who goes shopping?", "we need seeds for the greenhouse", "and soap", "fine"},
		{"happy birthday", "thank you", "see you"},
	}
	for _, lines := range talks {
		w.at = w.at.Add(2 * recall.ConversationGap)
		for i, text := range lines {
			w.says(id, []string{"kai", "nova"}[i%2], text)
		}
	}
	w.v.Active = id
	w.v.Seats[0].Uplink.Cursor = w.v.Seats[0].Room.Upto()
	read := func() (kinds []conversationScore, shares []float64) {
		h := (&keyframeBuilder{v: w.v}).history(&w.v.Seats[0], recall.NewQuery("the pump of the greenhouse broke"), func(spaces.EventID) bool { return false }, 4_000, 0)
		for i := range w.v.Seats[0].Room.Chat.Messages {
			k, s := h.conversation(i)
			kinds, shares = append(kinds, k), append(shares, s)
		}
		return kinds, shares
	}
	kinds, shares := read()
	const k, p, o = conversationKept, conversationPartial, conversationOther
	if diff := cmp.Diff([]conversationScore{k, k, k, p, p, p, p, o, o, o}, kinds); diff != "" {
		t.Fatalf("conversations (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float64{1, 1, 1, 1, 0.4, 0.4, 1, 0.1, 0.1, 0.1}, shares); diff != "" {
		t.Errorf("shares (-want +got):\n%s", diff)
	}
	w.v.Limits.Threads = &ConversationWeights{Keep: 0.9, Partial: 0.5, Summary: 0}
	if _, shares = read(); !slices.Equal(shares, []float64{0.9, 0.9, 0.9, 0.9, 0.5, 0.5, 0.9, 0, 0, 0}) {
		t.Errorf("other shares: %v", shares)
	}
}

// SEQ-47: a plan has no level below the one at which elements begin; what does not
// fit at the highest one is left out.
func TestLevelsStayBetweenTheFirstAndTheLast(t *testing.T) {
	forms := func(start, most, context int) map[FormName]bool {
		w := newWorld(t)
		id := w.room("Family", "kai", "nova", "ada")
		for i := range 60 {
			w.says(id, "kai", fmt.Sprint(i)+strings.Repeat(" a long story about the garden", 30))
		}
		w.v.Active = id
		w.v.Seats[0].Uplink.Cursor = w.v.Seats[0].Room.Upto()
		w.v.Limits = ViewLimits{ContextTokens: context, MaxOutputTokens: 500, LevelStart: start, LevelMax: most}
		found := map[FormName]bool{}
		for _, item := range w.cut(CutFirst).Items {
			if strings.HasPrefix(item.Area, "history") {
				found[item.Form] = true
			}
		}
		return found
	}
	if got := forms(0, 0, 12_000); !got[Full] || !got[Trimmed] && !got[OneLine] {
		t.Errorf("without a word on levels there are the forms %v", got)
	}
	if got := forms(2, 0, 32_000); got[Full] || !got[Trimmed] {
		t.Errorf("from level 2 on there are the forms %v", got)
	}
	if got := forms(0, 1, 4_000); !got[Nothing] || got[Trimmed] || got[OneLine] {
		t.Errorf("up to level 1 there are the forms %v", got)
	}
}

// PRD-6.4-3, PRD-6.4-A3: the guard is a share of the window, whatever the budget.
func TestTheGuardIsAShareOfTheWindow(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	w.v.FixedTokens = 2_000
	for i := range 30 {
		w.says(id, "kai", fmt.Sprintf("day %d %s", i, strings.Repeat("garden ", 60)))
		w.wake(id)
		w.rests("Responded to Kai.")
	}
	taken := w.v.Count()
	for _, c := range []struct {
		guard int
		want  string
	}{{30, CutGuard}, {95, ""}} {
		w.v.Limits = ViewLimits{ContextTokens: taken + 6_000, MaxOutputTokens: 500, HighWater: 99, Guard: c.guard}
		if cause, _ := w.v.NeedsCut(200); cause != c.want {
			t.Errorf("%d tokens in a window of %d with a guard of %d: cut because of %q, want %q", taken, taken+6_000, c.guard, cause, c.want)
		}
	}
}

// CON-26: old accounts are compared with what is asked by their beginning, as long
// as the setting says.
func TestAccountsAreComparedByTheirBeginning(t *testing.T) {
	w := newWorld(t)
	c := spaces.ClosedCycle{N: 1, Rest: "Responded to Kai. " + strings.Repeat("Much else was said. ", 30) + "The greenhouse burned down."}
	terms := []string{"greenhous"}
	if e := (&keyframeBuilder{v: w.v}).summaryElement(&c, terms, 0); !strings.Contains(e.Why, "relevance 0.00") {
		t.Errorf("its end counts: %s", e.Why)
	}
	w.v.Limits.Snippet = 2_000
	if e := (&keyframeBuilder{v: w.v}).summaryElement(&c, terms, 0); !strings.Contains(e.Why, "relevance 1.00") {
		t.Errorf("all of it is compared, and does not count: %s", e.Why)
	}
}

// SEQ-24, SEQ-43: a room's weight changes what it counts beside the active one.
func TestARoomsWeightIsItsImportance(t *testing.T) {
	w := newWorld(t)
	w.v.Active = w.room("Family", "kai", "ada")
	w.room("Work", "kai", "sage", "ada")
	for _, c := range []struct{ weight, want float64 }{{0, 0.35}, {1, 0.35}, {0.5, 0.175}, {2, 0.7}, {9, 1}} {
		w.v.Seats[1].Weight, w.v.Seats[0].Weight = c.weight, c.weight
		if got := w.v.focus(&w.v.Seats[1]); got != c.want {
			t.Errorf("a weight of %v: %v, want %v", c.weight, got, c.want)
		}
		if got := w.v.focus(&w.v.Seats[0]); got != 1 {
			t.Errorf("the active room counts %v", got)
		}
	}
}

// SEQ-43, SEQ-52, SEQ-60: what addresses the agent, what is pinned and what decides
// something stays when other lines of its age go.
func TestWhatMattersOutlivesLinesOfItsAge(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "sage", "ada")
	w.chatters(id, 60)
	pin := w.says(id, "sage", "the key hangs behind the door")
	w.add(id, "kai", spaces.MessagePinned{Target: pin.ID})
	w.add(id, "kai", spaces.MessagePosted{Text: "the boiler leaks again and again", Mentions: []spaces.EntityID{w.v.me()}})
	w.says(id, "nova", "we decided to go on foot")
	w.chatters(id, 60)
	w.v.Active = id
	w.v.Seats[0].Uplink.Cursor = w.v.Seats[0].Room.Upto()
	w.v.Limits = ViewLimits{ContextTokens: 2_800, MaxOutputTokens: 500}
	w.cut(CutFirst)
	text := w.v.Keyframe.Text
	for _, want := range []string{"key hangs", "boiler leaks", "decided to go"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is gone:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "nothing but"); n > 110 {
		t.Errorf("%d of 120 other lines stay: nothing had to go", n)
	}
}
