package recall

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	godiff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/spaces"
)

// A testRoom is a room whose messages a test writes, a minute apart.
type testRoom struct {
	SearchRoom
	chat *spaces.Chat
}

func newTestRoom(id spaces.SpaceID, focus float64) *testRoom {
	chat := spaces.NewChat()
	label := func(id spaces.EntityID) string { return string(id) }
	return &testRoom{SearchRoom{Space: id, Index: NewIndex(chat, label), Focus: focus}, chat}
}

func (r *testRoom) says(at time.Time, who spaces.EntityID, text string, replyTo spaces.EventID) spaces.EventID {
	seq := r.chat.Upto + 1
	id := spaces.EventID(fmt.Sprint(r.Space, "/", seq))
	r.chat.Apply(spaces.Event{ID: id, Space: r.Space, Branch: spaces.Primary, Seq: seq, At: at, Actor: who, ReplyTo: replyTo, Body: spaces.MessagePosted{Text: text}})
	return id
}

// tokensOf is in for what a renderer would count.
func (r *SearchRequest) tokensOf(room, line int) int {
	return 2 + len(r.Rooms[room].Index.chat.Messages[line].Text)/4
}

// chooseSlowly chooses lines as [selector] does, looking at all of them again for each.
func chooseSlowly(r *SearchRequest, hits []SearchHit, closed func(room, line int) bool) []LineRef {
	type conversation struct {
		room   int
		number int32
	}
	lines, taken := map[conversation]int{}, map[LineRef]bool{}
	conversationOf := func(room, line int) conversation {
		return conversation{room, r.Rooms[room].Index.Conversation(line)}
	}
	length := func(h SearchHit) float64 {
		return math.Pow(max(8, float64(len(r.Rooms[h.Room].Index.chat.Messages[h.Line].Text))/4), r.Weights.Thrift)
	}
	ties := func(a, b SearchHit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(r.Rooms[a.Room].Space, r.Rooms[b.Room].Space), cmp.Compare(a.Line, b.Line))
	}
	var chosen []LineRef
	for spent := 0; len(hits) > 0 && spent < r.Budget*4/3+60; {
		first := map[conversation]SearchHit{}
		for _, h := range hits {
			of := conversationOf(h.Room, h.Line)
			if f, ok := first[of]; !ok || cmp.Or(cmp.Compare(f.Score/length(f), h.Score/length(h)), ties(h, f)) < 0 {
				first[of] = h
			}
		}
		worth := func(h SearchHit) float64 {
			return h.Score / (1 + r.Weights.Crowding*float64(lines[conversationOf(h.Room, h.Line)])) / length(h)
		}
		var best *SearchHit
		for _, h := range first {
			if best == nil || cmp.Or(cmp.Compare(worth(*best), worth(h)), ties(h, *best)) < 0 {
				best = &h
			}
		}
		index, chain := r.Rooms[best.Room].Index, []int{best.Line}
		for q := index.Question(best.Line); q >= 0 && !closed(best.Room, q); q = index.Question(q) {
			chain = append(chain, q)
		}
		for _, i := range slices.Backward(chain) {
			l := LineRef{best.Room, i}
			if taken[l] {
				continue
			}
			taken[l] = true
			chosen = append(chosen, l)
			of := conversationOf(l.Room, i)
			if lines[of]++; lines[of] == 1 {
				spent += dateTokens
			} else if !taken[LineRef{l.Room, i - 1}] {
				spent += gapTokens
			}
			spent += r.tokensOf(l.Room, i)
		}
		hits = slices.DeleteFunc(hits, func(h SearchHit) bool { return h == *best })
	}
	return chosen
}

