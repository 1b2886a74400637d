package telegram

import (
	"cmp"
	"encoding/json"
	"strings"
)

// The structs below are the parts of Telegram's objects that we read, with
// Telegram's names (core.telegram.org/bots/api). Optional objects are pointers.

// envelope is an update: its id and, under the name of its kind, what happened.
type envelope struct {
	ID                *int64          `json:"update_id"`
	Message           json.RawMessage `json:"message"`
	EditedMessage     json.RawMessage `json:"edited_message"`
	ChannelPost       json.RawMessage `json:"channel_post"`
	EditedChannelPost json.RawMessage `json:"edited_channel_post"`
	MessageReaction   json.RawMessage `json:"message_reaction"`
	MyChatMember      json.RawMessage `json:"my_chat_member"`
	ChatMember        json.RawMessage `json:"chat_member"`
	CallbackQuery     json.RawMessage `json:"callback_query"`
	StoppedGeneration json.RawMessage `json:"stopped_message_generation"`
	GuestMessage      json.RawMessage `json:"guest_message"`
}

type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`
}

// name returns what Telegram shows for the person.
func (u user) name() string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }

type chat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"`
	Title     string `json:"title"`
	Username  string `json:"username"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
}

// name returns the chat's title, or the person's name in a private chat.
func (c chat) name() string {
	return cmp.Or(c.Title, strings.TrimSpace(c.FirstName+" "+c.LastName))
}

type message struct {
	ID         int64    `json:"message_id"`
	ThreadID   int64    `json:"message_thread_id"`
	IsTopic    bool     `json:"is_topic_message"`
	From       *user    `json:"from"`
	SenderChat *chat    `json:"sender_chat"`
	Date       int64    `json:"date"`
	EditDate   int64    `json:"edit_date"`
	Chat       chat     `json:"chat"`
	Origin     *origin  `json:"forward_origin"`
	ReplyTo    *message `json:"reply_to_message"`
	External   *struct {
		Origin *origin `json:"origin"`
		media
	} `json:"external_reply"`
	Quote *struct {
		Text     string   `json:"text"`
		Entities []entity `json:"entities"`
		Manual   bool     `json:"is_manual"` // chosen by the sender
	} `json:"quote"`

	GuestQuery string `json:"guest_query_id"`

	Text            string   `json:"text"`
	Entities        []entity `json:"entities"`
	Caption         string   `json:"caption"`
	CaptionEntities []entity `json:"caption_entities"`
	media
	service
}

// origin is where a forwarded or quoted message was said first.
type origin struct {
	Type           string `json:"type"`
	SenderUser     *user  `json:"sender_user"`
	SenderUserName string `json:"sender_user_name"`
	SenderChat     *chat  `json:"sender_chat"`
	Chat           *chat  `json:"chat"`
	Signature      string `json:"author_signature"` // of a channel's author, or an anonymous administrator
}

// name returns who said it first, as shown.
func (o *origin) name() string {
	var from *chat
	switch {
	case o == nil:
		return ""
	case o.SenderUser != nil:
		return o.SenderUser.name()
	case o.SenderChat != nil:
		from = o.SenderChat
	case o.Chat != nil:
		from = o.Chat
	default:
		return o.SenderUserName
	}
	if o.Signature != "" {
		return from.name() + " (" + o.Signature + ")"
	}
	return from.name()
}

// entity is a special stretch of a text; offsets count UTF-16 units.
type entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url"`
	User     *user  `json:"user"`
	Language string `json:"language"`
}

// service holds the fields of a service message, which has no text of a person.
type service struct {
	NewMembers   []user    `json:"new_chat_members"`
	LeftMember   *user     `json:"left_chat_member"`
	NewTitle     string    `json:"new_chat_title"`
	GroupCreated bool      `json:"group_chat_created"`
	SuperCreated bool      `json:"supergroup_chat_created"`
	ChanCreated  bool      `json:"channel_chat_created"`
	MigrateTo    int64     `json:"migrate_to_chat_id"`
	MigrateFrom  int64     `json:"migrate_from_chat_id"`
	Pinned       *pinned   `json:"pinned_message"`
	TopicCreated *topicFor `json:"forum_topic_created"`
	TopicEdited  *topicFor `json:"forum_topic_edited"`
}

type pinned struct {
	ID int64 `json:"message_id"`
}

type topicFor struct {
	Name string `json:"name"`
}

// memberChange is chat_member and my_chat_member.
type memberChange struct {
	Chat chat   `json:"chat"`
	From user   `json:"from"`
	Date int64  `json:"date"`
	Old  member `json:"old_chat_member"`
	New  member `json:"new_chat_member"`
}

type member struct {
	User     user   `json:"user"`
	Status   string `json:"status"`
	IsMember bool   `json:"is_member"` // with status "restricted"
}

// in reports whether the member is in the chat.
func (m member) in() bool {
	switch m.Status {
	case "creator", "administrator", "member":
		return true
	case "restricted":
		return m.IsMember
	default:
		return false
	}
}

// reactionChange is message_reaction.
type reactionChange struct {
	Chat      chat           `json:"chat"`
	MessageID int64          `json:"message_id"`
	User      *user          `json:"user"`
	ActorChat *chat          `json:"actor_chat"`
	Date      int64          `json:"date"`
	Old       []reactionType `json:"old_reaction"`
	New       []reactionType `json:"new_reaction"`
}

type reactionType struct {
	Type          string `json:"type"`
	Emoji         string `json:"emoji"`
	CustomEmojiID string `json:"custom_emoji_id"`
}
