package hud

import (
	"math"
	"slices"
	"strconv"
)

// overlap returns the share of the terms that stand in text, 0 to 1.
func overlap(text string, terms []string) float64 {
	if len(terms) == 0 {
		return 0
	}
	var found []string
	eachTerm(text, nil, func(t []byte) {
		if i := slices.Index(terms, string(t)); i >= 0 && !slices.Contains(found, terms[i]) {
			found = append(found, terms[i])
		}
	})
	return float64(len(found)) / float64(len(terms))
}

// recency falls from 1 to a half as the rank, counted back from the newest,
// passes half, and on towards 0.2.
func recency(rank, half int) float64 {
	return 0.2 + 0.8*math.Exp2(-float64(rank)/float64(half)*1.415)
}

func why(relevance float64, rank int) string {
	return "relevance " + strconv.FormatFloat(relevance, 'f', 2, 64) + ", rank " + strconv.Itoa(rank)
}
