package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what a server may ask.
const (
	maxQuestions = 8
	maxFields    = 20
	maxChoices   = 50
	maxQuestion  = 2000     // bytes of a message
	maxLabel     = 200      // bytes of a title or a choice
	maxState     = 64 << 10 // bytes of the state that is handed back
)

// InputRequired is what a call ended with that needs the input of a person. The caller
// may store it, as JSON, and repeat the call after a restart.
type InputRequired struct {
	Questions []InputQuestion `json:"questions"`
	// Declined are the ids of questions that no person is asked: of another kind than a
	// form, or for a secret.
	Declined []string `json:"declined,omitempty"`
	// State comes from the server and goes back to it unchanged. It is opaque and not for
	// a model.
	State string `json:"state,omitempty"`
}

// An InputQuestion is a form. All texts are data of the server, bounded and cleaned.
type InputQuestion struct {
	ID      string       `json:"id"`
	Message string       `json:"message"`
	Fields  []InputField `json:"fields,omitempty"` // none asks for a plain yes or no
}

// A FieldKind is the type of a field's value.
type FieldKind string

// The kinds of field, by the JSON type of the answer: a string, a number, an integer, a
// boolean, and an array of strings.
const (
	TextField    FieldKind = "text"
	NumberField  FieldKind = "number"
	IntegerField FieldKind = "integer"
	YesNoField   FieldKind = "yes_no"
	ListField    FieldKind = "list"
)

// An InputField is one value of a form.
type InputField struct {
	Name     string          `json:"name"`
	Title    string          `json:"title,omitempty"`
	About    string          `json:"about,omitempty"`
	Kind     FieldKind       `json:"kind"`
	Format   string          `json:"format,omitempty"` // of a text: email, uri, date or date-time
	Choices  []FieldChoice   `json:"choices,omitempty"`
	Required bool            `json:"required,omitempty"`
	Default  json.RawMessage `json:"default,omitempty"`
}

// A FieldChoice is one of the values that a field may have.
type FieldChoice struct {
	Value string `json:"value"`
	Title string `json:"title,omitempty"`
}

// Label returns what people call the value, on one line; it may be empty.
func (c FieldChoice) Label() string { return cleanLine(cmp.Or(c.Title, c.Value), maxLabel) }

// An InputAnswer is what a person said. Without Accept the question is declined.
type InputAnswer struct {
	Accept bool           `json:"accept"`
	Values map[string]any `json:"values,omitempty"` // by field
}

// secretName matches fields that ask for a credential, which a form must not do (see the
// security considerations of elicitation in the protocol).
var secretName = regexp.MustCompile(`(?i)pass(word|phrase|code|wd)|secret|token|api[ _-]?key|private[ _-]?key|credential|\bcvv\b|\bpin\b`)

var errNotAsked = errors.New("the question is not passed on to a person")

// readQuestions returns what a result asks.
func readQuestions(r *mcp.CallToolResult) (*InputRequired, error) {
	if len(r.InputRequests) > maxQuestions {
		return nil, fmt.Errorf("the server asks %d questions at once, at most %d are passed on", len(r.InputRequests), maxQuestions)
	}
	if len(r.RequestState) > maxState {
		return nil, fmt.Errorf("the server's state has %d bytes, at most %d are kept", len(r.RequestState), maxState)
	}
	out := &InputRequired{State: r.RequestState}
	for _, id := range slices.Sorted(maps.Keys(r.InputRequests)) {
		form, ok := r.InputRequests[id].(*mcp.ElicitParams)
		if !ok || len(id) > maxLabel {
			return nil, errors.New("the server asks for something that is not offered to it")
		}
		question, err := readQuestion(id, form)
		if err != nil {
			out.Declined = append(out.Declined, id)
			continue
		}
		out.Questions = append(out.Questions, question)
	}
	return out, nil
}

// readQuestion returns a form as a question; [errNotAsked] for one that is declined.
func readQuestion(id string, p *mcp.ElicitParams) (InputQuestion, error) {
	if p.Mode != "" && p.Mode != "form" || p.URL != "" || secretName.MatchString(p.Message) {
		return InputQuestion{}, errNotAsked
	}
	q := InputQuestion{ID: id}
	q.Message = cleanText(p.Message, maxQuestion)
	var schema formSchema
	text, err := json.Marshal(p.RequestedSchema)
	if err != nil || len(text) > maxSchema || json.Unmarshal(text, &schema) != nil || len(schema.Properties) > maxFields {
		return InputQuestion{}, errNotAsked
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		field, err := schema.Properties[name].field(name)
		if err != nil {
			return InputQuestion{}, err
		}
		field.Required = slices.Contains(schema.Required, name)
		q.Fields = append(q.Fields, field)
	}
	return q, nil
}

