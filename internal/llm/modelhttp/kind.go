package modelhttp

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// Phrases in the errors of endpoints, in lower case. Endpoints in China answer in
// Chinese.
var (
	saysTooLong = []string{
		"context_length", "context length", "context window", "context size", "context limit", "context shift", "max_seq_len", "maximum prompt length", "max prompt length",
		"prompt is too long", "prompt too long", "input is too long", "input too long", "too many tokens", "too many input tokens",
		"content': string too long", "exceed_context_size", "model token limit", "tokens_limit_reached", "range of input length",
		"maximum model length", "max_model_len", "max_input_tokens", "reduce the length of the", "must have less than", "request body too large", "prompt exceeds max length", "max_new_tokens` must be", "max_new_tokens must be",
		"超出最大长度", "上下文长度", "超过最大长度", "输入过长", "超长", "token超限",
	}
	saysNoModel = []string{
		"model_not_found", "model not found", "unknown model", "invalid model", "not a valid model", "no such model", "model does not exist",
		"model_not_exist", "model not exist", "not found the model", "no model named", "model_decommissioned", "decommissioned", "model identifier is invalid", "no endpoints found for", "模型不存在",
	}
	saysDenied = []string{
		"invalid_api_key", "invalid api key", "invalid api-key", "api key not valid", "incorrect api key", "authentication_error", "permission_error",
		"authentication fails", "authentication failed", "invalid_authentication", "invalid authentication", "unauthorized", "login fail", "no api key",
		"api key is invalid", "api key expired", "api_key_invalid", "location is not supported", "country, region, or territory", "access denied", "accessdenied",
	}
	saysSpent = []string{
		"insufficient_quota", "insufficient_balance", "insufficient balance", "insufficient account balance", "insufficient credit", "insufficient_credit", "insufficient fund",
		"credit balance", "out of credit", "no credit", "more credits", "credits are depleted", "billing to be enabled", "balance is insufficient", "billing_not_active", "billing hard limit", "billing_hard_limit", "account is not active",
		"payment required", "exceeded_current_quota", "arrearage", "account suspended", "used all available credits", "quota exhausted", "quota has been exhausted",
		"余额不足", "欠费", "额度不足", "额度已用",
	}
	saysLimited = []string{
		"rate_limit", "rate limit", "ratelimit", "rate-limit", "too many requests", "too_many_requests", "resource_exhausted", "throttl", "quota exceeded", "exceeded your current quota", "exceeded quota", "requests per", "tokens per min",
		"请求过于频繁", "速率限制", "限流", "请求数过多", "并发数过高",
	}
	saysOverloaded = []string{"overloaded", "over capacity", "server is busy", "service unavailable", "temporarily unavailable", "engine_overloaded", "no healthy upstream"}
	saysFlagged    = []string{"moderation", "flagged", "content_policy", "content policy", "content_filter", "data_inspection_failed", "datainspectionfailed", "sensitive"}
	saysRejected   = []string{
		"invalid_request", "invalid request", "invalid_parameter", "invalidparameter", "invalid params", "invalid_argument", "invalid parameter", "bad request", "badrequest",
		"validation error", "must alternate", "jinja", "invalid role", "unexpected role", "role 'system'", "role must be",
	}
)

// Words of an error about a transcript that is too long, which no list can hold: what
// is counted, and that it is more than may be.
var (
	tooMuchInput = regexp.MustCompile(`(input|prompt|message|context|request|conversation|sequence|total).{0,60}tokens?\b.{0,80}(exceed|too long|too large|longer than|greater than|over the|maximum|must have less)` +
		`|(exceed|too long|too large|longer than|greater than|over the|more than|must have less).{0,80}(context|input|prompt|token limit|max(imum)? tokens|tokens? allowed|sequence length)`)
	// notAboutInput are words of errors about something else that is too long or too
	// much: rates, the answer, names.
	notAboutInput = regexp.MustCompile(`per (min|hour|day|second)|\btpm\b|\bquota\b|rate.?limit|completion tokens|output tokens|\bname\b|description|tool_calls?\b.{0,20}id\b|array too long`)
)

// saysTooLong reports whether the reason is that the transcript is too long.
func (r *ErrorReason) saysTooLong() bool {
	if r.says(saysTooLong) {
		return true
	}
	text := r.Lower()
	return tooMuchInput.MatchString(text) && !notAboutInput.MatchString(text)
}

// Kind classifies an error by its status and, where endpoints disagree about the
// status, by phrases in its reason.
func (r *EndpointError) Kind() llm.ErrorKind {
	status := cmp.Or(r.status, httpStatus(r.Reason.number))
	switch status {
	case http.StatusTooManyRequests:
		if r.Reason.says(saysSpent) {
			return llm.Denied
		}
		return llm.Limited
	case http.StatusRequestEntityTooLarge:
		return llm.TooLong
	case http.StatusUnauthorized, http.StatusPaymentRequired:
		return llm.Denied
	case http.StatusForbidden:
		return r.kindByWords(llm.Denied)
	case http.StatusNotFound:
		return llm.NoModel
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return r.kindByWords(llm.Unavailable)
	}
	switch {
	case status == 0, status >= 500:
		return r.kindByWords(llm.Unavailable) // with 0 it accepted the request and failed later
	case status < 400:
		return llm.Unavailable
	}
	return r.kindByWords(llm.Rejected)
}

// kindByWords returns the kind that the words of the reason mean, or the given one.
func (r *EndpointError) kindByWords(otherwise llm.ErrorKind) llm.ErrorKind {
	says := r.Reason.says
	switch {
	case r.Reason.saysTooLong():
		return llm.TooLong
	case says(saysNoModel):
		return llm.NoModel
	case says(saysSpent):
		return llm.Denied
	case says(saysLimited):
		return llm.Limited
	case says(saysFlagged):
		return llm.Rejected
	case says(saysDenied):
		return llm.Denied
	case says(saysOverloaded):
		return llm.Unavailable
	case otherwise == llm.Unavailable && says(saysRejected):
		return llm.Rejected
	}
	return otherwise
}

// Lower returns all that the reason says, in lower case.
func (r *ErrorReason) Lower() string {
	return strings.ToLower(r.Message + " " + r.Code + " " + r.Param)
}

// says reports whether the reason contains one of phrases.
func (r *ErrorReason) says(phrases []string) bool {
	text := r.Lower()
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}

// aboutOutput matches errors about the output limit; the numbers in them are limits or
// what was asked for.
var (
	aboutOutput = regexp.MustCompile(`max_(completion_|output_|new_)?tokens|(completion|output) tokens`)
	number      = regexp.MustCompile(`\d[\d,_]*`)
)

// OutputLimit returns the largest output limit that the endpoint accepts, as far as an
// error about the limit asked tells: the largest smaller number in it. 0 when it tells
// of none.
func (r *ErrorReason) OutputLimit(asked int) int {
	text := r.Lower()
	if !aboutOutput.MatchString(text) || r.saysTooLong() {
		return 0
	}
	limit := 0
	for _, n := range numbersIn(text) {
		if n >= leastOutput && n < asked {
			limit = max(limit, n)
		}
	}
	return limit
}

// leastOutput is the smallest number that is taken for an output limit.
const leastOutput = 16

// numbersIn returns the whole numbers in a text.
func numbersIn(text string) []int {
	var all []int
	for _, found := range number.FindAllString(text, -1) {
		n, err := strconv.Atoi(withoutMarks.Replace(found))
		if err == nil && n <= 1<<31-1 {
			all = append(all, n)
		}
	}
	return all
}
