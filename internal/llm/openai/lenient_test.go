package openai

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
)

const (
	begun = `{"index":0,"id":"c1","type":"function","function":{"name":"send_message","arguments":""}}`
	// ends is a piece with the reason to finish alone.
	ends = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
)

// args is a piece of a call: arguments as JSON text, at an index unless it is empty.
func args(index, quoted string) string {
	if index != "" {
		index = `"index":` + index + `,`
	}
	return calls(`{` + index + `"function":{"arguments":` + quoted + `}}`)
}

// One field of an unexpected form spoils no answer, and a stream may end in any way
// after a whole call.
func TestOddAnswersAreRead(t *testing.T) {
	one := calls(`{"index":0,"id":"c1","function":{"name":"send_message","arguments":"{\"text\":\"hi\"}"}}`)
	for name, tt := range map[string]struct{ body, args string }{
		"[DONE] without a reason":               {stream(one), `{"text":"hi"}`},
		"a whole call and the end":              {"data: " + one + "\n\n", `{"text":"hi"}`},
		"a whole call and an unfinished line":   {"data: " + one, `{"text":"hi"}`},
		"the reason null as text":               {stream(strings.Replace(one, `}}]}`, `}}],"finish_reason":"null"}`, 1), ends), `{"text":"hi"}`},
		"several data lines":                    {"data: {\"choices\":[{\"index\":0,\ndata: \"delta\":{\"tool_calls\": [{\"id\": \"c1\", \"function\": {\"name\": \"send_message\",\ndata:\"arguments\": \"{\\\"text\\\":\\\"hi\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n", `{"text":"hi"}`},
		"several data lines, CRLF":              {"data: {\"choices\":[{\"index\":0,\r\ndata: \"delta\":{\"tool_calls\": [{\"id\": \"c1\", \"function\": {\"name\": \"send_message\", \"arguments\": \"{}\"}}]}}]}\r\n\r\ndata: [DONE]\r\n\r\n", `{}`},
		"CR alone":                              {strings.ReplaceAll(stream(one, ends), "\n", "\r"), `{"text":"hi"}`},
		"one line end between events":           {strings.ReplaceAll(stream(one, ends), "\n\n", "\n"), `{"text":"hi"}`},
		"lines of JSON":                         {one + "\n" + ends + "\n", `{"text":"hi"}`},
		"events without a field, then with":     {one + "\n\ndata: " + ends + "\n\n", `{"text":"hi"}`},
		"a space before the field's colon":      {strings.ReplaceAll(stream(one, ends), "data: ", "data : "), `{"text":"hi"}`},
		"comments and words as life":            {": ping\n\n" + strings.Repeat("data: ping\n\n: OPENROUTER PROCESSING\n", 300) + stream(one, ends), `{"text":"hi"}`},
		"named events":                          {"event: ping\ndata: {\"type\": \"ping\"}\n\nevent: completion\n" + stream(one, ends), `{"text":"hi"}`},
		"[DONE] in quotes":                      {"data: " + one + "\n\ndata: \"[DONE]\"\n\n", `{"text":"hi"}`},
		"index as text":                         {stream(strings.ReplaceAll(one, `"index":0`, `"index":"0"`), ends), `{"text":"hi"}`},
		"index as a fraction":                   {stream(strings.ReplaceAll(one, `"index":0`, `"index":0.0`), ends), `{"text":"hi"}`},
		"index as a list":                       {stream(strings.ReplaceAll(one, `"index":0`, `"index":[]`), ends), `{"text":"hi"}`},
		"id as a number":                        {stream(strings.ReplaceAll(one, `"id":"c1"`, `"id":12`), ends), `{"text":"hi"}`},
		"calls as one object":                   {stream(strings.NewReplacer(`"tool_calls":[`, `"tool_calls":`, `}]}}]}`, `}}}]}`).Replace(one), ends), `{"text":"hi"}`},
		"choices as one object":                 {stream(`{"choices":{"delta":{"tool_calls":{"id":"c1","function":{"name":"send_message","arguments":"{}"}}}}}`), `{}`},
		"a call without the object function":    {stream(calls(`{"id":"c1","name":"send_message","arguments":{"text":"hi"}}`), ends), `{"text":"hi"}`},
		"parameters for arguments":              {stream(calls(`{"id":"c1","function":{"name":"send_message","parameters":{"text":"hi"}}}`), ends), `{"text":"hi"}`},
		"input for arguments":                   {stream(calls(`{"id":"c1","name":"send_message","input":{"text":"hi"}}`), ends), `{"text":"hi"}`},
		"the older function_call":               {stream(`{"choices":[{"delta":{"function_call":{"name":"send_message","arguments":"{\"text\":"}}}]}`, `{"choices":[{"delta":{"function_call":{"arguments":"\"hi\"}"}},"finish_reason":"function_call"}]}`), `{"text":"hi"}`},
		"usage, content and more of wrong type": {stream(`{"id":7,"created":"now","usage":[1],"model":{},"choices":[{"index":0,"logprobs":"x","delta":{"role":5,"content":7,"refusal":{},"reasoning_content":true}}]}`, one, ends), `{"text":"hi"}`},
		"the reason as an object":               {stream(one, `{"choices":[{"delta":null,"finish_reason":{"type":"stop"}}]}`), `{"text":"hi"}`},
		"numbers that JSON does not have":       {stream(strings.Replace(one, `"index":0,"delta"`, `"logprob":NaN,"other":-Infinity,"delta"`, 1), ends), `{"text":"hi"}`},
		"something behind the event":            {stream(one+" junk", ends), `{"text":"hi"}`},
		"no error in the error":                 {stream(strings.Replace(one, `{"choices"`, `{"error":{"code":0,"message":""},"base_resp":{"status_code":0,"status_msg":"success"},"choices"`, 1), ends), `{"text":"hi"}`},
		"an error after the reason to finish":   {stream(one, ends) + `data: {"error":{"message":"late"}}` + "\n\n", `{"text":"hi"}`},
		"calls in a message":                    {`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c1","function":{"name":"send_message","arguments":"{\"text\":\"hi\"}"}}]},"finish_reason":"tool_calls"}]}`, `{"text":"hi"}`},
		"a message after the pieces":            {stream(one, `{"choices":[{"delta":{},"message":{"content":"","tool_calls":[{"id":"c1","function":{"name":"send_message","arguments":"{\"text\":\"hi\"}"}}]},"finish_reason":"stop"}]}`), `{"text":"hi"}`},
		"another index for the arguments":       {stream(calls(begun), args("1", `"{\"text\":"`), args("1", `"\"hi\"}"`), ends), `{"text":"hi"}`},
		"no index for the arguments":            {stream(calls(begun), args("", `"{\"text\":"`), args("null", `"\"hi\"}"`), ends), `{"text":"hi"}`},
		"an index that grows":                   {stream(calls(begun), args("1", `"{\"text\":"`), args("2", `"\"hi\"}"`), ends), `{"text":"hi"}`},
		"an index for the arguments alone":      {stream(calls(strings.Replace(begun, `"index":0,`, "", 1)), args("0", `"{\"text\":"`), args("0", `"\"hi\"}"`), ends), `{"text":"hi"}`},
		"arguments under the call's id":         {stream(calls(begun), calls(`{"index":5,"id":"c1","function":{"arguments":"{\"text\":\"hi\"}"}}`), ends), `{"text":"hi"}`},
		"the name, then the arguments":          {stream(calls(`{"index":0,"id":"c1","function":{"name":"send_message"}}`), calls(`{"index":1,"id":"c2","function":{"arguments":"{\"text\":\"hi\"}"}}`), ends), `{"text":"hi"}`},
		"the whole arguments at the end":        {stream(calls(begun), args("0", `"{\"text\":"`), args("0", `"\"hi\"}"`), args("0", `"{\"text\":\"hi\"}"`), ends), `{"text":"hi"}`},
		"the whole call at the end":             {stream(calls(begun), args("0", `"{\"text\":"`), args("0", `"\"hi\"}"`), calls(`{"index":0,"function":{"name":"send_message","arguments":"{\"text\":\"hi\"}"}}`), ends), `{"text":"hi"}`},
		"all so far in every piece":             {stream(calls(begun), args("0", `"{\"te"`), args("0", `"{\"text\":\"h"`), args("0", `"{\"text\":\"hi\"}"`), ends), `{"text":"hi"}`},
		"the name so far in every piece":        {stream(calls(`{"index":0,"id":"c1","function":{"name":"send_"}}`), calls(`{"index":0,"function":{"name":"send_message","arguments":"{}"}}`), ends), `{}`},
		"arguments in an object":                {stream(calls(`{"index":0,"id":"c1","function":{"name":"send_message","arguments":{"text":"hi"}}}`), ends), `{"text":"hi"}`},
		"halves of an emoji":                    {stream(calls(`{"index":0,"id":"c1","function":{"name":"send_message","arguments":"{\"text\":\"party \ud83c"}}`), args("0", `"\udf89 time\"}"`), ends), `{"text":"party 🎉 time"}`},
		"bytes of an emoji":                     {stream(calls("{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"send_message\",\"arguments\":\"{\\\"text\\\":\\\"party \xf0\x9f\"}}"), args("0", "\"\x8e\x89 time\\\"}\""), ends), `{"text":"party 🎉 time"}`},
		"half an emoji":                         {stream(calls(`{"index":0,"id":"c1","function":{"name":"send_message","arguments":"{\"text\":\"\ud83c\"}"}}`), ends), "{\"text\":\"\ufffd\"}"},
		"a line end in a string of the event":   {"data: " + strings.Replace(one, `\"hi\"`, "\\\"h\ti\\\"", 1) + "\n\ndata: [DONE]\n\n", "{\"text\":\"h\ti\"}"},
		"junk behind the arguments":             {stream(calls(`{"index":0,"id":"c1","function":{"name":"send_message","arguments":"{\"text\":\"hi\"} <junk>"}}`), ends), `{"text":"hi"} <junk>`},
		"a line end in the arguments":           {stream(calls(`{"index":0,"id":"c1","function":{"name":"send_message","arguments":"{\"text\":\"a\nb\"}"}}`), ends), "{\"text\":\"a\nb\"}"},
		"line ends between tokens":              {stream(calls(`{"index":0,"id":"c1","function":{"name":"send_message","arguments":"{\"text\": \\n\"hi\"\\n}"}}`), ends), `{"text": \n"hi"\n}`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range []int{1, 7, 1 << 20} {
				got, err := inSteps(t, tt.body, step).Generate(t.Context(), hello)
				if err != nil {
					t.Fatal(err)
				}
				if len(got.Calls) != 1 || got.Calls[0].Name != "send_message" || got.Calls[0].Args != tt.args || got.Finish != llm.Called {
					t.Fatalf("in pieces of %d bytes: answer %+v, want send_message %s", step, got, tt.args)
				}
			}
		})
	}
}

