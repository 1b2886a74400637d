package slack

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// A message is one message of a channel. All of it is guarded by the workspace.
type message struct {
	ts, thread string
	subtype    string        // of a message that Slack made
	user       string        // of a person, or of the bot
	app        *WorkspaceApp // nil for people
	text       string        // mrkdwn
	blocks     json.RawMessage
	form       string // text, blocks or markdown: how an app wrote it
	metadata   json.RawMessage
	username   string
	icon       string
	files      []*file
	edited     string // ts of the last edit
	edits      int
	deleted    bool
	stone      bool // it was deleted, and its thread remains
	reactions  []reaction
	replies    int
	latest     string
	broadcast  bool
	clientID   string
}

type reaction struct {
	name  string
	users []string
}

// wire is the message as events and history show it. mu is held.
func (m *message) wire(c *WorkspaceChannel) map[string]any {
	if m.stone {
		return m.tombstone()
	}
	w := map[string]any{"type": "message", "user": m.user, "text": m.text, "ts": m.ts, "team": teamOfUser(c.of, m.user)}
	set := func(name, value string) {
		if value != "" {
			w[name] = value
		}
	}
	set("client_msg_id", m.clientID)
	if m.thread != "" {
		w["thread_ts"] = m.thread
		if m.thread != m.ts {
			if parent := c.find(m.thread); parent != nil {
				w["parent_user_id"] = parent.user
			}
		}
	}
	if m.replies > 0 {
		w["thread_ts"], w["reply_count"], w["latest_reply"] = m.ts, m.replies, m.latest
	}
	if m.blocks != nil {
		w["blocks"] = m.blocks
	}
	if m.app != nil {
		w["bot_id"], w["app_id"] = m.app.BotID, m.app.ID
		w["bot_profile"] = map[string]any{"id": m.app.BotID, "name": m.app.profile.Name, "app_id": m.app.ID}
		if m.username != "" {
			w["subtype"], w["username"] = "bot_message", m.username
			delete(w, "user")
		}
	}
	if len(m.files) > 0 {
		var list []map[string]any
		for _, f := range m.files {
			list = append(list, f.wire(c.of))
		}
		w["files"] = list
		if m.app == nil {
			w["subtype"] = "file_share"
		}
	}
	if m.broadcast {
		w["subtype"] = "thread_broadcast"
	}
	set("subtype", m.subtype)
	if m.edited != "" {
		w["edited"] = map[string]any{"user": m.user, "ts": m.edited}
	}
	if len(m.reactions) > 0 {
		var list []map[string]any
		for _, r := range m.reactions {
			list = append(list, map[string]any{"name": r.name, "users": r.users, "count": len(r.users)})
		}
		w["reactions"] = list
	}
	return w
}

// tombstone is what a deleted message on which a thread hangs looks like. mu is held.
func (m *message) tombstone() map[string]any {
	return map[string]any{
		"type": "message", "subtype": "tombstone", "text": "This message was deleted.", "user": "USLACKBOT", "hidden": true,
		"ts": m.ts, "thread_ts": m.ts, "parent_user_id": "USLACKBOT", "reply_count": m.replies, "latest_reply": m.latest,
	}
}

// event is the message as its own event. mu is held.
func (m *message) event(c *WorkspaceChannel) map[string]any {
	w := m.wire(c)
	delete(w, "reactions")
	w["channel"], w["channel_type"], w["event_ts"] = c.ID, c.kind, m.ts
	return w
}

// teamOfUser returns the team of a user. mu is held.
func teamOfUser(s *Server, user string) string {
	if p := s.people[user]; p != nil {
		return p.profile.Team
	}
	return s.o.Team
}

// add puts a message into the channel and tells of it. mu is held.
func (c *WorkspaceChannel) add(m *message) {
	c.messages = append(c.messages, m)
	if m.thread != "" {
		if parent := c.find(m.thread); parent != nil && parent != m {
			parent.replies++
			parent.latest = m.ts
		}
	}
	event := m.event(c)
	if c.kind == im {
		c.tellAgents(event, m)
	} else {
		c.tell(event, m.ts)
	}
	if m.app == nil && c.kind != im {
		for _, a := range c.apps() {
			if strings.Contains(m.text, "<@"+a.user.ID+">") {
				mention := maps.Clone(event)
				mention["type"] = "app_mention"
				delete(mention, "channel_type")
				a.emit(mention, c.ID, m.ts)
			}
		}
	}
	c.of.ring()
}

// tellAgents emits a message of a direct chat, for an agent with what the person looks at. mu
// is held.
func (c *WorkspaceChannel) tellAgents(event map[string]any, m *message) {
	for _, a := range c.apps() {
		one := maps.Clone(event)
		if a.profile.Agent && !a.profile.AssistantView && m.app == nil && a.subscribed("app_context_changed", nil) {
			one["app_context"] = a.looksAt(m.user)
		}
		a.emit(one, c.ID, m.ts)
	}
}

