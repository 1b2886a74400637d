package telegram

import (
	"html"
	"iter"
	"strings"
)

// pieces returns the tags and the words of markup in order. Our own markup has a
// bare < nowhere but at a tag.
func pieces(markup string) iter.Seq2[string, bool] {
	return func(yield func(piece string, isTag bool) bool) {
		for markup != "" {
			words, rest, found := strings.Cut(markup, "<")
			if words != "" && !yield(words, false) {
				return
			}
			if !found {
				return
			}
			name, after, closed := strings.Cut(rest, ">")
			if !closed {
				yield("<"+rest, false)
				return
			}
			if !yield("<"+name+">", true) {
				return
			}
			markup = after
		}
	}
}

// plainText returns the words of markup without their looks.
func plainText(markup string) string {
	var b strings.Builder
	for piece, isTag := range pieces(markup) {
		if !isTag {
			b.WriteString(html.UnescapeString(piece))
		}
	}
	return b.String()
}
