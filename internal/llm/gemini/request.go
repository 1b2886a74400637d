package gemini

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
	"github.com/trestle-bridge/trestle/internal/textformat"
)

// Texts where the API requires one and the transcript has none.
const (
	beginning = "(empty)"
	goingOn   = "(continuing)"
)

// A requestBuilder writes a request in the form of the Gemini API.
type requestBuilder struct {
	request  *llm.ModelRequest
	form     modelhttp.RequestForm
	thoughts *modelhttp.ReasoningMemory

	system   []string
	contents []wireContent
}

// wireContent is a turn of the transcript
// (ai.google.dev/api/caching#Content). The library's own type would round the numbers in
// arguments, and change signatures.
type wireContent struct {
	Role  string     `json:"role"`
	Parts []sentPart `json:"parts"`
}

// sentPart is a part of a turn.
type sentPart struct {
	Text      string        `json:"text,omitempty"`
	Picture   *genai.Blob   `json:"inlineData,omitempty"`
	Call      *sentCall     `json:"functionCall,omitempty"`
	Result    *sentResponse `json:"functionResponse,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`
}

type sentCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type sentResponse struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}

// config returns all of the request but the model.
func (b *requestBuilder) config() (*genai.GenerateContentConfig, error) {
	r := b.request
	b.addMessages()
	contents, err := json.Marshal(b.contents)
	if err != nil {
		return nil, fmt.Errorf("write the transcript: %w", err)
	}
	off := false
	c := &genai.GenerateContentConfig{
		MaxOutputTokens:       int32(min(modelhttp.OutputLimit("gemini", r, b.form), 1<<30)),
		AutomaticContinuation: &off,
		HTTPOptions: &genai.HTTPOptions{ExtrasRequestProvider: func(body map[string]any) map[string]any {
			body["contents"] = json.RawMessage(contents)
			return body
		}},
	}
	if len(b.system) > 0 {
		c.SystemInstruction = genai.NewContentFromText(strings.Join(b.system, "\n\n"), "")
	}
	if len(r.Tools) > 0 && !b.form.Meets(llm.NoTools) {
		c.Tools = []*genai.Tool{{FunctionDeclarations: b.declarations()}}
		if r.NoCalls && !b.form.Meets(noToolChoice) {
			c.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}}
		}
	}
	return c, nil
}

// declarations returns the tools with their schemas.
func (b *requestBuilder) declarations() []*genai.FunctionDeclaration {
	all := make([]*genai.FunctionDeclaration, len(b.request.Tools))
	for i := range b.request.Tools {
		t := &b.request.Tools[i]
		d := &genai.FunctionDeclaration{Name: t.Name, Description: t.Description}
		schema := t.Schema
		if b.form.Meets(plainSchemas) {
			d.Description = textformat.ClipBytes(t.Description, modelhttp.MostDescription)
			d.Parameters = plainParameters(schema)
		} else if len(schema) > 0 {
			d.ParametersJsonSchema = schema
		}
		all[i] = d
	}
	return all
}

// plainParameters returns a schema in the API's first form, which endpoints before
// parametersJsonSchema know; nil where there are no properties.
func plainParameters(schema json.RawMessage) *genai.Schema {
	var s genai.Schema
	if plain := modelhttp.PlainSchema(schema); len(plain) == 0 || json.Unmarshal(plain, &s) != nil {
		return nil
	}
	nameTypes(&s)
	return &s
}

// nameTypes writes the types as the API names them. It refuses an object without
// properties: the model writes one as a text.
func nameTypes(s *genai.Schema) {
	s.Type = genai.Type(strings.ToUpper(string(s.Type)))
	if s.Type == genai.TypeObject && len(s.Properties) == 0 {
		s.Type, s.Description = genai.TypeString, strings.TrimPrefix(s.Description+" (a JSON object)", " ")
	}
	for _, one := range s.Properties {
		nameTypes(one)
	}
	if s.Items != nil {
		nameTypes(s.Items)
	}
}

