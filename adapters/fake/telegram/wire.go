package telegram

// The platform's own JSON shapes, as far as the fake speaks them (Bot API 10.1).

type wireUser struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name,omitzero"`
	Username  string `json:"username,omitzero"`
	Language  string `json:"language_code,omitzero"`
}

// wireSelf is the bot's own user, richer in getMe than elsewhere.
type wireSelf struct {
	wireUser
	CanJoinGroups   bool `json:"can_join_groups"`
	ReadsAll        bool `json:"can_read_all_group_messages"`
	InlineQueries   bool `json:"supports_inline_queries"`
	Business        bool `json:"can_connect_to_business"`
	MainWebApp      bool `json:"has_main_web_app"`
	TopicsEnabled   bool `json:"has_topics_enabled"`
	CanManageOthers bool `json:"can_manage_bots"`
}

type wireChat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"`
	Title     string `json:"title,omitzero"`
	Username  string `json:"username,omitzero"`
	FirstName string `json:"first_name,omitzero"`
	LastName  string `json:"last_name,omitzero"`
	IsForum   bool   `json:"is_forum,omitzero"`
}

// wireFullChat is a chat as getChat gives it.
type wireFullChat struct {
	wireChat
	AccentColor  int          `json:"accent_color_id"`
	MaxReactions int          `json:"max_reaction_count"`
	GiftTypes    giftTypes    `json:"accepted_gift_types"`
	Pinned       *wireMessage `json:"pinned_message,omitzero"`
}

type giftTypes struct {
	Unlimited bool `json:"unlimited_gifts"`
	Limited   bool `json:"limited_gifts"`
	Unique    bool `json:"unique_gifts"`
	Premium   bool `json:"premium_subscription"`
	Channels  bool `json:"gifts_from_channels"`
}

// A TextEntity is a stretch of formatted text. Offset and Length count UTF-16 units.
type TextEntity struct {
	Type     string    `json:"type"`
	Offset   int       `json:"offset"`
	Length   int       `json:"length"`
	URL      string    `json:"url,omitzero"`
	User     *wireUser `json:"user,omitzero"`
	Language string    `json:"language,omitzero"`
	Emoji    string    `json:"custom_emoji_id,omitzero"`
}

type wireFile struct {
	ID       string `json:"file_id"`
	UniqueID string `json:"file_unique_id"`
	Size     int    `json:"file_size,omitzero"`
	Path     string `json:"file_path,omitzero"`
	Name     string `json:"file_name,omitzero"`
	MIME     string `json:"mime_type,omitzero"`
	Width    int    `json:"width,omitzero"`
	Height   int    `json:"height,omitzero"`
	Duration int    `json:"duration,omitzero"`
	Emoji    string `json:"emoji,omitzero"`
	Kind     string `json:"type,omitzero"`
}

type wireTopic struct {
	Name  string `json:"name,omitzero"`
	Color int    `json:"icon_color,omitzero"`
}

type wirePreview struct {
	IsDisabled bool   `json:"is_disabled,omitzero"`
	URL        string `json:"url,omitzero"`
}

type wireOrigin struct {
	Type string    `json:"type"`
	Date int64     `json:"date"`
	User *wireUser `json:"sender_user,omitzero"`
	Name string    `json:"sender_user_name,omitzero"`
}

type wireMessage struct {
	ID          int64         `json:"message_id"`
	Thread      int64         `json:"message_thread_id,omitzero"`
	From        *wireUser     `json:"from,omitzero"`
	SenderChat  *wireChat     `json:"sender_chat,omitzero"`
	Date        int64         `json:"date"`
	Chat        wireChat      `json:"chat"`
	Origin      *wireOrigin   `json:"forward_origin,omitzero"`
	IsTopic     bool          `json:"is_topic_message,omitzero"`
	ReplyTo     *wireMessage  `json:"reply_to_message,omitzero"`
	EditDate    int64         `json:"edit_date,omitzero"`
	Text        string        `json:"text,omitzero"`
	Entities    []TextEntity  `json:"entities,omitzero"`
	Preview     *wirePreview  `json:"link_preview_options,omitzero"`
	Photo       []wireFile    `json:"photo,omitzero"`
	Document    *wireFile     `json:"document,omitzero"`
	Voice       *wireFile     `json:"voice,omitzero"`
	Video       *wireFile     `json:"video,omitzero"`
	Audio       *wireFile     `json:"audio,omitzero"`
	Sticker     *wireFile     `json:"sticker,omitzero"`
	Caption     string        `json:"caption,omitzero"`
	CaptionEnts []TextEntity  `json:"caption_entities,omitzero"`
	Keyboard    *wireKeyboard `json:"reply_markup,omitzero"`
	GuestQuery  string        `json:"guest_query_id,omitzero"`
	service
}

// service is what a service message says; one field is set.
type service struct {
	NewMembers    []*wireUser  `json:"new_chat_members,omitzero"`
	LeftMember    *wireUser    `json:"left_chat_member,omitzero"`
	NewTitle      string       `json:"new_chat_title,omitzero"`
	GroupCreated  bool         `json:"group_chat_created,omitzero"`
	SuperCreated  bool         `json:"supergroup_chat_created,omitzero"`
	MigrateTo     int64        `json:"migrate_to_chat_id,omitzero"`
	MigrateFrom   int64        `json:"migrate_from_chat_id,omitzero"`
	Pinned        *wireMessage `json:"pinned_message,omitzero"`
	TopicCreated  *wireTopic   `json:"forum_topic_created,omitzero"`
	TopicEdited   *wireTopic   `json:"forum_topic_edited,omitzero"`
	TopicClosed   *wireTopic   `json:"forum_topic_closed,omitzero"`
	TopicReopened *wireTopic   `json:"forum_topic_reopened,omitzero"`
}

type wireReaction struct {
	Type  string `json:"type"`
	Emoji string `json:"emoji,omitzero"`
	ID    string `json:"custom_emoji_id,omitzero"`
}

type wireReacted struct {
	Chat    wireChat       `json:"chat"`
	Message int64          `json:"message_id"`
	User    *wireUser      `json:"user,omitzero"`
	Date    int64          `json:"date"`
	Old     []wireReaction `json:"old_reaction"`
	New     []wireReaction `json:"new_reaction"`
}

type wireMember struct {
	Status   string    `json:"status"`
	User     *wireUser `json:"user"`
	Until    *int64    `json:"until_date,omitzero"`
	IsMember *bool     `json:"is_member,omitzero"`
	CanSend  *bool     `json:"can_send_messages,omitzero"`
	CanPost  *bool     `json:"can_post_messages,omitzero"`
}

type wireMemberChange struct {
	Chat wireChat   `json:"chat"`
	From *wireUser  `json:"from"`
	Date int64      `json:"date"`
	Old  wireMember `json:"old_chat_member"`
	New  wireMember `json:"new_chat_member"`
}
