package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

// numbered mints m1, m2, …
func numbered() func() string {
	n := 0
	return func() string { n++; return "m" + strconv.Itoa(n) }
}

func stream(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String() + "data: [DONE]\n\n"
}

func calls(parts string) string {
	return `{"choices":[{"index":0,"delta":{"tool_calls":[` + parts + `]}}]}`
}

// A piece of text is decoded as encoding/json decodes it, whatever its bytes.
func TestContentIsWhatTheStandardLibraryReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inner := rapid.SliceOf(rapid.OneOf(rapid.ByteRange(' ', '~'), rapid.Byte(), rapid.Just(byte('\\')))).Draw(t, "bytes")
		raw := append(append([]byte{'"'}, inner...), '"')
		var want string
		if json.Unmarshal(raw, &want) != nil {
			return // never gets there
		}
		var read modelhttp.ContentField
		err := json.Unmarshal(raw, &read)
		if got := modelhttp.WholeText(string(read), true); err != nil || got != want {
			t.Fatalf("%q becomes %q, want %q (%v)", raw, got, want, err)
		}
	})
}

const called = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`

func TestCallsAreAssembledHoweverTheyCome(t *testing.T) {
	tests := []struct {
		name string
		body string
		want []llm.ToolCall
	}{
		{
			"by index", stream(
				calls(`{"index":0,"id":"a","function":{"name":"x","arguments":""}},{"index":1,"id":"b","function":{"name":"y","arguments":"{"}}`),
				calls(`{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"{\"k\":"}}`),
				calls(`{"index":0,"function":{"arguments":"1}"}}`), called),
			[]llm.ToolCall{{ID: "a", Name: "x", Args: `{"k":1}`}, {ID: "b", Name: "y", Args: `{}`}},
		},
		{
			"without index", stream(
				calls(`{"id":"a","function":{"name":"x","arguments":"{"}}`), calls(`{"function":{"arguments":"}"}}`),
				calls(`{"id":"b","function":{"name":"y","arguments":"{}"}}`), called),
			[]llm.ToolCall{{ID: "a", Name: "x", Args: `{}`}, {ID: "b", Name: "y", Args: `{}`}},
		},
		{
			"without id", stream(
				calls(`{"index":0,"function":{"name":"x","arguments":"{}"}}`), calls(`{"index":1,"function":{"name":"y","arguments":"{}"}}`), called),
			[]llm.ToolCall{{ID: "m1", Name: "x", Args: `{}`}, {ID: "m2", Name: "y", Args: `{}`}},
		},
		{
			"whole calls that all have index 0", stream(
				calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), calls(`{"index":0,"id":"b","function":{"name":"x","arguments":"{}"}}`), called),
			[]llm.ToolCall{{ID: "a", Name: "x", Args: `{}`}, {ID: "b", Name: "x", Args: `{}`}},
		},
		{
			"whole calls without index and id", stream(
				calls(`{"function":{"name":"x","arguments":"{\"n\":1}"}},{"function":{"name":"x","arguments":"{\"n\":2}"}}`), called),
			[]llm.ToolCall{{ID: "m1", Name: "x", Args: `{"n":1}`}, {ID: "m2", Name: "x", Args: `{"n":2}`}},
		},
		{
			"the name in every piece", stream(
				calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{"}}`), calls(`{"index":0,"function":{"name":"x","arguments":"}"}}`), called),
			[]llm.ToolCall{{ID: "a", Name: "x", Args: `{}`}},
		},
		{
			"the id and the name in every piece", stream(
				calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{"}}`), calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"}"}}`), called),
			[]llm.ToolCall{{ID: "a", Name: "x", Args: `{}`}},
		},
		{
			"another id in every piece", stream(
				calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{"}}`), calls(`{"index":0,"id":"b","function":{"arguments":"}"}}`), called),
			[]llm.ToolCall{{ID: "a", Name: "x", Args: `{}`}},
		},
		{
			"a name in pieces", stream(
				calls(`{"index":0,"id":"a","function":{"name":"send_"}}`), calls(`{"index":0,"function":{"name":"message","arguments":"{}"}}`), called),
			[]llm.ToolCall{{ID: "a", Name: "send_message", Args: `{}`}},
		},
		{
			"the id after the name", stream(
				calls(`{"index":0,"function":{"name":"x"}}`), calls(`{"index":0,"id":"a","function":{"arguments":"{}"}}`), called),
			[]llm.ToolCall{{ID: "a", Name: "x", Args: `{}`}},
		},
		{
			"the same id twice", stream(
				calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), calls(`{"index":1,"id":"a","function":{"name":"y","arguments":"{}"}}`), called),
			[]llm.ToolCall{{ID: "a", Name: "x", Args: `{}`}, {ID: "m1", Name: "y", Args: `{}`}},
		},
		{
			"an id of the transcript", stream(calls(`{"index":0,"id":"old","function":{"name":"x","arguments":"{}"}}`), called),
			[]llm.ToolCall{{ID: "m1", Name: "x", Args: `{}`}},
		},
		{
			"arguments as JSON, null or nothing", stream(
				calls(`{"index":0,"id":"a","function":{"name":"x","arguments":{"k": [1]}}}`),
				calls(`{"index":1,"id":"b","function":{"name":"y","arguments":null}}`),
				calls(`{"index":2,"id":"c","function":{"name":"z"}}`), called),
			[]llm.ToolCall{{ID: "a", Name: "x", Args: `{"k": [1]}`}, {ID: "b", Name: "y", Args: `{}`}, {ID: "c", Name: "z", Args: `{}`}},
		},
		{
			"finish_reason stop", stream(
				calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), `{"choices":[{"delta":{},"finish_reason":"stop"}]}`),
			[]llm.ToolCall{{ID: "a", Name: "x", Args: `{}`}},
		},
		{
			"another choice", stream(
				`{"choices":[{"index":1,"delta":{"content":"no","tool_calls":[{"id":"z","function":{"name":"z"}}]},"finish_reason":"stop"}]}`,
				calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), called),
			[]llm.ToolCall{{ID: "a", Name: "x", Args: `{}`}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := canned(t, 200, nil, tt.body)
			c.Options.MintID = numbered()
			r := hello
			r.Messages = append(r.Messages[:2:2],
				llm.TranscriptMessage{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "old", Name: "x", Args: "{}"}}},
				llm.TranscriptMessage{Role: llm.Result, CallID: "old", Text: "done"})
			got, err := c.Generate(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Calls); diff != "" || got.Finish != llm.Called || got.Text != "" {
				t.Errorf("answer %+v (-want +got):\n%s", got, diff)
			}
		})
	}
}

