package hud

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed kin.txt
var kinText string

// kin returns the words that everyday English uses for much the same as each word,
// by their terms. A row of kin.txt is one such circle; a word may be in several.
var kin = sync.OnceValue(func() map[string][]string {
	of := map[string][]string{}
	for row := range strings.Lines(kinText) {
		var terms []string
		eachTerm(row, nil, func(t []byte) { terms = append(terms, string(t)) })
		for _, t := range terms {
			of[t] = append(of[t], terms...)
		}
	}
	return of
})
