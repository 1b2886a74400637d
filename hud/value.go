package hud

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// overlap returns the share of the terms of a query that stand in text, 0 to 1.
func overlap(text string, terms []string) float64 {
	if len(terms) == 0 {
		return 0
	}
	var found uint64 // a bit for each
	eachTerm(text, nil, func(t []byte) {
		if i := slices.Index(terms, string(t)); i >= 0 {
			found |= 1 << i
		}
	})
	return float64(bits.OnesCount64(found)) / float64(len(terms))
}

// recency falls from 1 to a half as the rank, counted back from the newest,
// passes half, and on towards 0.2.
func recency(rank, half int) float64 {
	return 0.2 + 0.8*math.Exp2(-float64(rank)/float64(half)*1.415)
}

// why tells what a value was made of.
func why(relevance float64, rank int, more ...string) string {
	b := strconv.AppendFloat(append(make([]byte, 0, 64), "relevance "...), relevance, 'f', 2, 64)
	b = strconv.AppendInt(append(b, ", rank "...), int64(rank), 10)
	for _, m := range more {
		b = append(append(b, ", "...), m...)
	}
	return string(b)
}
