package slack

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// The lengths that Slack enforces.
const (
	maxText     = 40_000
	maxUpdate   = 4_000 // of the text that an update brings
	maxMarkdown = 12_000
	maxBlocks   = 50
	maxRich     = 13_200 // letters in all blocks, as observed
)

// channelFor returns the channel of a call in which the app may write.
func (c *call) channelFor() (*WorkspaceChannel, answer) {
	id := c.args.Get("channel")
	ch := c.of.channels[id]
	if ch == nil {
		if p := c.of.people[id]; p != nil { // a user's id means the direct chat
			for _, d := range c.app.direct {
				if d.members[p.ID] {
					return d, answer{}
				}
			}
		}
		return nil, refuse("channel_not_found")
	}
	switch {
	case ch.archived:
		return nil, refuse("is_archived")
	case ch.kind == im && c.app.profile.NoMessages:
		return nil, refuse("messages_tab_disabled")
	case !ch.members[c.app.user.ID] && ch.kind != public:
		return nil, refuse("channel_not_found")
	case !ch.members[c.app.user.ID]:
		return nil, refuse("not_in_channel")
	}
	return ch, answer{}
}

// content reads what a message is to say.
func (c *call) content(m *message) (warning string, bad answer) {
	text, md, blocks := c.args.Get("text"), c.args.Get("markdown_text"), c.args.Get("blocks")
	switch {
	case md != "" && (text != "" || blocks != "" && blocks != "[]"):
		return "", refuse("markdown_text_conflict")
	case utf8.RuneCountInString(md) > maxMarkdown:
		return "", refuse("msg_too_long")
	case md != "":
		m.form, m.text = "markdown", md
		m.blocks = encode([]any{map[string]any{"type": "markdown", "block_id": "b1", "text": md}})
		return "", answer{}
	case blocks != "" && blocks != "[]":
		if bad := checkBlocks(blocks); bad != "" {
			return "", refuse(bad)
		}
		m.form, m.text, m.blocks = "blocks", text, json.RawMessage(blocks)
		return "", answer{}
	case text == "":
		return "", refuse("no_text")
	}
	if runes := []rune(text); len(runes) > maxText {
		text, warning = string(runes[:maxText]), "message_truncated"
	}
	m.form, m.text, m.blocks = "text", text, nil
	return warning, answer{}
}

// checkBlocks returns why Slack would not take blocks; empty when it would.
func checkBlocks(raw string) string {
	var list []struct {
		Type string `json:"type"`
	}
	if json.Unmarshal([]byte(raw), &list) != nil {
		return "invalid_blocks_format"
	}
	if len(list) > maxBlocks {
		return "invalid_blocks"
	}
	if _, valid := buttons(json.RawMessage(raw)); !valid {
		return "invalid_blocks"
	}
	kinds := []string{"rich_text", "section", "header", "divider", "context", "image", "actions", "markdown", "table", "file", "video"}
	letters := 0
	for _, b := range list {
		if !slices.Contains(kinds, b.Type) {
			return "invalid_blocks"
		}
	}
	if tooLong(splitBlocks(raw)) {
		return "invalid_blocks"
	}
	for _, b := range splitBlocks(raw) {
		letters += utf8.RuneCountInString(readBlock(b).text)
	}
	if letters > maxRich {
		return "msg_blocks_too_long"
	}
	return ""
}

// tooLong reports whether a block holds more text than one of its kind may.
func tooLong(blocks []json.RawMessage) bool {
	most := map[string]int{"section": 3000, "header": 150, "markdown": maxMarkdown}
	return slices.ContainsFunc(blocks, func(raw json.RawMessage) bool {
		var b element
		_ = json.Unmarshal(raw, &b) // it was read before
		return most[b.Type] > 0 && utf8.RuneCountInString(decodeText(b.Text)) > most[b.Type]
	})
}

func splitBlocks(raw string) []json.RawMessage {
	var list []json.RawMessage
	_ = json.Unmarshal([]byte(raw), &list) // it was read before
	return list
}

func (c *call) postMessage() answer {
	ch, bad := c.channelFor()
	if bad.err != "" {
		return bad
	}
	m := &message{ts: "", user: c.app.user.ID, app: c.app, thread: c.args.Get("thread_ts")}
	if c.app.has("chat:write.customize") { // without it Slack overlooks them
		m.username, m.icon = c.args.Get("username"), c.args.Get("icon_emoji")+c.args.Get("icon_url")
	}
	m.broadcast = m.thread != "" && c.args.Get("reply_broadcast") == "true"
	m.clientID = c.args.Get("client_msg_id")
	if meta := c.args.Get("metadata"); meta != "" {
		if !json.Valid([]byte(meta)) {
			return refuse("invalid_metadata_format")
		}
		m.metadata = json.RawMessage(meta)
	}
	warning, bad := c.content(m)
	if bad.err != "" {
		return bad
	}
	if m.thread != "" {
		parent := ch.find(m.thread)
		if parent == nil {
			return refuse("thread_not_found")
		}
		if parent.thread != "" {
			m.thread = parent.thread // a reply's thread is its parent's
		}
	}
	m.ts = c.of.ts()
	c.judge(ch, m)
	ch.add(m)
	delete(c.app.status, ch.ID+"/"+m.thread)
	made := map[string]any{"channel": ch.ID, "ts": m.ts, "message": m.wire(ch)}
	if warning != "" {
		made["warning"] = warning
	}
	return ok(made)
}

