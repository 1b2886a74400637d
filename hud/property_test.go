package hud

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/spaces"
)

var words = strings.Fields("garden budget train report Ahmad meeting thursday coffee deadline invoice piano holiday 日本語 été server backup")

// likeGarden are more words that are spelled alike than are looked for.
var likeGarden = strings.Fields("gardem gardener gardenia gardenry gardemer gardenish gardenful")

// drawText makes a message of a few words, now and then a hostile or long one.
func drawText(t *rapid.T) string {
	if n := rapid.IntRange(0, 20).Draw(t, "kind"); n == 0 {
		return hostileText(rapid.IntRange(0, 400).Draw(t, "hostile"))
	} else if n == 1 {
		return strings.Repeat("a long story about the garden ", rapid.IntRange(1, 80).Draw(t, "length"))
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(slices.Concat(words, likeGarden)), 1, 12).Draw(t, "words"), " ")
}

// live plays random cycles in random rooms: messages, edits, deletes, answers,
// results of looks. each is called at every model call.
func live(t *rapid.T, w *world, each func()) {
	var ids []spaces.SpaceID
	for _, name := range []string{"Family", "Work"} {
		ids = append(ids, w.room(name, "kai", "nova", "ada"))
	}
	for range rapid.IntRange(1, 12).Draw(t, "cycles") {
		room := rapid.SampledFrom(ids).Draw(t, "room")
		for range rapid.IntRange(1, 8).Draw(t, "lines") {
			e := w.says(room, rapid.SampledFrom([]string{"kai", "nova"}).Draw(t, "who"), drawText(t))
			switch rapid.IntRange(0, 9).Draw(t, "then") {
			case 0:
				w.add(room, "kai", spaces.MessageEdited{Target: e.ID, Text: drawText(t)})
			case 1:
				w.add(room, "kai", spaces.ReactionAdded{Target: e.ID, Emoji: "👍"})
			}
		}
		w.wake(room)
		each()
		if rapid.Bool().Draw(t, "looks") {
			text, refs := ReadLines(w.v, ReadQuery{Space: room, Limit: 50})
			w.v.Current = append(w.v.Current,
				spaces.TranscriptTurn{Role: spaces.RoleAssistant, Calls: []spaces.TurnCall{{ID: "r", Name: "read_messages", Args: "{}"}}},
				spaces.TranscriptTurn{Role: spaces.RoleTool, CallID: "r", Text: text, Refs: refs})
			each()
		}
		w.answers(room, drawText(t))
		each()
		w.rests("Responded to Kai about " + rapid.SampledFrom(words).Draw(t, "topic") + ".")
		if cause, need := w.v.NeedsCut(200); need {
			w.cut(cause)
		}
	}
}

// exact counts a frame anew, without anything remembered.
func exact(v *MindView, f Frame) int {
	c := new(TokenCounter)
	n := v.FixedTokens
	for i, m := range f.Messages() {
		if i > 0 {
			n += c.Turn(&spaces.TranscriptTurn{Role: m.Role, Text: m.Text, Calls: m.Calls, CallID: m.CallID})
		}
	}
	return n
}

// CON-17, CON-53, SEQ-48: rendered tokens never exceed the budget; SEQ-63.
func TestFrameNeverExceedsItsBudget(t *testing.T) {
	counter := &TokenCounter{}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.v.Counter = counter
		w.v.FixedTokens = rapid.IntRange(0, 2000).Draw(rt, "fixed")
		w.v.Limits = ViewLimits{ContextTokens: rapid.IntRange(4000, 9000).Draw(rt, "context"), MaxOutputTokens: 500}
		live(rt, w, func() {
			f, err := w.v.Frame(w.tail())
			if err != nil {
				rt.Fatal(err)
			}
			if got, most := exact(w.v, f), w.v.Limits.ContextTokens-500; got > most || got > f.Tokens {
				rt.Fatalf("frame has %d tokens, says %d, may have %d", got, f.Tokens, most)
			}
			pairs(rt, f)
		})
	})
}

// pairs checks that every call has its result and every result its call (CON-06).
func pairs(t *rapid.T, f Frame) {
	open := 0
	for _, m := range f.Messages() {
		if m.Role == spaces.RoleTool {
			open--
		}
		if open < 0 {
			t.Fatal("a result without its call")
		}
		open += len(m.Calls)
	}
	if open != 0 {
		t.Fatal("a call without its result")
	}
}

// CON-47: frame n without its tail is a prefix of frame n+1 until a cut.
func TestFrameBeginsWithTheOneBefore(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		var before []FrameMessage
		var key int64
		live(rt, w, func() {
			f := w.frame()
			var n int64
			if w.v.Keyframe != nil {
				n = w.v.Keyframe.N
			}
			if n == key && len(f.Plan.Shed) == 0 && before != nil {
				if d := cmp.Diff(before, f.Messages()[:len(before)]); d != "" {
					rt.Fatalf("the prefix changed:\n%s", d)
				}
			}
			before, key = f.Messages()[:f.Len()-1], n
			if len(f.Plan.Shed) > 0 {
				before = nil
			}
		})
	})
}

