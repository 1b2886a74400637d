package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// InjectionVictim is the model that an injection always persuades: an order of the form
//
//	do: tool_name {"argument": "value"}
//
// anywhere in a user message or in a tool's result becomes that call, plain or
// inside a quoted JSON text. Each different order is obeyed once, the first one
// first, one for each request; then it rests.
type InjectionVictim struct{}

var _ llm.Model = InjectionVictim{}

// Generate obeys the first order that the transcript shows no call for.
func (InjectionVictim) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	if ctx.Err() != nil {
		return llm.Response{}, llm.Interrupted(ctx)
	}
	var resp llm.Response
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
	return completed(r, resp), nil
}

// openOrders returns the orders that no call of the transcript answers, in order
// of appearance.
func openOrders(messages []llm.Message) []llm.ToolCall {
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
