package llmtest

import (
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// StreamForms returns the forms in which servers send the same events, by what is odd in
// them: functions of an event stream whose events have one data line each.
func StreamForms() map[string]func(stream string) string {
	replace := func(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }
	return map[string]func(string) string{
		"as it is":                    func(s string) string { return s },
		"CRLF":                        replace("\n", "\r\n"),
		"CR":                          replace("\n", "\r"),
		"a byte order mark":           func(s string) string { return "\ufeff" + s },
		"blank lines before":          func(s string) string { return "\n\n \n" + s },
		"comments":                    replace("data: ", ": ping\n:\ndata: "),
		"words as life":               func(s string) string { return "data: ping\n\n: OPENROUTER PROCESSING\n\n" + s },
		"ids and times to retry":      replace("data: ", "id: 7\nretry: 3000\ndata: "),
		"no space after the colon":    replace("data: ", "data:"),
		"a space before the colon":    replace("data: ", "data : "),
		"one line end between events": replace("\n\n", "\n"),
		"many line ends":              replace("\n\n", "\n\n\n\n"),
		"an event over many lines":    replace(`,"`, ",\ndata: \""),
		"lines of JSON":               func(s string) string { return fieldNames.ReplaceAllString(s, "") },
		"a list":                      listed,
		"white space around":          replace("data: ", "data:   ", "\n\n", "  \t\n\n"),
		"an unfinished last line":     func(s string) string { return strings.TrimRight(s, "\n") },
		"[DONE]":                      func(s string) string { return s + "data: [DONE]\n\n" },
		"[DONE] in quotes":            func(s string) string { return s + "data: \"[DONE]\"\n\n" },
		"null events":                 replace("data: {", "data: null\n\ndata: {"),
		"empty events":                replace("data: {", "data:\n\ndata: {"),
		"junk behind the event":       replace("}\n\n", "} junk\n\n"),
		"no numbers":                  replace("data: {", `data: {"logprob":NaN,"other":-Infinity,`),
		"no error in the error":       replace("data: {", `data: {"error":null,"base_resp":{"status_code":0,"status_msg":"success"},`),
		"an empty error":              replace("data: {", `data: {"error":{"code":0,"message":""},`),
	}
}

var fieldNames = regexp.MustCompile(`(?m)^(data: |event:.*\n)`)

// listed returns the events of a stream as one list.
func listed(stream string) string {
	text := strings.TrimSpace(fieldNames.ReplaceAllString(stream, ""))
	return "[" + strings.ReplaceAll(text, "\n\n", "\n,\n") + "]"
}

// A SteppedBody is an answer that arrives in pieces of some bytes, as an
// [http.RoundTripper] of every request.
type SteppedBody struct {
	Text string
	Step int
}

// RoundTrip implements [http.RoundTripper].
func (b SteppedBody) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(&stepped{strings.NewReader(b.Text), b.Step})}, nil
}

type stepped struct {
	*strings.Reader
	step int
}

// Read implements [io.Reader].
func (s *stepped) Read(p []byte) (int, error) { return s.Reader.Read(p[:min(len(p), s.step)]) }

// A WantedFailure is what becomes of a failure that an endpoint tells of.
type WantedFailure struct {
	Kind  llm.ErrorKind
	Words string // of the endpoint, that are kept
}

