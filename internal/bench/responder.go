package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// The sizes of a turn that the table is about, in bytes.
const (
	questionBytes = 190
	answerBytes   = 370
)

// number is what makes a question recognisable in a prompt and in an answer.
var number = regexp.MustCompile(`q[0-9]{6}\b`)

// question returns the text of the nth message.
func question(n int) string {
	return filled(fmt.Sprintf("q%06d ", n), "could you look at the plan for the trip again and tell me which day suits all of us best, please? ", questionBytes)
}

// filled repeats words after head up to size bytes.
func filled(head, words string, size int) string {
	return strings.TrimSpace(head + strings.Repeat(words, size/len(words)+1)[:max(0, size-len(head))])
}

// A responder answers at once: a short thought where no acts are wanted, and
// otherwise all INBOX lines since its last answer in one message, with the rest
// line beside it, as the instructions allow. A prompt without tools is a
// baseline's, and is answered in plain words. It never refers to what it said
// before, so that its cost does not grow with the conversation.
type responder struct{}

// Generate answers r.
func (responder) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	asked := unanswered(r.Messages)
	switch {
	case len(r.Tools) == 0:
		return llm.ModelResponse{Text: reply(asked), Finish: llm.Stopped}, nil
	case r.NoCalls:
		return llm.ModelResponse{Text: "They ask about the day of the trip. I will propose Saturday.", Finish: llm.Stopped}, nil
	case len(asked) == 0:
		return llm.ModelResponse{Text: "Responded to Guest about the trip. Nothing is pending.", Finish: llm.Stopped}, nil
	}
	call := llmtest.Call("call_"+strconv.Itoa(len(r.Messages))+"_"+asked[0], "send_message", map[string]string{"text": reply(asked)})
	return llm.ModelResponse{
		Text:  "Responded to Guest about the trip. Proposed Saturday. Nothing is pending.",
		Calls: []llm.ToolCall{call}, Finish: llm.Called,
	}, nil
}

func reply(asked []string) string {
	return filled(strings.Join(asked, " ")+" ", "Saturday looks best: nobody has anything else in the calendar, and the train leaves at nine. ", answerBytes)
}

// unanswered returns the numbers after the assistant's last message that people
// got, or were meant to get.
func unanswered(messages []llm.TranscriptMessage) []string {
	from := len(messages)
	for ; from > 0; from-- {
		// A refused send has a result without a message id, and counts as none.
		if m := &messages[from-1]; m.Role == llm.Result && strings.Contains(m.Text, `"messageId"`) {
			break
		}
	}
	var all []string
	for i := range messages[from:] {
		if m := &messages[from+i]; m.Role == llm.User && (strings.Contains(m.Text, "INBOX (") || len(messages) == 1) {
			all = append(all, number.FindAllString(m.Text, -1)...)
		}
	}
	return all
}
