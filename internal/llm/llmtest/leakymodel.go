package llmtest

import (
	"context"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/offline"
)

// LeakyModel is the model that leaks the most: it sends back the newest INBOX line
// word for word and after it the lines of its whole prompt, newest first. Once
// it has answered a line it rests.
type LeakyModel struct {
	// Max bounds one answer in bytes. Default: 16 KiB.
	Max int
	// Brief leaves out the prompt: only the INBOX line is repeated.
	Brief bool
}

var _ llm.Model = LeakyModel{}

// Generate repeats what it was shown, by send_message, by a <msg> tag, or as a
// thought where no acts are wanted.
func (p LeakyModel) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	if ctx.Err() != nil {
		return llm.Response{}, llm.Interrupted(ctx)
	}
	line, ok := offline.Newest(r.Messages)
	nonce := offline.Nonce(r.Messages)
	said := p.repeat(line.Text, r.Messages)
	var resp llm.Response
	switch {
	case r.NoCalls:
		resp.Text = said
	case !ok || line.Answered:
		resp.Text = fmt.Sprintf("Responded to %s.", line.Who)
	case len(r.Tools) > 0:
		resp.Calls = []llm.ToolCall{Call(freshID(r), "send_message", map[string]string{"text": said})}
	case nonce != "":
		resp.Text = `<msg k="` + nonce + `">` + said + `</msg>`
	default:
		resp.Text = said
	}
	return completed(r, resp), nil
}

// repeat returns what a parrot says, within Max bytes.
func (p LeakyModel) repeat(said string, messages []llm.Message) string {
	limit := p.Max
	if limit <= 0 {
		limit = 16 << 10
	}
	b := new(strings.Builder)
	b.WriteString(said)
	for i := len(messages) - 1; i >= 0 && !p.Brief && b.Len() < limit; i-- {
		b.WriteByte('\n')
		b.WriteString(messages[i].Text)
	}
	if b.Len() <= limit {
		return b.String()
	}
	return strings.ToValidUTF8(b.String()[:limit], "")
}

// freshID is an id that no call of the transcript has.
func freshID(r llm.Request) string {
	n := 0
	for i := range r.Messages {
		n += len(r.Messages[i].Calls)
	}
	return fmt.Sprintf("call_%d_%d", len(r.Messages), n)
}
