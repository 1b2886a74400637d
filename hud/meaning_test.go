package hud

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/hud/recall"
	"github.com/trestle-bridge/trestle/internal/corpus"
	"github.com/trestle-bridge/trestle/spaces"
)

// anywhere returns a vector that points nowhere in particular.
func anywhere(r *rand.Rand) spaces.EmbeddingVector {
	v := make([]float32, 64)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return spaces.NewVector(v)
}

// meansAnything gives all lines of a room vectors of noise.
func (w *world) meansAnything(id spaces.SpaceID, r *rand.Rand) {
	room := w.v.Seat(id).Room
	for _, m := range room.WithoutEmbedding(1 << 20) {
		room.SetEmbeddings([]spaces.MessageEmbedding{{Event: m.ID, Vector: anywhere(r)}})
	}
}

// A line is found by what it means though it has no word of the question,
// and not by what it meant before it was edited.
func TestALineIsFoundByWhatItMeans(t *testing.T) {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(3, 1))
	id := w.room("Family", "kai", "nova", "sage", "ada")
	w.chatters(id, 120)
	line := w.add(id, "sage", spaces.MessagePosted{Text: "we sold the zither", Ref: spaces.MessageRef{Account: "a", Chat: "c", Message: "7"}})
	w.chatters(id, 120)
	w.v.Active = id
	w.meansAnything(id, r)
	v := anywhere(r)
	w.v.Seat(id).Room.SetEmbeddings([]spaces.MessageEmbedding{{Event: line.ID, Vector: v}, {Event: "elsewhere", Vector: v}})
	const question = "Quanto costava?"
	if got := w.recalls(question, 200); slices.Contains(got, "we sold the zither") {
		t.Fatalf("words alone recall %q", got)
	}
	w.v.Asked = v
	if got := w.recalls(question, 200); len(got) == 0 || got[0] != "we sold the zither" {
		t.Errorf("recalled %q", got)
	}
	w.add(id, "sage", spaces.MessageEdited{Target: line.ID, Text: "never mind the marimba"})
	if got := w.recalls(question, 200); slices.Contains(got, "never mind the marimba") {
		t.Errorf("an edited line is found by what it meant: %q", got)
	}
	left := w.v.Seat(id).Room.WithoutEmbedding(10)
	if len(left) != 1 || left[0].ID != line.ID {
		t.Errorf("%d lines are to be asked about", len(left))
	}
}

// What lines of other circles mean is compared nowhere.
func TestLinesOfOtherCirclesAreNotComparedByMeaning(t *testing.T) {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(3, 2))
	id := w.room("Elsewhere", "kai", "ada")
	w.chatters(id, 120)
	line := w.says(id, "kai", "we sold the zither")
	w.meansAnything(id, r)
	v := anywhere(r)
	seat := w.v.Seat(id)
	seat.Room.SetEmbeddings([]spaces.MessageEmbedding{{Event: line.ID, Vector: v}})
	w.v.Asked = v
	if got := w.recalls("Quanto costava?", 200); !slices.Contains(got, "we sold the zither") {
		t.Fatalf("in the mind's own room %q is recalled", got)
	}
	w.v.Seats, w.v.Beyond = nil, []RoomView{NewForeignView(seat.Room, seat.Uplink, spaces.RoomAudience{{entity("kai").ID}})}
	if got := w.v.Recall("Quanto costava?", 200); len(got) > 0 {
		t.Errorf("recalled %+v", got)
	}
}

// noiseLoss is how many points of recall vectors that tell nothing may cost.
const noiseLoss = 1.0

// Without vectors the same lines are recalled, in the same order; vectors
// that tell nothing cost next to nothing.
func TestMeaningNeverCostsMuch(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	silent := recall.DefaultWeights()
	silent.Meaning = 0
	words, noise, asked := 0.0, 0.0, 0.0
	for _, style := range []corpus.WritingStyle{corpus.Chat, corpus.Written} {
		for seed := range uint64(2) {
			w := newWorld(t)
			made := corpus.Make(900+seed, "parlour", style)
			id := w.room("Parlour", "ada")
			shown := map[string]spaces.EventID{}
			for _, l := range made.Lines {
				w.at = l.At
				shown[l.ID] = w.add(id, strings.ToLower(l.From), spaces.MessagePosted{Text: l.Text}).ID
			}
			w.v.Active = id
			found := func(q corpus.RecallQuestion, set recall.RankWeights, v spaces.EmbeddingVector) []RecalledLine {
				w.v.Weights, w.v.Asked = &set, v
				return w.v.Recall(q.Text, 2000)
			}
			var plain [][]RecalledLine
			for _, q := range made.Questions {
				lexical := found(q, silent, nil)
				if diff := cmp.Diff(lexical, found(q, recall.DefaultWeights(), anywhere(r))); diff != "" {
					t.Errorf("%s recalls without vectors (-words +both):\n%s", q.Text, diff)
				}
				plain = append(plain, lexical)
			}
			w.meansAnything(id, r)
			for k, q := range made.Questions {
				if len(q.Evidence) == 0 {
					continue
				}
				asked++
				words += share(plain[k], q.Evidence, shown)
				noise += share(found(q, recall.DefaultWeights(), anywhere(r)), q.Evidence, shown)
			}
		}
	}
	words, noise = 100*words/asked, 100*noise/asked
	t.Logf("of %.0f questions' evidence %.2f %% by words, %.2f %% beside noise", asked, words, noise)
	if noise < words-noiseLoss || words < 50 {
		t.Errorf("%.2f %% of the evidence is recalled beside noise, %.2f %% without it", noise, words)
	}
}

// share is how much of the evidence was recalled.
func share(rs []RecalledLine, evidence []string, shown map[string]spaces.EventID) float64 {
	n := 0
	for _, id := range evidence {
		if slices.ContainsFunc(rs, func(r RecalledLine) bool { return r.Event == shown[id] }) {
			n++
		}
	}
	return float64(n) / float64(len(evidence))
}

// What comparing costs a frame, with vectors as long as they get.
func BenchmarkResemble(b *testing.B) {
	w, questions := talkative(b, 20_000)
	r := rand.New(rand.NewPCG(3, 4))
	long := func() spaces.EmbeddingVector {
		v := make([]float32, 768)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return spaces.NewVector(v)
	}
	for i := range w.v.Seats {
		room := w.v.Seats[i].Room
		for _, m := range room.WithoutEmbedding(1 << 20) {
			room.SetEmbeddings([]spaces.MessageEmbedding{{Event: m.ID, Vector: long()}})
		}
	}
	for _, v := range []spaces.EmbeddingVector{nil, long()} {
		b.Run(fmt.Sprint(len(v)), func(b *testing.B) {
			w.v.Asked = v
			for i := 0; b.Loop(); i++ {
				w.v.Recall(questions[i%len(questions)], 1500)
			}
		})
	}
}
