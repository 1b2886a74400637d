package openai

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// demanding is a request after two steps with calls, one of which were two, with a
// schema that uses much of JSON schema.
func demanding() llm.ModelRequest {
	r := hello
	r.CacheKey = "kai"
	r.Tools = []llm.ToolSpec{
		{Name: "send_message", Description: strings.Repeat("Says something. ", 100), Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"},"to":{"type":["null","string"]},"mood":{"anyOf":[{"type":"null"},{"enum":["happy","sad"],"type":"string"}]}},"required":["text"],"additionalProperties":false}`)},
		{Name: "rest", Schema: []byte(`{"type":"object","properties":{},"additionalProperties":false}`)},
	}
	r.Messages = append(r.Messages[:2:2],
		llm.TranscriptMessage{Role: llm.User, Text: "a second line"},
		llm.TranscriptMessage{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "call_one", Name: "send_message", Args: `{"text":"a"}`}, {ID: "call_two", Name: "rest", Args: `{}`}}},
		llm.TranscriptMessage{Role: llm.Result, CallID: "call_one", Text: "sent"}, llm.TranscriptMessage{Role: llm.Result, CallID: "call_two"},
		llm.TranscriptMessage{Role: llm.Assistant, Text: "Responded to Kai."},
		llm.TranscriptMessage{Role: llm.User, Text: "now?"},
		llm.TranscriptMessage{Role: llm.Assistant, Text: "I look.", Calls: []llm.ToolCall{{ID: "call_three", Name: "rest", Args: `{}`}}},
		llm.TranscriptMessage{Role: llm.Result, CallID: "call_three", Text: "seen"},
		llm.TranscriptMessage{Role: llm.User, Text: "INBOX: and now?"})
	r.NoCalls = true
	return r
}

// endpoint returns a client of a server with those rules, which answers with a call
// unless calls are forbidden, and the server.
func endpoint(t *testing.T, store llm.CapabilityStore, compat []string, rules ...llmtest.EndpointRule) (*Client, *llmtest.Server) {
	t.Helper()
	srv := &llmtest.Server{Rules: rules, Model: llmtest.NewScripted(t.Errorf, llmtest.ScriptStep{Response: goodAnswer, Always: true})}
	return newClient(t, srv, modelhttp.ClientOptions{Learned: store, Compat: compat}), srv
}

// The first request is answered whatever the endpoint demands of it, and from then on
// no request is refused, not even that of another process.
func TestRefusedTranscriptIsAnsweredInAnotherForm(t *testing.T) {
	for _, rule := range llmtest.EndpointRules() {
		t.Run(rule.Name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "models.json")
			c, srv := endpoint(t, &llm.CapabilityFile{Path: path}, nil, rule)
			got, err := c.Generate(t.Context(), demanding())
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != goodAnswer.Text {
				t.Errorf("answer %+v", got)
			}
			refusals := len(srv.Refusals())
			if refusals == 0 || refusals > 4 {
				t.Errorf("%d refusals before the first answer", refusals)
			}
			if _, err := c.Generate(t.Context(), demanding()); err != nil || len(srv.Refusals()) != refusals {
				t.Errorf("the second request: %v after %d refusals", err, len(srv.Refusals())-refusals)
			}
			if e := srv.Ledger(); e[len(e)-1].Violation != nil {
				t.Errorf("the transcript is against the book: %v", e[len(e)-1].Violation)
			}
			learned := c.Capability("m")
			if learned.IsZero() {
				t.Fatal("nothing was learned")
			}
			t.Log(learned)

			srv.Model = llmtest.NewScripted(t.Errorf, llmtest.ScriptStep{Response: goodAnswer, Always: true})
			stored := (&llm.CapabilityFile{Path: path}).LoadCapability(c.Known.Endpoint, "m")
			if diff := cmp.Diff(learned, stored); diff != "" {
				t.Errorf("stored (-learned +stored):\n%s", diff)
			}
			o := c.Options
			o.Learned = &llm.CapabilityFile{Path: path}
			next := mustNew(t, o)
			if _, err := next.Generate(t.Context(), demanding()); err != nil || len(srv.Refusals()) != refusals {
				t.Errorf("another process: %v after %d refusals", err, len(srv.Refusals())-refusals)
			}
		})
	}
}

