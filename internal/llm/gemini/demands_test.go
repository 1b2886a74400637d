package gemini

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// What a model demands is learned from its words within the same answer, stored, and met
// from the first request on by the next process.
func TestDemandIsMetWithinTheAnswerAndKept(t *testing.T) {
	called := request(llm.TranscriptMessage{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "t1", Name: "look", Args: "{}"}}}, llm.TranscriptMessage{Role: llm.Result, CallID: "t1", Text: "a tree"})
	forbidden := request()
	forbidden.NoCalls = true
	for _, test := range []struct {
		said, demand string
		r            llm.ModelRequest
		gone         string // from the next request
	}{
		{`Invalid JSON payload received. Unknown name \"id\" at 'contents[1].parts[0].function_call': Cannot find field.`, shortCallIDs, called, `"t1"`},
		{`Invalid JSON payload received. Unknown name \"id\" at 'contents[2].parts[0].function_response': Cannot find field.`, shortCallIDs, called, `"t1"`},
		{`Unknown name \"toolConfig\": tool_config is not supported`, noToolChoice, forbidden, "toolConfig"},
		{"Please ensure that function call turn comes immediately after a user turn or after a function response turn.", noToolMessages, called, "functionResponse"},
		{"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.", noToolMessages, called, "functionResponse"},
		{"Please use a valid role: user, model.", noToolMessages, called, "functionResponse"},
		{"Unable to submit request because the model does not support function calling", llm.NoTools, called, "functionDeclarations"},
		{"Tools are not supported for models/m", llm.NoTools, called, "functionDeclarations"},
		{"System instruction is not supported for models/m", noSystemRole, request(), "systemInstruction"},
		{`Invalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[0].parameters.properties[0].value': Cannot find field.`, plainSchemas, request(), "additionalProperties"},
	} {
		path := filepath.Join(t.TempDir(), "models.json")
		s := &script{bodies: []string{`{"error":{"code":400,"message":"` + test.said + `","status":"INVALID_ARGUMENT"}}`, thinks}}
		open := func() *Client {
			c, err := New(modelhttp.ClientOptions{BaseURL: "http://model.test", APIKey: "secret", Transport: s, Learned: &llm.CapabilityFile{Path: path}})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		c := open()
		got, err := c.Generate(t.Context(), test.r)
		if err != nil || got.Text != "I look." || len(s.seen) != 2 || !strings.Contains(s.seen[0], test.gone) || strings.Contains(s.seen[1], test.gone) {
			t.Errorf("%s: %+v, %v, %d requests:\n%s", test.said, got, err, len(s.seen), strings.Join(s.seen, "\n"))
			continue
		}
		if shown := c.Capability(test.r.Model).Demands; !slices.Equal(shown, []string{test.demand}) {
			t.Errorf("%s: learned %q, want %s", test.said, shown, test.demand)
		}
		if _, err := open().Generate(t.Context(), test.r); err != nil || len(s.seen) != 3 || strings.Contains(s.seen[2], test.gone) {
			t.Errorf("%s: the next process: %v, %d requests", test.said, err, len(s.seen))
		}
	}
}

// Where plain schemas are demanded, tools have them in the form that every version of the
// API knows.
func TestPlainSchemasAreParameters(t *testing.T) {
	s := &script{bodies: []string{thinks}}
	c, err := New(modelhttp.ClientOptions{
		BaseURL: "http://model.test", APIKey: "k", Transport: s, Compat: []string{plainSchemas},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := request()
	r.Tools[0].Schema = []byte(`{"type":"object","properties":{"at":{"type":["integer","null"]},"tags":{"type":"array","items":{"type":"object"}},"kind":{"const":"a"}},"required":["at"],"additionalProperties":false}`)
	if _, err := c.Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	const want = `"parameters":{"properties":{"at":{"type":"INTEGER"},"kind":{"enum":["a"],"type":"STRING"},"tags":{"items":{"description":"(a JSON object)","type":"STRING"},"type":"ARRAY"}},"required":["at"],"type":"OBJECT"}`
	if !strings.Contains(s.seen[0], want) || strings.Contains(s.seen[0], "parametersJsonSchema") {
		t.Errorf("the request is\n%s\nwant in it\n%s", s.seen[0], want)
	}
}
