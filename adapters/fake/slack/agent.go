package slack

import (
	"encoding/json"
	"slices"
)

// SuggestedPrompts are what a person can choose to say first.
type SuggestedPrompts struct {
	Title   string
	Prompts []string // the words that each says
}

// BecomesAgent declares the app an agent.
func (a *WorkspaceApp) BecomesAgent() {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	a.profile.Agent = true
}

func (a *WorkspaceApp) isAgent() bool {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return a.profile.Agent
}

// Session returns the status of the app's session in a thread; empty when there is none.
func (a *WorkspaceApp) Session(channel, thread string) string {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return a.sessions[channel+"/"+thread]
}

// Stops has a person press Stop in the app's session in a thread, and reports whether it was
// processing.
func (a *WorkspaceApp) Stops(p *HumanUser, channel, thread string) bool {
	s := a.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.sessions[channel+"/"+thread] != "processing" {
		return false
	}
	a.emit(map[string]any{"type": "agent_session_stopped", "channel": channel, "thread_ts": thread, "user": p.ID, "streaming_message_ts": []string{}, "event_ts": s.ts()}, channel, "")
	return true
}

// Title returns the title of the app's session in a thread.
func (a *WorkspaceApp) Title(channel, thread string) string {
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return a.titles[channel+"/"+thread]
}

// Suggested returns what the app suggests in the direct chat with a person; in the assistant
// view in a thread of it.
func (a *WorkspaceApp) Suggested(p *HumanUser, thread string) SuggestedPrompts {
	on := a.Direct(p).ID
	if thread != "" {
		on += "/" + thread
	}
	a.of.mu.Lock()
	defer a.of.mu.Unlock()
	return a.prompts[on]
}

// Opens has a person open the direct chat with an agent. With the assistant view that begins
// a thread, whose ts is returned.
func (a *WorkspaceApp) Opens(p *HumanUser) (thread string) {
	c, s := a.Direct(p), a.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if !a.profile.AssistantView {
		event := map[string]any{"type": "app_home_opened", "user": p.ID, "channel": c.ID, "tab": "messages", "event_ts": s.ts()}
		if a.profile.Agent && a.subscribed("app_context_changed", nil) {
			event["context"] = a.looksAt(p.ID)
		}
		a.emit(event, c.ID, "")
		return ""
	}
	m := &message{ts: s.ts(), user: a.user.ID, app: a, text: "New chat", subtype: "assistant_app_thread"}
	m.thread = m.ts
	c.add(m)
	a.emit(map[string]any{
		"type": "assistant_thread_started", "event_ts": s.ts(),
		"assistant_thread": map[string]any{"user_id": p.ID, "channel_id": c.ID, "thread_ts": m.ts, "context": map[string]any{"channel_id": a.looks[p.ID], "team_id": s.o.Team}},
	}, c.ID, "")
	return m.ts
}

// LooksAt has a person look at a channel beside the direct chat with an agent. thread is that
// of the assistant view.
func (a *WorkspaceApp) LooksAt(p *HumanUser, at *WorkspaceChannel, thread string) {
	c, s := a.Direct(p), a.of
	s.mu.Lock()
	defer s.mu.Unlock()
	a.looks[p.ID] = at.ID
	if a.profile.AssistantView {
		a.emit(map[string]any{
			"type": "assistant_thread_context_changed", "event_ts": s.ts(),
			"assistant_thread": map[string]any{"user_id": p.ID, "channel_id": c.ID, "thread_ts": thread, "context": map[string]any{"channel_id": at.ID, "team_id": s.o.Team}},
		}, c.ID, "")
		return
	}
	a.emit(map[string]any{"type": "app_context_changed", "user": p.ID, "channel": c.ID, "context": a.looksAt(p.ID), "event_ts": s.ts()}, c.ID, "")
}

// looksAt is what a person looks at, as an agent is told. mu is held.
func (a *WorkspaceApp) looksAt(user string) map[string]any {
	at := a.looks[user]
	if at == "" {
		return map[string]any{}
	}
	return map[string]any{"entities": []any{map[string]any{"type": "slack#/types/channel_id", "value": at, "team_id": a.of.o.Team}}}
}

// setSession sets the status of an agent session.
func (c *call) setSession() answer {
	ch, status := c.of.channels[c.args.Get("channel_id")], c.args.Get("status")
	switch {
	case !c.app.profile.Agent:
		return refuse("not_authorized")
	case ch == nil:
		return refuse("channel_not_found")
	case ch.find(c.args.Get("thread_ts")) == nil:
		return refuse("invalid_thread_ts")
	case !slices.Contains([]string{"active", "processing", "suspended", "closed"}, status):
		return refuse("invalid_arguments")
	}
	on := ch.ID + "/" + c.args.Get("thread_ts")
	if c.app.sessions[on] == "" {
		c.app.titles[on] = c.args.Get("title") // of a session that exists it changes nothing
	}
	c.app.sessions[on] = status
	said := map[string]any{"status": status, "agent_status": status}
	if !c.app.subscribed("agent_session_stopped", nil) {
		said["warning"] = "missing_agent_session_stopped_event_subscription"
	}
	return ok(said)
}

// setPrompts sets what a person can choose to say first.
func setPrompts(c *call) answer {
	ch, thread := c.of.channels[c.args.Get("channel_id")], c.args.Get("thread_ts")
	var list []struct {
		Title   string `json:"title"`
		Message string `json:"message"`
	}
	bad := json.Unmarshal([]byte(c.args.Get("prompts")), &list) != nil || len(list) == 0 || len(list) > 4
	set := SuggestedPrompts{Title: c.args.Get("title")}
	for _, p := range list {
		bad = bad || p.Title == "" || p.Message == ""
		set.Prompts = append(set.Prompts, p.Message)
	}
	switch {
	case !c.app.profile.Agent:
		return c.app.lacks("assistant:write")
	case ch == nil || !ch.members[c.app.user.ID]:
		return refuse("channel_not_found")
	case bad:
		return refuse("invalid_arguments")
	case c.app.profile.AssistantView && ch.find(thread) == nil:
		return refuse("invalid_thread_ts")
	case c.app.profile.AssistantView:
		c.app.prompts[ch.ID+"/"+thread] = set
	case thread == "": // with one Slack takes the call and does nothing
		c.app.prompts[ch.ID] = set
	}
	return ok(nil)
}