// Several demands of one endpoint are met within one answer.
func TestSeveralDemandsAreMetWithinOneAnswer(t *testing.T) {
	all := llmtest.EndpointRules()
	pick := func(names ...string) []llmtest.EndpointRule {
		var some []llmtest.EndpointRule
		for _, r := range all {
			if slices.Contains(names, r.Name) {
				some = append(some, r)
			}
		}
		return some
	}
	for _, names := range [][]string{
		{"Mistral: user after tool", "Mistral: ids of nine letters", "stream_options"},
		{"DeepSeek: reasoning of calls", "DeepSeek: tool_choice", "OpenAI: output limit"},
		{"Gemini: no additionalProperties", "Gemini: no two types", "Gemini: names of results", "Gemini: signatures"},
		{"vLLM: alternating roles", "Gemma: no system role", "Anthropic: no empty content"},
		{"Llama: single calls", "llama.cpp: alternating roles", "llama.cpp: grammar of schemas"},
		{"Kimi: reasoning of all messages", "Qwen: tool_choice", "OpenAI: max_completion_tokens"},
	} {
		c, srv := endpoint(t, nil, nil, pick(names...)...)
		if _, err := c.Generate(t.Context(), demanding()); err != nil {
			t.Errorf("%q: %v after %q", names, err, srv.Refusals())
		}
	}
}

// A refusal that no form avoids is returned as it was for the usual form, after a few
// requests, and teaches nothing.
func TestRefusalThatNoFormAvoidsTeachesNothing(t *testing.T) {
	for _, words := range []string{`{"error":{"message":"the weather is bad"}}`, `{"error":{"message":"Conversation roles must alternate, content must be non-empty"}}`} {
		c, srv := endpoint(t, nil, nil, llmtest.EndpointRule{Name: "never", Status: 400, Body: words, Breaks: func(*llmtest.RawRequest) bool { return true }})
		_, err := c.Generate(t.Context(), demanding())
		if llm.KindOf(err) != llm.Rejected || len(srv.Refusals()) > mostForms || !c.Capability("m").IsZero() {
			t.Errorf("%s: %v after %d requests, learned %v", words, err, len(srv.Refusals()), c.Capability("m"))
		}
	}
}

// What the operator says of an endpoint counts before what is learned.
func TestCompatIsMetFromTheFirstRequestOn(t *testing.T) {
	for _, rule := range llmtest.EndpointRules() {
		c, _ := endpoint(t, nil, nil, rule)
		if _, err := c.Generate(t.Context(), demanding()); err != nil {
			t.Fatal(err)
		}
		learned := c.Capability("m")
		if len(learned.Demands) == 0 {
			continue // an output limit
		}
		c, srv := endpoint(t, nil, learned.Demands, rule)
		if _, err := c.Generate(t.Context(), demanding()); err != nil || len(srv.Refusals()) > 0 {
			t.Errorf("%s with %q: %v after %q", rule.Name, learned.Demands, err, srv.Refusals())
		}
		c, srv = endpoint(t, nil, []string{"-all"}, rule)
		if _, err := c.Generate(t.Context(), demanding()); err == nil || len(srv.Refusals()) != 1 {
			t.Errorf("%s with nothing to be learned: %v after %q", rule.Name, err, srv.Refusals())
		}
	}
	if _, err := New(modelhttp.ClientOptions{BaseURL: "http://model.test", Compat: []string{"no_tool_choise"}}); err == nil {
		t.Error("a word that names no demand is accepted")
	}
}

// The reasoning that came with a call goes back with it once the endpoint asks for it.
func TestReasoningGoesBackWithItsCall(t *testing.T) {
	var handed []string
	rule := llmtest.EndpointRules()[0]
	breaks := rule.Breaks
	rule.Breaks = func(r *llmtest.RawRequest) bool {
		handed = nil
		for _, m := range r.Messages {
			if len(m.Calls) > 0 && m.Reasoning != nil {
				handed = append(handed, *m.Reasoning)
			}
		}
		return breaks(r)
	}
	body := stream(`{"choices":[{"delta":{"reasoning_content":"Let me "}}]}`, `{"choices":[{"delta":{"reasoning_content":"look first."}}]}`,
		calls(`{"index":0,"id":"c1","function":{"name":"rest","arguments":"{}"}}`), called)
	c, _ := endpoint(t, nil, nil, rule)
	first := hello
	first.CacheKey = "kai"
	served := c.Options.Transport
	c.Options.Transport = fixed(body)
	answer, err := c.Generate(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	c.Options.Transport = served
	next := first
	next.Messages = append(next.Messages[:2:2], llm.TranscriptMessage{Role: llm.Assistant, Calls: answer.Calls},
		llm.TranscriptMessage{Role: llm.Result, CallID: "c1", Text: "done"},
		llm.TranscriptMessage{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "c0", Name: "rest", Args: "{}"}}}, llm.TranscriptMessage{Role: llm.Result, CallID: "c0", Text: "done"})
	if _, err := c.Generate(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Let me look first.", " "}, handed); diff != "" {
		t.Errorf("handed back (-want +got):\n%s", diff)
	}
}

