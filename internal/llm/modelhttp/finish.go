package modelhttp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A FinishField is why a model stopped, as endpoints name it, in lower case: a text, a
// number, or an object with one; "" for none.
type FinishField string

// UnmarshalJSON reads any of the forms.
func (f *FinishField) UnmarshalJSON(b []byte) error {
	text := strings.ToLower(string(b))
	switch b[0] {
	case '"':
		text = strings.ToLower(DecodeText(b))
	case '{':
		var o struct {
			Type   TextField `json:"type"`
			Reason TextField `json:"reason"`
		}
		if err := WithoutTypeErrors(json.Unmarshal(b, &o)); err != nil {
			return err
		}
		text = strings.ToLower(string(o.Type + o.Reason))
	}
	switch text {
	case "null", "none", "false", "[]", "finish_reason_unspecified":
		text = ""
	}
	*f = FinishField(text)
	return nil
}

// The reasons that mean more than that the model is done.
var (
	failedReasons  = []FinishField{"error", "network_error", "failed", "abort", "aborted", "cancelled", "insufficient_system_resource"}
	lengthReasons  = []FinishField{"length", "max_tokens", "max_output_tokens", "max_length", "token_limit", "model_length", "model_context_window_exceeded"}
	blockedReasons = []FinishField{
		"content_filter", "content-filter", "safety", "recitation", "sensitive", "refusal", "prohibited_content", "blocklist",
		"spii", "image_safety", "image_prohibited_content", "language", "guardrail_intervened", "content_filtered",
	}
)

// LengthReached is the reason of an answer that is cut at the output limit.
const LengthReached FinishField = "length"

// Failed reports whether the endpoint gave up.
func (f FinishField) Failed() bool { return slices.Contains(failedReasons, f) }

// Reason returns the finish reason, corrected by whether there are calls: endpoints say that
// the model is done with calls, and that it called without any. Unknown reasons are done.
func (f FinishField) Reason(calls bool) llm.FinishReason {
	switch {
	case slices.Contains(lengthReasons, f):
		return llm.Length
	case slices.Contains(blockedReasons, f):
		return llm.Blocked
	case calls:
		return llm.Called
	}
	return llm.Stopped
}

// AreWhole reports whether there are calls and each has its name and one object as its
// arguments: an answer that simply ends after them is complete.
func AreWhole(calls []llm.ToolCall) bool {
	return len(calls) > 0 && !slices.ContainsFunc(calls, func(c llm.ToolCall) bool {
		return c.Name == "" || !IsObject(c.Args)
	})
}
