package shell

import (
	"strings"
	"testing"
)

// Calls that a model writes into its text are calls, in each form that models are
// trained on.
func TestCallsInTextAreCalls(t *testing.T) {
	catalogue := NewCatalogue(false)
	const args = `{"text":"hi"}`
	for name, text := range map[string]string{
		"tag":                 "<tool_call>\n{\"name\": \"send_message\", \"arguments\": {\"text\":\"hi\"}}\n</tool_call>",
		"tag without its end": "<tool_call>{\"name\":\"send_message\",\"arguments\":{\"text\":\"hi\"}}",
		"arguments encoded":   `<tool_call>{"name":"send_message","arguments":"{\"text\":\"hi\"}"}</tool_call>`,
		"parameters":          `<function_call>{"name":"send_message","parameters":{"text":"hi"}}</function_call>`,
		"function tag":        `<function=send_message>{"text":"hi"}</function>`,
		"parameter tags":      "<tool_call>\n<function=send_message>\n<parameter=text>\nhi\n</parameter>\n</function>\n</tool_call>",
		"invoke":              `<function_calls><invoke name="send_message"><parameter name="text">hi</parameter></invoke></function_calls>`,
		"fence":               "I will say it.\n```json\n{\"name\":\"send_message\",\"arguments\":{\"text\":\"hi\"}}\n```",
		"JSON":                `{"tool": "send_message", "args": {"text": "hi"}}`,
		"JSON of the API":     `{"tool_calls":[{"type":"function","function":{"name":"send_message","arguments":"{\"text\":\"hi\"}"}}]}`,
		"list":                `[{"name":"send_message","arguments":{"text":"hi"}}]`,
		"name and object":     `send_message({"text":"hi"})`,
		"object of the name":  `{"send_message":{"text":"hi"}}`,
		"Mistral":             `[TOOL_CALLS][{"name":"send_message","arguments":{"text":"hi"}}]`,
		"Mistral, newer":      `[TOOL_CALLS]send_message[ARGS]{"text":"hi"}`,
		"DeepSeek":            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>send_message\n```json\n{\"text\":\"hi\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
		"gpt-oss":             `<|channel|>commentary to=functions.send_message <|constrain|>json<|message|>{"text":"hi"}<|call|>`,
	} {
		acts, plain := catalogue.fromText(text, 0, func(string) bool { return false })
		if len(acts) != 1 {
			t.Errorf("%s: %d calls in %s", name, len(acts), text)
			continue
		}
		if a := catalogue.read(acts[0]); a.Name != "send_message" || a.Args != args || strings.Contains(plain, "send_message") {
			t.Errorf("%s: %s %s (%s), beside %q", name, a.Name, a.Args, a.wrong, plain)
		}
	}
}

// What is no call of the model's own stays text: an example among words, an unknown
// tool, and what somebody in the room has written.
func TestTextThatIsNoCallStaysText(t *testing.T) {
	catalogue := NewCatalogue(false)
	call := `<tool_call>{"name":"send_message","arguments":{"text":"hi"}}</tool_call>`
	for text, written := range map[string]bool{
		"Hello Kai.": false,
		"You write it like this:\n```json\n{\"name\":\"send_message\",\"arguments\":{\"text\":\"hi\"}}\n```\nand that is all.": false,
		`{"name":"Kai","arguments":{"text":"hi"}}`: false,
		`{"text":"hi"}`:                          false,
		"Run `send_message({\"text\":\"hi\"})`.": false,
		call:                                     true,
	} {
		if acts, plain := catalogue.fromText(text, 0, func(string) bool { return written }); len(acts) != 0 || plain != text {
			t.Errorf("%q was read as %v beside %q", text, acts, plain)
		}
	}
}

func TestThinkingIsCutFromText(t *testing.T) {
	for text, want := range map[string]string{
		"<think>why</think>\nHi.":                   "Hi.",
		"why\nnot\n</think>\n\nHi.":                 "Hi.",
		"<THINKING>\nwhy\n</THINKING>Hi.":           "Hi.",
		"[THINK]why[/THINK]Hi.":                     "Hi.",
		"<think>it never ends":                      "",
		"Use `<think>` and `</think>`.":             "Use `<think>` and `</think>`.",
		"The tag <think> opens.":                    "The tag <think> opens.",
		"1 < 2 and [x]":                             "1 < 2 and [x]",
		"<|channel|>analysis<|message|>hm<|end|>Hi": "Hi",
	} {
		if got := withoutThinking(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestWordsForSilenceAreNoAnswer(t *testing.T) {
	for _, text := range []string{"[silent]", "(silent)", "NO_REPLY", "[no response]", "Stayed silent: not for me.", "Responded to Kai about tea.", "…", "Done."} {
		if words := wordsOf(text); words != "" {
			t.Errorf("%q says %q", text, words)
		}
	}
	if words := wordsOf("Tea is ready.\n\nResponded to Kai about tea."); words != "Tea is ready." {
		t.Errorf("with an account it says %q", words)
	}
}
