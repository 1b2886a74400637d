package modelhttp

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"pgregory.net/rapid"
)

func TestWaitIsReadFromTheWords(t *testing.T) {
	for said, want := range map[string]time.Duration{
		"Please retry in 14.5s.":                14500 * time.Millisecond,
		"Please try again in 1m3s. Visit us.":   63 * time.Second,
		"Please try again in 250ms":             250 * time.Millisecond,
		"Try again in 7 seconds":                7 * time.Second,
		"Please retry after 12 seconds, thanks": 12 * time.Second,
		"try again in a while":                  0,
		"retry in 5.5.5s":                       0,
	} {
		if got := waitIn(said); got != want {
			t.Errorf("%q gives %s, want %s", said, got, want)
		}
	}
}

// The window is taken from the words of the refusal, and scaled to the caller's count.
func TestWindowIsTakenFromTheRefusal(t *testing.T) {
	for said, want := range map[string][2]int{
		`{"error":{"code":400,"message":"The input token count (1058724) exceeds the maximum number of tokens allowed (1048576)."}}`:                                     {1048576, 1058724},
		`{"error":{"message":"Your request exceeded model token limit: 131072"}}`:                                                                                        {131072, 0},
		`{"error":{"message":"Range of input length should be [1, 30720]"}}`:                                                                                             {30720, 0},
		`{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096."}}`:                                                      {4096, 5000},
		`{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`:                                                                                     {200000, 210000},
		`{"error":{"message":"input length and max_tokens exceed context limit: 190000 + 20000 > 200000"}}`:                                                              {200000, 0},
		`{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion)."}}`: {8192, 9000},
		`{"error":{"message":"inputs tokens + max_new_tokens must be <= 4096. Given: 5000 inputs tokens and 1000 max_new_tokens"}}`:                                      {4096, 5000},
		`{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size","n_prompt_tokens":5000,"n_ctx":4096}}`:         {4096, 5000},
		`{"error":{"message":"request (5000 tokens) exceeds the available context size (4096 tokens)"}}`:                                                                 {4096, 5000},
		`{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`:              {4096, 5000},
		`{"error":{"message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}}`:                                                    {32768, 40000},
		`{"error":{"message":"Current length is 9000 while limit is 8192. Please reduce the length of the messages"}}`:                                                   {8192, 9000},
		`{"error":{"message":"This model's maximum prompt length is 131,072 but the request contains 537,812 tokens."}}`:                                                 {131072, 537812},
		`{"error":{"message":"prompt token count of 150000 exceeds the limit of 128000"}}`:                                                                               {128000, 150000},
		`{"error":{"message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}`:                                                                        {8000, 0},
		`{"error":{"message":"The input (5000 tokens) is longer than the model's context length (4096 tokens)."}}`:                                                       {4096, 5000},
		`{"error":{"message":"too many tokens: total number of tokens in the prompt cannot exceed 4096"}}`:                                                               {4096, 0},
		`{"error":{"message":"Prompt exceeds max length"}}`:                                                                                                              {0, 0},
	} {
		r := ReadReason([]byte(said))
		if window, sent := r.window(); window != want[0] || sent != want[1] || !r.saysTooLong() {
			t.Errorf("%s\n\tgives %d of %d, want %v", said, window, sent, want)
		}
	}
}

func TestWindowIsFoundInTheListOfModels(t *testing.T) {
	for list, want := range map[string]int{
		`{"data":[{"id":"n","context_length":9000},{"id":"m","context_length":"8192"}]}`:      8192, // OpenRouter
		`{"object":"list","data":[{"id":"m","max_model_len":4096}]}`:                          4096, // vLLM
		`{"data":[{"id":"m","meta":{"n_ctx_train":131072,"n_ctx":4096}}]}`:                    4096, // llama.cpp
		`{"data":[{"id":"m","max_context_length":131072,"loaded_context_length":4096}]}`:      4096, // LM Studio
		`{"models":[{"name":"models/m","inputTokenLimit":1048576}]}`:                          1048576,
		`{"data":[{"id":"m","context_length":null,"top_provider":{"context_length":32768}}]}`: 32768,
		`{"name":"models/m","inputTokenLimit":1048576,"outputTokenLimit":65536}`:              1048576, // Gemini
		`{"type":"model","id":"m","max_input_tokens":200000}`:                                 200000,  // Anthropic
		`{"data":[{"id":"m"}]}`: 0,
		`[]`:                    0,
		`<html>`:                0,
	} {
		if got := windowListed([]byte(list), "m"); got != want {
			t.Errorf("%s gives %d, want %d", list, got, want)
		}
	}
}

// Text in pieces, cut between any bytes or any halves of characters, is the text that
// was cut.
func TestPiecesJoinToTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.String().Draw(t, "text")
		var bytewise, unitwise strings.Builder
		for _, b := range []byte(want) {
			bytewise.WriteByte(b)
			if got := WholeText(bytewise.String(), false); !strings.HasPrefix(want, got) {
				t.Fatalf("so far %q of %q", got, want)
			}
		}
		for _, unit := range utf16.Encode([]rune(want)) {
			unitwise.WriteString(DecodeText(fmt.Appendf(nil, `"\u%04x"`, unit)))
			if got := WholeText(unitwise.String(), false); !strings.HasPrefix(want, got) {
				t.Fatalf("so far %q of %q", got, want)
			}
		}
		if a, b := WholeText(bytewise.String(), true), WholeText(unitwise.String(), true); a != want || b != want {
			t.Fatalf("%q and %q, want %q", a, b, want)
		}
	})
}
