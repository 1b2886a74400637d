package telegram

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/markup"
)

// errUnnamed means that an update is about something that it does not name.
var errUnnamed = errors.New("it does not say which message, or in which chat")

// readMessage reads message and channel_post: something said, or a service
// message that tells of something done.
func (r reader) readMessage(raw json.RawMessage) ([]adapters.Update, error) {
	var m message
	if err := m.read(raw); err != nil {
		return nil, err
	}
	if updates := m.told(); updates != nil {
		return updates, nil
	}
	u := m.update()
	said := r.said(&m)
	if u.Body = said; said.Text == "" && len(said.Attachments) == 0 {
		u.Body = unread(raw, said)
	}
	return []adapters.Update{u}, nil
}

// unread returns body, which says nothing, or that the message is of a kind we do
// not read, if it holds more than what says nothing.
func unread(raw json.RawMessage, body adapters.UpdateBody) adapters.UpdateBody {
	if kind := unknownKind(raw, saysNothing...); kind != "" {
		return adapters.UnreadableUpdate{Kind: kind, Reason: "a kind of message we do not read"}
	}
	return body
}

// readEdit reads edited_message and edited_channel_post.
func (r reader) readEdit(raw json.RawMessage) ([]adapters.Update, error) {
	var m message
	if err := m.read(raw); err != nil {
		return nil, err
	}
	u := m.update()
	u.At = at(max(m.EditDate, m.Date))
	said := r.said(&m)
	content := []string{said.Text}
	for _, a := range said.Attachments {
		content = append(content, a.Kind, a.Name)
	}
	content = append(content, m.uniqueIDs()...)
	u.Key = editKey(m.Chat.ID, m.ID, m.EditDate, strings.Join(content, "\x00"))
	if u.Body = (adapters.MessageEdit{New: said}); said.Text == "" && len(said.Attachments) == 0 {
		u.Body = unread(raw, u.Body) // it has not lost its words: what it says now is of a kind we do not read
	}
	return []adapters.Update{u}, nil
}

// read reads m from JSON. Without an id and a chat it is nothing that could be
// told apart from others.
func (m *message) read(raw json.RawMessage) error {
	if err := json.Unmarshal(raw, m); err != nil {
		return err
	}
	if m.ID == 0 || m.Chat.ID == 0 {
		return errUnnamed
	}
	return nil
}

// UnmarshalJSON reads a message of which a field may have a form that we do not know: the
// others are read all the same.
func (m *message) UnmarshalJSON(raw []byte) error {
	type fields message
	return adapters.DecodeFields(raw, (*fields)(m), "message_id", "chat", "from", "sender_chat", "text", "caption")
}

// update returns what every update made of m has; its body is to be set.
func (m *message) update() adapters.Update {
	return adapters.Update{
		Key:    messageKey(m.Chat.ID, m.ID),
		Chat:   m.Chat.chat(),
		Thread: m.thread(),
		From:   m.sender(),
		At:     at(m.Date),
	}
}

// thread returns the forum topic m was written in. A thread id without the mark
// of a topic names a chain of replies in an ordinary supergroup: no thread.
func (m *message) thread() adapters.Thread {
	told := m.TopicCreated != nil || m.TopicEdited != nil
	if m.ThreadID == 0 || (!m.IsTopic && !told) {
		return adapters.Thread{}
	}
	t := adapters.Thread{ID: formatID(m.ThreadID)}
	if m.answersTopic() && m.ReplyTo.TopicCreated != nil {
		t.Title = m.ReplyTo.TopicCreated.Name
	}
	return t
}

// answersTopic reports whether m's reply is only Telegram's way to say in which
// topic it was written: a reply to the message that opened the topic.
func (m *message) answersTopic() bool {
	return m.ReplyTo != nil && (m.ReplyTo.TopicCreated != nil || m.IsTopic && m.ReplyTo.ID == m.ThreadID)
}

// sender returns who wrote m. A chat that speaks as itself goes before the
// stand-in that Telegram puts into from.
func (m *message) sender() adapters.Person {
	switch {
	case m.SenderChat != nil:
		return m.SenderChat.person()
	case m.From != nil:
		return m.From.person()
	case m.Chat.Type == "channel":
		return m.Chat.person()
	default:
		return adapters.Person{}
	}
}

// said returns m's words and all that hangs on them.
func (r reader) said(m *message) adapters.IncomingMessage {
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	out := adapters.IncomingMessage{
		ID:          formatID(m.ID),
		Text:        r.quoted(m) + r.markdown.of(text, entities),
		Mentions:    peopleIn(text, entities, r.self),
		Attachments: m.attachments(),
		Forwarded:   m.Origin.name(),
	}
	if m.ReplyTo != nil && !m.answersTopic() {
		out.ReplyTo = formatID(m.ReplyTo.ID)
		if m.Chat.Type == "group" {
			out.ReplyFrom, out.ReplyAt = m.ReplyTo.sender(), at(m.ReplyTo.Date)
		}
	}
	m.address(&out, text, entities, r.self)
	return out
}

// quoted returns what m quotes, as a block quote: the words of a message in
// another chat, which is not in this chat's record, or those that the sender
// picked from a longer one.
func (r reader) quoted(m *message) string {
	var words string
	if m.Quote != nil && (m.External != nil || m.Quote.Manual) {
		words = r.markdown.of(m.Quote.Text, m.Quote.Entities)
	}
	if m.External != nil {
		var carried []string
		for _, a := range m.External.attachments() {
			carried = append(carried, "["+markup.Escape(a.Kind)+"]")
		}
		if words != "" {
			carried = append(carried, words)
		}
		words = strings.Join(carried, " ")
		if who := m.External.Origin.name(); who != "" {
			words = strings.TrimSuffix(markup.Escape(who)+": "+words, ": ")
		}
	}
	if words == "" {
		return ""
	}
	return "> " + strings.ReplaceAll(words, "\n", "\n> ") + "\n\n"
}

// saysNothing names the fields of a message that say nothing by themselves.
var saysNothing = []string{
	"message_id", "message_thread_id", "direct_messages_topic", "from", "sender_chat", "sender_boost_count",
	"sender_business_bot", "sender_tag", "date", "guest_query_id", "business_connection_id", "chat", "forward_origin",
	"is_topic_message", "is_automatic_forward", "reply_to_message", "external_reply", "quote", "reply_to_story",
	"reply_to_checklist_task_id", "reply_to_poll_option_id", "via_bot", "guest_bot_caller_user", "guest_bot_caller_chat",
	"edit_date", "has_protected_content", "is_from_offline", "is_paid_post", "media_group_id", "author_signature",
	"paid_star_count", "text", "entities", "link_preview_options", "suggested_post_info", "effect_id", "caption",
	"caption_entities", "show_caption_above_media", "has_media_spoiler", "reply_markup",
}