// A formSchema is the flat schema of a form.
type formSchema struct {
	Properties map[string]fieldSchema `json:"properties"`
	Required   []string               `json:"required"`
}

type fieldSchema struct {
	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Format      string          `json:"format"`
	Enum        []string        `json:"enum"`
	EnumNames   []string        `json:"enumNames"`
	OneOf       []choiceSchema  `json:"oneOf"`
	AnyOf       []choiceSchema  `json:"anyOf"`
	Items       *fieldSchema    `json:"items"`
	Default     json.RawMessage `json:"default"`
}

type choiceSchema struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// field returns a field of a form; [errNotAsked] for a kind that forms do not have and
// for a secret.
func (s fieldSchema) field(name string) (InputField, error) {
	if len(name) > maxLabel || secretName.MatchString(name) || secretName.MatchString(s.Title) || s.Format == "password" {
		return InputField{}, errNotAsked
	}
	f := InputField{Name: name, Title: cleanLine(s.Title, maxLabel), Format: cleanLine(s.Format, 20)}
	f.About = cleanText(s.Description, maxLabel)
	if len(s.Default) <= maxLabel {
		f.Default = s.Default
	}
	kinds := map[string]FieldKind{
		"": TextField, "string": TextField, "number": NumberField, "integer": IntegerField, "boolean": YesNoField, "array": ListField,
	}
	kind, known := kinds[s.Type]
	if !known || kind == ListField && s.Items == nil {
		return InputField{}, errNotAsked
	}
	f.Kind = kind
	source := s
	if kind == ListField {
		source = *s.Items
	}
	f.Choices = source.choices()
	if len(f.Choices) > maxChoices || kind == ListField && len(f.Choices) == 0 {
		return InputField{}, errNotAsked
	}
	return f, nil
}

// choices returns the values of a field with their titles.
func (s fieldSchema) choices() []FieldChoice {
	var out []FieldChoice
	for i, value := range s.Enum {
		choice := FieldChoice{Value: value}
		if i < len(s.EnumNames) {
			choice.Title = cleanLine(s.EnumNames[i], maxLabel)
		}
		out = append(out, choice)
	}
	for _, one := range slices.Concat(s.OneOf, s.AnyOf) {
		out = append(out, FieldChoice{Value: one.Const, Title: cleanLine(one.Title, maxLabel)})
	}
	return out
}

// responsesTo returns the responses to all questions; what has no answer is declined.
func responsesTo(asked *InputRequired, answers map[string]InputAnswer) mcp.InputResponseMap {
	if len(asked.Questions) == 0 && len(asked.Declined) == 0 {
		return nil
	}
	out := mcp.InputResponseMap{}
	for _, id := range asked.Declined {
		out[id] = &mcp.ElicitResult{Action: "decline"}
	}
	for _, q := range asked.Questions {
		out[q.ID] = answers[q.ID].result()
	}
	return out
}

func (a InputAnswer) result() *mcp.ElicitResult {
	if !a.Accept {
		return &mcp.ElicitResult{Action: "decline"}
	}
	values := a.Values
	if values == nil {
		values = map[string]any{}
	}
	return &mcp.ElicitResult{Action: "accept", Content: values}
}

// answerQuestion answers what a server of an older revision asks. It does not say for
// which call; so the question is passed on only while one call is open, whose person it
// then is.
func (l *liveSession) answerQuestion(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	declined := InputAnswer{}.result()
	call := l.onlyCall()
	if call == nil || call.request.Ask == nil {
		return declined, nil
	}
	question, err := readQuestion("1", r.Params)
	if err != nil {
		return declined, nil //nolint:nilerr // a declined question is an answer
	}
	call.asking.Lock()
	defer call.asking.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer call.atEnd(cancel)()
	call.timer.Stop() // people take their time
	defer call.timer.Reset(call.timeout)
	return call.request.Ask(ctx, question).result(), nil
}

// onlyCall returns the call under way; nil if there is none or more than one.
func (l *liveSession) onlyCall() *openCall {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) != 1 {
		return nil
	}
	for _, call := range l.calls {
		return call
	}
	return nil
}
