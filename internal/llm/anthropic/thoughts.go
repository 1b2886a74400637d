package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// keptBlock is a block of an answer that is sent back: thinking with its signature, or the
// place of a text or a call among it.
type keptBlock struct {
	Kind      string `json:"kind"`
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
	Call      int    `json:"call,omitempty"` // the index of a call
}

// kept returns the blocks of an answer with calls and thinking, to be sent back as they
// came; "" when it has no thinking that can be.
func (a *answerReader) kept(resp llm.ModelResponse) string {
	var all []keptBlock
	thinks, calls := false, 0
	for _, b := range a.blocks {
		switch b.kind {
		case thinkingBlock:
			if b.signature == "" {
				continue // it would be refused
			}
			thinks = true
			all = append(all, keptBlock{Kind: string(b.kind), Text: b.text.String(), Signature: b.signature})
		case redactedBlock:
			thinks = true
			all = append(all, keptBlock{Kind: string(b.kind), Data: b.data})
		case textBlock:
			all = append(all, keptBlock{Kind: string(b.kind), Text: b.text.String()})
		case callBlock:
			all = append(all, keptBlock{Kind: string(b.kind), Call: calls})
			calls++
		}
	}
	if !thinks || calls != len(resp.Calls) {
		return ""
	}
	text, err := json.Marshal(all)
	if err != nil {
		return ""
	}
	return string(text)
}

// keptBlocks returns the blocks of an answer that was kept, in their order; nil when
// nothing was, or the answer has other calls now. Its text is that of the transcript.
func keptBlocks(kept string, m *llm.TranscriptMessage) []sdk.ContentBlockParamUnion {
	var all []keptBlock
	if kept == "" || json.Unmarshal([]byte(kept), &all) != nil {
		return nil
	}
	var said strings.Builder
	for _, k := range all {
		if k.Kind == "text" {
			said.WriteString(k.Text)
		}
	}
	if said.String() != m.Text { // the transcript has other words: they stand before the calls
		first := slices.IndexFunc(all, func(k keptBlock) bool { return k.Kind == "tool_use" })
		all = slices.Insert(all, max(first, 0), keptBlock{Kind: "words", Text: m.Text})
		all = slices.DeleteFunc(all, func(k keptBlock) bool { return k.Kind == "text" })
	}
	var blocks []sdk.ContentBlockParamUnion
	calls := 0
	for _, k := range all {
		switch {
		case k.Kind == "thinking":
			blocks = append(blocks, sdk.NewThinkingBlock(k.Signature, k.Text))
		case k.Kind == "redacted_thinking":
			blocks = append(blocks, sdk.NewRedactedThinkingBlock(k.Data))
		case k.Kind == "tool_use" && k.Call < len(m.Calls):
			c := &m.Calls[k.Call]
			blocks = append(blocks, sdk.NewToolUseBlock(callID(c.ID), argumentObject(c.Args), modelhttp.CallName(c.Name)))
			calls++
		case k.Kind != "tool_use" && filled(k.Text):
			blocks = append(blocks, sdk.NewTextBlock(k.Text))
		}
	}
	if calls != len(m.Calls) {
		return nil
	}
	return blocks
}