// FailuresInAnswers returns what endpoints of any provider send in place of an answer, or in
// the middle of one, with the status 200.
func FailuresInAnswers() map[string]WantedFailure {
	return map[string]WantedFailure{
		`data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                                                             {llm.Unavailable, "Overloaded"},
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"details\":null,\"type\":\"rate_limit_error\",\"message\":\"This request would exceed\"}}": {llm.Limited, "would exceed"},
		"event: error\ndata: {\"message\":\"prompt is too long\",\ndata: \"code\":400}":                                                                 {llm.TooLong, "prompt is too long"},
		"event: error\ndata: credit balance is too low":                                                                                                 {llm.Denied, "credit balance"},
		"event:error\ndata:{\"code\":\"Throttling.AllocationQuota\",\"message\":\"Allocated quota exceeded, please increase your quota limit.\"}":       {llm.Limited, "Allocated quota"},
		`data: {"error":"STREAM_EXPLODED"}`:            {llm.Unavailable, "STREAM_EXPLODED"},
		`data: {"error":{"message":"quota exceeded"}}`: {llm.Limited, "quota exceeded"},
		`data: {"error":{"code":502,"message":"Worker local total request limit reached (33/32)","metadata":{"error_type":"provider_unavailable"}}}`:                 {llm.Unavailable, "request limit reached"},
		`data: {"error":{"message":"Context length exceeded","code":"CONTEXT_LENGTH_EXCEEDED"}}`:                                                                     {llm.TooLong, "Context length exceeded"},
		`data: {"error":{"message":"litellm.RateLimitError: slow down","type":"throttling_error","param":"None","code":"429"}}`:                                      {llm.Limited, "slow down"},
		`data: {"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}`:                                     {llm.Limited, "Resource has been exhausted"},
		`[{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}]`:                                               {llm.Unavailable, "overloaded"},
		"{\n  \"error\": {\n    \"code\": 400,\n    \"message\": \"API key not valid. Please pass a valid API key.\",\n    \"status\": \"INVALID_ARGUMENT\"\n  }\n}": {llm.Denied, "API key not valid"},
		`{"error":{"code":404,"message":"models/m is not found for API version v1beta, or is not supported for generateContent."}}`:                                  {llm.NoModel, "not found"},
		`{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`:                                                                                     {llm.Denied, "insufficient balance"},
		`{"base_resp":{"status_code":1002,"status_msg":"rate limit"},"choices":null}`:                                                                                {llm.Limited, "rate limit"},
		`{"code":1113,"msg":"您的账户已欠费，请充值后重试","success":false}`:                                                                                                       {llm.Denied, "欠费"},
		`{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing.","request_id":"x"}`:                                        {llm.Denied, "good standing"},
		`{"status":449,"msg":"You exceeded your current rate limit","body":null}`:                                                                                    {llm.Limited, "rate limit"},
		`{"detail":[{"loc":["body","model"],"msg":"model not found"}]}`:                                                                                              {llm.NoModel, "model not found"},
		`{"detail":"Too many requests"}`:                                                                                                  {llm.Limited, "Too many requests"},
		`{"errors":[{"message":"Too many requests","code":7505}],"success":false}`:                                                        {llm.Limited, "Too many requests"},
		`{"fault":{"faultstring":"Invalid API Key"}}`:                                                                                     {llm.Denied, "Invalid API Key"},
		`{"success":false,"error":{"name":"ZodError","message":"invalid_request: messages"}}`:                                             {llm.Rejected, "messages"},
		`{"Output":{"__type":"com.amazon.coral.service#UnknownOperationException","message":"unknown operation"},"Version":"1.0"}`:        {llm.Garbled, "cut off"},
		`{"message":"Input is too long for requested model.","__type":"ValidationException"}`:                                             {llm.TooLong, "Input is too long"},
		`{"error_code":"REQUEST_LIMIT_EXCEEDED","message":"REQUEST_LIMIT_EXCEEDED: Exceeded workspace rate limit for databricks-model."}`: {llm.Limited, "workspace rate limit"},
		"Insufficient balance":                                                 {llm.Denied, "Insufficient balance"},
		"data: Rate limit exceeded, retry in 3s":                               {llm.Limited, "Rate limit exceeded"},
		"<html><head><title>502 Bad Gateway</title></head></html>":             {llm.Garbled, "502 Bad Gateway"},
		"\ufeff<!doctype html>\n<html><head>\n<title>Just a moment...</title>": {llm.Garbled, "Just a moment"},
	}
}
