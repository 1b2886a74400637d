package llmtest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// fewWords is how many words a piece of an answer has that comes piecemeal.
const fewWords = 4

// pieces cuts s behind every few words; they join to s, and an empty s is one.
func pieces(s string) []string {
	var all []string
	words := strings.SplitAfter(s, " ")
	for len(words) > 0 {
		n := min(fewWords, len(words))
		all = append(all, strings.Join(words[:n], ""))
		words = words[n:]
	}
	return all
}

// recite has resp heard as r asks for it: its text and then its calls, piece by
// piece, with a gap before each. It returns false when ctx ends before.
func recite(ctx context.Context, r llm.Request, resp llm.Response, gap time.Duration) bool {
	var soFar llm.Response
	say := func(into *string, piece string) bool {
		if piece == "" {
			return true
		}
		if !wait(ctx, gap) {
			return false
		}
		if *into += piece; r.Hear != nil {
			heard := soFar
			heard.Calls = slices.Clone(soFar.Calls)
			r.Hear(heard)
		}
		return true
	}
	for _, p := range pieces(resp.Text) {
		if !say(&soFar.Text, p) {
			return false
		}
	}
	for _, c := range resp.Calls {
		soFar.Calls = append(soFar.Calls, llm.ToolCall{ID: c.ID, Name: c.Name})
		for _, p := range pieces(c.Args) {
			if !say(&soFar.Calls[len(soFar.Calls)-1].Args, p) {
				return false
			}
		}
	}
	return true
}

// writePiecemeal writes the events of a stream with a gap before each, and
// returns false when the client has gone.
func writePiecemeal(w http.ResponseWriter, r *http.Request, events [][]byte, gap time.Duration) bool {
	for _, e := range events {
		if !wait(r.Context(), gap) {
			return false
		}
		_, _ = w.Write(joinEvents([][]byte{e}))
		_ = http.NewResponseController(w).Flush()
	}
	return true
}
