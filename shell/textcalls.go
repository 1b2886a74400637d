package shell

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Models that were trained on another form of tool calls write them into their text:
// in tags, in fences, behind special tokens, or as plain JSON. These are the forms.
var (
	// callBlock is what stands around calls as JSON: Hermes and Qwen, Mistral, Granite.
	callBlock = regexp.MustCompile(`(?s)<(tool_call|tool_calls|function_call|function_calls|tool|tools)>(.*?)(?:</(?:tool_call|tool_calls|function_call|function_calls|tool|tools)>|$)`)
	// functionTag is <function=NAME>…</function> of Llama and Qwen, and <invoke name="NAME">.
	functionTag = regexp.MustCompile(`(?s)<(?:function=["']?([\w.:-]+)["']?|(?:invoke|function|tool) name=["']([\w.:-]+)["'])\s*>(.*?)(?:</(?:function|invoke|tool)>|$)`)
	// parameterTag is one argument inside a functionTag.
	parameterTag = regexp.MustCompile(`(?s)<(?:parameter=["']?(\w+)["']?|(?:parameter|param|arg) name=["'](\w+)["'])\s*>(.*?)</(?:parameter|param|arg)>`)
	// channelCall is a call in the channels of gpt-oss.
	channelCall = regexp.MustCompile(`(?s)(?:<\|channel\|>)?\s*commentary\s+to=([\w.]+)[^{]*(\{.*)$`)
	// namedCall is NAME{…} or NAME({…}), also behind the tokens of Mistral.
	namedCall = regexp.MustCompile(`(?s)^\s*([A-Za-z][\w.:-]*)\s*(?:\[ARGS\])?\s*\(?\s*(\{.*\})\s*\)?\s*;?\s*$`)
	// fencedBlock is a code fence.
	fencedBlock = regexp.MustCompile("(?s)```[ \\t]*(\\w*)[ \\t]*\\n(.*?)\\n?```")
	// callTokens are special tokens that leak into text.
	callTokens = regexp.MustCompile(`<[|｜][\w▁| ｜-]*[|｜]>|\[/?TOOL_CALLS\]|\[/?TOOL_REQUEST\]`)
	// deepseekCall is one call between DeepSeek's tokens.
	deepseekCall = regexp.MustCompile("(?s)<｜tool▁call▁begin｜>(?:function)?(?:<｜tool▁sep｜>)?\\s*([\\w.]+)\\s*(?:<｜tool▁sep｜>)?\\s*(?:```json)?\\s*(\\{.*?)(?:```)?\\s*<｜tool▁call▁end｜>")
)

// A textCall is a tool call that stands in a text, with the text it was read from.
type textCall struct{ name, args, source string }

// fromText reads tool calls that a model wrote into its text in place of calling, and
// returns what else it wrote. A text with no call in it, or with one among other words
// that may be an example, is returned whole. written reports whether a piece of text
// stands in a message that the agent was shown: what people wrote and the model repeats
// is no call of its own.
func (c *ToolRegistry) fromText(text string, step int, written func(string) bool) (acts []ToolCall, plain string) {
	calls, plain := c.callsIn(text)
	for i, call := range calls {
		if written(call.source) {
			return nil, text
		}
		acts = append(acts, ToolCall{ID: fmt.Sprintf("text_%d_%d", step, i), Name: call.name, Args: call.args})
	}
	if len(acts) == 0 {
		return nil, text
	}
	return acts, plain
}

// callsIn finds the calls of the first form that the text has.
func (c *ToolRegistry) callsIn(text string) (calls []textCall, plain string) {
	for _, m := range deepseekCall.FindAllStringSubmatch(text, -1) {
		calls = append(calls, textCall{m[1], m[2], m[2]})
	}
	if len(calls) > 0 {
		return calls, strings.TrimSpace(text[:strings.Index(text, "<｜tool")])
	}
	if m := channelCall.FindStringSubmatch(text); m != nil && c.find(m[1]) != nil {
		return []textCall{{m[1], callTokens.ReplaceAllString(m[2], ""), m[2]}}, ""
	}
	if calls, plain = c.inTags(text); len(calls) > 0 {
		return calls, plain
	}
	bare := strings.TrimSpace(callTokens.ReplaceAllString(text, " "))
	if calls = c.inJSON(bare); len(calls) > 0 {
		return calls, ""
	}
	return c.inFence(text)
}

// inTags reads calls between tags.
func (c *ToolRegistry) inTags(text string) (calls []textCall, plain string) {
	rest := text
	for _, m := range callBlock.FindAllStringSubmatch(text, -1) {
		found := c.inJSON(m[2])
		if len(found) == 0 {
			continue
		}
		calls, rest = append(calls, found...), strings.Replace(rest, m[0], "", 1)
	}
	if len(calls) > 0 {
		return calls, strings.TrimSpace(rest)
	}
	for _, m := range functionTag.FindAllStringSubmatch(text, -1) {
		name := m[1] + m[2]
		if c.find(name) == nil {
			continue
		}
		args := m[3]
		if params := parameterTag.FindAllStringSubmatch(args, -1); len(params) > 0 {
			given := map[string]any{}
			for _, p := range params {
				given[p[1]+p[2]] = strings.Trim(p[3], "\n")
			}
			if data, err := marshalPlain(given); err == nil {
				args = data
			}
		}
		calls, rest = append(calls, textCall{name, args, m[3]}), strings.Replace(rest, m[0], "", 1)
	}
	if len(calls) == 0 {
		return nil, text
	}
	for _, tag := range []string{"<tool_call>", "</tool_call>", "<function_calls>", "</function_calls>"} {
		rest = strings.ReplaceAll(rest, tag, "")
	}
	return calls, strings.TrimSpace(rest)
}

