package llm

import (
	"context"
	"strings"
	"unicode/utf8"
)

// Limits of what is kept of one answer, in bytes: for each token of its output limit,
// whatever that limit is, and where a request leaves it to the endpoint.
const (
	tokenBytes     = 16
	leastKept      = 16 << 10
	keptUnlimited  = 512 << 10
	mostNamedBytes = 256 // of the id or the name of a call
)

// KeptBytes returns how many bytes of an answer are kept whose output is limited to
// maxOutput tokens; 0 is no limit of the request's own. Endpoints do not always keep
// to the limit: what is longer is a runaway, cut as if they did.
func KeptBytes(maxOutput int) int {
	if maxOutput <= 0 {
		return keptUnlimited
	}
	return max(leastKept, maxOutput*tokenBytes)
}

// GenerateBounded calls m and cuts what it answers, and what r.Hear is given, to
// [KeptBytes] of the request. An answer that was cut has finish [Length] and no calls.
func GenerateBounded(ctx context.Context, m ChatModel, r ModelRequest) (ModelResponse, error) {
	limit := KeptBytes(r.MaxOutput)
	if hear := r.Hear; hear != nil {
		r.Hear = func(soFar ModelResponse) {
			if !soFar.exceeds(limit) {
				hear(soFar)
			}
		}
	}
	resp, err := m.Generate(ctx, r)
	if resp.exceeds(limit) {
		resp.Text = strings.Clone(CutText(resp.Text, limit)) // the rest may go
		resp.Calls, resp.Finish = nil, Length
	}
	return resp, err
}

// exceeds reports whether text and calls have more than limit bytes.
func (r *ModelResponse) exceeds(limit int) bool {
	n := len(r.Text)
	for i := range r.Calls {
		c := &r.Calls[i]
		if len(c.ID) > mostNamedBytes || len(c.Name) > mostNamedBytes {
			return true
		}
		n += len(c.Name) + len(c.Args)
	}
	return n > limit
}

// CutText returns at most the first n bytes of text, cut between characters.
func CutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	n = max(n, 0)
	for i := 0; i < utf8.UTFMax-1 && n > 0 && !utf8.RuneStart(text[n]); i++ {
		n--
	}
	return text[:n]
}
