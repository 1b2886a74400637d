package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// told are the subtypes of messages that repeat what an event of their own
// tells, or that only Slack's own clients need.
var told = strings.Fields(`
	assistant_app_thread bot_add bot_remove channel_archive channel_convert_to_private channel_convert_to_public channel_join
	channel_leave channel_name channel_posting_permissions channel_purpose channel_topic channel_unarchive group_archive
	group_join group_leave group_name group_purpose group_topic group_unarchive huddle_thread message_replied pinned_item
	reminder_add reply_broadcast sh_room_created sh_room_shared unpinned_item`)

// speech are the subtypes of messages that people and programs say
// (docs.slack.dev/reference/events/message, "Message subtypes").
var speech = strings.Fields("bot_message me_message file_share file_comment file_mention thread_broadcast document_mention")

// isSpeech reports whether a person or a program says m.
func (m *message) isSpeech() bool {
	return m.Subtype == "" || m.Type == "app_mention" || slices.Contains(speech, m.Subtype)
}

// message reads a message event.
func (r reader) message(ctx context.Context, raw json.RawMessage) ([]adapters.Update, error) {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	return r.happened(ctx, &m)
}

// past reads a message of history. What was edited since it was written is told
// as an edit too, under the key that the edit's own event has.
func (r reader) past(ctx context.Context, channel string, raw json.RawMessage) []adapters.Update {
	return r.guarded("history", "message", raw, func() []adapters.Update { return r.readPast(ctx, channel, raw) })
}

// readPast is past without its guard.
func (r reader) readPast(ctx context.Context, channel string, raw json.RawMessage) []adapters.Update {
	var m message
	err := json.Unmarshal(raw, &m)
	m.Channel = channel
	var updates []adapters.Update
	if err == nil {
		updates, err = r.happened(ctx, &m)
	}
	if err != nil {
		return []adapters.Update{r.unreadable(&delivery{id: "history", payload: raw}, "message", err.Error(), nil)}
	}
	for i := range updates {
		updates[i].ID = "history"
	}
	if said, ok := saidIn(updates); ok && m.Edited != nil && m.Edited.TS != "" {
		u := updates[0]
		u.Key, u.At, u.Body = editKey(channel, m.TS, m.Edited.TS, ""), timeOf(m.Edited.TS), adapters.MessageEdit{New: said}
		updates = append(updates, u)
	}
	return updates
}

// saidIn returns what was said, if that is what the updates tell.
func saidIn(updates []adapters.Update) (adapters.IncomingMessage, bool) {
	if len(updates) != 1 {
		return adapters.IncomingMessage{}, false
	}
	said, ok := updates[0].Body.(adapters.IncomingMessage)
	return said, ok
}

// happened returns what a message tells.
func (r reader) happened(ctx context.Context, m *message) ([]adapters.Update, error) {
	if m.Channel == "" {
		return nil, fmt.Errorf("it names no channel")
	}
	switch {
	case m.Subtype == "message_changed":
		return r.changed(ctx, m)
	case m.Subtype == "message_deleted":
		return r.gone(ctx, m, m.Deleted), nil
	case m.Subtype == "tombstone":
		return r.gone(ctx, m, m.TS), nil
	case slices.Contains(told, m.Subtype):
		return nil, nil
	case m.TS == "":
		return nil, fmt.Errorf("it has no ts")
	case m.Subtype == "ekm_access_denied":
		return nil, fmt.Errorf("the workspace's own keys deny access to it")
	}
	u := r.said(ctx, m)
	if said, ok := u.Body.(adapters.IncomingMessage); ok && !m.isSpeech() { // Slack wrote its text, not the user that it names
		u.Body = adapters.UnreadableUpdate{Kind: "message " + m.Subtype, Reason: strings.TrimSuffix("a notice of Slack's: "+said.Text, ": ")}
	}
	return []adapters.Update{u}, nil
}

func (r reader) said(ctx context.Context, m *message) adapters.Update {
	u := adapters.Update{
		Key:  messageKey(m.Channel, m.TS),
		Chat: r.c.names.chat(ctx, m.Channel, m.ChannelType, r.self.Team),
		From: r.sender(ctx, m), At: timeOf(m.TS),
	}
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		u.Thread = adapters.Thread{ID: m.ThreadTS}
	}
	u.Body = r.content(ctx, m, u.Chat)
	return u
}

