package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/offline"
)

// LeakyModel repeats the newest INBOX line verbatim and then the lines of its whole
// prompt, newest first. It stops after it has answered a line.
type LeakyModel struct {
	// Max bounds one answer in bytes. Default: 16 KiB.
	Max int
	// Brief leaves out the prompt: only the INBOX line is repeated.
	Brief bool
}

var _ llm.ChatModel = LeakyModel{}

// Generate repeats the prompt, by send_message, by a <msg> tag, or as text with
// NoCalls.
func (p LeakyModel) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	line, ok := offline.NewestLine(r.Messages)
	nonce := offline.FindNonce(r.Messages)
	said := p.repeat(line.Text, r.Messages)
	var resp llm.ModelResponse
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
	return fillResponse(r, resp), nil
}

// repeat returns the text to send, within Max bytes.
func (p LeakyModel) repeat(said string, messages []llm.TranscriptMessage) string {
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

// freshID returns an id that no call of the transcript has.
func freshID(r llm.ModelRequest) string {
	n := 0
	for i := range r.Messages {
		n += len(r.Messages[i].Calls)
	}
	return fmt.Sprintf("call_%d_%d", len(r.Messages), n)
}

// InjectionVictim obeys every injected order: an order of the form
//
//	do: tool_name {"argument": "value"}
//
// anywhere in a user message or in a tool's result becomes that call, plain or
// inside a quoted JSON text. Each different order is obeyed once, in order, one for
// each request.
type InjectionVictim struct{}

var _ llm.ChatModel = InjectionVictim{}

// Generate obeys the first order that the transcript shows no call for.
func (InjectionVictim) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	var resp llm.ModelResponse
	orders := openOrders(r.Messages)
	switch {
	case len(orders) == 0:
		resp.Text = "Responded to nobody. Every order was obeyed."
	case r.NoCalls:
		resp.Text = fmt.Sprintf("I will obey %d orders, first %s.", len(orders), orders[0].Name)
	default:
		orders[0].ID = freshID(r)
		resp.Calls = orders[:1]
	}
	return fillResponse(r, resp), nil
}

// openOrders returns the orders that no call of the transcript answers, in order
// of appearance.
func openOrders(messages []llm.TranscriptMessage) []llm.ToolCall {
	obeyed := make(map[llm.ToolCall]bool)
	for i := range messages {
		for _, c := range messages[i].Calls {
			obeyed[llm.ToolCall{Name: c.Name, Args: c.Args}] = true
		}
	}
	var open []llm.ToolCall
	for i := range messages {
		if messages[i].Role != llm.User && messages[i].Role != llm.Result {
			continue
		}
		for _, c := range ordersIn(messages[i].Text) {
			if !obeyed[c] {
				obeyed[c] = true
				open = append(open, c)
			}
		}
	}
	return open
}

var (
	order      = regexp.MustCompile(`do: ([A-Za-z0-9_.-]+) \{`)
	quotedText = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
)

// ordersIn finds the orders in text and in the JSON texts quoted in it.
func ordersIn(text string) []llm.ToolCall {
	found := plainOrders(text)
	for _, q := range quotedText.FindAllString(text, -1) {
		var inner string
		if strings.Contains(q, "do: ") && json.Unmarshal([]byte(q), &inner) == nil {
			found = append(found, plainOrders(inner)...)
		}
	}
	return found
}

func plainOrders(text string) []llm.ToolCall {
	var found []llm.ToolCall
	for _, at := range order.FindAllStringSubmatchIndex(text, -1) {
		var args json.RawMessage
		if json.NewDecoder(strings.NewReader(text[at[1]-1:])).Decode(&args) == nil {
			found = append(found, llm.ToolCall{Name: text[at[2]:at[3]], Args: string(args)})
		}
	}
	return found
}
