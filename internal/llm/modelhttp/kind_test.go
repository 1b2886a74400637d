package modelhttp

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// What endpoints of many vendors say when they refuse a request has its kind, and tells of
// its window and of the time to wait.
func TestRefusalsOfManyVendorsAreSorted(t *testing.T) {
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	for _, tt := range []struct {
		status int
		body   string
		kind   llm.ErrorKind
		window int
		wait   time.Duration
		header []string
	}{
		// Too long.
		{400, `{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","code":400}`, llm.TooLong, 16384, 0, nil},
		{400, `{"object":"error","message":"The prompt (total length 25938) is too long to fit into the model (context length 4096). Make sure that max_model_len is no smaller than the number of text tokens plus multimodal tokens."}`, llm.TooLong, 4096, 0, nil},
		{400, `{"error":{"message":"You passed 9001 input tokens and requested 1000 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 7192 tokens. Please reduce the length of the input prompt."}}`, llm.TooLong, 7192, 0, nil},
		{400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, llm.TooLong, 0, 0, nil},
		{413, `{"error":{"message":"Request Entity Too Large","type":"invalid_request_error","code":"request_too_large"}}`, llm.TooLong, 0, 0, nil},
		{422, `{"error":{"message":"Input validation error: inputs tokens + max_new_tokens must be <= 8193. Given: 9000 inputs tokens and 500 max_new_tokens","type":"invalid_request_error"}}`, llm.TooLong, 8193, 0, nil},
		{400, `{"object":"error","message":{"detail":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"},"type":"invalid_request_prompt","code":"3051"}`, llm.TooLong, 32768, 0, nil},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, llm.TooLong, 200000, 0, nil},
		{400, `{"message":"The model returned the following errors: Input is too long for requested model."}`, llm.TooLong, 0, 0, nil},
		{400, `{"error":{"message":"litellm.ContextWindowExceededError: OllamaException - the input length exceeds the context length"}}`, llm.TooLong, 0, 0, nil},
		{500, `{"error":{"code":500,"message":"context shift is disabled","type":"server_error"}}`, llm.TooLong, 0, 0, nil},
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`, llm.TooLong, 8192, 0, nil},
		{400, `{"error_code":"BAD_REQUEST","message":"BAD_REQUEST: Input is too long for requested model. The maximum is 131072 tokens."}`, llm.TooLong, 131072, 0, nil},
		{400, `{"error":{"message":"This endpoint's maximum context length is 163840 tokens. However, you requested about 200000 tokens (199000 of text input, 1000 of tool input). Please reduce the length of either one.","code":400}}`, llm.TooLong, 163840, 0, nil},
		{400, `{"code":20015,"message":"length of prompt_tokens (9000) must be less than max_seq_len (8192).","data":null}`, llm.TooLong, 8192, 0, nil},
		{400, `{"error":{"message":"Total tokens of image and text exceed max message tokens","type":"BadRequest","code":"InvalidParameter"}}`, llm.TooLong, 0, 0, nil},
		{400, `{"error":{"code":"1261","message":"Prompt 超长"}}`, llm.TooLong, 0, 0, nil},
		// No credit.
		{402, `{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 16384 tokens, but can only afford 200.","code":402}}`, llm.Denied, 0, 0, nil},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`, llm.Denied, 0, 0, nil},
		{429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, llm.Denied, 0, 0, nil},
		{429, `{"error":{"message":"Your account org-x is suspended, please check your plan and billing details","type":"exceeded_current_quota_error"}}`, llm.Denied, 0, 0, nil},
		{403, `{"error":{"code":"local:insufficient_quota","message":"用户额度不足, 剩余额度: $0.00"}}`, llm.Denied, 0, 0, nil},
		{403, `{"code":30001,"message":"Sorry, your account balance is insufficient","data":null}`, llm.Denied, 0, 0, nil},
		{429, `{"error":{"code":429,"message":"Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.","status":"RESOURCE_EXHAUSTED"}}`, llm.Denied, 0, 0, nil},
		{400, `{"error":{"code":400,"message":"This API method requires billing to be enabled.","status":"FAILED_PRECONDITION"}}`, llm.Denied, 0, 0, nil},
		// Limited.
		{429, `{"error":{"message":"Rate limit reached for gpt-x in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 1.2s.","type":"tokens","code":"rate_limit_exceeded"}}`, llm.Limited, 0, 1200 * time.Millisecond, nil},
		{429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaValue":"15"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"14s"}]}}`, llm.Limited, 0, 14 * time.Second, nil},
		{429, `{"error":{"code":429,"message":"You have exhausted your capacity on this model. Your quota will reset after 7s.","status":"RESOURCE_EXHAUSTED"}}`, llm.Limited, 0, 7 * time.Second, nil},
		{429, `{"error":{"code":429,"details":[{"metadata":{"quotaResetDelay":"373.8ms"}}]}}`, llm.Limited, 0, 373800 * time.Microsecond, nil},
		{429, `{"error":{"message":"Please retry after 25 seconds.","code":"429"}}`, llm.Limited, 0, 25 * time.Second, nil},
		{429, `{"detail":"Request was throttled. Expected available in 12 seconds."}`, llm.Limited, 0, 12 * time.Second, nil},
		{429, `{"error":"slow down","retry_after":3.5}`, llm.Limited, 0, 3500 * time.Millisecond, nil},
		{429, `{"error":{"message":"slow down","metadata":{"retry_after_ms":"1500"}}}`, llm.Limited, 0, 1500 * time.Millisecond, nil},
		{429, `{"error":{"message":"slow down"}}`, llm.Limited, 0, time.Minute, []string{"X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "1m0s", "X-Ratelimit-Remaining-Tokens", "900", "X-Ratelimit-Reset-Tokens", "2h"}},
		{429, `{"error":{"message":"slow down"}}`, llm.Limited, 0, 30 * time.Second, []string{"Anthropic-Ratelimit-Requests-Remaining", "0", "Anthropic-Ratelimit-Requests-Reset", in(30 * time.Second)}},
		{429, `{"error":{"message":"slow down"}}`, llm.Limited, 0, 4 * time.Second, []string{"Retry-After", "4", "X-Ratelimit-Remaining", "0", "X-Ratelimit-Reset", "90"}},
		{503, `{"error":{"message":"Too many requests, the server is busy. Wait 2 minutes"}}`, llm.Limited, 0, 2 * time.Minute, nil},
		{400, `{"code":"Throttling.RateQuota","message":"Requests rate limit exceeded, please try again later."}`, llm.Limited, 0, 0, nil},
		// Denied.
		{401, `{"message":"Unauthorized"}`, llm.Denied, 0, 0, nil},
		{400, `{"error":{"code":400,"message":"API Key not found. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, llm.Denied, 0, 0, nil},
		{400, `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, llm.Denied, 0, 0, nil},
		{403, `{"Message":"The security token included in the request is invalid."}`, llm.Denied, 0, 0, nil},
		{500, `{"error":{"message":"litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided"}}`, llm.Denied, 0, 0, nil},
		// No such model.
		{404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}`, llm.NoModel, 0, 0, nil},
		{400, `{"error":{"message":"claude-x is not a valid model ID","code":400}}`, llm.NoModel, 0, 0, nil},
		{400, `{"error":{"message":"The model llama-x has been decommissioned and is no longer supported.","code":"model_decommissioned"}}`, llm.NoModel, 0, 0, nil},
		{400, `{"code":20012,"message":"Model does not exist. Please check it carefully.","data":null}`, llm.NoModel, 0, 0, nil},
		{400, `{"object":"error","message":"Invalid model: mistral-x","type":"invalid_model","code":"1500"}`, llm.NoModel, 0, 0, nil},
		{400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}`, llm.NoModel, 0, 0, nil},
		{404, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, llm.NoModel, 0, 0, nil},
		{400, `{"message":"The provided model identifier is invalid."}`, llm.NoModel, 0, 0, nil},
		{400, `{"error":"no endpoints found for this model"}`, llm.NoModel, 0, 0, nil},
	} {
		h := http.Header{}
		for i := 0; i+1 < len(tt.header); i += 2 {
			h.Set(tt.header[i], tt.header[i+1])
		}
		e := AsRefusal(readRefusal(&http.Response{StatusCode: tt.status, Header: h, Body: io.NopCloser(strings.NewReader(tt.body))}))
		window, _ := e.Reason.window()
		if kind := e.Kind(); kind != tt.kind || kind == llm.TooLong && window != tt.window || (e.retryAfter-tt.wait).Abs() > 2*time.Second || (tt.wait == 0) != (e.retryAfter == 0) {
			t.Errorf("%d %s\n\tgives %s, window %d, wait %s; want %s, %d, %s", tt.status, tt.body, kind, window, e.retryAfter, tt.kind, tt.window, tt.wait)
		}
	}
}
