package telegram

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

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
	case adapters.Message:
		return "said:" + contentOf(b), true
	case adapters.Edit:
		return "edit:" + contentOf(b.New), true
	case adapters.Reaction:
		return "reaction:" + emojiSet(b.Old) + ":" + emojiSet(b.New), true
	case adapters.Joined, adapters.Left:
		return u.Key, true
	case adapters.Renamed:
		return "renamed:" + adapters.Digest(b.Title), true
	case adapters.Pinned:
		return "pinned", true
	case adapters.Unpinned:
		return "unpinned", true
	case adapters.ReactionsCleared, adapters.Delete, adapters.Migrated, adapters.ChatGained, adapters.ChatLost, adapters.Gap, adapters.Unreadable:
		return "", false
	}
	return "", false
}

// contentOf names what a message says and carries. The ids of its files are one
// bot's own.
func contentOf(m adapters.Message) string {
	content := []string{m.Text, m.Forwarded}
	for _, a := range m.Attachments {
		content = append(content, a.Kind, a.Name, a.MIME, strconv.FormatInt(a.Size, 10))
	}
	return adapters.Digest(strings.Join(content, "\x00"))
}