// Lines are chosen by score and length, conversations against each other, with the
// questions they answer, in one order; neither those that are shown already nor those
// that are older than the room is fresh.
func TestLinesAreChosenByScoreAndLength(t *testing.T) {
	said := []string{
		"is the garden ready?", "the garden is ready", "yes", "the piano comes with the train, and the garden is ready for it",
		strings.Repeat("the train leaves at nine; ", 30), "the train leaves at nine", "the train leaves at nine; the train leaves at nin",
		"garden", "piano", "train", "kitchen", "boiler", "school", "ticket", "letter", "doctor", "market",
	}
	rapid.Check(t, func(rt *rapid.T) {
		all := []*testRoom{newTestRoom("work", 1), newTestRoom("family", 0.35)}
		at := time.Date(2026, 11, 20, 14, 5, 0, 0, time.UTC)
		before := map[int][]spaces.EventID{}
		for range rapid.IntRange(1, 60).Draw(rt, "lines") {
			at = at.Add(time.Minute)
			if rapid.IntRange(0, 9).Draw(rt, "pause") == 0 {
				at = at.Add(ConversationGap)
			}
			room, who := rapid.IntRange(0, 1).Draw(rt, "room"), rapid.SampledFrom([]spaces.EntityID{"kai", "nova"}).Draw(rt, "who")
			text := rapid.SampledFrom(said).Draw(rt, "said")
			var answers spaces.EventID
			if n := len(before[room]); n > 0 && rapid.IntRange(0, 3).Draw(rt, "answers") == 0 {
				answers = before[room][rapid.IntRange(0, n-1).Draw(rt, "answered")]
			}
			before[room] = append(before[room], all[room].says(at, who, text, answers))
		}
		shown := map[spaces.EventID]bool{}
		r := SearchRequest{
			Query: NewQuery(rapid.SampledFrom(said).Draw(rt, "asked")), Weights: DefaultWeights(), Budget: rapid.IntRange(1, 600).Draw(rt, "budget"),
			Shown: func(yield func([]spaces.EventID)) {
				for id := range shown {
					yield([]spaces.EventID{id})
				}
			},
		}
		r.Tokens = r.tokensOf
		for _, room := range all {
			room.Fresh = int64(rapid.IntRange(0, 5).Draw(rt, "fresh"))
			for k := range room.chat.Messages {
				if rapid.IntRange(0, 5).Draw(rt, "shown") == 0 {
					shown[room.chat.Messages[k].ID] = true
				}
			}
			r.Rooms = append(r.Rooms, room.SearchRoom)
		}
		closed := func(room, i int) bool {
			m := &all[room].chat.Messages[i]
			return shown[m.ID] || m.Seq <= all[room].Fresh
		}
		var hits []SearchHit
		var candidates []scoredLine
		Rank(r.Rooms, r.Query, &r.Weights, func(float64) bool { return true }, func(h SearchHit) {
			if !closed(h.Room, h.Line) {
				hits, candidates = append(hits, h), append(candidates, scoredLine{LineRef{h.Room, h.Line}, h.Score})
			}
		})
		want := chooseSlowly(&r, slices.Clone(hits), closed)
		s := selector{SearchRequest: &r}
		s.rooms, _ = r.searchRooms()
		if d := godiff.Diff(want, s.choose(candidates)); d != "" {
			rt.Fatalf("chosen otherwise than slowly (-want +got):\n%s", d)
		}
		if d := godiff.Diff(want, Search(&r)); len(hits) <= 40 && d != "" {
			rt.Fatalf("found otherwise than slowly (-want +got):\n%s", d)
		}
	})
}

// In many lines only those with the rare words of a query are found.
func TestCommonTermsAreLeftOutWhereThereAreRareOnes(t *testing.T) {
	r := newTestRoom("family", 1)
	at := time.Date(2026, 11, 20, 14, 5, 0, 0, time.UTC)
	for i := range largeLineCount {
		at = at.Add(time.Hour)
		r.says(at, "kai", []string{"the garden", "the piano"}[min(1, i/(largeLineCount-9))], "")
	}
	terms, _ := weightTerms([]SearchRoom{r.SearchRoom}, NewQuery("garden, piano or zeppelin"), new(RankWeights))
	if len(terms) != 1 || terms[0].text != "piano" || terms[0].lines != 9 {
		t.Errorf("the terms are %+v", terms)
	}
}

// The penalty of a length does not depend on which lines came before.
func TestCachedLengthPenaltiesEqualFreshOnes(t *testing.T) {
	cached := lengthPenalty{power: 0.7}
	for range 2 {
		for bytes := range 1100 {
			fresh := lengthPenalty{power: 0.7}
			if got, want := cached.of(bytes), fresh.of(bytes); got != want {
				t.Fatalf("%d bytes count %v, want %v", bytes, got, want)
			}
		}
	}
}

// SEQ-42: every weight has a name by which it can be measured.
func TestEveryWeightHasAName(t *testing.T) {
	w := DefaultWeights()
	seen := map[*float64]bool{}
	for _, name := range WeightNames() {
		value := w.Named(name)
		if value == nil || seen[value] || *value == 0 {
			t.Errorf("%s names %v", name, value)
		}
		seen[value] = true
	}
	if w.Named("fame") != nil {
		t.Error("there is a weight called fame")
	}
}
