package toolbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/trestle-bridge/trestle/internal/mcpclient"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// maxInputLabel is how many bytes of a label are shown: a button has room for a few more.
const maxInputLabel = 70

// An inputChoice is an option of what a server asks, and the answer that it means.
type inputChoice struct {
	label  string
	answer mcpclient.InputAnswer
}

// choicesOf returns the options of a question that is a choice: a plain yes, or the values
// of its only field, or of the only one that is required; none for other forms.
func choicesOf(q mcpclient.InputQuestion) []inputChoice {
	if len(q.Fields) == 0 {
		return []inputChoice{{"Yes", mcpclient.InputAnswer{Accept: true}}, {"No", mcpclient.InputAnswer{}}}
	}
	fields := q.Fields
	if len(fields) > 1 {
		fields = slices.DeleteFunc(slices.Clone(fields), func(f mcpclient.InputField) bool { return !f.Required })
	}
	if len(fields) != 1 {
		return nil
	}
	field := fields[0]
	value := func(label string, v any) inputChoice {
		return inputChoice{label, mcpclient.InputAnswer{Accept: true, Values: map[string]any{field.Name: v}}}
	}
	var all []inputChoice
	switch {
	case field.Kind == mcpclient.YesNoField:
		all = []inputChoice{value("Yes", true), value("No", false)}
	case field.Kind == mcpclient.TextField && len(field.Choices) >= 2 && len(field.Choices) <= shell.MaxToolOptions:
		for i, c := range field.Choices {
			label := textformat.ClipBytes(cmp.Or(c.Label(), strconv.Itoa(i+1)), maxInputLabel)
			all = append(all, value(label, c.Value))
		}
	}
	return all
}

// inputOf returns what a person is asked for a server: one question that is a choice. The
// zero value is returned for anything else.
func inputOf(asked *mcpclient.InputRequired) spaces.ToolInput {
	if asked == nil || len(asked.Questions) != 1 {
		return spaces.ToolInput{}
	}
	q := asked.Questions[0]
	in := spaces.ToolInput{Question: cmp.Or(q.Message, "?")}
	for _, c := range choicesOf(q) {
		in.Options = append(in.Options, c.label)
	}
	state, err := json.Marshal(asked)
	if err != nil || len(in.Options) == 0 {
		return spaces.ToolInput{}
	}
	in.State = string(state)
	return in
}

// answerInput adds to a repeated call what a person chose.
func answerInput(r *mcpclient.CallRequest, in spaces.ToolInput) error {
	if in.Choice == 0 {
		return nil
	}
	var asked mcpclient.InputRequired
	if err := json.Unmarshal([]byte(in.State), &asked); err != nil || len(asked.Questions) != 1 {
		return fmt.Errorf("stored question of a tool: %w", err)
	}
	choices := choicesOf(asked.Questions[0])
	if in.Choice > len(choices) {
		return fmt.Errorf("option %d of %d", in.Choice, len(choices))
	}
	r.Questions = &asked
	r.Answers = map[string]mcpclient.InputAnswer{asked.Questions[0].ID: choices[in.Choice-1].answer}
	return nil
}