// The name of a call is changed to one that endpoints accept in later requests.
func TestNameOfACallCanBeSentBack(t *testing.T) {
	for said, want := range map[string]string{
		"send_message":           "send_message",
		"functions.send_message": "send_message",
		"send message!":          "send_message_",
		"сказать":                "_______",
		strings.Repeat("n", 70):  strings.Repeat("n", 64),
		"":                       "_",
	} {
		c := canned(t, 200, nil, stream(calls(`{"index":0,"id":"a","function":{"name":"`+said+`","arguments":"{}"}}`), called))
		resp, err := c.Generate(t.Context(), hello)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]llm.ToolCall{{ID: "a", Name: want, Args: "{}"}}, resp.Calls); diff != "" {
			t.Errorf("%q (-want +got):\n%s", said, diff)
		}
	}
}

func TestTextIsAssembledHoweverItComes(t *testing.T) {
	for name, body := range map[string]string{
		"pieces":           stream(`{"choices":[{"delta":{"role":"assistant","content":"Hel"}}]}`, `{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}`),
		"nulls":            stream(`{"choices":[{"delta":{"content":null,"tool_calls":null}}]}`, `{"choices":[{"delta":{"content":"Hello"},"finish_reason":null}],"usage":null}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `{"choices":[]}`),
		"parts":            stream(`{"choices":[{"delta":{"content":[{"type":"thinking","text":"hm"},{"type":"text","text":"Hello"}]},"finish_reason":"stop"}]}`),
		"refusal":          stream(`{"choices":[{"delta":{"refusal":"Hello"},"finish_reason":"stop"}]}`),
		"no done":          "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\n",
		"no last line end": `data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}`,
		"windows lines":    "data:{\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n",
		"comments":         strings.Repeat(": keep alive\n\n", 1000) + "event: message\nid: 7\n" + stream(`{"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}`),
		"unknown reason":   stream(`{"choices":[{"delta":{"content":"Hello"},"finish_reason":"eos"}]}`),
		"plain":            `{"choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}`,
		"plain, indented":  " \n{\n\t\"choices\": [\r\n{\"message\": {\"content\": \"Hello\"}}\n]\n}\n",
		"reasoning":        stream(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, `{"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}`),
		"thoughts":         stream(`{"choices":[{"delta":{"content":"<think>\nhm </th"}}]}`, `{"choices":[{"delta":{"content":"ink>\n\nHello"},"finish_reason":"stop"}]}`),
		"thoughts alone":   stream(`{"choices":[{"delta":{"content":"Hm. Hello?\n</think>\n\nHello"},"finish_reason":"stop"}]}`),
		"no thoughts":      stream(`{"choices":[{"delta":{"content":"\n<think>\n\n</think>\n\nHello\n"},"finish_reason":"stop"}]}`),
		"calls unasked":    stream(calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), `{"choices":[{"delta":{"content":"Hello"},"finish_reason":"tool_calls"}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			r := hello
			r.NoCalls = true
			got, err := canned(t, 200, nil, body).Generate(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got.Text != "Hello" || got.Finish != llm.Stopped || len(got.Calls) > 0 {
				t.Errorf("answer = %+v, want Hello", got)
			}
		})
	}
}

// CON-07: reasoning in front of an answer is removed, wherever it ends; text about
// reasoning stays.
func TestReasoningIsRemovedFromAnswers(t *testing.T) {
	for text, want := range map[string]string{
		"<think>hm":                            "",
		"<think>hm</think>":                    "",
		" <think>hm</think> Hi <think>":        "Hi <think>",
		"hm\n</think>\nHi":                     "Hi",
		"Close it with </think>, I think.":     "Close it with </think>, I think.",
		"Write <think>\nhm\n</think>\nbefore.": "Write <think>\nhm\n</think>\nbefore.",
		"Hi\n":                                 "Hi\n",
	} {
		if _, got := splitReasoning(text); got != want {
			t.Errorf("%q says %q, want %q", text, got, want)
		}
	}
}

func TestUsageIsTheEndpointsOrAnEstimate(t *testing.T) {
	const text = `{"choices":[{"delta":{"content":"12345678"},"finish_reason":"stop"}]}`
	for name, tt := range map[string]struct {
		usage string
		want  llm.TokenUsage
	}{
		"said":        {`{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":8}}`, llm.TokenUsage{Prompt: 10, Cached: 8, Output: 3}},
		"as floats":   {`{"prompt_tokens":10.0,"completion_tokens":3.0}`, llm.TokenUsage{Prompt: 10, Output: 3}},
		"cache hits":  {`{"prompt_tokens":10,"completion_tokens":3,"prompt_cache_hit_tokens":4}`, llm.TokenUsage{Prompt: 10, Cached: 4, Output: 3}},
		"written":     {`{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":60}}`, llm.TokenUsage{Prompt: 10, Cached: 4, Written: 6, Output: 3}},
		"impossible":  {`{"prompt_tokens":10,"completion_tokens":-3,"prompt_tokens_details":{"cached_tokens":80}}`, llm.TokenUsage{Prompt: 10, Cached: 10}},
		"overflowing": {`{"prompt_tokens":1e300,"completion_tokens":3}`, llm.TokenUsage{Prompt: 1<<31 - 1, Output: 3}},
		"zeros":       {`{"prompt_tokens":0,"completion_tokens":0}`, llm.TokenUsage{Output: 2, Estimated: true}},
		"missing":     {`null`, llm.TokenUsage{Output: 2, Estimated: true}},
	} {
		t.Run(name, func(t *testing.T) {
			c := canned(t, 200, nil, stream(text, `{"choices":[],"usage":`+tt.usage+`}`))
			got, err := c.Generate(t.Context(), hello)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want.Estimated {
				tt.want.Prompt = (len(written(hello, c.parametersFor(hello, 0, llm.ModelCapability{}))) + 3) / 4
			}
			if got.Usage != tt.want {
				t.Errorf("usage = %+v, want %+v", got.Usage, tt.want)
			}
		})
	}
}

func TestAnswerThatBlocksOrEndsEarlyHasNoCalls(t *testing.T) {
	for reason, want := range map[string]llm.FinishReason{"length": llm.Length, "max_tokens": llm.Length, "content_filter": llm.Blocked} {
		body := stream(calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{"}}`), `{"choices":[{"delta":{},"finish_reason":"`+reason+`"}]}`)
		got, err := canned(t, 200, nil, body).Generate(t.Context(), hello)
		if err != nil || got.Finish != want || len(got.Calls) > 0 {
			t.Errorf("%s: answer %+v, error %v", reason, got, err)
		}
	}
}

func TestTooManyCallsAreGarbled(t *testing.T) {
	var all []string
	for i := range mostCalls + 1 {
		all = append(all, calls(`{"index":`+strconv.Itoa(i)+`,"function":{"name":"x"}}`))
	}
	_, err := canned(t, 200, nil, stream(append(all, called)...)).Generate(t.Context(), hello)
	if err == nil || llm.KindOf(err) != llm.Garbled {
		t.Errorf("error = %v, want garbled", err)
	}
}

func TestAnswerStopsAtItsLimit(t *testing.T) {
	body := stream(`{"choices":[{"delta":{"content":"` + strings.Repeat("a", 1000) + `"},"finish_reason":"stop"}]}`)
	for limit, want := range map[int64]bool{int64(len(body)): true, int64(len(body)) - 1: false} {
		c := canned(t, 200, nil, body)
		c.Options.MaxBytes = limit
		_, err := c.Generate(t.Context(), hello)
		if (err == nil) != want {
			t.Errorf("limit %d of %d bytes: error %v", limit, len(body), err)
		}
	}
}

// FuzzStream feeds any body to a client: it must answer or fail in form.
func FuzzStream(f *testing.F) {
	f.Add(stream(calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), called), 7)
	f.Add(stream(`{"choices":[{"delta":{"content":[{"type":"text","text":"Hello"}]},"finish_reason":"stop"}]}`), 1)
	f.Add("{\n\"choices\":[{\"message\":{\"content\":\"Hello\",\"tool_calls\":[{\"function\":{\"name\":\"x\",\"arguments\":{}}}]}}]}", 4096)
	f.Add("data: {\"error\":{\"message\":\"x\",\"code\":429}}\n\n", 3)
	f.Add("<html>", 2)
	f.Add("\ufeff\n\n: ping\n\n", 1)
	f.Fuzz(func(t *testing.T, body string, step int) {
		c := mustNew(t, modelhttp.ClientOptions{BaseURL: "http://model.test", MaxBytes: 1 << 16, Transport: fakeTransport(
			func(*http.Request) (*http.Response, error) {
				src := io.NopCloser(&stepReader{strings.NewReader(body), step%512 + 1})
				return &http.Response{StatusCode: http.StatusOK, Body: src}, nil
			})})
		r := hello
		r.Messages = append(r.Messages[:2:2], llm.TranscriptMessage{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "x", Args: "{}"}}},
			llm.TranscriptMessage{Role: llm.Result, CallID: "a"})
		got, err := c.Generate(t.Context(), r)
		if err != nil {
			if got.Text != "" || got.Calls != nil {
				t.Fatalf("an answer %+v beside the error %v", got, err)
			}
			return
		}
		ids := map[string]bool{"a": true}
		for _, call := range got.Calls {
			if call.ID == "" || ids[call.ID] || call.Args == "" {
				t.Fatalf("call %+v is not usable", call)
			}
			ids[call.ID] = true
		}
		if (got.Finish == llm.Called) != (len(got.Calls) > 0) || got.Usage.Prompt <= 0 || got.Usage.Output < 0 {
			t.Fatalf("answer %+v contradicts itself", got)
		}
	})
}

// A stepReader gives out a few bytes at a time.
type stepReader struct {
	r    io.Reader
	step int
}

func (s *stepReader) Read(p []byte) (int, error) {
	return s.r.Read(p[:min(len(p), max(s.step, 1))])
}

func TestBadArgumentsPassThroughUnchanged(t *testing.T) {
	args := `{"text": "un` + "`" + `closed`
	quoted, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	got, err := canned(t, 200, nil, stream(calls(`{"index":0,"id":"a","function":{"name":"x","arguments":`+string(quoted)+`}}`), called)).Generate(t.Context(), hello)
	if err != nil || len(got.Calls) != 1 || got.Calls[0].Args != args {
		t.Errorf("answer %+v, error %v", got, err)
	}
}

// A text that comes in one piece is decoded as encoding/json decodes it.
func FuzzTextOfAPiece(f *testing.F) {
	for _, text := range []string{
		`"plain"`, `""`, `"a \"word\" and \\ \n\t\b\f\r"`, `"\/"`, `"\u00e9\u0000\u2028"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ude00\ud83d\ude00"`, "\"\xff\"", "\"\xed\xa0\"", "\"\u2028\"",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want string
		if json.Unmarshal([]byte(text), &want) != nil || strings.TrimSpace(text) == "null" {
			return
		}
		var a modelhttp.ArgumentField
		var c modelhttp.ContentField
		if err := errors.Join(json.Unmarshal([]byte(text), &a), json.Unmarshal([]byte(text), &c)); err != nil || a != modelhttp.ArgumentField(c) {
			t.Errorf("%s is %q as arguments and %q as content (%v)", text, a, c, err)
		}
		if got := modelhttp.WholeText(string(c), true); got != want && !strings.Contains(string(c), "\xed") { // which a half looks like
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	})
}

// BLU-12: Hear receives growing prefixes of the answer, and at the end all of it.
func TestAnAnswerIsHeardAsItComes(t *testing.T) {
	for name, srv := range map[string]*llmtest.Server{
		"in halves": {},
		"piecemeal": {Gap: time.Microsecond},
		"whole": {Fault: func(int, llm.ModelRequest) llmtest.EndpointFault {
			return llmtest.EndpointFault{Kind: llmtest.PlainJSON}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			srv.Model = llmtest.NewScripted(t.Errorf, llmtest.ScriptStep{Response: goodAnswer})
			c := newClient(t, srv, modelhttp.ClientOptions{})
			var heard []llm.ModelResponse
			r := hello
			r.Hear = func(soFar llm.ModelResponse) { heard = append(heard, soFar) }
			got, err := c.Generate(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range heard {
				if !begins(got, h) {
					t.Errorf("heard %+v of %+v", h, got)
				}
			}
			if n := len(heard); n == 0 || !begins(heard[n-1], got) {
				t.Errorf("after %d pieces not all was heard", n)
			}
		})
	}
}

// begins reports whether so far is a beginning of whole.
func begins(whole, soFar llm.ModelResponse) bool {
	if !strings.HasPrefix(whole.Text, soFar.Text) || len(soFar.Calls) > len(whole.Calls) {
		return false
	}
	for i, c := range soFar.Calls {
		if c.ID != whole.Calls[i].ID || c.Name != whole.Calls[i].Name || !strings.HasPrefix(whole.Calls[i].Args, c.Args) {
			return false
		}
	}
	return true
}

// After a failed attempt Hear starts again from the first word.
func TestHearStartsAgainWithEachAttempt(t *testing.T) {
	srv := &llmtest.Server{
		Model: llmtest.NewScripted(t.Errorf, llmtest.ScriptStep{Response: goodAnswer, Always: true}),
		Fault: func(n int, _ llm.ModelRequest) llmtest.EndpointFault {
			if n == 1 {
				return llmtest.EndpointFault{Kind: llmtest.CutQuietly}
			}
			return llmtest.EndpointFault{}
		},
	}
	m := &llm.RetryingModel{Model: newClient(t, srv, modelhttp.ClientOptions{}), FirstWait: time.Millisecond}
	shorter := 0
	var last llm.ModelResponse
	r := hello
	r.Hear = func(soFar llm.ModelResponse) {
		if !begins(soFar, last) {
			shorter++
		}
		last = soFar
	}
	if got, err := m.Generate(t.Context(), r); err != nil || shorter != 1 || !begins(last, got) {
		t.Errorf("began anew %d times, want once; heard %+v in the end (%v)", shorter, last, err)
	}
}

// Hear receives no calls if the request forbids them.
func TestForbiddenCallsAreNotHeard(t *testing.T) {
	c := canned(t, 200, nil, stream(calls(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), called))
	r := hello
	r.NoCalls = true
	r.Hear = func(soFar llm.ModelResponse) {
		if len(soFar.Calls) > 0 {
			t.Errorf("heard %+v", soFar.Calls)
		}
	}
	if _, err := c.Generate(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}
