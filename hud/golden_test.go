package hud

import (
	"flag"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

// scenes are situations whose frames are kept under testdata.
var scenes = map[string]func(w *world) string{
	"direct_first": func(w *world) string { // CON-05, GTS-02, GTS-03
		id := w.room("Family", "kai", "ada")
		w.says(id, "kai", "did you talk to Ahmad?")
		w.wake(id)
		return w.frame().golden()
	},
	"second_cycle": func(w *world) string { // CON-08, SEQ-27: what was done in one room is seen in another
		family, work := w.room("Family", "kai", "ada"), w.room("Work", "kai", "sage", "ada")
		w.says(work, "sage", "@Ada please tell Ahmad the meeting moved")
		w.wake(work)
		w.answers(work, "I told Ahmad: Thursday at ten.")
		w.rests("Responded to Sage about the meeting. Told Ahmad. Nothing pending.")
		w.says(family, "kai", "did you talk to Ahmad?")
		w.wake(family)
		return w.frame().golden()
	},
	"busy_group": func(w *world) string { // replies, edits, deletes, reactions, files, threads, notices
		id := w.room("Garden <club>", "kai", "nova", "max", "feed", "ada")
		a := w.says(id, "kai", "the pump is broken")
		w.add(id, "nova", spaces.MessagePosted{Text: "oh no", Attachments: []spaces.FileAttachment{{Kind: "photo"}, {Kind: "file", Name: "pump.pdf", Size: 70000}}}, replyTo(a.ID))
		w.add(id, "kai", spaces.ReactionAdded{Target: a.ID, Emoji: "😢"})
		gone := w.says(id, "kai", "forget I said this")
		w.add(id, "kai", spaces.MessageDeleted{Target: gone.ID})
		w.add(id, "kai", spaces.MessageEdited{Target: a.ID, Text: "the pump is broken again"})
		w.add(id, "kai", spaces.SpaceRenamed{Title: "Repairs"}, func(e *spaces.Event) { e.Thread = "t1" })
		w.add(id, "max", spaces.MessagePosted{Text: "I ordered a new one", Forwarded: "Shop", Viewing: "#repairs", Broadcast: true}, func(e *spaces.Event) { e.Thread = "t1" })
		w.add(id, "kai", spaces.MemberJoined{Who: entity("nova").ID})
		w.add(id, "kai", spaces.MemberLeft{Who: entity("feed").ID, By: entity("kai").ID})
		w.add(id, "kai", spaces.HistoryGap{From: w.at, To: w.at.Add(time.Hour), Reason: "offline"})
		w.says(id, "kai", "Ada, when does it arrive?")
		w.wake(id)
		return w.frame().golden()
	},
	"late_changes": func(w *world) string { // SEQ-25, SEQ-31: of what was shown before only what changed is shown: an edit, a reaction, a delete
		id := w.room("Family", "kai", "ada")
		a, b := w.says(id, "kai", "dinner at seven"), w.says(id, "kai", "at my place")
		w.wake(id)
		w.rests("Stayed silent.")
		w.add(id, "kai", spaces.MessageEdited{Target: a.ID, Text: "dinner at eight"})
		w.add(id, "kai", spaces.ReactionAdded{Target: b.ID, Emoji: "👍"})
		nobody := func(e *spaces.Event) { e.Actor = "" }
		w.add(id, "kai", spaces.ReactionRemoved{Target: a.ID, Emoji: "🎉", Everybody: true}, nobody)
		w.add(id, "kai", spaces.ReactionRemoved{Target: a.ID, Everybody: true}, nobody)
		w.add(id, "kai", spaces.MessageDeleted{Target: b.ID})
		w.wake(id)
		return w.frame().golden()
	},
	"no_active_space": func(w *world) string { // BLU-10, BLU-40, BLU-44, BLU-50, PRD-5.1
		family := w.room("Family", "kai", "ada")
		e := w.says(family, "ada", "the package is here")
		tail := w.v.Tail(TailInput{
			Now: w.at, Phase: "CONTEMPLATION: think freely.", Options: "OPTIONS: reactions are not possible here.",
			Failures: []spaces.SendFailed{{Message: e.ID, State: spaces.ActionFailed, Code: "blocked", Reason: "They blocked us."}},
			Denials:  []spaces.Denial{{Act: "send_message", Code: "no_active_space", Reason: "No space.", Hint: "Call enter_space."}},
			Runs:     []OpenCycle{{Cycle: "c9", Status: spaces.WaitingReply, Wake: "direct", Space: family, Waiting: "Kai", Summary: "Kai asked\nfor news"}},
		})
		f, err := w.v.Frame(tail)
		testutil.OK(w.t, err)
		return f.golden()
	},
	"after_a_cut": func(w *world) string { // CON-21, CON-25, SEQ-29, SEQ-35, SEQ-80: keyframe with spans and gaps
		family, work := w.room("Family", "kai", "nova", "ada"), w.room("Work", "kai", "sage", "ada")
		self(w)
		for i := range 30 {
			w.says(work, "sage", "the invoice of "+words[i%len(words)]+" is due")
		}
		for i := range 14 {
			w.says(family, "kai", "is the "+words[i%len(words)]+" ready?")
			w.wake(family)
			w.answers(family, "Yes, the "+words[i%len(words)]+" is ready.")
			w.rests("Responded to Kai about the " + words[i%len(words)] + ".")
		}
		w.v.Seats[1].Spans = []spaces.ConnectionSpan{
			{From: 21, Opened: w.at.Add(-time.Hour)},
			{From: 1, To: 10, Opened: w.at.Add(-9 * time.Hour), Closed: w.at.Add(-4 * time.Hour), Closer: spaces.SpanDeaf},
		}
		w.cut(CutHighWater)
		w.says(family, "nova", "and the invoice?")
		w.wake(family)
		return w.frame().golden()
	},
	"tight_cut": func(w *world) string { // SEQ-47, SEQ-48, SEQ-56: little room, the relevant survives
		id := w.room("Work", "kai", "sage", "nova", "ada")
		for i := range 200 {
			text := "we talked about the " + words[i%len(words)] + " for a while"
			if i == 40 {
				text = "Ahmad's piano lesson moved to Friday at nine"
			}
			w.says(id, []string{"kai", "sage", "nova"}[i%3], text)
		}
		w.v.Seats[0].Uplink.Cursor = 200
		w.v.Active = id
		w.says(id, "kai", "when is the piano lesson?")
		w.wake(id)
		w.v.Limits = ViewLimits{ContextTokens: 3000, MaxOutputTokens: 500}
		w.cut(CutFirst)
		return w.frame().golden()
	},
	"flooded": func(w *world) string { // F48: more news than fit: triggers first, the rest counted
		id := w.room("Work", "kai", "sage", "ada")
		w.v.Limits = ViewLimits{ContextTokens: 4000, MaxOutputTokens: 500}
		w.says(id, "sage", "the deadline of the report is on Monday")
		for i := range 300 {
			w.says(id, "kai", "line "+ShortID(int64(i))+" about nothing much at all")
		}
		w.says(id, "sage", "Ada, when is the deadline of the report?")
		w.wake(id)
		return w.frame().golden()
	},
	"recalled": func(w *world) string { // CON-27: a fact of long ago comes back when it matters
		family, work := w.room("Family", "kai", "ada"), w.room("Work", "kai", "sage", "ada")
		w.says(work, "sage", "the door code of the server room is 4711")
		for i := range 30 {
			w.says(work, "kai", "nothing about the "+words[i%len(words)])
		}
		w.says(family, "kai", "what was the code of the server room door?")
		w.wake(family)
		return w.frame().golden()
	},
}

// self gives the mind goals, memories, notes and a bookmark.
func self(w *world) {
	for i, b := range []spaces.EventBody{
		spaces.GoalSet{Text: "keep the garden alive", Status: "long-term"},
		spaces.GoalSet{Text: "done thing", Status: "done"},
		spaces.MemoryAdded{ID: "m1", Fact: "Kai drinks tea", What: "user_fact"},
		spaces.NoteAdded{Text: "Kai seems tired", Label: "notes"},
		spaces.BookmarkSet{Label: "the plan", Space: "sp-family", Events: []spaces.EventID{"sp-family/1"}},
	} {
		w.v.Self.Apply(spaces.Event{Seq: int64(i + 1), At: w.at, Body: b, ID: spaces.EventID("inner")})
	}
}

func TestFramesAreAsReviewed(t *testing.T) {
	all := maps.Clone(scenes)
	maps.Copy(all, situations)
	for name, scene := range all {
		t.Run(name, func(t *testing.T) {
			got := scene(newWorld(t))
			if again := scene(newWorld(t)); again != got { // Same inputs, same bytes
				t.Errorf("the same inputs gave other bytes:\n%s", cmp.Diff(got, again))
			}
			file := filepath.Join("testdata", name+".txt")
			testutil.Golden(t, *update, file, got)
		})
	}
}
