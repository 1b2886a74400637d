package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/markup"
)

// essential are the fields without which a message says something else.
var essential = []string{"id", "channel_id", "guild_id", "content", "author", "type", "webhook_id"}

// readMessage reads something said, or a message by which Discord tells of
// something done. Those of our own say nothing new.
func (r *receiver) readMessage(ctx context.Context, raw json.RawMessage) ([]adapters.Update, error) {
	var m message
	if err := adapters.DecodeFields(raw, &m, essential...); err != nil || m.ID == "" || m.ChannelID == "" {
		return r.unreadable("MESSAGE_CREATE", raw, reasonOf(err, "it has no id or no channel")), nil
	}
	if m.Flags&loading != 0 {
		return nil, nil // history has it, too, once it says something
	}
	if r.at.note(m.ChannelID, flake(m.ID)); r.isOurs(&m) {
		return nil, nil
	}
	if m.GuildID == "" {
		r.at.direct(m.ChannelID)
	}
	return r.client.updatesOf(ctx, r.self, &m, raw)
}

// loading marks what a program will answer to a command: it has no words yet.
const loading = int(discordgo.MessageFlagsLoading)

// answers reports whether m is what a program says to a command. It comes without its
// words while the program thinks, and they with an update that is no edit
// (docs.discord.com, resources/message#message-object-message-flags).
func (m *message) answers() bool {
	return m.Type == discordgo.MessageTypeChatInputCommand || m.Type == discordgo.MessageTypeContextMenuCommand
}

// isOurs reports whether we said m, under whatever face.
func (r *receiver) isOurs(m *message) bool { return r.client.isOurs(r.self, m) }

// isOurs reports whether we said m, under whatever face.
func (c *messageReader) isOurs(self account, m *message) bool {
	switch {
	case m.WebhookID != "":
		return m.ApplicationID == self.application && m.ApplicationID != "" || c.webhooks.has(m.WebhookID)
	default:
		return m.Author != nil && m.Author.ID == self.ID
	}
}

// updatesOf returns what a message tells; nothing when it tells nothing that
// another event does not.
func (c *messageReader) updatesOf(ctx context.Context, self account, m *message, raw json.RawMessage) ([]adapters.Update, error) {
	return adapters.ReadGuarded(c.log, "message", raw, func() ([]adapters.Update, error) { return c.readTold(ctx, self, m, raw) })
}

// readTold is updatesOf without its guard.
func (c *messageReader) readTold(ctx context.Context, self account, m *message, raw json.RawMessage) ([]adapters.Update, error) {
	if m.Flags&loading != 0 {
		return nil, nil
	}
	u, err := c.updateOf(ctx, m)
	if err != nil {
		return nil, err
	}
	m.GuildID = cmp.Or(m.GuildID, u.Chat.Group)
	switch m.Type {
	case discordgo.MessageTypeChannelPinnedMessage:
		if m.Reference == nil {
			return nil, nil
		}
		u.Body = adapters.MessagePinned{Message: m.Reference.MessageID}
	case discordgo.MessageTypeGuildMemberJoin:
		if intents(self)&discordgo.IntentGuildMembers != 0 {
			return nil, nil // told by an event of its own
		}
		u.Body = adapters.PeopleJoined{People: []adapters.Person{u.From}}
	case discordgo.MessageTypeRecipientAdd:
		u.Body = adapters.PeopleJoined{People: people(m.Mentions)}
	case discordgo.MessageTypeRecipientRemove:
		u.Body = adapters.PeopleLeft{People: people(m.Mentions), By: u.From}
	case discordgo.MessageTypeThreadCreated, discordgo.MessageTypeThreadStarterMessage, discordgo.MessageTypeChannelNameChange,
		discordgo.MessageTypeChannelIconChange, discordgo.MessageTypeCall, 8, 9, 10, 11: // boosts
		return nil, nil
	default:
		said := c.said(self, m)
		if !usual(m.Type) { // Discord wrote its text, not the author that it names
			reason := "a notice of Discord's"
			if said.Text != "" {
				reason += ": " + said.Text
			}
			u.Body, u.Raw = adapters.UnreadableUpdate{Kind: fmt.Sprintf("message type %d", m.Type), Reason: reason}, raw
			return []adapters.Update{u}, nil
		}
		u.Body = said
		if kind := unreadKind(raw); kind != "" && said.Text == "" && len(said.Attachments) == 0 {
			u.Body, u.Raw = adapters.UnreadableUpdate{Kind: kind, Reason: "a kind of message we do not read"}, raw
		}
	}
	return []adapters.Update{u}, nil
}

