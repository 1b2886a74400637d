package hud

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/corpus"
	"github.com/trestle-bridge/trestle/spaces"
)

// longLived returns a mind with n messages behind it in ten rooms, and a log of
// some cycles after its keyframe.
func longLived(b *testing.B, n int) (*world, spaces.SpaceID) {
	b.Helper()
	w := newWorld(b)
	var ids []spaces.SpaceID
	for i := range 10 {
		ids = append(ids, w.room(fmt.Sprint("Room", i), "kai", "nova", "sage", "ada"))
	}
	for i := range n {
		w.says(ids[i%10], []string{"kai", "nova", "sage"}[i%3],
			fmt.Sprintf("the %s of %s number %d is on %s, see the %s", words[i%len(words)], words[i/7%len(words)], i, words[i/3%len(words)], words[i/11%len(words)]))
	}
	for i := range w.v.Seats {
		w.v.Seats[i].Uplink.Cursor = w.v.Seats[i].Room.Upto()
	}
	w.v.Active = ids[0]
	w.cut(CutFirst)
	for i := range 20 {
		w.says(ids[0], "kai", fmt.Sprint("what about the ", words[i%len(words)], "?"))
		w.wake(ids[0])
		w.answers(ids[0], "It is on its way.")
		w.rests("Responded to Kai.")
	}
	return w, ids[0]
}

// One model call of an ordinary cycle, recall included.
func BenchmarkFrame(b *testing.B) {
	w, id := longLived(b, 100_000)
	w.says(id, "kai", "when is piano number 77?")
	w.wake(id)
	w.tail()
	b.ReportAllocs()
	for b.Loop() {
		w.frame()
	}
}

// The same without recall: what a step after the first costs.
func BenchmarkFrameAlone(b *testing.B) {
	w, id := longLived(b, 1000)
	w.says(id, "kai", "hello")
	w.wake(id)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.v.Frame(w.v.Tail(TailInput{Now: w.at, Phase: "ENGAGEMENT"})); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNeedsCut(b *testing.B) {
	w, _ := longLived(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		w.v.NeedsCut(200)
	}
}

// The cost of an append must not grow with the room.
func BenchmarkRoomApply(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newWorld(b)
			id := w.room("Family", "kai", "ada")
			for i := range n {
				w.says(id, "kai", fmt.Sprint("line ", i, " of a long room"))
			}
			r := w.v.Seat(id).Room
			seq := r.Upto()
			b.ReportAllocs()
			for b.Loop() {
				seq++
				r.Apply(spaces.Event{Seq: seq, At: w.at, ID: spaces.EventID(fmt.Sprint("x", seq)), Actor: "e-kai", Body: spaces.MessagePosted{Text: "one more line of a long room"}})
			}
		})
	}
}

func BenchmarkInbox(b *testing.B) {
	w, id := longLived(b, 1000)
	e := w.says(id, "kai", "when is piano number 77?")
	s := w.v.Seat(id)
	b.ReportAllocs()
	for b.Loop() {
		w.v.Inbox(s, e.Seq-1, e.Seq, map[spaces.EventID]string{e.ID: "direct"}, w.at)
	}
}

func BenchmarkCut(b *testing.B) {
	w, _ := longLived(b, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		w.v.Cut(CutTurns)
	}
}

// talkative returns a mind with so many made-up lines behind it, and questions
// about them.
func talkative(tb testing.TB, lines int) (*world, []string) {
	tb.Helper()
	w := newWorld(tb)
	var questions []string
	for i := 0; lines > 0; i++ {
		r := corpus.Make(uint64(500+i), fmt.Sprint("hall", i), corpus.Chat)
		id := w.room(fmt.Sprint("Hall", i), "ada")
		for _, l := range r.Lines {
			w.at = l.At
			w.add(id, strings.ToLower(l.From), spaces.MessagePosted{Text: l.Text})
		}
		w.v.Active = id
		questions = append(questions, r.Questions[0].Text)
		lines -= len(r.Lines)
	}
	return w, questions
}

// Finding old lines again, with words as people use them.
func BenchmarkRecall(b *testing.B) {
	w, questions := talkative(b, 100_000)
	for _, q := range questions {
		w.v.Recall(q, 1500)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.v.Recall(questions[i%len(questions)], 1500)
	}
}

// One chat in which everybody says much the same.
func BenchmarkRecallOfOneChat(b *testing.B) {
	w := newWorld(b)
	id := w.room("Family", "kai", "ada")
	w.v.Active = id
	for range 400 {
		w.says(id, "kai", strings.Repeat("which day of the trip suits all of us best? ", 4))
		w.says(id, "ada", strings.Repeat("Saturday suits all, and the train leaves at nine. ", 7))
	}
	b.ReportAllocs()
	for b.Loop() {
		w.v.Recall("which day suits all of us best", 1500)
	}
}

