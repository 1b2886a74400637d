package slack

import (
	"encoding/json"
	"sync/atomic"
)

// sessionMethod sets the status of the agent session of a thread
// (docs.slack.dev/ai/agent-sessions).
const sessionMethod = "agents.sessions.setStatus"

// agentScope is the scope that an app gets when it is declared an agent.
const agentScope = "assistant:write"

// noSession are the refusals of sessions that say that the app is no agent.
var noSession = []string{"not_authorized", "missing_scope", "unknown_method", "not_allowed_token_type"}

// A dmView is the form that the direct chats of an agent app have.
type dmView int32

// The forms of direct chats.
const (
	unknownView   dmView = iota
	agentView            // each message begins a thread
	assistantView        // older: a person begins a thread, and its messages follow
	unseenView           // of an agent, and no event tells what people look at
)

// agentApp is what is known of the app as an agent.
type agentApp struct {
	refused  atomic.Bool // the app is known to be no agent
	accepted atomic.Bool // it is known to be one
	stopless atomic.Bool // no event tells that a person pressed Stop
	// statusless is true while Slack refuses the status that an app has which is no agent.
	statusless atomic.Bool
	view       atomic.Int32 // a dmView
}

// noteView stores the form of direct chats that an event has shown.
func (a *agentApp) noteView(v dmView) { a.view.Store(int32(v)) }

// noteEvent stores what an event shows of the form of direct chats. Only agents with the
// agent view are told what people look at (docs.slack.dev/ai/migrating-to-agent-messaging).
func (a *agentApp) noteEvent(e event) {
	switch e.Type {
	case "assistant_thread_started", "assistant_thread_context_changed":
		a.noteView(assistantView)
	case "app_context_changed":
		a.noteView(agentView)
	case "app_home_opened", "message":
		if e.Context != nil || e.AppContext != nil {
			a.noteView(agentView)
		} else if e.Tab == messagesTab {
			a.view.CompareAndSwap(int32(unknownView), int32(unseenView))
		}
	}
}

// viewed returns the channel that a person looks at, of what Slack tells of their view: the
// things in it, the most relevant first (docs.slack.dev/reference/events/app_context_changed).
// It is empty when they look at something else.
func viewed(raw json.RawMessage) string {
	var view struct {
		Entities []struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"`
		} `json:"entities"`
	}
	_ = json.Unmarshal(raw, &view) // what cannot be read is no channel
	for _, e := range view.Entities {
		switch e.Type {
		case "slack#/types/channel_id":
			if id := idOf(e.Value); id != "" {
				return id
			}
		case "slack#/types/message_context":
			var at struct {
				Channel string `json:"channel_id"`
			}
			if json.Unmarshal(e.Value, &at) == nil && at.Channel != "" {
				return at.Channel
			}
		}
	}
	return ""
}

// messagesTab is the tab of the direct chat in an app's Home.
const messagesTab = "messages"
