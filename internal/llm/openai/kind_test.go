package openai

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// What endpoints are known to say, by what it means.
func TestWordsOfEndpointsHaveTheirKind(t *testing.T) {
	for kind, sayings := range map[llm.ErrorKind][]string{
		llm.TooLong: {
			"The input token count (1058724) exceeds the maximum number of tokens allowed (1048576).",
			"Invalid request: Your request exceeded model token limit: 131072",
			"Prompt exceeds max length",
			"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
			"The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
			"prompt is too long: 210000 tokens > 200000 maximum",
			"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
			"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
			"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
			"Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
			"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
			"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
			"Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
			"too many tokens: total number of tokens in the prompt cannot exceed 4096",
			"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
			"This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
			"prompt token count of 150000 exceeds the limit of 128000",
			"Request body too large for gpt-4o model. Max size: 8000 tokens.",
			"Requested token count exceeds the model's maximum context length of 4096 tokens.",
			"Input is too long for requested model.",
			"The total tokens of the request (5000) is greater than the maximum (4096)",
			"Your conversation is 9000 tokens, which is more than the token limit of 8192",
		},
		llm.Rejected: {
			"max_tokens is too large: 20000. This model supports at most 16384 completion tokens, whereas you provided 20000.",
			"Invalid 'messages[3].tool_calls[0].id': string too long. Expected a string with maximum length 40",
			"Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64",
			"Conversation roles must alternate user/assistant/user/assistant/...",
			"Unexpected role 'user' after role 'tool'",
			"messages: text content blocks must be non-empty",
			"The request was rejected because it was considered high risk: sensitive words",
		},
		llm.Denied: {
			"insufficient balance", "Your credit balance is too low to access the API.", "This request requires more credits, or fewer max_tokens.",
			"Invalid Authentication", "Incorrect API key provided: sk-x.",
		},
		llm.NoModel: {"The model `x` does not exist or you do not have access to it: model_not_found", "Not found the model kimi-x or Permission denied"},
		llm.Limited: {"Rate limit reached for requests per minute", "Throttling.RateQuota", "请求过于频繁，请稍后再试"},
	} {
		for _, said := range sayings {
			for _, status := range []int{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusOK} {
				body := `{"error":{"message":"` + said + `","type":"invalid_request_error"}}`
				_, err := canned(t, status, http.Header{}, body).Generate(t.Context(), hello)
				if err == nil || llm.KindOf(err) != kind || !strings.Contains(err.Error(), said[:10]) {
					t.Errorf("%d %s\n\tgives %v, want %s", status, said, err, kind)
				}
			}
		}
	}
}

// Statuses that endpoints use in more than one sense are told apart by the words, which
// are kept from any form of body.
func TestStatusAndWordsTogetherMakeTheKind(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		kind   llm.ErrorKind
		words  string
	}{
		{429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 14.07s.","code":429,"status":"RESOURCE_EXHAUSTED"}}`, llm.Limited, "retry in"},
		{429, `{"error":{"message":"Rate limit reached. You can add a payment method at https://platform.openai.com/account/billing.","code":"rate_limit_exceeded"}}`, llm.Limited, "Rate limit"},
		{429, `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`, llm.Denied, "recharge"},
		{403, `{"error":{"message":"Your chosen model requires moderation and your input was flagged"}}`, llm.Rejected, "flagged"},
		{403, `{"error":{"message":"Rate limit exceeded"}}`, llm.Limited, "Rate limit"},
		{403, `{"error":{"message":"This model's maximum context length is 10"}}`, llm.TooLong, "context"},
		{500, `{"error":{"message":"Conversation roles must alternate user/assistant"}}`, llm.Rejected, "alternate"},
		{500, `{"error":{"message":"Insufficient Balance"}}`, llm.Denied, "Balance"},
		{503, `{"error":{"message":"The engine is currently overloaded"}}`, llm.Unavailable, "overloaded"},
		{400, `{"error":{"message":"server is busy, try later","code":"overloaded"}}`, llm.Unavailable, "busy"},
		{400, `insufficient balance`, llm.Denied, "insufficient balance"},
		{502, "<html><head><title>502 Bad Gateway</title></head></html>", llm.Unavailable, "502 Bad Gateway"},
		{502, "upstream connect error or disconnect/reset before headers", llm.Unavailable, "upstream connect error"},
		{400, "data: {\"error\":{\"message\":\"prompt is too long\"}}\n\n", llm.TooLong, "too long"},
		{400, `{"message":"Bad Request","errors":[{"detail":"context window of 10 tokens"}]}`, llm.TooLong, "Bad Request: context window"},
		{400, `{"input":"secret words","nothing":"of use"}`, llm.Rejected, "no reason"},
		{400, "\x00\x01", llm.Rejected, "no reason"},
	} {
		_, err := canned(t, tt.status, http.Header{}, tt.body).Generate(t.Context(), hello)
		if llm.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.words) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d %s\n\tgives %v, want %s with %q", tt.status, tt.body, err, tt.kind, tt.words)
		}
	}
}
