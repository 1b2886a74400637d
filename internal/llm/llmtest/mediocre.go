package llmtest

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
)

// A BadHabit is a way in which small and local models fail at calling tools.
type BadHabit string

// The habits of a [MediocreModel].
const (
	AnswersInWords   BadHabit = "answers in words"
	RefusesInWords   BadHabit = "refuses in words"
	WritesFences     BadHabit = "writes its call in a code fence"
	WritesTags       BadHabit = "writes its call in a tag"
	WritesJSON       BadHabit = "writes its call as JSON"
	MistakesNames    BadHabit = "mistakes names"
	CallsBadly       BadHabit = "makes calls that cannot be understood"
	SendsTwice       BadHabit = "sends everything twice"
	SearchesForever  BadHabit = "searches without end"
	SaysNothing      BadHabit = "returns nothing"
	ThinksAloud      BadHabit = "thinks in its text"
	AddsRestLine     BadHabit = "adds its account to its words"
	WordsAfterAction BadHabit = "answers in words after a call"
)

// BadHabits lists all habits.
var BadHabits = []BadHabit{
	AnswersInWords, RefusesInWords, WritesFences, WritesTags, WritesJSON, MistakesNames, CallsBadly, SendsTwice, SearchesForever, SaysNothing,
	ThinksAloud, AddsRestLine, WordsAfterAction,
}

// A MediocreModel answers every request with Answer, as well as its habit lets it. Its
// methods may be called concurrently.
type MediocreModel struct {
	Habit  BadHabit
	Answer string
}

var _ llm.ChatModel = MediocreModel{}

// Generate answers from habit.
func (m MediocreModel) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	if r.NoCalls && !strings.Contains(r.Messages[len(r.Messages)-2].Text, "Write your answer now") {
		return fillResponse(r, llm.ModelResponse{Text: "I should answer."}), nil
	}
	return fillResponse(r, m.response(r)), nil
}

func (m MediocreModel) response(r llm.ModelRequest) llm.ModelResponse {
	call := func(name string, args map[string]any) llm.ModelResponse {
		return llm.ModelResponse{Calls: []llm.ToolCall{{ID: freshID(r), Name: name, Args: marshal(args)}}}
	}
	written := `{"name": "send_message", "arguments": ` + marshal(map[string]any{"text": m.Answer}) + `}`
	switch m.Habit {
	case AnswersInWords:
		return llm.ModelResponse{Text: m.Answer}
	case RefusesInWords:
		return llm.ModelResponse{Text: "I am sorry, I cannot do that. " + m.Answer}
	case WritesFences:
		return llm.ModelResponse{Text: "```json\n" + written + "\n```"}
	case WritesTags:
		return llm.ModelResponse{Text: "<tool_call>\n" + written + "\n</tool_call>"}
	case WritesJSON:
		return llm.ModelResponse{Text: written}
	case MistakesNames:
		return call("functions.sendMessage", map[string]any{"Content": m.Answer, "replyTo": nil, "wait": "false"})
	case CallsBadly:
		return call("send_message", map[string]any{"audience": "everybody"})
	case SendsTwice:
		one := call("send_message", map[string]any{"text": m.Answer})
		second := one.Calls[0]
		second.ID += "b"
		one.Calls = append(one.Calls, second)
		return one
	case SearchesForever:
		if r.NoCalls {
			return llm.ModelResponse{Text: m.Answer}
		}
		return call("search", map[string]any{"query": m.Answer})
	case ThinksAloud:
		return call("send_message", map[string]any{"text": "<think>They want to know it.</think>\n" + m.Answer})
	case AddsRestLine:
		return llm.ModelResponse{Text: m.Answer + "\n\nResponded to Kai about it."}
	case WordsAfterAction:
		if slices.ContainsFunc(r.Messages, func(m llm.TranscriptMessage) bool { return m.Role == llm.Result }) {
			return llm.ModelResponse{Text: m.Answer}
		}
		return call("note", map[string]any{"text": "Kai asked"})
	case SaysNothing:
	}
	return llm.ModelResponse{}
}

func marshal(args map[string]any) string {
	data, err := json.Marshal(args)
	if err != nil {
		panic("llmtest: arguments do not marshal: " + err.Error())
	}
	return string(data)
}