// SEQ-101: folding a prefix, looking, then folding the rest finds the same as
// folding the whole; an edit or delete takes its old words out of every search.
func TestFoldOfPrefixThenRestEqualsFoldOfWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		whole, parts := newWorld(t), newWorld(t)
		id := whole.room("Family", "kai", "nova", "ada")
		parts.room("Family", "kai", "nova", "ada")
		for range rapid.IntRange(1, 40).Draw(rt, "events") {
			var b spaces.EventBody = spaces.MessagePosted{Text: drawText(rt)}
			if n := whole.seq[id]; n > 0 {
				target := spaces.EventID(fmt.Sprint(id, "/", rapid.Int64Range(1, n).Draw(rt, "target")))
				switch rapid.IntRange(0, 5).Draw(rt, "kind") {
				case 0:
					b = spaces.MessageEdited{Target: target, Text: drawText(rt)}
				case 1:
					b = spaces.MessageDeleted{Target: target}
				}
			}
			whole.add(id, "kai", b)
			parts.add(id, "kai", b)
			if rapid.Bool().Draw(rt, "look") {
				SearchLines(parts.v, SearchQuery{Text: "garden budget", Limit: 50})
			}
		}
		for _, q := range words {
			a, _ := SearchLines(whole.v, SearchQuery{Text: q, Limit: 5})
			b, _ := SearchLines(parts.v, SearchQuery{Text: q, Limit: 5})
			if a != b {
				rt.Fatalf("search for %q differs:\n%s\n%s", q, a, b)
			}
			if a, b := scores(whole.v, q), scores(parts.v, q); !slices.Equal(a, b) {
				rt.Fatalf("scores for %q differ:\n%v\n%v", q, a, b)
			}
		}
	})
}

// scores returns what every line is found to be worth, to the last bit.
func scores(v *MindView, words string) (all []float64) {
	weights := v.weights()
	recall.Rank(v.searchRooms(v.allRooms()), v.query(words), &weights, nil, func(h recall.SearchHit) { all = append(all, float64(h.Line), h.Score, h.Near) })
	return all
}

// SEQ-54, SEQ-62, SEQ-74: whatever the room and the budget, a recalled reply comes after
// what it answers.
func TestEveryKeptAnswerHasItsQuestion(t *testing.T) {
	counter := &TokenCounter{}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.v.Counter = counter
		id := w.room("Family", "kai", "nova", "ada")
		for range rapid.IntRange(2, 40).Draw(rt, "lines") {
			var more []func(*spaces.Event)
			if n := w.seq[id]; n > 0 && rapid.Bool().Draw(rt, "replies") {
				more = append(more, replyTo(spaces.EventID(fmt.Sprint(id, "/", rapid.Int64Range(1, n).Draw(rt, "to")))))
			}
			w.add(id, rapid.SampledFrom([]string{"kai", "nova"}).Draw(rt, "who"), spaces.MessagePosted{Text: drawText(rt)}, more...)
		}
		told := map[spaces.EventID]bool{}
		for _, r := range w.v.Recall(rapid.SampledFrom(words).Draw(rt, "asked"), rapid.IntRange(20, 800).Draw(rt, "budget")) {
			told[r.Event] = true
			if m := w.v.Seat(id).Room.Chat.Find(r.Event); m.ReplyTo != "" && !told[m.ReplyTo] {
				rt.Fatalf("%q is recalled without what it answers", m.Text)
			}
		}
	})
}

// Whatever was deleted, its words are in no keyframe, plan,
// recalled line, look or search after it.
func TestDeletedWordsAreFoundNowhere(t *testing.T) {
	const canary = "xyzzyplugh"
	counter := &TokenCounter{}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.v.Counter = counter
		id := w.room("Family", "kai", "nova", "ada")
		gone := rapid.SliceOfN(rapid.Bool(), 2, 30).Draw(rt, "deleted")
		for n, deleted := range gone {
			text := drawText(rt)
			if deleted {
				text += " " + canary
			}
			e := w.says(id, "kai", text)
			if rapid.Bool().Draw(rt, "look") {
				SearchLines(w.v, SearchQuery{Text: canary, Limit: 50}) // the index has learnt it
			}
			if deleted {
				w.add(id, "kai", spaces.MessageDeleted{Target: e.ID})
			}
			w.says(id, "nova", fmt.Sprint("answer ", n))
		}
		w.v.Active = id
		w.v.Seats[0].Uplink.Cursor = w.v.Seats[0].Room.Upto()
		found, _ := SearchLines(w.v, SearchQuery{Text: canary + " garden", Limit: 50})
		read, _ := ReadLines(w.v, ReadQuery{Space: id, Limit: 100})
		recalled := w.v.Tail(TailInput{Recalled: w.v.Recall(canary+" garden answer", 1000)}).Recalled
		plan := w.cut(CutFirst)
		shown := strings.Join([]string{found, read, recalled, w.frame().golden(), fmt.Sprintf("%+v", plan)}, "\n")
		if strings.Contains(shown, canary) {
			rt.Fatalf("deleted words are shown:\n%s", shown)
		}
	})
}