// unreadKind returns the first field of a message, by alphabet, that says something which
// we do not read; empty if there is none. Where the bot may not see words, a message
// without any is usual.
func unreadKind(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // it was an object
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if says := strings.HasPrefix(string(fields[name]), "{") || strings.HasPrefix(string(fields[name]), "["); says && !slices.Contains(knownFields, name) {
			return name
		}
	}
	return ""
}

// knownFields names the objects and lists of a message that say nothing by themselves
// (docs.discord.com, resources/message#message-object), and those that we read.
var knownFields = strings.Fields(`
	attachments author components embeds interaction interaction_metadata member mention_channels mention_roles mentions
	message_reference message_snapshots poll reactions referenced_message resolved role_subscription_data sticker_items stickers
	thread application call`)

// pollResult is the type of the message that tells how a poll ended
// (docs.discord.com, resources/message#message-object-message-types).
const pollResult discordgo.MessageType = 46

// usual reports whether people say things with messages of type t.
func usual(t discordgo.MessageType) bool {
	switch t {
	case discordgo.MessageTypeDefault, discordgo.MessageTypeReply, discordgo.MessageTypeChatInputCommand, discordgo.MessageTypeContextMenuCommand, pollResult:
		return true
	default:
		return false
	}
}

// updateOf returns what every update made of m has; its body is to be set.
func (c *messageReader) updateOf(ctx context.Context, m *message) (adapters.Update, error) {
	chat, thread, err := c.place(ctx, m.ChannelID, m.GuildID)
	if err != nil {
		return adapters.Update{}, err
	}
	u := adapters.Update{ID: m.ID, Key: messageKey(m.ChannelID, m.ID), Common: isCommon(chat), Chat: chat, Thread: thread, At: m.Timestamp.UTC()}
	if m.Author != nil {
		nick := ""
		if m.Member != nil {
			nick = m.Member.Nick
		}
		u.From = m.Author.person(nick)
		if m.WebhookID != "" {
			u.From.Kind = adapters.Bot
		}
		c.known.meet(u.From)
		if chat.Kind == adapters.Direct && u.Chat.Title == "" {
			u.Chat.Title = u.From.Name
		}
	}
	return u, nil
}

// isCommon reports whether other bots may receive the same messages of a chat, under
// the same ids.
func isCommon(c adapters.Chat) bool { return c.Group != "" }

// people returns the users in the contract's form.
func people(users []namedUser) []adapters.Person {
	var all []adapters.Person
	for _, u := range users {
		all = append(all, u.person())
	}
	return all
}

// said returns m's words and all that hangs on them.
func (c *messageReader) said(self account, m *message) adapters.IncomingMessage {
	out := adapters.IncomingMessage{
		ID:          m.ID,
		Text:        c.words(m),
		Mentions:    people(m.Mentions),
		Attachments: attachmentsOf(m),
	}
	if m.Reference != nil && m.Reference.Type == 0 && m.Reference.ChannelID == m.ChannelID {
		out.ReplyTo = m.Reference.MessageID
	}
	if len(m.Snapshots) > 0 {
		out.Forwarded = "somebody" // Discord does not tell who
		inner := m.Snapshots[0].Message
		inner.GuildID = m.GuildID
		out.Text = joinBlocks(out.Text, c.words(&inner))
		for _, a := range attachmentsOf(&inner) {
			if !strings.HasPrefix(a.ID, stickerID) { // which is found without its message
				a.ID = attachmentID(m.ChannelID, m.ID, a.ID[strings.LastIndexByte(a.ID, '/')+1:])
			}
			out.Attachments = append(out.Attachments, a)
		}
	}
	c.address(self, m, &out)
	return out
}

