package spaces

import (
	"math"
	"time"
)

// An EmbeddingVector is the embedding of a text that a model computed: a vector
// of length 1, its numbers made larger by as much for all of its size, and rounded.
// Vectors of two models have nothing to do with each other.
type EmbeddingVector []int8

// vectorSize is how many numbers are kept; longer vectors are folded.
const vectorSize = 768

// vectorScale is what the numbers of a vector of a size are multiplied by: those four
// times as large as usual still fit.
func vectorScale(size int) float64 { return math.MaxInt8 * math.Sqrt(float64(size)) / 4 }

// NewVector returns the vector that a model made, in the stored form; nil for one
// that points nowhere. More than 768 numbers are folded: each is added to or taken
// from one of the first, so that angles between vectors stay about what they were.
func NewVector(made []float32) EmbeddingVector {
	folded := make([]float64, min(len(made), vectorSize))
	for i, x := range made {
		if scrambled := uint64(i) * 0x9e3779b97f4a7c15; i >= vectorSize && scrambled>>63 == 1 {
			x = -x
		}
		folded[i%vectorSize] += float64(x)
	}
	length := 0.0
	for _, x := range folded {
		length += x * x
	}
	if length = math.Sqrt(length); !(length > 0) || math.IsInf(length, 0) {
		return nil
	}
	v, scale := make(EmbeddingVector, len(folded)), vectorScale(len(folded))/length
	for i, x := range folded {
		v[i] = int8(max(-math.MaxInt8, min(math.MaxInt8, math.Round(x*scale))))
	}
	return v
}

// Near returns the cosine of the angle between two vectors; 0 when they are of
// different lengths.
func (v EmbeddingVector) Near(o EmbeddingVector) float64 {
	if len(v) != len(o) || len(v) == 0 {
		return 0
	}
	o = o[:len(v)]
	sum := int32(0)
	for i, x := range v {
		sum += int32(x) * int32(o[i])
	}
	scale := vectorScale(len(v))
	return float64(sum) / (scale * scale)
}

// A MessageEmbedding is the embedding of one message.
type MessageEmbedding struct {
	Event  EventID
	Seq    int64
	Vector EmbeddingVector
}

// EmbeddingResult holds the embeddings a model returned for some messages, and the tokens
// the call used.
type EmbeddingResult struct {
	Space SpaceID // for which it is counted, beside everything
	Model string  // the endpoint's name for who was asked
	// Upto is the last event of the room that was known when it was asked.
	Upto  int64
	All   []MessageEmbedding // of messages of the room; none when words were asked about that are no message
	Usage TokenUsage
	At    time.Time
}
