package hud

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

// days fills a room with ten days of idle talk, forty lines each, and has a decision, a question,
// a link, a file and a thread among them. It returns the decision.
func days(w *world, id spaces.SpaceID) (decision spaces.Event) {
	for day := range 10 {
		w.at = time.Date(2026, 11, 2+day, 9, 0, 0, 0, time.UTC)
		for i := range 40 {
			idle := fmt.Sprint("hm, the piano of ", likeGarden[(i+day)%len(likeGarden)], " and so on and so forth, as ever in the hall, and that of others as well")
			switch {
			case day == 1 && i == 5:
				decision = w.says(id, "nova", "Decided: we take the 9:14 train on Saturday, not the car.")
			case day == 2 && i == 39:
				w.says(id, "kai", "who feeds the heron while we are away?")
			case day == 3 && i == 7:
				w.says(id, "nova", "the timetable is at https://rail.example/saturday by the way")
			case day == 4 && i == 7:
				w.add(id, "kai", spaces.MessagePosted{Text: "our tickets", Attachments: []spaces.FileAttachment{{Kind: "file", Name: "tickets.pdf", Size: 700}}})
			case day == 5 && i < 10:
				w.add(id, "nova", spaces.MessagePosted{Text: idle}, func(e *spaces.Event) { e.Thread = "77" })
			default:
				w.says(id, []string{"kai", "nova"}[i%2], idle)
			}
		}
	}
	w.v.Active = id
	w.v.Seat(id).Uplink.Cursor = w.v.Seat(id).Room.Upto()
	w.v.Limits = ViewLimits{ContextTokens: 10000, MaxOutputTokens: 500}
	return decision
}

func TestWhatAKeyframeLeavesOutIsSummarised(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "ada")
	decision := days(w, id)
	w.add(id, "kai", spaces.SpaceRenamed{Title: "Pump"}, func(e *spaces.Event) { e.Thread = "77" })
	w.cut(CutFirst)
	text := w.v.Keyframe.Text
	for _, want := range []string{
		"… 40 lines of 3 Nov 2026, by Kai, Nova: 1 decision\n Nova: Decided: we take the 9:14 train on Saturday, not the car.\n",
		"… 40 lines of 4 Nov 2026, by Kai, Nova: 1 open question\n Kai: who feeds the heron while we are away?\n",
		"… 39 of 40 lines of 5 Nov 2026, by Kai, Nova: 1 link\n",
		"… 39 of 40 lines of 6 Nov 2026, by Kai, Nova: 1 file\n",
		"… 10 lines of 7 Nov 2026 in [77 \"Pump\"], by Nova\n",
		"… 30 lines of 7 Nov 2026, by ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the keyframe lacks %q", want)
		}
	}
	if !slices.Contains(w.v.Keyframe.Refs, decision.ID) {
		t.Error("a line that a summary shows is none of the keyframe's references")
	}
	if t.Failed() {
		t.Log(text)
	}
	again, _ := w.v.Cut(CutFirst)
	if again.Text != text {
		t.Error("the same lines are summarised in another way")
	}
}

// Those who made a summary's lines may take them back or change them: the next keyframe is
// made of what there is then.
func TestASummaryLosesWhatIsDeletedAndHasWhatIsEdited(t *testing.T) {
	for name, change := range map[string]func(target spaces.EventID) spaces.EventBody{
		"deleted": func(target spaces.EventID) spaces.EventBody { return spaces.MessageDeleted{Target: target} },
		"edited": func(target spaces.EventID) spaces.EventBody {
			return spaces.MessageEdited{Target: target, Text: "Decided: we take the night boat on Sunday, not the train."}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			id := w.room("Family", "kai", "nova", "ada")
			decision := days(w, id)
			w.cut(CutFirst)
			if !strings.Contains(w.v.Keyframe.Text, "9:14") {
				t.Fatal("the decision is not summarised")
			}
			w.add(id, "nova", change(decision.ID))
			plan := w.cut(CutRedaction)
			text := w.v.Keyframe.Text
			if strings.Contains(text+fmt.Sprintf("%+v", plan), "9:14") {
				t.Error("the old words are still there")
			}
			edited := name == "edited"
			if strings.Contains(text, "night boat") != edited || slices.Contains(w.v.Keyframe.Refs, decision.ID) != edited {
				t.Errorf("the summary of %s words:\n%s", name, text)
			}
		})
	}
}