// words returns m's content and whatever else in it is to be read, as CommonMark.
func (c *messageReader) words(m *message) string {
	var blocks []string
	if m.Content != nil {
		blocks = append(blocks, c.commonMark(*m.Content, c.namesFor(m)))
	}
	blocks = append(blocks, c.componentWords(m.Components, c.namesFor(m))...)
	for _, e := range m.Embeds {
		switch e.Type {
		case "", "rich":
			blocks = append(blocks, c.embedWords(e, c.namesFor(m)))
		case "poll_result":
			blocks = append(blocks, e.pollResult())
		} // the others are previews of what the words link to
	}
	if p := m.Poll; p != nil {
		lines := []string{"Poll: " + markup.Escape(p.Question.Text)}
		for _, a := range p.Answers {
			lines = append(lines, "- "+markup.Escape(a.Media.Text))
		}
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	return joinBlocks(blocks...)
}

// joinBlocks puts a blank line between those that say something.
func joinBlocks(blocks ...string) string {
	var all []string
	for _, b := range blocks {
		if b != "" {
			all = append(all, b)
		}
	}
	return strings.Join(all, "\n\n")
}

// commonMark returns Discord's Markdown as CommonMark.
func (c *messageReader) commonMark(content string, n mentionNames) string {
	words, spans := readMarkdown(content, n)
	return c.markup.CommonMark(words, spans)
}

// namesFor says what the ids in m's words stand for.
func (c *messageReader) namesFor(m *message) mentionNames {
	return mentionNames{
		user: func(id string) string {
			for _, u := range m.Mentions {
				if u.ID == id {
					return u.person().Name
				}
			}
			return ""
		},
		role: func(id string) string { return c.known.role(m.GuildID, id) },
		channel: func(id string) string {
			for _, ch := range m.MentionChannels {
				if ch.ID == id {
					return ch.Name
				}
			}
			ch, _ := c.known.channel(id)
			return ch.Name
		},
	}
}

// typed is a command written as words, perhaps after our name.
var typed = regexp.MustCompile(`^\s*(?:<@!?(\d+)>[\s,:]*)?/([A-Za-z0-9_-]{1,32})(?:\s+(?s:(.*)))?$`)

// address sets what m has to do with us: its command, if it has one, and whether
// it is meant for us.
func (c *messageReader) address(self account, m *message, out *adapters.IncomingMessage) {
	if m.Content != nil {
		if found := typed.FindStringSubmatch(*m.Content); found != nil && (found[1] == "" || found[1] == self.ID) {
			words, _ := readMarkdown(found[3], c.namesFor(m))
			out.Command = &adapters.ChatCommand{Name: strings.ToLower(found[2]), Args: strings.TrimSpace(words)}
		}
	}
	answers := out.ReplyTo != "" && m.Referenced != nil && c.isOurs(self, m.Referenced)
	if answers && (m.Content == nil || !calls(*m.Content, self.ID)) {
		// Discord counts the author of the answered message among those who are named.
		out.Mentions = slices.DeleteFunc(out.Mentions, func(p adapters.Person) bool { return p.ID == self.ID })
	}
	for _, p := range out.Mentions {
		out.ToUs = out.ToUs || p.ID == self.ID
	}
	switch {
	case m.GuildID == "":
		ch, known := c.known.channel(m.ChannelID)
		out.ToUs = out.ToUs || !known || ch.Type == discordgo.ChannelTypeDM
	case c.known.mine(m.GuildID, m.MentionRoles):
		out.ToUs = true
	case answers:
		out.ByReply = !out.ToUs
		out.ToUs = true
	}
}

// calls reports whether content names a person.
func calls(content, id string) bool {
	return strings.Contains(content, "<@"+id+">") || strings.Contains(content, "<@!"+id+">")
}
