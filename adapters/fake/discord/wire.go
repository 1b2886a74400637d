package discord

import "time"

// The structs below are Discord's objects as it writes them, as far as bots look
// at them (docs.discord.com/resources).

type wireUser struct {
	ID            SnowflakeID `json:"id"`
	Username      string      `json:"username"`
	Discriminator string      `json:"discriminator"`
	GlobalName    *string     `json:"global_name"`
	Avatar        *string     `json:"avatar"`
	Bot           bool        `json:"bot,omitempty"`
}

type wireMember struct {
	User     *wireUser     `json:"user,omitempty"`
	Nick     *string       `json:"nick"`
	Avatar   *string       `json:"avatar"`
	Roles    []SnowflakeID `json:"roles"`
	JoinedAt time.Time     `json:"joined_at"`
	Deaf     bool          `json:"deaf"`
	Mute     bool          `json:"mute"`
	Flags    int           `json:"flags"`
	GuildID  SnowflakeID   `json:"guild_id,omitzero"` // in events only
}

type wireMention struct {
	wireUser
	Member *wireMember `json:"member,omitempty"`
}

type wireRole struct {
	ID          SnowflakeID `json:"id"`
	Name        string      `json:"name"`
	Color       int         `json:"color"`
	Hoist       bool        `json:"hoist"`
	Position    int         `json:"position"`
	Permissions string      `json:"permissions"`
	Managed     bool        `json:"managed"`
	Mentionable bool        `json:"mentionable"`
	Flags       int         `json:"flags"`
}

type wireEmoji struct {
	ID       *SnowflakeID `json:"id"`
	Name     string       `json:"name"`
	Animated bool         `json:"animated,omitempty"`
}

type wireOverwrite struct {
	ID    SnowflakeID `json:"id"`
	Type  int         `json:"type"`
	Allow string      `json:"allow"`
	Deny  string      `json:"deny"`
}

type wireArchive struct {
	Archived bool      `json:"archived"`
	Minutes  int       `json:"auto_archive_duration"`
	At       time.Time `json:"archive_timestamp"`
	Locked   bool      `json:"locked"`
}

type wireChannel struct {
	ID            SnowflakeID     `json:"id"`
	Type          int             `json:"type"`
	GuildID       SnowflakeID     `json:"guild_id,omitzero"`
	Position      int             `json:"position,omitempty"`
	Overwrites    []wireOverwrite `json:"permission_overwrites,omitempty"`
	Name          string          `json:"name,omitempty"`
	LastMessageID *SnowflakeID    `json:"last_message_id"`
	ParentID      *SnowflakeID    `json:"parent_id,omitempty"`
	OwnerID       SnowflakeID     `json:"owner_id,omitzero"`
	Recipients    []wireUser      `json:"recipients,omitempty"`
	Thread        *wireArchive    `json:"thread_metadata,omitempty"`
	Messages      int             `json:"message_count,omitempty"`
	Newly         bool            `json:"newly_created,omitempty"`
	Message       *wireMessage    `json:"message,omitempty"` // of a thread begun in a forum
	Flags         int             `json:"flags,omitempty"`
	Tags          []wireTag       `json:"available_tags,omitempty"` // of a forum
	Applied       []SnowflakeID   `json:"applied_tags,omitempty"`   // of a thread of one
}

type wireTag struct {
	ID        SnowflakeID `json:"id"`
	Name      string      `json:"name"`
	Moderated bool        `json:"moderated"`
}

type wireGuild struct {
	ID          SnowflakeID   `json:"id"`
	Name        string        `json:"name"`
	OwnerID     SnowflakeID   `json:"owner_id"`
	Roles       []wireRole    `json:"roles"`
	Emojis      []wireEmoji   `json:"emojis"`
	Features    []string      `json:"features"`
	Channels    []wireChannel `json:"channels,omitempty"`
	Threads     []wireChannel `json:"threads,omitempty"`
	Members     []wireMember  `json:"members,omitempty"`
	MemberCount int           `json:"member_count,omitempty"`
	Large       bool          `json:"large"`
	Unavailable bool          `json:"unavailable"`
	JoinedAt    *time.Time    `json:"joined_at,omitempty"`
	Presences   []struct{}    `json:"presences,omitempty"`
	VoiceStates []struct{}    `json:"voice_states,omitempty"`
}

type wireAttachment struct {
	ID       SnowflakeID `json:"id"`
	Filename string      `json:"filename"`
	Size     int         `json:"size"`
	URL      string      `json:"url"`
	ProxyURL string      `json:"proxy_url"`
	MIME     string      `json:"content_type,omitempty"`
}

type wireReference struct {
	Type      int         `json:"type"`
	MessageID SnowflakeID `json:"message_id"`
	ChannelID SnowflakeID `json:"channel_id,omitzero"`
	GuildID   SnowflakeID `json:"guild_id,omitzero"`
}

type wireReaction struct {
	Count int       `json:"count"`
	Me    bool      `json:"me"`
	Emoji wireEmoji `json:"emoji"`
}

type wireMessage struct {
	ID              SnowflakeID      `json:"id"`
	ChannelID       SnowflakeID      `json:"channel_id"`
	GuildID         SnowflakeID      `json:"guild_id,omitzero"` // in events only
	Author          wireUser         `json:"author"`
	Member          *wireMember      `json:"member,omitempty"` // in events only
	Content         string           `json:"content"`
	Timestamp       time.Time        `json:"timestamp"`
	EditedTimestamp *time.Time       `json:"edited_timestamp"`
	TTS             bool             `json:"tts"`
	MentionEveryone bool             `json:"mention_everyone"`
	Mentions        []wireMention    `json:"mentions"`
	MentionRoles    []SnowflakeID    `json:"mention_roles"`
	Attachments     []wireAttachment `json:"attachments"`
	Embeds          []struct{}       `json:"embeds"`
	Components      []wireRow        `json:"components"`
	Reactions       []wireReaction   `json:"reactions,omitempty"`
	Pinned          bool             `json:"pinned"`
	Type            int              `json:"type"`
	Flags           int              `json:"flags"`
	Nonce           string           `json:"nonce,omitempty"` // to its author only
	WebhookID       SnowflakeID      `json:"webhook_id,omitzero"`
	ApplicationID   SnowflakeID      `json:"application_id,omitzero"`
	Reference       *wireReference   `json:"message_reference,omitempty"`
	Referenced      *wireMessage     `json:"referenced_message,omitempty"`
	Thread          *wireChannel     `json:"thread,omitempty"`
}

// Kinds of channel.
const (
	TextChannel   = 0
	DirectChat    = 1
	VoiceChannel  = 2
	Category      = 4
	Announcements = 5
	PublicThread  = 11
	PrivateThread = 12
	StageChannel  = 13
	Forum         = 15
)

// Kinds of message.
const (
	pinning = 6
	reply   = 19
)