// changed reads message_changed. Slack also sends it when it shows a preview or
// counts replies: the words are then the same and nothing was edited.
func (r reader) changed(ctx context.Context, m *message) ([]adapters.Update, error) {
	now, before := m.Message, m.Previous
	if now == nil || now.TS == "" {
		return nil, fmt.Errorf("it does not say which message")
	}
	now.Channel, now.ChannelType, now.At = m.Channel, m.ChannelType, m.At
	if now.Subtype == "tombstone" {
		return r.gone(ctx, now, now.TS), nil
	}
	if !now.isSpeech() {
		return nil, nil // of a notice nothing more is told
	}
	if before != nil && r.looksLike(ctx, now, before) {
		return nil, nil
	}
	u := r.said(ctx, now)
	edited := ""
	if now.Edited != nil {
		edited = now.Edited.TS
		u.At = timeOf(edited)
	} else if at := timeOf(m.At); !at.IsZero() {
		u.At = at
	}
	said, _ := u.Body.(adapters.IncomingMessage)
	var content strings.Builder
	content.WriteString(said.Text)
	for _, f := range said.Attachments {
		content.WriteString("\x00" + f.Kind + "\x00" + f.ID)
	}
	if before != nil && !slices.Equal(r.files(now), r.files(before)) {
		edited = "" // a file that is taken away leaves the time of the last edit as it was
	}
	u.Key = editKey(m.Channel, now.TS, edited, content.String())
	u.Body = adapters.MessageEdit{New: said}
	return []adapters.Update{u}, nil
}

// looksLike reports whether a person sees the same message now as before.
func (r reader) looksLike(ctx context.Context, now, before *message) bool {
	when := func(m *message) string {
		if m.Edited == nil {
			return ""
		}
		return m.Edited.TS
	}
	return when(now) == when(before) && slices.Equal(r.files(now), r.files(before)) && // which Slack describes anew as it makes previews of them
		r.words(ctx, now).text == r.words(ctx, before).text
}

// gone reads the end of a message. Slack does not say who ended it; what we
// ended ourselves is known.
func (r reader) gone(ctx context.Context, m *message, ts string) []adapters.Update {
	ts = cmp.Or(ts, m.TS)
	u := adapters.Update{
		Key:  deleteKey(m.Channel, ts),
		Chat: r.c.names.chat(ctx, m.Channel, m.ChannelType, r.self.Team),
		At:   timeOf(m.At), Body: adapters.MessageDeletion{Messages: []string{ts}},
	}
	if r.c.deletedByUs(m.Channel, ts) {
		u.From = r.us()
	}
	return []adapters.Update{u}
}

// sender returns who wrote m. A message of our app is ours under whatever name it
// was posted.
func (r reader) sender(ctx context.Context, m *message) adapters.Person {
	switch {
	case m.User == r.self.User && m.User != "", m.BotID == r.self.Bot && m.BotID != "":
		return r.us()
	case m.User != "":
		p := r.who(ctx, m.User, cmp.Or(m.UserTeam, m.UserProfile.Team, m.SourceTeam, m.Team))
		if p.Name == p.ID { // Slack does not say
			p.Name = cmp.Or(m.UserProfile.DisplayName, m.UserProfile.RealName, m.UserProfile.Name, p.ID)
		}
		if m.BotID != "" && p.Kind == adapters.Human {
			p.Kind = adapters.Bot
		}
		return p
	case m.BotID != "":
		return adapters.Person{ID: m.BotID, Scope: r.self.Team, Kind: adapters.Bot, Name: cmp.Or(m.Username, m.Profile.Name, m.BotID)}
	default:
		return adapters.Person{ID: "slack", Scope: r.self.Team, Kind: adapters.Service, Name: "Slack"}
	}
}

// content returns m's words and all that hangs on them.
func (r reader) content(ctx context.Context, m *message, chat adapters.Chat) adapters.IncomingMessage {
	w := r.words(ctx, m)
	out := adapters.IncomingMessage{
		ID: m.TS, Text: w.text, Mentions: w.people, Attachments: r.files(m),
	}
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		out.ReplyTo = m.ThreadTS // a thread hangs on a message, and answers it
		out.Broadcast = m.Subtype == "thread_broadcast"
	}
	mentioned := slices.ContainsFunc(w.people, func(p adapters.Person) bool { return p.ID == r.self.account() })
	out.Command = commandOf(w.plain, r.self)
	meant := chat.Kind == adapters.Direct || mentioned || m.Type == "app_mention"
	out.ByReply = !meant && m.ParentUser == r.self.User
	out.ToUs = meant || out.ByReply
	out.Forwarded = w.forwarded
	if id := viewed(m.AppContext); id != "" && id != chat.ID {
		if title := r.c.names.chat(ctx, id, "", r.self.Team).Title; title != "" {
			out.Viewing = "#" + title
		}
	}
	return out
}

