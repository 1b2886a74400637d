//go:build faultinject

package crashtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// A teller is the model of the harness. It answers every INBOX line that has a
// token and no answer yet, those of one thread together, by a message that
// repeats their tokens; then it rests, every other time in the same step, so that
// a cycle's last commit has something to send. What it answers follows from the
// transcript alone, so that it gives the same answer when it is asked again.
type teller struct{}

// lines is how many lines a long answer has: some ten thousand characters, three
// parts on Telegram.
const lines = 260

// Generate thinks, answers or rests.
func (teller) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	open := pending(r.Messages)
	switch {
	case r.NoCalls:
		return llm.ModelResponse{Text: fmt.Sprintf("There are %d lines to answer.", len(open)), Finish: llm.Stopped}, nil
	case len(open) == 0:
		return llm.ModelResponse{Text: "Responded to everybody about their tokens. Sent what was asked. Nothing is pending.", Finish: llm.Stopped}, nil
	}
	lane := slices.DeleteFunc(slices.Clone(open), func(l line) bool { return l.thread != open[0].thread })
	calls := 0
	for i := range r.Messages {
		calls += len(r.Messages[i].Calls)
	}
	args := map[string]any{"text": answer(lane), "reply_to": lane[len(lane)-1].id}
	resp := llm.ModelResponse{Finish: llm.Called}
	if last := lane[len(lane)-1].token; len(lane) == len(open) && last[len(last)-1]%2 == 0 {
		resp.Text = "Responded to everybody about their tokens. Sent what was asked. Nothing is pending."
	} else {
		args["more"] = true
	}
	resp.Calls = []llm.ToolCall{llmtest.Call(fmt.Sprintf("call_%d_%s", calls+1, lane[0].token), "send_message", args)}
	return resp, nil
}

// answer is the text for some lines of one thread.
func answer(lane []line) string {
	var names []string
	long := false
	for _, l := range lane {
		names = append(names, l.token)
		long = long || l.long
	}
	head := strings.Join(names, " ")
	if !long {
		return head + " noted"
	}
	var b strings.Builder
	for n := range lines {
		fmt.Fprintf(&b, "%s noted, line %03d of %03d\n\n", head, n+1, lines)
		if len(names) > 1 && b.Len() > 9000 {
			break
		}
	}
	return b.String()
}

// A line is one INBOX line with a token.
type line struct {
	id     string
	token  string
	thread string
	long   bool
	tool   string // that it asks for, see [clerk]
	woke   bool   // it is marked as what woke the agent
}

// pending returns the lines of the transcript that were not answered yet, in order.
func pending(messages []llm.TranscriptMessage) []line {
	told, asked := map[string]bool{}, map[string]string{}
	var all []line
	for i := range messages {
		m := &messages[i]
		for _, c := range m.Calls {
			asked[c.ID] = c.Args
		}
		switch {
		case m.Role == llm.Result && strings.Contains(m.Text, `"messageId"`):
			for _, tk := range token.FindAllString(asked[m.CallID], -1) {
				told[tk] = true
			}
		case m.Role == llm.User:
			all = append(all, inbox(m.Text)...)
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(l line) bool {
		gone := told[l.token] || seen[l.token]
		seen[l.token] = true
		return gone
	})
}

// inbox reads the lines with tokens of a user message that shows an INBOX.
func inbox(text string) []line {
	_, list, ok := strings.Cut(text, "INBOX (")
	if !ok {
		return nil
	}
	var found []line
	for row := range strings.Lines(list) {
		id, rest, ok := strings.Cut(row, " ")
		if !ok || !strings.HasPrefix(id, "#") {
			continue
		}
		head, words, _ := strings.Cut(rest, `: "`)
		if tk := token.FindString(words); tk != "" {
			_, thread, _ := strings.Cut(head, " thread ")
			thread, _, _ = strings.Cut(thread, " ")
			l := line{id: id, token: tk, thread: thread, long: strings.Contains(words, longMark), woke: strings.Contains(words, "← TRIGGER")}
			if asked := asksFor.FindStringSubmatch(words); asked != nil && asked[1] != "about" {
				l.tool = asked[1]
			}
			found = append(found, l)
		}
	}
	return found
}

// newest returns the tokens of the last INBOX that a request shows.
func newest(messages []llm.TranscriptMessage) []string {
	for _, m := range slices.Backward(messages) {
		if m.Role != llm.User || !strings.Contains(m.Text, "INBOX (") {
			continue
		}
		var all []string
		for _, l := range inbox(m.Text) {
			all = append(all, l.token)
		}
		return all
	}
	return nil
}