// inSteps returns a client whose answer arrives in pieces of some bytes.
func inSteps(t *testing.T, body string, step int) *Client {
	t.Helper()
	return mustNew(t, modelhttp.ClientOptions{BaseURL: "http://model.test/v1", Transport: fakeTransport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: struct {
			*stepReader
			nothingToClose
		}{&stepReader{strings.NewReader(body), step}, nothingToClose{}}}, nil
	})})
}

type nothingToClose struct{}

func (nothingToClose) Close() error { return nil }

func TestOddTextsAreRead(t *testing.T) {
	for name, body := range map[string]string{
		"an object":              stream(`{"choices":[{"delta":{"content":{"type":"text","text":"Hello"}},"finish_reason":"stop"}]}`),
		"an object in a list":    stream(`{"choices":[{"delta":{"content":[{"type":"output_text","text":{"value":"Hello"}}]},"finish_reason":"stop"}]}`),
		"a list of texts":        stream(`{"choices":[{"delta":{"content":["Hel","lo"]},"finish_reason":"stop"}]}`),
		"thoughts beside it":     stream(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Hello"}]},"finish_reason":"stop"}]}`),
		"the older completions":  stream(`{"choices":[{"text":"Hel","index":0}]}`, `{"choices":[{"text":"lo","index":0,"finish_reason":"stop"}]}`),
		"halves of a character":  stream(`{"choices":[{"delta":{"content":"Hell"}}]}`, `{"choices":[{"delta":{"content":"o"}}]}`),
		"[DONE] alone":           stream(`{"choices":[{"delta":{"content":"Hello"}}]}`),
		"the whole once more":    stream(`{"choices":[{"delta":{"content":"Hello"}}]}`, `{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}`),
		"an indented message":    "{\n\n  \"choices\": [{\n\n\"message\": {\"content\": \"Hello\"}}]\n}",
		"a list of answers":      `[{"choices":[{"message":{"content":"Hello"}}]}]`,
		"framed plain answer":    "data: {\"choices\":[{\"message\":{\"content\":\"Hello\"},\"finish_reason\":\"STOP\"}]}\n\n",
		"cut after the reason":   "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choi",
		"a report beside choice": stream(`{"message":"success","code":0,"choices":[{"delta":{"content":"Hello"},"finish_reason":"stop"}]}`),
	} {
		got, err := canned(t, 200, nil, body).Generate(t.Context(), hello)
		if err != nil || got.Text != "Hello" || len(got.Calls) > 0 || got.Finish != llm.Stopped {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A failure within an answer has the endpoint's own words and the kind they mean.
func TestFailedAnswersKeepTheEndpointsWords(t *testing.T) {
	for body, want := range map[string]struct {
		kind  llm.ErrorKind
		words string
	}{
		`{"id": "1", "choices": null, "object": "chat.completion", "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}`: {llm.Denied, "insufficient balance"},
		`{"base_resp":{"status_code":1004,"status_msg":"login fail: please carry the API secret key"}}`:                                       {llm.Denied, "login fail"},
		`data: {"choices":[],"base_resp":{"status_code":2013,"status_msg":"invalid params, context window exceeds limit"}}`:                   {llm.TooLong, "context window"},
		`{"error_code":18,"error_msg":"Open api qps request limit reached, too many requests"}`:                                               {llm.Limited, "request limit"},
		`{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing.","request_id":"x"}`:                 {llm.Denied, "good standing"},
		`{"code":"InvalidParameter","message":"Range of input length should be [1, 30720]"}`:                                                  {llm.TooLong, "30720"},
		`{"code":1113,"msg":"您的账户已欠费，请充值后重试","success":false}`:                                                                                {llm.Denied, "欠费"},
		`{"object":"error","message":"The model x does not exist: no such model","type":"NotFoundError","code":404}`:                          {llm.NoModel, "no such model"},
		`{"detail":"rate limit exceeded"}`:                                                                                                                                 {llm.Limited, "rate limit exceeded"},
		`{"errors":[{"message":"Too many requests","code":7505}],"success":false}`:                                                                                         {llm.Limited, "Too many requests"},
		`{"header":{"code":11200,"message":"AppIdNoAuthError: no credit left"}}`:                                                                                           {llm.Denied, "no credit left"},
		`{"fault":{"faultstring":"Invalid API Key"}}`:                                                                                                                      {llm.Denied, "Invalid API Key"},
		`data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                                                                                {llm.Unavailable, "Overloaded"},
		"event: error\ndata: {\"message\":\"prompt is too long\",\ndata: \"code\":400}":                                                                                    {llm.TooLong, "prompt is too long"},
		"event: error\ndata: credit balance is too low":                                                                                                                    {llm.Denied, "credit balance"},
		"event: error\ndata: {\"error\":\"bad\",\ndata: \"code\":400}":                                                                                                     {llm.Rejected, "bad"},
		`data: {"error":{"object":"error","message":"The input (9000 tokens) is longer than the model's context length (8192 tokens).","code":400}}`:                       {llm.TooLong, "8192"},
		`data: {"choices":[{"error":{"code":429,"message":"slow down"},"finish_reason":"error","delta":{"content":""}}]}`:                                                  {llm.Limited, "slow down"},
		`data: {"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"This model's maximum prompt length is 131072\"}}"}}}`: {llm.TooLong, "131072"},
		"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n{\"error\": {\"message\": \"model not found\"}}":                                                    {llm.NoModel, "model not found"},
		"data: {\"choices\":[{\"delta\":{\"content\":\"hal\"}}]}\n\n{\n  \"error\": {\n\n    \"message\": \"CUDA out of memory\"}\n}":                                      {llm.Unavailable, "CUDA out of memory"},
		`[{"error":{"code":400,"message":"The input token count (1058724) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`:         {llm.TooLong, "1048576"},
		"Insufficient balance":                                                                 {llm.Denied, "Insufficient balance"},
		"upstream says nothing of use, try another door":                                       {llm.Garbled, "try another door"},
		"data: {\"choices\":[{\"delta\":{\"content\":\"hal\n\ndata: [DONE]\n\n":                {llm.Garbled, "cannot be read"},
		"<!doctype html><html><head><title>502 Bad\n Gateway &amp; more</title></head></html>": {llm.Garbled, "502 Bad Gateway & more"},
		"":                              {llm.Garbled, "cut off"},
		"data: [DONE]\n\n":              {llm.Garbled, "cut off"},
		`data: {"error":{"code":1234}}`: {llm.Unavailable, "does not explain"},
		`data: {"choices":[{"finish_reason":"insufficient_system_resource","delta":{"content":"x"}}]}`: {llm.Unavailable, "does not explain"},
	} {
		_, err := canned(t, 200, nil, body).Generate(t.Context(), hello)
		if err == nil || llm.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.words) {
			t.Errorf("%s\n\tgives %v, want %s with %q", body, err, want.kind, want.words)
		}
	}
}

// Embeddings and transcripts are read as leniently as answers of the chat.
func TestOddPlainAnswersAreRead(t *testing.T) {
	packed := make([]byte, 0, 8)
	for _, f := range []float32{1, 2} {
		packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(f))
	}
	for name, body := range map[string]string{
		"index as text":    `{"data":[{"index":"1","embedding":[3,4]},{"index":"0","embedding":[1,2]}]}`,
		"no index":         `{"data":[{"embedding":[1,2]},{"embedding":[3,4]}],"usage":"none"}`,
		"nested":           `{"data":[{"embedding":[[1,2]]},{"embedding":[ [3,4] ]}]}`,
		"base64":           `{"data":[{"index":0,"embedding":"` + base64.StdEncoding.EncodeToString(packed) + `"},{"index":1,"embedding":[3,4]}]}`,
		"embeddings alone": `{"embeddings":[[1,2],[3,4]],"object":7}`,
		"as an event":      "data: {\"data\":[{\"embedding\":[1,2]},\ndata: {\"embedding\":[3,4]}]}\n\ndata: [DONE]\n\n",
	} {
		got, _, err := canned(t, 200, nil, body).Embed(t.Context(), "m", []string{"a", "b"})
		if diff := cmp.Diff([][]float32{{1, 2}, {3, 4}}, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	for name, body := range map[string]string{
		"more fields":  `{"text":"hello there","usage":"7s","segments":7}`,
		"segments":     `{"segments":[{"id":0,"text":"hello"},{"id":1,"text":" there"}]}`,
		"parts":        `{"text":[{"text":"hello "},"there"]}`,
		"control":      "{\"text\":\"hello\\u0020there\",\"raw\":\"a\nb\"}",
		"as an event":  "data: {\"text\":\"hello there\"}\n\n",
		"with a title": "{\n\"task\":\"transcribe\",\n\"text\":\"hello there\"}",
	} {
		got, _, err := canned(t, 200, nil, body).Transcribe(t.Context(), "m", "v.ogg", strings.NewReader("x"), 1)
		if err != nil || got != "hello there" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for body, want := range map[string]llm.ErrorKind{
		`{"error":{"message":"no such model"}}`:                                  llm.NoModel,
		`{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`: llm.Denied,
		`insufficient credits`:                                                   llm.Denied,
		`<html><title>Sign in</title></html>`:                                    llm.Garbled,
		`{"detail":"rate limit"}`:                                                llm.Limited,
		`{"nothing":1}`:                                                          llm.Garbled,
	} {
		c := canned(t, 200, nil, body)
		_, _, err := c.Embed(t.Context(), "m", []string{"a"})
		_, _, err2 := c.Transcribe(t.Context(), "m", "v.ogg", strings.NewReader("x"), 1)
		if err == nil || err2 == nil || llm.KindOf(err) != want || llm.KindOf(err2) != want {
			t.Errorf("%s: %v and %v, want %s", body, err, err2, want)
		}
	}
}