// commandOf returns the command that words begin with, after our own name if that
// comes first. Slack keeps "/stop" for itself, so "!stop" means the same.
func commandOf(words string, me self) *adapters.ChatCommand {
	words = strings.TrimSpace(words)
	if rest, ok := strings.CutPrefix(words, "@"+me.Name); ok {
		words = strings.TrimLeft(rest, " ,:")
	}
	if words == "" || (words[0] != '/' && words[0] != '!') {
		return nil
	}
	name, args, _ := strings.Cut(words[1:], " ")
	if name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return nil
	}
	return &adapters.ChatCommand{Name: strings.ToLower(name), Args: strings.TrimSpace(args)}
}

// commandID begins the ids of slash commands, which are no messages of the channel.
const commandID = "command-"

// command reads a slash command. One word of ours serves all: "/trestle stop" is
// the command stop.
func (r reader) command(ctx context.Context, d *delivery) []adapters.Update {
	var cmd command
	if err := json.Unmarshal(d.payload, &cmd); err != nil || cmd.Channel == "" || cmd.Command == "" {
		return []adapters.Update{r.unreadable(d, "slash_commands", "it names no command or no channel", nil)}
	}
	if r.elsewhere(callback{Team: cmd.Team}) && cmd.Enterprise == "" {
		r.c.log.Warn("command of another workspace left aside", "update", d.id, "team", cmd.Team)
		return nil
	}
	name, args := strings.ToLower(strings.TrimPrefix(cmd.Command, "/")), r.words(ctx, &message{Text: cmd.Text}).plain
	ours := strings.HasPrefix(name, "trestle")
	if first, rest, _ := strings.Cut(args, " "); ours {
		name, args = cmp.Or(strings.ToLower(strings.TrimLeft(first, "/!")), "help"), rest
	}
	r.c.storeResponseURL(cmd)
	trigger := cmp.Or(cmd.Trigger, d.id)
	kind := ""
	if cmd.ChannelName == "directmessage" {
		kind = "im"
	}
	return []adapters.Update{{
		ID: d.id, Key: "command:" + cmd.Channel + ":" + trigger,
		Chat: r.c.names.chat(ctx, cmd.Channel, kind, r.self.Team),
		From: r.who(ctx, cmd.User, cmd.Team),
		Body: adapters.IncomingMessage{
			ID: commandID + trigger, Text: strings.TrimSpace("/" + name + " " + args), ToUs: true,
			Command: &adapters.ChatCommand{Name: name, Args: strings.TrimSpace(args), Only: ours},
		},
	}}
}

// files returns the files on m, and on what it forwards.
func (r reader) files(m *message) []adapters.IncomingFile {
	var files []file
	_ = json.Unmarshal(m.Files, &files) // what cannot be read is no file
	var hung []struct {
		Share bool   `json:"is_share"`
		Files []file `json:"files"`
	}
	_ = json.Unmarshal(m.Attachments, &hung) // none has none
	for _, a := range hung {
		if a.Share { // what is forwarded brings its files along
			files = append(files, a.Files...)
		}
	}
	var out []adapters.IncomingFile
	for _, f := range files {
		if f.ID == "" {
			continue
		}
		out = append(out, f.attachment())
	}
	return out
}

// attachment returns f in the contract's form.
func (f file) attachment() adapters.IncomingFile {
	a := adapters.IncomingFile{Kind: "file", ID: f.ID, Name: cmp.Or(f.Name, f.Title), MIME: f.MIME, Size: f.Size}
	major, _, _ := strings.Cut(f.MIME, "/")
	switch {
	case f.Mode == "tombstone", f.Mode == "hidden_by_limit":
		a.Kind, a.Name = "missing", "a file that Slack no longer has"
	case f.Subtype == "slack_audio":
		a.Kind = "voice"
	case major == "image":
		a.Kind = "photo"
	case major == "video", major == "audio":
		a.Kind = major
	}
	return a
}
