package telegram

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// The keys below are the identity of what happened, never of its
// delivery: update ids start anew after a silence, and the same fact may come by
// two roads. Every key begins with its kind.

// formatID returns an id or time of Telegram's as the text we keep.
func formatID(id int64) string { return strconv.FormatInt(id, 10) }

// messageKey names what was said, or what a service message told.
func messageKey(chat, message int64) string { return fmt.Sprintf("message:%d:%d", chat, message) }

// editKey names one version of a message. Two edits may fall into one second,
// so the words count too.
func editKey(chat, message, date int64, content string) string {
	return fmt.Sprintf("edit:%d:%d:%d:%s", chat, message, date, adapters.HashContent(content))
}

// memberKey names a person's coming ("join") or going ("left"). It is told by a
// service message, by chat_member, or by both.
func memberKey(what string, chat, user, date int64) string {
	return fmt.Sprintf("%s:%d:%d:%d", what, chat, user, date)
}

// standingKey names a change of our own standing in a chat.
func standingKey(chat, date int64, from, to string) string {
	return fmt.Sprintf("standing:%d:%d:%s:%s", chat, date, from, to)
}

// migrationKey names a group's becoming a supergroup; both sides tell of it.
func migrationKey(from, to int64) string { return fmt.Sprintf("migrate:%d:%d", from, to) }

// reactionKey names one change of one person's reactions.
func reactionKey(chat, message int64, who string, date int64, r adapters.ReactionChange) string {
	return fmt.Sprintf("reaction:%d:%d:%s:%d:%s:%s", chat, message, who, date, emojiSet(r.Old), emojiSet(r.New))
}

// emojiSet returns the emoji as a set: the same for every order.
func emojiSet(emoji []string) string {
	return strings.Join(slices.Sorted(slices.Values(emoji)), ",")
}

// alike returns what every bot in a basic group knows a fact by: there each of
// them numbers the messages for itself. It is empty where all of them have the
// same numbers, and in direct chats, which no two bots share.
func alike(u adapters.Update) string {
	id, err := strconv.ParseInt(u.Chat.ID, 10, 64)
	if err != nil || id >= 0 || id < superID(0) {
		return ""
	}
	what, told := tells(u)
	if !told {
		return ""
	}
	return fmt.Sprintf("alike:%s:%s:%d:%s", u.Chat.ID, u.From.ID, u.At.Unix(), what)
}

// tells returns a fact without the name of the message that it is about; false
// when its key has none, or when nothing of it could be read.
func tells(u adapters.Update) (what string, told bool) {
	switch b := u.Body.(type) {
	case adapters.IncomingMessage:
		return "said:" + contentOf(b), true
	case adapters.MessageEdit:
		return "edit:" + contentOf(b.New), true
	case adapters.ReactionChange:
		return "reaction:" + emojiSet(b.Old) + ":" + emojiSet(b.New), true
	case adapters.PeopleJoined, adapters.PeopleLeft:
		return u.Key, true
	case adapters.ChatRenamed:
		return "renamed:" + adapters.HashContent(b.Title), true
	case adapters.MessagePinned:
		return "pinned", true
	case adapters.MessageUnpinned:
		return "unpinned", true
	case adapters.ChoicePicked, adapters.ReactionsCleared, adapters.MessageDeletion, adapters.ChatMigrated, adapters.ChatGained, adapters.ChatLost, adapters.UpdateGap, adapters.UnreadableUpdate:
		return "", false
	}
	return "", false
}

// contentOf names what a message says and carries. The ids of its files are one
// bot's own.
func contentOf(m adapters.IncomingMessage) string {
	content := []string{m.Text, m.Forwarded}
	for _, a := range m.Attachments {
		content = append(content, a.Kind, a.Name, a.MIME, strconv.FormatInt(a.Size, 10))
	}
	return adapters.HashContent(strings.Join(content, "\x00"))
}
