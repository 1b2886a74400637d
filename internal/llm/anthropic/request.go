package anthropic

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// Texts where the API requires one and the transcript has none.
const (
	beginning = "(empty)"
	goingOn   = "(continuing)"
	noOutput  = "(no output)"
)

// usualOutput is the output limit of a request that leaves it to the endpoint: this API
// requires one.
const usualOutput = 8192

// A requestBuilder writes a request in the form of the Messages API.
type requestBuilder struct {
	request  *llm.ModelRequest
	form     modelhttp.RequestForm
	thoughts *modelhttp.ReasoningMemory // nil: none is sent back

	system   []sdk.TextBlockParam
	messages []sdk.MessageParam
	stable   int // messages before the newest of a person
}

// build returns the whole request.
func (b *requestBuilder) build() sdk.MessageNewParams {
	r := b.request
	b.addMessages()
	if !b.form.Meets(noCacheKey) {
		b.markCache()
	}
	p := sdk.MessageNewParams{
		Model: r.Model, MaxTokens: int64(cmp.Or(modelhttp.OutputLimit("anthropic", r, b.form), usualOutput)),
		System: b.system, Messages: b.messages,
	}
	if b.form.Meets(llm.NoTools) {
		return p
	}
	for i := range r.Tools {
		p.Tools = append(p.Tools, b.tool(&r.Tools[i]))
	}
	if r.NoCalls && len(r.Tools) > 0 && !b.form.Meets(noToolChoice) {
		none := sdk.NewToolChoiceNoneParam()
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfNone: &none}
	}
	return p
}

// tool returns a tool with its schema.
func (b *requestBuilder) tool(t *llm.ToolSpec) sdk.ToolUnionParam {
	p := &sdk.ToolParam{Name: modelhttp.CallName(t.Name), InputSchema: sdk.ToolInputSchemaParam{}}
	description, schema := t.Description, t.Schema
	if b.form.Meets(plainSchemas) {
		description, schema = textformat.ClipBytes(description, modelhttp.MostDescription), modelhttp.PlainSchema(schema)
	}
	if len(schema) > 0 {
		p.InputSchema = param.Override[sdk.ToolInputSchemaParam](schema)
	}
	if description != "" {
		p.Description = param.NewOpt(description)
	}
	return sdk.ToolUnionParam{OfTool: p}
}

// addMessages adds the transcript: system texts first, then turns of user and assistant,
// of which the first and the last are the user's.
func (b *requestBuilder) addMessages() {
	messages := b.request.Messages
	if b.form.Meets(noToolMessages) || b.form.Meets(llm.NoTools) || len(b.request.Tools) == 0 {
		messages = modelhttp.CallsAsText(messages) // calls are refused without the tools
	}
	newest := 0
	for i := range messages {
		if messages[i].Role == llm.User {
			newest = i
		}
	}
	for i := range messages {
		m := &messages[i]
		if i == newest {
			b.stable = len(b.messages)
		}
		switch m.Role {
		case llm.System:
			switch {
			case !filled(m.Text):
			case b.form.Meets(noSystemRole):
				b.add(sdk.MessageParamRoleUser, sdk.NewTextBlock(m.Text))
			default:
				b.system = append(b.system, sdk.TextBlockParam{Text: m.Text})
			}
		case llm.User:
			b.add(sdk.MessageParamRoleUser, b.userBlocks(m)...)
		case llm.Assistant:
			b.add(sdk.MessageParamRoleAssistant, b.assistantBlocks(m, i > newest)...)
		case llm.Result:
			b.add(sdk.MessageParamRoleUser, sdk.NewToolResultBlock(callID(m.CallID), cmp.Or(m.Text, noOutput), false))
		}
	}
	if n := len(b.messages); n == 0 || b.messages[n-1].Role == sdk.MessageParamRoleAssistant {
		b.add(sdk.MessageParamRoleUser, sdk.NewTextBlock(goingOn)) // an answer is not continued in the middle
	}
}

// add adds blocks to the last turn if it is of that role, or else as a new one. Blocks of a
// person's words that join results follow them, as the API requires.
func (b *requestBuilder) add(role sdk.MessageParamRole, blocks ...sdk.ContentBlockParamUnion) {
	if len(blocks) == 0 {
		return
	}
	n := len(b.messages)
	switch {
	case n == 0 && role == sdk.MessageParamRoleAssistant:
		b.messages = append(b.messages, sdk.NewUserMessage(sdk.NewTextBlock(beginning)))
	case n > 0 && b.messages[n-1].Role == role:
		b.messages[n-1].Content = append(b.messages[n-1].Content, blocks...)
		return
	}
	b.messages = append(b.messages, sdk.MessageParam{Role: role, Content: blocks})
}

// userBlocks returns a person's words with their pictures.
func (b *requestBuilder) userBlocks(m *llm.TranscriptMessage) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	if filled(m.Text) {
		blocks = append(blocks, sdk.NewTextBlock(m.Text))
	}
	for i := range m.Pictures {
		if p := &m.Pictures[i]; !b.form.Meets(noPictures) {
			blocks = append(blocks, sdk.NewImageBlockBase64(p.Media, base64.StdEncoding.EncodeToString(p.Data)))
		}
	}
	if len(blocks) == 0 {
		blocks = append(blocks, sdk.NewTextBlock(beginning))
	}
	return blocks
}

// assistantBlocks returns an answer. One whose calls are being answered is as it came, with
// its thinking.
func (b *requestBuilder) assistantBlocks(m *llm.TranscriptMessage, current bool) []sdk.ContentBlockParamUnion {
	if current && b.thoughts != nil {
		if blocks := keptBlocks(b.thoughts.Of(thoughtsKey(b.request), m.Calls), m); blocks != nil {
			return blocks
		}
	}
	var blocks []sdk.ContentBlockParamUnion
	if filled(m.Text) {
		blocks = append(blocks, sdk.NewTextBlock(m.Text))
	}
	for i := range m.Calls {
		blocks = append(blocks, sdk.NewToolUseBlock(callID(m.Calls[i].ID), argumentObject(m.Calls[i].Args), modelhttp.CallName(m.Calls[i].Name)))
	}
	return blocks
}

// argumentObject returns the arguments of a call as the object that the API requires.
func argumentObject(args string) json.RawMessage {
	if text := strings.TrimSpace(args); strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return json.RawMessage("{}")
}

// markCache sets the breakpoints of the cache: behind the tools and the system text, before
// the newest message of a person, and at the end.
func (b *requestBuilder) markCache() {
	if n := len(b.system); n > 0 {
		b.system[n-1].CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	for _, n := range []int{b.stable, len(b.messages)} {
		if n == 0 {
			continue
		}
		for _, block := range slices.Backward(b.messages[n-1].Content) {
			if at := block.GetCacheControl(); at != nil {
				*at = sdk.NewCacheControlEphemeralParam()
				break
			}
		}
	}
}

// filled reports whether a text has more than white space, which the API refuses.
func filled(text string) bool { return strings.TrimSpace(text) != "" }

// Characters that the API does not accept in ids of calls.
var unusable = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// mostID is the longest id of a call.
const mostID = 64

// callID returns the id of a call as the API accepts it, always the same for the same id.
// Ids of another provider may have other characters.
func callID(id string) string {
	if id != "" && len(id) <= mostID && !unusable.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}
