package recall

import (
	"math"

	"github.com/trestle-bridge/trestle/spaces"
)

// maxCompared is how many of a room's newest lines are compared by their embeddings.
const maxCompared = 5000

// SetEmbeddings stores the embeddings of messages. Those of unknown or deleted
// messages are ignored.
func (x *LineIndex) SetEmbeddings(es []spaces.MessageEmbedding) {
	for _, e := range es {
		i := x.chat.At(e.Event)
		if i < 0 || !x.hasWords(i) {
			continue
		}
		if i >= len(x.embeddings) {
			x.embeddings = append(x.embeddings, make([]spaces.EmbeddingVector, len(x.chat.Messages)-len(x.embeddings))...)
		}
		x.embeddings[i] = e.Vector
	}
}

// WithoutEmbedding returns the oldest of the newest messages with words whose
// embeddings are unknown and would be compared, at most limit of them.
func (x *LineIndex) WithoutEmbedding(limit int) []*spaces.ChatMessage {
	var found []*spaces.ChatMessage
	for i := max(0, len(x.chat.Messages)-maxCompared); i < len(x.chat.Messages) && len(found) < limit; i++ {
		known := i < len(x.embeddings) && x.embeddings[i] != nil
		if m := &x.chat.Messages[i]; !known && x.hasWords(i) && m.Text != "" {
			found = append(found, m)
		}
	}
	return found
}

// A similarity is the similarity of one line to the query.
type similarity struct {
	room int // among those that are ranked
	line int32
	near float64
}

// addEmbeddingScores raises the scores of lines whose similarity to the query is above
// chance: of n unrelated lines the most similar one lies about sqrt(2 ln n) standard
// deviations above the mean by chance, so only what exceeds that counts. Foreign rooms
// are left out: their embeddings are compared nowhere.
func addEmbeddingScores(rooms []scoredRoom, asked spaces.EmbeddingVector, weight float64) {
	if asked == nil || weight <= 0 {
		return
	}
	all, sum, squares := similarities(rooms, asked)
	n := float64(len(all))
	if n < 2 {
		return
	}
	mean := sum / n
	deviation := math.Sqrt(max(0, squares/n-mean*mean))
	chance := math.Sqrt(2 * math.Log(n))
	unit := bestWordScore(rooms)
	for _, l := range all {
		if above := (l.near - mean) / deviation; above > chance {
			rooms[l.room].addScore(l.line, float32(weight*unit*(1-chance/above)))
		}
	}
}

// similarities compares the newest lines of the rooms with the query. It also
// returns the sums of the similarities and of their squares.
func similarities(rooms []scoredRoom, asked spaces.EmbeddingVector) (all []similarity, sum, squares float64) {
	for k := range rooms {
		if rooms[k].Foreign {
			continue
		}
		x := rooms[k].Index
		for i := max(0, len(x.chat.Messages)-maxCompared); i < len(x.embeddings); i++ {
			if v := x.embeddings[i]; len(v) > 0 {
				near := v.Near(asked)
				all = append(all, similarity{k, int32(i), near})
				sum, squares = sum+near, squares+near*near
			}
		}
	}
	return all, sum, squares
}

// bestWordScore returns the highest score of a line by its words, 1 when none has any.
func bestWordScore(rooms []scoredRoom) float64 {
	top := float32(0)
	for i := range rooms {
		for _, l := range rooms[i].lines {
			top = max(top, rooms[i].Index.scores[l])
		}
	}
	if top == 0 {
		return 1
	}
	return float64(top)
}

// addScore adds to the score of a line.
func (r *scoredRoom) addScore(line int32, score float32) {
	if r.Index.scores[line] == 0 {
		r.lines = append(r.lines, line)
	}
	r.Index.scores[line] += score
}