// However a transcript is arranged, all that was said, called and returned is in it, in
// the same order.
func TestArrangedTranscriptLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		messages := []llm.TranscriptMessage{{Role: llm.System, Text: "s0"}}
		n := 0
		word := func(k string) string { n++; return fmt.Sprintf("%s%dx", k, n) }
		for range rapid.IntRange(1, 8).Draw(t, "turns") {
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				messages = append(messages, llm.TranscriptMessage{Role: llm.User, Text: word("u")})
			case 1:
				messages = append(messages, llm.TranscriptMessage{Role: llm.Assistant, Text: word("a")})
			case 2:
				m := llm.TranscriptMessage{Role: llm.Assistant, Text: word("a")}
				var results []llm.TranscriptMessage
				for range rapid.IntRange(1, 3).Draw(t, "calls") {
					id := word("c")
					m.Calls = append(m.Calls, llm.ToolCall{ID: id, Name: "look", Args: `{"at":"` + word("g") + `"}`})
					results = append(results, llm.TranscriptMessage{Role: llm.Result, CallID: id, Text: word("r")})
				}
				messages = append(append(messages, m), results...)
			}
		}
		messages = append(messages, llm.TranscriptMessage{Role: llm.User, Text: word("u")})
		before := fmt.Sprint(messages)
		d := demandSet(rapid.Uint32().Draw(t, "demands")) & inOrder
		got := arrange(messages, d)
		if fmt.Sprint(messages) != before {
			t.Fatal("the messages were changed")
		}
		if err := llmtest.Check(got, nil); err != nil {
			t.Fatalf("%v with %q: %v", err, d.names(), got)
		}
		written, at := string(written(llm.ModelRequest{Messages: got}, parameters{})), 0
		for _, k := range wordsOf(messages, d&singleCalls != 0) {
			i := strings.Index(written[at:], k)
			if i < 0 {
				t.Fatalf("%q is missing or misplaced with %q in %s", k, d.names(), written)
			}
			at += i
		}
	})
}

// wordsOf returns the texts and arguments of messages in order, each result behind its
// call where calls are split.
func wordsOf(messages []llm.TranscriptMessage, split bool) []string {
	var all []string
	for i, m := range messages {
		if m.Role != llm.Result || !split {
			all = append(all, m.Text)
		}
		for _, c := range m.Calls {
			all = append(all, strings.TrimSuffix(strings.TrimPrefix(c.Args, `{"at":"`), `"}`))
			for _, r := range messages[i:] {
				if split && r.CallID == c.ID {
					all = append(all, r.Text)
				}
			}
		}
	}
	return all
}

func TestPlainSchemaIsOfTheSmallestSubset(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{},"additionalProperties":false}`:                                                                                                 ``,
		`{"type":"object","$schema":"x","additionalProperties":false,"properties":{"a":{"type":["null","integer"],"minimum":1,"default":3}},"required":["a","b"]}`:       `{"properties":{"a":{"type":"integer"}},"required":["a"],"type":"object"}`,
		`{"type":"object","properties":{"a":{"description":"d","oneOf":[{"type":"null"},{"type":"array","items":{"type":"object","properties":{"k":{"const":"v"}}}}]}}}`: `{"properties":{"a":{"description":"d","items":{"properties":{"k":{"enum":["v"],"type":"string"}},"type":"object"},"type":"array"}},"type":"object"}`,
		`{"properties":{"a":{"enum":[1,2],"type":"integer"},"b":{"enum":["x","y"]},"c":true,"d":{"type":"array"}}}`:                                                      `{"properties":{"a":{"type":"integer"},"b":{"enum":["x","y"],"type":"string"},"c":{"type":"string"},"d":{"items":{"type":"string"},"type":"array"}},"type":"object"}`,
	} {
		if got := string(modelhttp.PlainSchema(json.RawMessage(schema))); got != want {
			t.Errorf("%s\n\tbecomes %s\n\twant    %s", schema, got, want)
		}
	}
}

func TestPlainNamesAreLettersAndDigits(t *testing.T) {
	for name, want := range map[string]string{
		"send_message": "sendMessage", "rest": "rest", "_x-1": "x1", "7zip": "t7zip", "___": "unknown", strings.Repeat("ab_", 30): strings.Repeat("abAb", 0) + "abAbAbAbAbAbAbAbAbAbAbAbAbAbAbAb",
	} {
		if got := plainName(name); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
	if a, b := shortID("call_one"), shortID("call_two"); len(a) != 9 || a == b || a != shortID("call_one") {
		t.Errorf("short ids %q and %q", a, b)
	}
}

// A tool that was offered by its plain name is called by its own.
func TestPlainNamesAreTranslatedBack(t *testing.T) {
	c := canned(t, 200, nil, stream(calls(`{"index":0,"id":"a","function":{"name":"sendMessage","arguments":"{}"}}`), called))
	c.always = plainNames
	heard := ""
	r := hello
	r.Hear = func(soFar llm.ModelResponse) {
		for _, call := range soFar.Calls {
			heard = call.Name
		}
	}
	got, err := c.Generate(t.Context(), r)
	if err != nil || len(got.Calls) != 1 || got.Calls[0].Name != "send_message" || heard != "send_message" {
		t.Errorf("%+v, %v; heard %q", got, err, heard)
	}
}
