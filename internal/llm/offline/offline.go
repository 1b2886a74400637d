// Package offline is the model that answers when there is no endpoint.
//
// It lets a user try the program without a key or a network. Its answers are marked
// as its own, depend on the request alone, and cost nothing. It supports both
// dialects of tool calls.
package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// EchoModel answers each newest INBOX line once. The zero value is ready for use; calls
// may be concurrent.
type EchoModel struct{}

var _ llm.ChatModel = EchoModel{}

const label = "(offline model)"

// quoted is how many characters of a person's message are repeated.
const quoted = 200

// Generate sends one message about the newest INBOX line, by a call of send_message
// or by a <msg> tag, and stops once a message was sent after that line. With NoCalls
// it returns text only.
func (EchoModel) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	line, ok := NewestLine(r.Messages)
	resp := llm.ModelResponse{Finish: llm.Stopped}
	switch nonce := FindNonce(r.Messages); {
	case !ok:
		resp.Text = label + " There is nothing to answer."
	case r.NoCalls:
		resp.Text = fmt.Sprintf("%s %s wrote %q. One line back will do.", label, line.Who, oneLine(line.Text))
	case line.Answered:
		resp.Text = fmt.Sprintf("Responded to %s about %q. Sent one message. Nothing is pending.", line.Who, oneLine(line.Text))
	case hasTool(r.Tools, "send_message"):
		resp.Finish = llm.Called
		resp.Calls = []llm.ToolCall{messageCall(r, line)}
	case len(r.Tools) == 0 && nonce != "":
		resp.Text = fmt.Sprintf(`<msg k="%s">%s</msg>`, nonce, withoutTags(replyText(line)))
	default:
		resp.Text = replyText(line)
	}
	resp.Usage = EstimateUsage(r, resp)
	return resp, nil
}

func replyText(l InboxLine) string {
	return fmt.Sprintf("%s You said: “%s”. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY for a real one.", label, oneLine(l.Text))
}

// messageCall returns a call of send_message with an id that counts the earlier calls.
func messageCall(r llm.ModelRequest, l InboxLine) llm.ToolCall {
	n := 0
	for i := range r.Messages {
		n += len(r.Messages[i].Calls)
	}
	args, err := json.Marshal(map[string]string{"text": replyText(l)})
	if err != nil {
		panic("offline: a text has no JSON") // texts always have
	}
	return llm.ToolCall{ID: fmt.Sprintf("offline_%d_%s", n+1, strings.TrimPrefix(l.ID, "#")), Name: "send_message", Args: string(args)}
}

func hasTool(tools []llm.ToolSpec, name string) bool {
	return slices.ContainsFunc(tools, func(t llm.ToolSpec) bool { return t.Name == name })
}

var nonceExample = regexp.MustCompile(`<msg [^<>]*\bk="([A-Za-z0-9]+)"`)

// FindNonce finds the nonce of the tags dialect in the instructions of the last user
// message. It is "" when there is none.
func FindNonce(messages []llm.TranscriptMessage) string {
	for _, m := range slices.Backward(messages) {
		if m.Role != llm.User {
			continue
		}
		if all := nonceExample.FindAllStringSubmatch(m.Text, -1); len(all) > 0 {
			return all[len(all)-1][1]
		}
		return ""
	}
	return ""
}

// withoutTags replaces the characters that could begin or end a tag.
func withoutTags(s string) string {
	return strings.NewReplacer("<", "‹", ">", "›").Replace(s)
}

// oneLine returns s on one line, clipped.
func oneLine(s string) string {
	return textformat.ClipRunes(strings.Join(strings.Fields(s), " "), quoted)
}

// EstimateUsage estimates the tokens of a request and its answer as a quarter of their
// bytes.
func EstimateUsage(r llm.ModelRequest, resp llm.ModelResponse) llm.TokenUsage {
	out := len(resp.Text)
	for _, c := range resp.Calls {
		out += len(c.Name) + len(c.Args)
	}
	return llm.TokenUsage{Prompt: (r.Size() + 3) / 4, Output: (out + 3) / 4, Estimated: true}
}