// inFence reads calls in a code fence that the text ends with. A fence followed by
// words is an example for people.
func (c *ToolRegistry) inFence(text string) (calls []textCall, plain string) {
	all := fencedBlock.FindAllStringSubmatchIndex(text, -1)
	if len(all) == 0 {
		return nil, text
	}
	first := all[0][0]
	for _, m := range all {
		found := c.inJSON(text[m[4]:m[5]])
		if len(found) == 0 {
			return nil, text
		}
		calls = append(calls, found...)
	}
	if strings.TrimSpace(text[all[len(all)-1][1]:]) != "" {
		return nil, text
	}
	return calls, strings.TrimSpace(text[:first])
}

// inJSON reads a text that is calls and nothing else: objects with a name and
// arguments, a list of them, or NAME{…}.
func (c *ToolRegistry) inJSON(text string) []textCall {
	text = strings.TrimSpace(text)
	if m := namedCall.FindStringSubmatch(text); m != nil && c.find(m[1]) != nil {
		return []textCall{{m[1], m[2], m[2]}}
	}
	if text == "" || text[0] != '{' && text[0] != '[' {
		return nil
	}
	var calls []textCall
	r := looseReader{text: text}
	for r.space(); r.at < len(text); r.space() {
		from := r.at
		v, err := r.value(0)
		if err != nil || r.open {
			return nil
		}
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		for _, one := range list {
			found, ok := c.callOf(one, text[from:r.at])
			if !ok {
				return nil
			}
			calls = append(calls, found...)
		}
		if strings.HasPrefix(text[r.at:], "</") || strings.HasPrefix(text[r.at:], "```") {
			break
		}
	}
	return calls
}

// callOf reads an object that names a tool and its arguments.
func (c *ToolRegistry) callOf(v any, source string) ([]textCall, bool) {
	object, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	for _, list := range []string{"tool_calls", "function_calls"} {
		all, ok := object[list].([]any)
		if !ok {
			continue
		}
		var calls []textCall
		for _, one := range all {
			found, ok := c.callOf(one, source)
			if !ok {
				return nil, false
			}
			calls = append(calls, found...)
		}
		return calls, len(calls) > 0
	}
	for _, wrapper := range []string{"function", "tool_call", "function_call"} {
		if inner, ok := object[wrapper].(map[string]any); ok {
			return c.callOf(inner, source)
		}
	}
	for _, key := range []string{"name", "tool", "function", "tool_name", "action", "recipient_name"} {
		name, ok := object[key].(string)
		if !ok || c.find(name) == nil {
			continue
		}
		return []textCall{{name, argumentsOf(object, key), source}}, true
	}
	for name, args := range object { // {"send_message": {…}}
		if s := c.find(name); len(object) == 1 && s != nil && plainName(s.name) == plainName(name) {
			if data, err := json.Marshal(args); err == nil {
				return []textCall{{name, string(data), source}}, true
			}
		}
	}
	return nil, false
}

// argumentsOf returns the arguments of a call as JSON: those under a name of their own,
// or what stands beside the tool's name.
func argumentsOf(object map[string]any, key string) string {
	for _, name := range append(slices.Clone(wrappers), "action_input", "tool_input") {
		switch v := object[name].(type) {
		case nil:
			continue
		case string:
			return v
		default:
			data, err := marshalPlain(v)
			if err == nil {
				return data
			}
		}
	}
	rest := map[string]any{}
	for name, v := range object {
		if name != key && name != "type" && name != "id" && name != "thought" {
			rest[name] = v
		}
	}
	data, err := marshalPlain(rest)
	if err != nil {
		return "{}"
	}
	return data
}

// thinking is what models put around their reasoning when an endpoint leaves it in the
// text.
var thinking = regexp.MustCompile(`(?is)<(?:think|thinking|thought|reasoning|reflection|scratchpad)>.*?</(?:think|thinking|thought|reasoning|reflection|scratchpad)>|\[THINK\].*?\[/THINK\]|<\|channel\|>analysis<\|message\|>.*?(?:<\|end\|>|<\|start\|>(?:assistant)?|$)|^\s*<(?:think|thinking|reasoning)>.*$|^\s*\[THINK\].*$`)

// thinkingEnd ends reasoning whose beginning was part of the endpoint's prompt.
var thinkingEnd = regexp.MustCompile(`(?is)^.*(?:</(?:think|thinking|reasoning)>|\[/THINK\])\s*(?:\n|$)`)

// finalChannel marks what gpt-oss says to people.
var finalChannel = regexp.MustCompile(`<\|(?:start|channel|message|end|return)\|>(?:assistant|final)?`)

// withoutThinking returns a text without the reasoning in it.
func withoutThinking(text string) string {
	if !strings.ContainsAny(text, "<[") {
		return text
	}
	code := withoutCode(text) // of the same length; what is in code is shown to people
	if thinking.FindStringIndex(code) == nil && thinkingEnd.FindStringIndex(code) == nil && !strings.Contains(code, "<|") {
		return text
	}
	out := thinking.ReplaceAllString(text, "")
	out = thinkingEnd.ReplaceAllString(out, "")
	return strings.TrimSpace(finalChannel.ReplaceAllString(out, ""))
}