// change replaces what a message says and tells of it. mu is held.
func (c *WorkspaceChannel) change(m *message, how func()) {
	before := m.wire(c)
	how()
	m.edited = c.of.ts()
	m.edits++
	now := m.wire(c)
	at := c.of.ts()
	c.tell(map[string]any{
		"type": "message", "subtype": "message_changed", "hidden": true, "channel": c.ID, "channel_type": c.kind,
		"ts": at, "event_ts": at, "message": now, "previous_message": before,
	}, m.ts)
	c.of.ring()
}

// remove deletes a message and tells of it. One on which a thread hangs leaves a stone
// behind, until the last of its answers is deleted. mu is held.
func (c *WorkspaceChannel) remove(m *message) {
	before := m.wire(c)
	at := c.of.ts()
	if m.replies > 0 {
		m.stone, m.text, m.blocks, m.files, m.reactions = true, "", nil, nil, nil
		c.tell(map[string]any{
			"type": "message", "subtype": "message_changed", "hidden": true, "channel": c.ID, "channel_type": c.kind,
			"ts": at, "event_ts": at, "message": m.wire(c), "previous_message": before,
		}, m.ts)
		c.of.ring()
		return
	}
	m.deleted = true
	if parent := c.find(m.thread); parent != nil && parent != m {
		if parent.replies--; parent.stone && parent.replies == 0 {
			defer c.remove(parent)
		}
	}
	c.tell(map[string]any{
		"type": "message", "subtype": "message_deleted", "hidden": true, "channel": c.ID, "channel_type": c.kind,
		"ts": at, "event_ts": at, "deleted_ts": m.ts, "previous_message": before,
	}, m.ts)
	c.of.ring()
}

// react puts a reaction on a message, or takes it away, and reports whether that
// changed anything. mu is held.
func (c *WorkspaceChannel) react(m *message, user, name string, on bool) bool {
	i := slices.IndexFunc(m.reactions, func(r reaction) bool { return r.name == name })
	has := i >= 0 && slices.Contains(m.reactions[i].users, user)
	switch {
	case has == on:
		return false
	case on && i < 0:
		m.reactions = append(m.reactions, reaction{name, []string{user}})
	case on:
		m.reactions[i].users = append(m.reactions[i].users, user)
	default:
		m.reactions[i].users = slices.DeleteFunc(slices.Clone(m.reactions[i].users), func(u string) bool { return u == user })
		if len(m.reactions[i].users) == 0 {
			m.reactions = slices.Delete(m.reactions, i, i+1)
		}
	}
	kind := "reaction_removed"
	if on {
		kind = "reaction_added"
	}
	c.tell(map[string]any{
		"type": kind, "user": user, "reaction": name, "item_user": m.user, "event_ts": c.of.ts(),
		"item": map[string]any{"type": "message", "channel": c.ID, "ts": m.ts},
	}, m.ts)
	return true
}

// SentMessage is a message of an app in its present form.
type SentMessage struct {
	App       string              `json:"app"`
	TS        string              `json:"ts"`
	Thread    string              `json:"thread,omitzero"`
	Text      string              `json:"text"`   // the words that a reader sees
	Markup    string              `json:"markup"` // as it was sent
	Form      string              `json:"form"`   // text, blocks or markdown
	Key       string              `json:"key,omitzero"`
	Username  string              `json:"username,omitzero"`
	Icon      string              `json:"icon,omitzero"`
	Names     []string            `json:"names,omitzero"` // users it calls
	Files     []string            `json:"files,omitzero"`
	Buttons   []ButtonData        `json:"buttons,omitzero"`
	Edits     int                 `json:"edits,omitzero"`
	Deleted   bool                `json:"deleted,omitzero"`
	Broadcast bool                `json:"broadcast,omitzero"` // in a thread, and shown in the channel
	Reactions map[string][]string `json:"reactions,omitzero"` // users by name
}

// Sent returns what apps posted to the channel, oldest first.
func (c *WorkspaceChannel) Sent() []SentMessage {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	var all []SentMessage
	for _, m := range c.messages {
		if m.app == nil {
			continue
		}
		words := m.read()
		one := SentMessage{
			App: m.app.ID, TS: m.ts, Thread: m.thread, Text: words.text, Markup: m.markup(), Form: m.form, Key: keyOf(m.metadata),
			Username: m.username, Icon: m.icon, Names: words.names, Edits: m.edits, Deleted: m.deleted || m.stone, Broadcast: m.broadcast,
		}
		one.Buttons, _ = buttons(m.blocks) // they were checked when they came
		for _, f := range m.files {
			one.Files = append(one.Files, f.name)
		}
		for _, r := range m.reactions {
			if one.Reactions == nil {
				one.Reactions = map[string][]string{}
			}
			one.Reactions[r.name] = slices.Clone(r.users)
		}
		all = append(all, one)
	}
	return all
}

func (m *message) markup() string {
	if m.form == "text" {
		return m.text
	}
	return string(m.blocks)
}

// keyOf returns the id in metadata.
func keyOf(raw json.RawMessage) string {
	var meta struct {
		Payload struct {
			ID string `json:"id"`
		} `json:"event_payload"`
	}
	_ = json.Unmarshal(raw, &meta) // none has no id
	return meta.Payload.ID
}
