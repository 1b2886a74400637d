package hud

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

// plainly picks lines as [picker] does, looking at all of them again for each.
func plainly(v *View, hits []searchHit, closed func(*RoomView, int) bool, budget int) []Recalled {
	type talk struct {
		space   spaces.SpaceID
		session int32
	}
	w := v.weights()
	lines, taken := map[talk]int{}, map[string]bool{}
	talkOf := func(s *RoomView, i int) talk { return talk{s.Uplink.Space, s.Room.index.lines[i].session} }
	key := func(s *RoomView, i int) string { return fmt.Sprint(s.Uplink.Space, " ", i) }
	length := func(h searchHit) float64 {
		return math.Pow(max(8, float64(len(h.seat.Room.Chat.Messages[h.line].Text))/4), w.Thrift)
	}
	ties := func(a, b searchHit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.seat.Uplink.Space, b.seat.Uplink.Space), cmp.Compare(a.line, b.line))
	}
	var chosen []Recalled
	for spent := 0; len(hits) > 0 && spent < budget*4/3+60; {
		first := map[talk]searchHit{}
		for _, h := range hits {
			of := talkOf(h.seat, h.line)
			if f, ok := first[of]; !ok || cmp.Or(cmp.Compare(f.score/length(f), h.score/length(h)), ties(h, f)) < 0 {
				first[of] = h
			}
		}
		worth := func(h searchHit) float64 {
			return h.score / (1 + w.Crowding*float64(lines[talkOf(h.seat, h.line)])) / length(h)
		}
		var best *searchHit
		for _, h := range first {
			if best == nil || cmp.Or(cmp.Compare(worth(*best), worth(h)), ties(h, *best)) < 0 {
				best = &h
			}
		}
		s, chain := best.seat, []int{best.line}
		for q := s.Room.asked(best.line); q >= 0 && !closed(s, q); q = s.Room.asked(q) {
			chain = append(chain, q)
		}
		for _, i := range slices.Backward(chain) {
			if taken[key(s, i)] {
				continue
			}
			taken[key(s, i)] = true
			chosen = append(chosen, Recalled{s.Uplink.Space, s.Room.Chat.Messages[i].ID, i})
			of := talkOf(s, i)
			if lines[of]++; lines[of] == 1 {
				spent += talkHead
			} else if !taken[key(s, i-1)] {
				spent += leaveHead
			}
			spent += v.lineTokens(s, i)
		}
		hits = slices.DeleteFunc(hits, func(h searchHit) bool { return h == *best })
	}
	return chosen
}

// Lines are picked by their worth for their length, one conversation against the
// others, with the questions they answer, in one order; neither what the prefix shows
// nor what somebody left behind.
func TestLinesArePickedByTheirWorth(t *testing.T) {
	said := append([]string{
		"is the garden ready?", "the garden is ready", "yes", "the piano comes with the train, and the garden is ready for it",
		strings.Repeat("the train leaves at nine; ", 30), "the train leaves at nine", "the train leaves at nine; the train leaves at nin",
	}, words...)
	counter := &Counter{}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		w.v.Counter = counter
		ids := []spaces.SpaceID{w.room("Work", "kai", "nova", "ada"), w.room("Family", "kai", "nova", "ada")}
		before := map[spaces.SpaceID][]spaces.EventID{}
		for range rapid.IntRange(1, 60).Draw(rt, "lines") {
			if rapid.IntRange(0, 9).Draw(rt, "pause") == 0 {
				w.at = w.at.Add(sessionGap)
			}
			id, who := rapid.SampledFrom(ids).Draw(rt, "room"), rapid.SampledFrom([]string{"kai", "nova"}).Draw(rt, "who")
			body := spaces.Said{Text: rapid.SampledFrom(said).Draw(rt, "said")}
			var more []func(*spaces.Event)
			if n := len(before[id]); n > 0 && rapid.IntRange(0, 3).Draw(rt, "answers") == 0 {
				more = append(more, replyTo(before[id][rapid.IntRange(0, n-1).Draw(rt, "answered")]))
			}
			before[id] = append(before[id], w.add(id, who, body, more...).ID)
		}
		shown := map[spaces.EventID]bool{}
		for i := range w.v.Seats {
			s := &w.v.Seats[i]
			s.Uplink.Fresh = int64(rapid.IntRange(0, 5).Draw(rt, "fresh"))
			for k := range s.Room.Chat.Messages {
				if id := s.Room.Chat.Messages[k].ID; rapid.IntRange(0, 5).Draw(rt, "shown") == 0 {
					shown[id] = true
					w.v.Current = append(w.v.Current, spaces.TranscriptTurn{Refs: []spaces.EventID{id}})
				}
			}
		}
		closed := func(s *RoomView, i int) bool {
			m := &s.Room.Chat.Messages[i]
			return shown[m.ID] || m.Seq <= s.Uplink.Fresh
		}
		budget := rapid.IntRange(1, 600).Draw(rt, "budget")
		words := rapid.SampledFrom(said).Draw(rt, "asked")
		var hits []searchHit
		var candidates []scoredLine
		w.v.rank(w.v.all(), w.v.query(words), func(float64) bool { return true }, func(h searchHit) {
			if !closed(h.seat, h.line) {
				hits, candidates = append(hits, h), append(candidates, scoredLine{lineRef{h.room, h.line}, h.score})
			}
		})
		want := plainly(w.v, hits, closed, budget)
		p := selector{v: w.v, w: w.v.weights(), budget: budget}
		p.rooms, _ = w.v.searched(w.v.all())
		if d := godiff.Diff(want, p.pick(candidates)); d != "" {
			rt.Fatalf("picked otherwise than plainly (-want +got):\n%s", d)
		}
		want = w.v.within(want, budget)
		if d := godiff.Diff(want, w.v.Recall(words, budget)); len(hits) <= 40 && d != "" {
			rt.Fatalf("recalled otherwise than plainly (-want +got):\n%s", d)
		}
	})
}

// Of a large mind only lines with the words that are rare are found.
func TestCommonTermsAreLeftOutWhereThereAreRareOnes(t *testing.T) {
	w := newWorld(t)
	id := w.room("Family", "kai", "ada")
	for i := range largeMind {
		w.at = w.at.Add(time.Hour)
		w.says(id, "kai", []string{"the garden", "the piano"}[min(1, i/(largeMind-9))])
	}
	terms, _ := weigh(w.v.all(), asking("garden, piano or zeppelin"), new(Weights))
	if len(terms) != 1 || terms[0].text != "piano" || terms[0].lines != 9 {
		t.Errorf("weighed are %+v", terms)
	}
}

// What a line's length counts is the same whichever lines came before.
func TestThriftRemembersEachLengthForItself(t *testing.T) {
	remembers := lengthPenalty{power: 0.7}
	for range 2 {
		for bytes := range 1100 {
			fresh := lengthPenalty{power: 0.7}
			if got, want := remembers.of(bytes), fresh.of(bytes); got != want {
				t.Fatalf("%d bytes count %v, want %v", bytes, got, want)
			}
		}
	}
}
