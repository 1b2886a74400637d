package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/offline"
)

// StoryModel is a scripted stand-in that only knows the demo's story. To everything
// else it answers that it is one. Its answers are a function of the request
// alone. The zero value is ready; calls may overlap.
type StoryModel struct{}

var _ llm.ChatModel = StoryModel{}

const unknownLine = "I am a scripted stand-in and only know this demo. `trestle run --demo --model URL` puts a real model in my place."

// Generate does the next thing the script says about the newest line, or says
// that the script says nothing.
func (StoryModel) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if ctx.Err() != nil {
		return llm.ModelResponse{}, llm.Interrupted(ctx)
	}
	line, ok := offline.NewestLine(r.Messages)
	resp := llm.ModelResponse{Finish: llm.Stopped}
	p, done := partFor(r, line), actsSince(r.Messages, line)
	switch {
	case !ok:
		resp.Text = "There is nothing to answer."
	case r.NoCalls:
		resp.Text = p.thinks
	case done < len(p.acts):
		a := p.acts[done]
		resp.Finish = llm.Called
		resp.Calls = []llm.ToolCall{{ID: fmt.Sprintf("demo_%d_%d", len(r.Messages), done+1), Name: a.name, Args: a.args}}
		if done == len(p.acts)-1 {
			resp.Text = p.rest
		}
	default:
		resp.Text = p.rest
	}
	resp.Usage = offline.EstimateUsage(r, resp)
	return resp, nil
}

// partFor returns what the script says about a line, for the agent that is asked.
func partFor(r llm.ModelRequest, line offline.InboxLine) cannedReply {
	text := strings.ToLower(line.Text)
	for _, p := range parts() {
		if strings.Contains(text, p.about) && asks(r, p.agent) {
			return p
		}
	}
	args, err := json.Marshal(map[string]string{"text": unknownLine})
	if err != nil {
		panic("demo: a text has no JSON") // texts always have
	}
	return cannedReply{
		thinks: "This is not in my script, and I say so.", acts: []act{{"send_message", string(args)}},
		rest: "Responded to " + line.Who + " about something outside the script. Said so. Nothing is pending.",
	}
}

// asks reports whether a request is the agent's.
func asks(r llm.ModelRequest, agent string) bool {
	return len(r.Messages) > 0 && strings.Contains(r.Messages[0].Text, "(entity agent:"+agent+")")
}

// actsSince counts the answers with acts that came after the line.
func actsSince(messages []llm.TranscriptMessage, line offline.InboxLine) int {
	n := 0
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case llm.User:
			if strings.Contains(m.Text, line.Head) {
				n = 0
			}
		case llm.Assistant:
			if len(m.Calls) > 0 {
				n++
			}
		case llm.System, llm.Result:
		}
	}
	return n
}
