package hud

import (
	"math"

	"github.com/trestle-bridge/trestle/spaces"
)

// meaningReach is how many of a room's newest lines are compared by what they mean.
const meaningReach = 5000

// Mean tells the room where words of its messages stand. What it does not know, or
// knows to be deleted, is passed over.
func (r *Room) Mean(ms []spaces.Embedding) {
	for _, m := range ms {
		i := r.Chat.At(m.Event)
		if i < 0 || !speaks(r, i) {
			continue
		}
		if i >= len(r.meanings) {
			r.meanings = append(r.meanings, make([]spaces.EmbeddingVector, len(r.Chat.Messages)-len(r.meanings))...)
		}
		r.meanings[i] = m.Vector
	}
}

// meant returns where message i stands; nil: unknown.
func (r *Room) meant(i int) spaces.EmbeddingVector {
	if i >= len(r.meanings) {
		return nil
	}
	return r.meanings[i]
}

// Unmeant returns the messages that say something and of which nobody knows where they
// stand, the oldest first, at most limit: of the newest ones, which are compared.
func (r *Room) Unmeant(limit int) []*spaces.Message {
	var found []*spaces.Message
	for i := max(0, len(r.Chat.Messages)-meaningReach); i < len(r.Chat.Messages) && len(found) < limit; i++ {
		if m := &r.Chat.Messages[i]; r.meant(i) == nil && speaks(r, i) && m.Text != "" {
			found = append(found, m)
		}
	}
	return found
}

// A similarity is how near a line of a room is to what is asked.
type similarity struct {
	room int // among those that were scored
	line int32
	near float64
}

// resemble adds to the scores of lines that mean what is asked, as far as they stand
// out: of n lines that have nothing to do with it, the nearest lies about sqrt(2 ln n)
// deviations above the others by chance alone, and so much tells nothing. Rooms of
// other circles are left out: what their lines mean is compared nowhere.
func resemble(rooms []scoredRoom, asked spaces.EmbeddingVector, weight float64) {
	if asked == nil || weight <= 0 {
		return
	}
	all, sum, squares := alikeLines(rooms, asked)
	n := float64(len(all))
	if n < 2 {
		return
	}
	mean := sum / n
	deviation := math.Sqrt(max(0, squares/n-mean*mean))
	chance := math.Sqrt(2 * math.Log(n))
	unit := strongest(rooms)
	for _, l := range all {
		if above := (l.near - mean) / deviation; above > chance {
			rooms[l.room].raise(l.line, float32(weight*unit*(1-chance/above)))
		}
	}
}

// alikeLines compares the newest lines of the rooms with what is asked. It also
// returns the sums of what it found and of its squares.
func alikeLines(rooms []scoredRoom, asked spaces.EmbeddingVector) (all []similarity, sum, squares float64) {
	for k := range rooms {
		s := rooms[k].seat
		if s.across {
			continue
		}
		for i := max(0, len(s.Room.Chat.Messages)-meaningReach); i < len(s.Room.meanings); i++ {
			if v := s.Room.meanings[i]; len(v) > 0 {
				near := v.Near(asked)
				all = append(all, similarity{k, int32(i), near})
				sum, squares = sum+near, squares+near*near
			}
		}
	}
	return all, sum, squares
}

// strongest returns the highest score of a line by its words, 1 when none has any.
func strongest(rooms []scoredRoom) float64 {
	top := float32(0)
	for i := range rooms {
		for _, l := range rooms[i].lines {
			top = max(top, rooms[i].index.scores[l])
		}
	}
	if top == 0 {
		return 1
	}
	return float64(top)
}

// raise adds to the score of a line.
func (r *scoredRoom) raise(line int32, by float32) {
	if r.index.scores[line] == 0 {
		r.lines = append(r.lines, line)
	}
	r.index.scores[line] += by
}
