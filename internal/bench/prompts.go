package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tiktoken-go/tokenizer"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// prefix looks at what the endpoint was sent in one long conversation: whether
// each frame begins with the one before it, so that providers can cache it, and
// how much is new.
func prefix(ctx context.Context, b *bench) error {
	turns := b.pick(40, 200)
	var sent []llmtest.LedgerEntry
	err := b.with(ctx, worldOptions{rooms: 1, ledger: -1}, trestle, func(w *world, _ *subject) error {
		pause := time.NewTicker(10 * time.Millisecond)
		defer pause.Stop()
		for range turns {
			if _, err := w.rooms[0].converse(ctx); err != nil {
				return err
			}
			<-pause.C
		}
		sent = w.model.Ledger()
		return nil
	})
	if err != nil {
		return err
	}
	pairs, cuts, broken := compare(sent)
	b.add("frame n begins with frame n-1 less its tail", "every turn between cuts", broken == 0, "",
		"%d of %d broken, %d cuts in %d turns", broken, pairs, cuts, turns)
	news := newPerTurn(sent)
	if len(news) == 0 {
		return errors.New("the conversation has no turn before its first cut")
	}
	mean := 0
	for _, n := range news {
		mean += n
	}
	mean /= len(news)
	b.add("bytes / 4 not in the previous call's prefix, per turn", "<= 300", mean <= 300, "",
		"%d mean, %d most, over %d turns before the first cut", mean, slices.Max(news), len(news))
	whole, apart := shared(sent)
	b.add(fmt.Sprintf("Y6c bytes shared with the frame before, %d turns of chat, cuts counted", turns), ">= 0.9 mean", whole >= 0.9, "",
		"%.3f mean; %.3f without the system text", whole, apart)
	tokens, err := fixedTokens(sent[0].Request)
	b.add("first prompt: system text + tools", "<= 4000 tokens", tokens <= 4000, "", "%d tokens (o200k)", tokens)
	return err
}

// compare looks at each frame beside the one before it. A cut gives a frame
// another keyframe, its second message; there the prefix may end.
func compare(sent []llmtest.LedgerEntry) (pairs, cuts, broken int) {
	for i := 1; i < len(sent); i++ {
		before, now := sent[i-1].Request.Messages, sent[i].Request.Messages
		if cut(before, now) {
			cuts++
			continue
		}
		pairs++
		whole := before[:len(before)-1]
		if len(now) < len(whole) || !slices.EqualFunc(whole, now[:len(whole)], same) {
			broken++
		}
	}
	return pairs, cuts, broken
}

func cut(before, now []llm.TranscriptMessage) bool { return !same(before[1], now[1]) }

func same(a, b llm.TranscriptMessage) bool {
	return a.Role == b.Role && a.Text == b.Text && a.CallID == b.CallID && slices.Equal(a.Calls, b.Calls)
}

// newPerTurn returns for each turn before the first cut, but the very first,
// a quarter of the bytes that its calls had and the calls before them had not.
// A turn begins with a call that shows a new question.
func newPerTurn(sent []llmtest.LedgerEntry) []int {
	var turns []int
	for i := 1; i < len(sent) && !cut(sent[i-1].Request.Messages, sent[i].Request.Messages); i++ {
		if len(unanswered(sent[i].Request.Messages)) > 0 {
			turns = append(turns, 0)
		}
		if len(turns) > 0 {
			turns[len(turns)-1] += unseen(flat(sent[i-1].Request.Messages), flat(sent[i].Request.Messages))
		}
	}
	for i := range turns {
		turns[i] /= 4
	}
	return turns
}

// shared returns which part of a frame's bytes it has in common with the beginning
// of the frame before, in the mean of all frames but the first: of the whole, and
// of all but the system text, which never changes.
func shared(sent []llmtest.LedgerEntry) (whole, apart float64) {
	pairs := float64(max(1, len(sent)-1))
	for i := 1; i < len(sent); i++ {
		before, now := flat(sent[i-1].Request.Messages), flat(sent[i].Request.Messages)
		system := len(flat(sent[i].Request.Messages[:1]))
		common := len(now) - unseen(before, now)
		whole += float64(common) / float64(len(now)) / pairs
		apart += float64(max(0, common-system)) / float64(len(now)-system) / pairs
	}
	return whole, apart
}

// flat is a transcript as an endpoint feeds it to a model. The tools stand
// before it and are always the same.
func flat(messages []llm.TranscriptMessage) []byte {
	var b []byte
	for i := range messages {
		m := &messages[i]
		b = append(append(b, m.Role...), '\n')
		b = append(append(b, m.Text...), '\n')
		for _, c := range m.Calls {
			b = append(append(b, c.Name...), c.Args...)
		}
	}
	return b
}

// unseen is how many bytes of now do not belong to its common prefix with before.
func unseen(before, now []byte) int {
	n := 0
	for n < len(before) && n < len(now) && before[n] == now[n] {
		n++
	}
	return len(now) - n
}

// fixedTokens counts what every prompt begins with: the system text, and the
// tools as they stand in a request.
func fixedTokens(r llm.ModelRequest) (int, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return 0, err
	}
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	tools := make([]tool, len(r.Tools))
	for i, t := range r.Tools {
		tools[i] = tool{"function", function{t.Name, t.Description, t.Schema}}
	}
	shown, err := json.Marshal(tools)
	if err != nil {
		return 0, fmt.Errorf("write tools: %w", err)
	}
	system, err1 := codec.Count(r.Messages[0].Text)
	offered, err2 := codec.Count(string(shown))
	return system + offered, errors.Join(err1, err2)
}
