package slack

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// PostOptions is how a person says something.
type PostOptions struct {
	Thread    string // ts of the message whose thread it is in
	Broadcast bool   // also sent to the channel
	File      *SharedFile
	Blocks    json.RawMessage // instead of those that a client makes of the words
	Mrkdwn    bool            // the text is mrkdwn already; no blocks are made
}

// A SharedFile is something to share.
type SharedFile struct {
	Name, MIME string
	Data       []byte
}

// Says has a person write words in the channel. @handle names a person. It
// returns the message's ts.
func (c *WorkspaceChannel) Says(p *HumanUser, text string, s PostOptions) string {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.members[p.ID] = true
	m := &message{ts: c.of.ts(), thread: s.Thread, user: p.ID, broadcast: s.Broadcast, clientID: "client-" + c.of.id("M")}
	if m.text, m.blocks = typedText(c.of, text); s.Mrkdwn {
		m.text, m.blocks = text, s.Blocks
	} else if s.Blocks != nil {
		m.blocks = s.Blocks
	}
	if s.File != nil {
		m.files = append(m.files, c.of.keep(*s.File, p.ID))
	}
	c.add(m)
	return m.ts
}

// handle is how people name each other.
var handle = regexp.MustCompile(`@([a-z0-9_.\-]+)`)

// named is an emoji as a person types it: the client sends its name.
var named = regexp.MustCompile(`:([a-z][a-z0-9_+\-]*):`)

// typedText returns what Slack's client makes of words that a person types: mrkdwn,
// and the same as rich text. mu is held.
func typedText(s *Server, words string) (mrkdwn string, blocks json.RawMessage) {
	if words == "" {
		return "", nil
	}
	byHandle := map[string]string{}
	for id, p := range s.people {
		byHandle[p.profile.Handle] = id
	}
	type run struct {
		Type string `json:"type"`
		Text string `json:"text,omitempty"`
		User string `json:"user_id,omitempty"`
		Name string `json:"name,omitempty"` // of an emoji
	}
	var runs []run
	var b strings.Builder
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	plain := func(text string) {
		if text != "" {
			runs = append(runs, run{Type: "text", Text: text})
		}
	}
	add := func(text string) {
		b.WriteString(escape.Replace(text))
		at := 0
		for _, m := range named.FindAllStringSubmatchIndex(text, -1) {
			plain(text[at:m[0]])
			runs = append(runs, run{Type: "emoji", Name: text[m[2]:m[3]]})
			at = m[1]
		}
		plain(text[at:])
	}
	at := 0
	for _, m := range handle.FindAllStringSubmatchIndex(words, -1) {
		id := byHandle[words[m[2]:m[3]]]
		if id == "" {
			continue
		}
		add(words[at:m[0]])
		b.WriteString("<@" + id + ">")
		runs = append(runs, run{Type: "user", User: id})
		at = m[1]
	}
	add(words[at:])
	section := map[string]any{"type": "rich_text_section", "elements": runs}
	return b.String(), encode([]any{map[string]any{"type": "rich_text", "block_id": "b1", "elements": []any{section}}})
}

// encode returns v as JSON; it holds nothing that has none.
func encode(v any) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		panic("fake slack: " + err.Error())
	}
	return out
}

// Edits has the writer of a message replace its words. It reports whether the
// channel has that message.
func (c *WorkspaceChannel) Edits(ts, text string) bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	m := c.find(ts)
	if m == nil {
		return false
	}
	c.change(m, func() { m.text, m.blocks = typedText(c.of, text) })
	return true
}

// Deletes removes a message.
func (c *WorkspaceChannel) Deletes(ts string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if m := c.find(ts); m != nil {
		c.remove(m)
	}
}

// Reacts sets the person's reactions on a message, by Slack's names; none takes
// them back. Slack tells each change by itself.
func (c *WorkspaceChannel) Reacts(p *HumanUser, ts string, names ...string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	m := c.find(ts)
	if m == nil {
		return
	}
	for _, r := range slices.Clone(m.reactions) {
		if slices.Contains(r.users, p.ID) && !slices.Contains(names, r.name) {
			c.react(m, p.ID, r.name, false)
		}
	}
	for _, name := range names {
		c.react(m, p.ID, name, true)
	}
}

// channelType is how membership events say what a channel is.
func (c *WorkspaceChannel) channelType() string {
	if c.kind == public {
		return "C"
	}
	return "G"
}