// repeated returns a mind in one chat in which people go on asking one question and
// the agent answers it alike: lines that no prefix shows, and the turns of cycles
// behind them.
func repeated(tb testing.TB, before, cycles int) *world {
	tb.Helper()
	w := newWorld(tb)
	w.v.FixedTokens = 3000
	id := w.room("Family", "kai", "nova", "sage", "ada")
	ask := func(i int) {
		w.says(id, []string{"kai", "nova", "sage"}[i%3], repeatedQuestion(i))
	}
	answer := func(i int) string {
		return fmt.Sprintf("q%06d %s", i, strings.Repeat("Saturday looks best: nobody has anything else in the calendar, and the train leaves at nine. ", 4))
	}
	for i := range before / 2 {
		ask(i)
		w.says(id, "ada", answer(i))
	}
	w.v.Seats[0].Uplink.Cursor = w.v.Seats[0].Room.Upto()
	w.v.Active = id
	for i := range cycles {
		ask(before/2 + i)
		w.wake(id)
		w.answers(id, answer(before/2+i))
		w.rests(fmt.Sprintf("Told them again which day suits all, and of trip %d.", i))
	}
	return w
}

func repeatedQuestion(i int) string {
	return fmt.Sprintf("q%06d which day of the trip suits everybody best, who brings the children to the station, and does anybody still need a ticket for the train, or a blanket for the mountain hut?", i)
}

// Of many lines that answer a question alike, as many as fit; the newest stand in
// turns.
func BenchmarkRecallOfRepeatedLines(b *testing.B) {
	for _, x := range []struct{ lines, budget int }{{100, 1500}, {240, 1500}, {240, 6000}, {540, 6000}} {
		b.Run(fmt.Sprintf("lines=%d/budget=%d", x.lines, x.budget), func(b *testing.B) {
			w, question := repeated(b, x.lines, 30), repeatedQuestion(x.lines)
			b.ReportAllocs()
			for b.Loop() {
				w.v.Recall(question, x.budget)
			}
		})
	}
}

// The same where everybody says something else.
func BenchmarkRecallOfOneVariedChat(b *testing.B) {
	w, questions := talkative(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		w.v.Recall(questions[0], 6000)
	}
}

// A cut by turns of a mind that was cut before.
func BenchmarkCutOfRepeatedLines(b *testing.B) {
	w := repeated(b, 240, 33)
	w.cut(CutTurns)
	live := repeated(b, 306, 29)
	w.v.Seats, w.v.Closed = live.v.Seats, live.v.Closed
	for i := range w.v.Closed {
		w.v.Closed[i].N += 33
	}
	b.ReportAllocs()
	for b.Loop() {
		w.v.Cut(CutTurns)
	}
}

// What the index keeps of a message, beside the message.
func BenchmarkIndexMemory(b *testing.B) {
	for b.Loop() {
		w, _ := talkative(b, 20_000)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		w.v.Recall("where is the piano?", 1500)
		runtime.GC()
		runtime.ReadMemStats(&after)
		n := 0
		for i := range w.v.Seats {
			n += len(w.v.Seats[i].Room.Chat.Messages)
		}
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "bytes/message")
	}
}

func BenchmarkQuote(b *testing.B) {
	const text = "Hm, I do not know whether the pump was mended; \"ask Nova\", she was there on Friday.\nÜber 100 € — ok 👍🏽? [note] <b>"
	dst := make([]byte, 0, 2*len(text))
	b.ReportAllocs()
	for b.Loop() {
		dst = appendQuoted(dst[:0], text)
	}
}

// A look back at all that was said: the first one reads every line, unless that was done
// before; later ones know them.
func BenchmarkLookBack(b *testing.B) {
	const asked = "which decisions did we make?"
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			w, _ := talkative(b, 100_000)
			w.v.Recall("piano", 1500) // the lines are indexed
			b.StartTimer()
			look, _ := NewLookBack(w.v, asked)
			look.Lines(8000)
		}
	})
	w, _ := talkative(b, 100_000)
	for PrepareLookBacks(w.v, 2000) {
	}
	b.Run("prepared", func(b *testing.B) {
		for b.Loop() {
			look, _ := NewLookBack(w.v, asked)
			look.Lines(8000)
		}
	})
	b.Run("preparing", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			w, _ := talkative(b, 20_000)
			w.v.Recall("piano", 1500)
			b.StartTimer()
			PrepareLookBacks(w.v, 2000)
		}
	})
}
