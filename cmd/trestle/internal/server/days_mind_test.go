package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// A whimsical model answers what it is newly shown, with a number of its own
// on each answer, does all kinds of other things, takes its time, and fails when it
// is moody.
type whimsical struct {
	mu     sync.Mutex // guards what follows
	rng    *rand.Rand
	minted int
	mood   bool
	broken error // the first transcript that no endpoint takes

	glimpses map[glimpse]time.Time // what minds were shown, and when for the last time
}

func newWhimsical(rng *rand.Rand) *whimsical {
	return &whimsical{rng: rng, glimpses: map[glimpse]time.Time{}}
}

var (
	dayToken = regexp.MustCompile(`\bm[0-9]{5}\b`)
	dayMark  = regexp.MustCompile(`\b[am][0-9]{5}\b`)
	dayPlace = regexp.MustCompile(`(?m)^(#[a-z]?[0-9]+) `)
)

// moody says whether calls may fail.
func (w *whimsical) moody(yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mood = yes
}

// Generate implements [model.Model].
func (w *whimsical) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	took, resp, err := w.decides(r)
	select {
	case <-time.After(took):
		return resp, err
	case <-ctx.Done():
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
}

func (w *whimsical) decides(r llm.ModelRequest) (time.Duration, llm.ModelResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		w.broken = llmtest.Check(r.Messages, r.Tools)
	}
	took := time.Duration(w.rng.IntN(3000)) * time.Millisecond
	if w.rng.IntN(30) == 0 {
		took = time.Duration(w.rng.IntN(120)) * time.Second
	}
	asked, places := w.asked(r.Messages, r.CacheKey)
	if w.mood && w.rng.IntN(3) == 0 {
		kind := llm.ErrorKind(w.rng.IntN(int(llm.TooLong)))
		return took, llm.ModelResponse{}, &llm.Error{Kind: kind, Err: errors.New("a mood"), RetryAfter: time.Duration(w.rng.IntN(20)) * time.Second}
	}
	resp := llm.ModelResponse{Finish: llm.Stopped, Usage: llm.TokenUsage{Prompt: 1000, Output: 50}}
	switch {
	case r.NoCalls:
		resp.Text = "I think of " + w.mints() + "."
	case len(asked) == 0 && w.rng.IntN(10) > 0:
		resp.Text = "Responded to them. Nothing is pending."
	case w.rng.IntN(12) == 0:
		resp.Text = "Responded to nobody. I only listen."
	default:
		resp.Calls, resp.Finish = w.acts(places), llm.Called
	}
	return took, resp, nil
}

// asked returns the tokens that people said since the last answer, and the places
// in the prompt that an act may be about.
func (w *whimsical) asked(messages []llm.TranscriptMessage, mind string) (tokens, places []string) {
	from := 0
	for i := range messages {
		if messages[i].Role == llm.User {
			places = append(places, dayPlace.FindAllString(messages[i].Text, -1)...)
		}
		for _, token := range dayToken.FindAllString(messages[i].Text, -1) {
			w.glimpses[glimpse{mind, token}] = time.Now()
		}
		if messages[i].Role == llm.Result && strings.Contains(messages[i].Text, `"messageId"`) {
			from = i + 1
		}
	}
	for i := range messages[from:] {
		if m := &messages[from+i]; m.Role == llm.User && strings.Contains(m.Text, "INBOX (") {
			_, fresh, _ := strings.Cut(m.Text, "INBOX (")
			tokens = append(tokens, dayToken.FindAllString(fresh, -1)...)
		}
	}
	return tokens, places
}

// acts are the calls of one answer: one send, mostly, and now and then something else.
func (w *whimsical) acts(places []string) []llm.ToolCall {
	var calls []llm.ToolCall
	add := func(name string, args any) {
		calls = append(calls, llmtest.Call("call_"+w.mints(), name, args))
	}
	place := "#1"
	if len(places) > 0 {
		place = strings.TrimSpace(places[w.rng.IntN(len(places))])
	}
	switch w.rng.IntN(18) {
	case 0:
		add("react", map[string]any{"message": place, "emoji": "👍"})
	case 1:
		add("timer", map[string]any{"seconds": 1 + w.rng.IntN(4000), "note": "look at " + w.mints()})
	case 2:
		add("note", map[string]any{"text": "it was said " + w.mints()})
	case 3:
		add("edit_message", map[string]any{"message": place, "text": w.mints() + " corrected"})
	case 4:
		add("delete_message", map[string]any{"message": place})
	case 5:
		add("enter_space", map[string]any{"space": "s2"})
	case 6:
		add("search", map[string]any{"query": "so on"})
	case 7:
		add("sleep", map[string]any{"seconds": 1 + w.rng.IntN(600)})
	case 8:
		add("fork", map[string]any{"reason": "to try " + w.mints()})
	case 9:
		add("send_file", map[string]any{"name": "plan.md", "content": "the plan " + w.mints()})
	case 10:
		add("plan", map[string]any{"cron": "*/20 * * * *", "note": "look at " + w.mints()})
	}
	words := map[string]any{"text": w.mints() + " " + someWords(w.rng, w.length())}
	switch w.rng.IntN(12) {
	case 0:
		words["wait"] = true
	case 1:
		words["text"] = fmt.Sprint(words["text"], " @Max what do you say?")
	case 2:
		words["space"], words["why"] = fmt.Sprintf("s%d", 1+w.rng.IntN(4)), "it came up"
	case 3:
		delete(words, "text")
		words["space"], words["instruction"] = fmt.Sprintf("s%d", 1+w.rng.IntN(4)), "say that it came up"
	}
	add("send_message", words)
	return calls
}

// mints returns a number that no answer had before.
func (w *whimsical) mints() string {
	w.minted++
	return fmt.Sprintf("a%05d", w.minted)
}

// length is how long an answer is in bytes: at times several messages.
func (w *whimsical) length() int {
	if w.rng.IntN(10) == 0 {
		return 4000 + w.rng.IntN(9000)
	}
	return 10 + w.rng.IntN(300)
}

// someWords returns up to n bytes of words.
func someWords(rng *rand.Rand, n int) string {
	all := []string{"the", "pump", "**is**", "on\n\n", "`again`", "and", "nobody", "knows", "why;", "- maybe\n", "ask", "them"}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(all[rng.IntN(len(all))] + " ")
	}
	return strings.TrimSpace(b.String())
}