// What the agent may not be shown any more, or is shown by a turn behind the keyframe, is in no
// summary, and neither is a room of another circle.
func TestASummaryIsOfLinesThatTheHistoryMayShow(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "ada")
	days(w, id)
	w.v.Seats[0].Uplink.Fresh = 100
	w.cut(CutFirst)
	if text := w.v.Keyframe.Text; strings.Contains(text, "9:14") || strings.Contains(text, "3 Nov") || !strings.Contains(text, "4 Nov") {
		t.Errorf("lines from before a fresh start are summarised:\n%s", text)
	}
	w.v.Seats[0].Uplink.Fresh = 0
	s := w.v.Seats[0]
	w.v.Beyond = []RoomView{NewForeignView(s.Room, s.Uplink, spaces.RoomAudience{{entity("kai").ID}})}
	w.v.Seats = nil
	w.room("Alone", "kai", "ada")
	w.cut(CutFirst)
	if strings.Contains(w.v.Keyframe.Text, "…") {
		t.Errorf("a room of another circle is summarised:\n%s", w.v.Keyframe.Text)
	}
}

// Lines have all but a sixteenth of the room that they had without summaries, and what is
// said to be left out is what is not shown.
func TestSummariesTakeLittleFromLines(t *testing.T) {
	counter := &TokenCounter{}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.v.Counter = counter
		id := w.room("Family", "kai", "nova", "ada")
		days(w, id)
		w.v.Limits.ContextTokens = rapid.IntRange(1900, 12000).Draw(rt, "context")
		k, plan := w.v.Cut(CutFirst)
		plain, _ := newKeyframe(w.v, CutFrame, plan.Budget, 0)
		if k.Tokens > plan.Budget {
			rt.Fatalf("%d of %d tokens", k.Tokens, plan.Budget)
		}
		if len(k.Refs) < len(plain.Refs)*14/16-2 {
			rt.Fatalf("%d lines are shown, %d without summaries", len(k.Refs), len(plain.Refs))
		}
		told := 0
		for _, item := range plan.Items {
			if strings.HasPrefix(item.Area, "left out") && item.Form != Nothing {
				told++
			}
		}
		if heads := strings.Count(k.Text, "\n… "); heads != told {
			rt.Fatalf("%d summaries are shown, the plan has %d", heads, told)
		}
	})
}

func TestAPeriodIsNamedByItsDays(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	for _, at := range []string{"2026-02-28", "2026-03-02", "2026-03-02", "2026-03-09", "2027-01-01"} {
		w.at, _ = time.Parse(time.DateOnly, at)
		w.says(id, "kai", "x")
	}
	h := &history{v: w.v, seat: w.v.Seat(id)}
	for want, lines := range map[string][]int{
		"2 Mar 2026": {1, 2}, "2–9 Mar 2026": {1, 3}, "28 Feb – 9 Mar 2026": {0, 3}, "9 Mar 2026 – 1 Jan 2027": {3, 4},
	} {
		if got := h.periodOf(lines); got != want {
			t.Errorf("%v is %q, want %q", lines, got, want)
		}
	}
	if monday := time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC); weekOf(monday) != weekOf(monday.AddDate(0, 0, 6)) || weekOf(monday) == weekOf(monday.AddDate(0, 0, -1)) {
		t.Error("a week does not begin on Monday")
	}
}

// Long talk is summarised by longer units of time, so that there are never many summaries.
func TestLongTalkHasFewSummaries(t *testing.T) {
	for _, days := range []int{5, 60, 300, 3000} {
		w := newWorld(t)
		id := w.room("Family", "kai", "nova", "ada")
		for i := range 600 {
			w.at = time.Date(2020, 1, 1, 9, 0, 0, 0, time.UTC).AddDate(0, 0, i*days/600)
			w.says(id, "kai", "well the "+words[i%len(words)])
		}
		h := &history{v: w.v, seat: w.v.Seat(id), total: 600, leave: func(spaces.EventID) bool { return false }}
		lines := 0
		for _, s := range h.stretches() {
			lines += len(s.lines)
		}
		if n := len(h.stretches()); n > mostStretches || n < 3 || lines < 550 {
			t.Errorf("%d days are %d stretches of %d lines", days, n, lines)
		}
	}
}

func TestNewLinesThatDoNotFitAreDescribed(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "nova", "ada")
	decision := days(w, id)
	w.v.Seats[0].Uplink.Cursor = 0
	w.says(id, "kai", "Ada, is the piano of gardenry still there?")
	w.wake(id)
	turn := w.v.Current[0]
	for _, want := range []string{"Decided: we take the 9:14 train", "45 more lines, #1 to #19, by Kai, Nova (read_messages shows them)"} {
		if !strings.Contains(turn.Text, want) {
			t.Errorf("the new lines lack %q", want)
		}
	}
	if !slices.Contains(turn.Refs, decision.ID) || t.Failed() {
		t.Errorf("the new lines:\n%s", turn.Text)
	}
}