// judge notes whom a message calls and what a preview of it would fetch.
func (c *call) judge(ch *WorkspaceChannel, m *message) {
	w := m.read()
	for _, whom := range w.loud {
		c.of.ledger.loud(ChannelPing{App: c.app.ID, Channel: ch.ID, TS: m.ts, Whom: whom})
	}
	if c.args.Get("link_names") == "true" || c.args.Get("link_names") == "1" || c.args.Get("parse") == "full" {
		for _, whom := range []string{"here", "channel", "everyone"} {
			if strings.Contains(w.text, "@"+whom) {
				c.of.ledger.loud(ChannelPing{App: c.app.ID, Channel: ch.ID, TS: m.ts, Whom: whom})
			}
		}
	}
	if c.args.Get("unfurl_links") == "false" && c.args.Get("unfurl_media") == "false" {
		return
	}
	for _, u := range append(w.urls, bare.FindAllString(w.text, -1)...) {
		c.of.ledger.unfurled(LinkPreview{App: c.app.ID, Channel: ch.ID, TS: m.ts, URL: u})
	}
}

// own returns the app's message that a call is about.
func (c *call) own(denied string) (*WorkspaceChannel, *message, answer) {
	ch := c.of.channels[c.args.Get("channel")]
	if ch == nil {
		return nil, nil, refuse("channel_not_found")
	}
	m := ch.find(c.args.Get("ts"))
	switch {
	case m == nil || m.stone:
		return nil, nil, refuse("message_not_found")
	case m.app != c.app:
		return nil, nil, refuse(denied)
	}
	return ch, m, answer{}
}

func (c *call) updateMessage() answer {
	ch, m, bad := c.own("cant_update_message")
	if bad.err != "" {
		return bad
	}
	if utf8.RuneCountInString(c.args.Get("text")) > maxUpdate {
		return refuse("msg_too_long")
	}
	next := *m
	ids := c.args.Get("file_ids")
	if ids != "" {
		var list []string
		if json.Unmarshal([]byte(ids), &list) != nil {
			return refuse("invalid_arguments")
		}
		next.files = nil // the list is all that the message has from now on
		for _, id := range list {
			if f := c.of.files[id]; f != nil {
				next.files = append(next.files, f)
			}
		}
	}
	switch _, bad := c.content(&next); {
	case bad.err == "no_text" && ids != "": // observed: the words are gone, unless blocks hold them
		next.text = ""
	case bad.err != "":
		return bad
	}
	c.judge(ch, &next)
	ch.change(m, func() { m.text, m.blocks, m.form, m.files = next.text, next.blocks, next.form, next.files })
	return ok(map[string]any{"channel": ch.ID, "ts": m.ts, "text": m.text, "message": m.wire(ch)})
}

func (c *call) deleteMessage() answer {
	ch, m, bad := c.own("cant_delete_message")
	if bad.err != "" {
		return bad
	}
	ch.remove(m)
	return ok(map[string]any{"channel": ch.ID, "ts": m.ts})
}

func (c *call) addReaction() answer    { return c.setReaction(true, "already_reacted") }
func (c *call) removeReaction() answer { return c.setReaction(false, "no_reaction") }

func (c *call) setReaction(on bool, same string) answer {
	ch := c.of.channels[c.args.Get("channel")]
	if ch == nil {
		return refuse("channel_not_found")
	}
	c.entry.Target, c.entry.Text = c.args.Get("timestamp"), c.args.Get("name")
	m := ch.find(c.args.Get("timestamp"))
	switch {
	case m == nil:
		return refuse("message_not_found")
	case c.args.Get("name") == "" || strings.ContainsAny(c.args.Get("name"), ": "):
		return refuse("invalid_name")
	case !ch.react(m, c.app.user.ID, c.args.Get("name"), on):
		return refuse(same)
	}
	return ok(nil)
}

func (c *call) getReactions() answer {
	ch := c.of.channels[c.args.Get("channel")]
	if ch == nil {
		return refuse("channel_not_found")
	}
	m := ch.find(c.args.Get("timestamp"))
	if m == nil {
		return refuse("message_not_found")
	}
	return ok(map[string]any{"type": "message", "channel": ch.ID, "message": m.wire(ch)})
}

func (c *call) setStatus() answer {
	ch := c.of.channels[c.args.Get("channel_id")]
	switch {
	case ch == nil:
		return refuse("channel_not_found")
	case c.args.Get("thread_ts") == "":
		return refuse("invalid_arguments")
	case ch.find(c.args.Get("thread_ts")) == nil:
		return refuse("invalid_thread_ts")
	}
	c.app.status[ch.ID+"/"+c.args.Get("thread_ts")] = c.args.Get("status")
	return ok(nil)
}