// Joins has a person enter.
func (c *WorkspaceChannel) Joins(p *HumanUser) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.joins(p.ID, "")
}

// Invites lets an app in.
func (c *WorkspaceChannel) Invites(by *HumanUser, a *WorkspaceApp) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.joins(a.user.ID, by.ID)
}

func (c *WorkspaceChannel) joins(user, inviter string) {
	c.members[user] = true
	event := map[string]any{
		"type": "member_joined_channel", "user": user, "channel": c.ID, "channel_type": c.channelType(),
		"team": teamOfUser(c.of, user), "event_ts": c.of.ts(),
	}
	if inviter != "" {
		event["inviter"] = inviter
	}
	c.tell(event, "")
}

// Leaves has a person go.
func (c *WorkspaceChannel) Leaves(p *HumanUser) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.leaves(p.ID)
}

// Kicks removes an app.
func (c *WorkspaceChannel) Kicks(a *WorkspaceApp) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	kind := "channel_left"
	if c.kind != public {
		kind = "group_left"
	}
	delete(c.members, a.user.ID)
	a.emit(map[string]any{"type": kind, "channel": c.ID, "actor_id": "", "event_ts": c.of.ts()}, c.ID, "")
}

func (c *WorkspaceChannel) leaves(user string) {
	event := map[string]any{
		"type": "member_left_channel", "user": user, "channel": c.ID, "channel_type": c.channelType(),
		"team": teamOfUser(c.of, user), "event_ts": c.of.ts(),
	}
	delete(c.members, user)
	c.tell(event, "")
}

// Renames gives the channel another name.
func (c *WorkspaceChannel) Renames(p *HumanUser, name string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.name = name
	kind := "channel_rename"
	if c.kind != public {
		kind = "group_rename"
	}
	c.tell(map[string]any{
		"type": kind, "event_ts": c.of.ts(), "channel": map[string]any{"id": c.ID, "name": name, "created": c.created},
	}, "")
}

// Archives closes the channel; Unarchives opens it again.
func (c *WorkspaceChannel) Archives(p *HumanUser) { c.archives(p, true) }

// Unarchives opens an archived channel again.
func (c *WorkspaceChannel) Unarchives(p *HumanUser) { c.archives(p, false) }

func (c *WorkspaceChannel) archives(p *HumanUser, closed bool) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.archived = closed
	kind := map[bool]string{true: "archive", false: "unarchive"}[closed]
	sort := map[bool]string{true: "channel_", false: "group_"}[c.kind == public]
	c.tell(map[string]any{"type": sort + kind, "channel": c.ID, "user": p.ID, "event_ts": c.of.ts()}, "")
}

// Pins has a person pin a message.
func (c *WorkspaceChannel) Pins(p *HumanUser, ts string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	m := c.find(ts)
	if m == nil {
		return
	}
	c.tell(map[string]any{
		"type": "pin_added", "user": p.ID, "channel_id": c.ID, "event_ts": c.of.ts(),
		"item": map[string]any{"type": "message", "channel": c.ID, "created": c.of.now(), "message": m.wire(c)},
	}, ts)
}

// Commands has a person use a slash command. Slack calls the app once; where that does not
// acknowledge it within three seconds, the person alone is told that it failed
// (docs.slack.dev/interactivity/implementing-slash-commands).
func (c *WorkspaceChannel) Commands(p *HumanUser, a *WorkspaceApp, command, args string) {
	s := c.of
	s.mu.Lock()
	defer s.mu.Unlock()
	name := c.name
	if c.kind == im {
		name = "directmessage"
	}
	trigger := s.id("Tr")
	s.responses[trigger] = &response{in: c, to: p.ID, left: 5}
	a.enqueue(&envelope{
		kind: "slash_commands", event: trigger, channel: c.ID, sort: "slash_commands", once: true,
		failed: func() {
			c.whispers = append(c.whispers, EphemeralMessage{To: p.ID, Text: command + ` failed with the error "operation_timeout"`})
		},
		payload: map[string]any{
			"token": "old-verification-token", "api_app_id": a.ID, "team_domain": "acme", "is_enterprise_install": "false",
			"command": command, "text": args, "user_id": p.ID, "user_name": p.profile.Handle, "team_id": s.o.Team,
			"channel_id": c.ID, "channel_name": name, "response_url": s.origin + "/respond/" + trigger,
		},
	})
}