// addMessages adds the transcript: turns of user and model, of which the first is the
// user's.
func (b *requestBuilder) addMessages() {
	messages := b.request.Messages
	if b.form.Meets(llm.NoTools) || b.form.Meets(noToolMessages) {
		messages = modelhttp.CallsAsText(messages)
	}
	newest := 0
	for i := range messages {
		if messages[i].Role == llm.User {
			newest = i
		}
	}
	names := modelhttp.CallNames(messages)
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case llm.System:
			if b.form.Meets(noSystemRole) {
				b.add(genai.RoleUser, sentPart{Text: cmp.Or(m.Text, beginning)})
			} else if strings.TrimSpace(m.Text) != "" {
				b.system = append(b.system, m.Text)
			}
		case llm.User:
			b.add(genai.RoleUser, b.userParts(m)...)
		case llm.Assistant:
			b.add(genai.RoleModel, b.modelParts(m, i > newest)...)
		case llm.Result:
			b.add(genai.RoleUser, sentPart{Result: &sentResponse{ID: b.callID(m.CallID), Name: modelhttp.CallName(names[m.CallID]), Response: map[string]string{"output": m.Text}}})
		}
	}
	if len(b.contents) == 0 {
		b.add(genai.RoleUser, sentPart{Text: goingOn})
	}
}

// add adds parts to the last turn if it is of that role, or else as a new one. Results stand
// in a turn of their own, as the API requires.
func (b *requestBuilder) add(role string, parts ...sentPart) {
	if len(parts) == 0 {
		return
	}
	n := len(b.contents)
	switch {
	case n == 0 && role == genai.RoleModel:
		b.contents = append(b.contents, wireContent{genai.RoleUser, []sentPart{{Text: beginning}}})
	case n > 0 && b.contents[n-1].Role == role && (b.contents[n-1].Parts[0].Result != nil) == (parts[0].Result != nil):
		b.contents[n-1].Parts = append(b.contents[n-1].Parts, parts...)
		return
	}
	b.contents = append(b.contents, wireContent{role, slices.Clone(parts)})
}

// userParts returns a person's words with their pictures.
func (b *requestBuilder) userParts(m *llm.TranscriptMessage) []sentPart {
	parts := []sentPart{{Text: cmp.Or(m.Text, beginning)}}
	for i := range m.Pictures {
		if p := &m.Pictures[i]; !b.form.Meets(noPictures) {
			parts = append(parts, sentPart{Picture: &genai.Blob{MIMEType: p.Media, Data: p.Data}})
		}
	}
	return parts
}

// lostSignature is what Google accepts in place of a signature that is lost.
const lostSignature = "skip_thought_signature_validator"

// modelParts returns an answer. Calls that are being answered have their signatures.
func (b *requestBuilder) modelParts(m *llm.TranscriptMessage, current bool) []sentPart {
	var parts []sentPart
	if m.Text != "" {
		parts = append(parts, sentPart{Text: m.Text})
	}
	var signatures keptSignatures
	if current {
		signatures = readSignatures(b.thoughts.Of(thoughtsKey(b.request), m.Calls))
	}
	if m.Text != "" {
		parts[0].Signature = signatures.Text
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		p := sentPart{Call: &sentCall{b.callID(c.ID), modelhttp.CallName(c.Name), argumentsOf(c.Args)}}
		switch {
		case i < len(signatures.Calls):
			p.Signature = signatures.Calls[i]
		case i == 0 && b.form.Meets(signedCalls):
			p.Signature = lostSignature
		}
		parts = append(parts, p)
	}
	return parts
}

// callID returns the id of a call, unless the endpoint takes none.
func (b *requestBuilder) callID(id string) string {
	if b.form.Meets(shortCallIDs) {
		return ""
	}
	return id
}

// argumentsOf returns the arguments of a call as the object that the API requires.
func argumentsOf(args string) json.RawMessage {
	if text := strings.TrimSpace(args); strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return json.RawMessage("{}")
}
