package discord

import (
	"encoding/json"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
)

// The structs below are the parts of Discord's objects that we read, with
// Discord's names. The library's own would come out empty as a whole when one
// field of a new kind does not decode.

type user struct {
	ID         string  `json:"id"`
	Username   string  `json:"username"`
	GlobalName string  `json:"global_name"`
	Bot        bool    `json:"bot"`
	System     bool    `json:"system"`
	Picture    picture `json:"avatar"`
}

// name returns what Discord shows for the user where there is no nickname.
func (u user) name() string { return adapters.FirstName(u.GlobalName, u.Username) }

// person returns u in the contract's form; nick is their name on one server.
func (u user) person(nick string) adapters.Person {
	p := adapters.Person{ID: u.ID, Kind: adapters.Human, Name: adapters.FirstName(nick, u.name()), Handle: u.Username, Portrait: u.Picture.of(u.ID)}
	switch {
	case u.System:
		p.Kind = adapters.Service
	case u.Bot:
		p.Kind = adapters.Bot
	}
	return p
}

type member struct {
	User  *user            `json:"user"`
	Nick  string           `json:"nick"`
	Roles elements[string] `json:"roles"`
}

// person returns the member in the contract's form; zero when the event has no user.
func (m member) person() adapters.Person {
	if m.User == nil {
		return adapters.Person{}
	}
	return m.User.person(m.Nick)
}

type namedUser struct {
	user
	Member *member `json:"member"`
}

func (u namedUser) person() adapters.Person {
	if u.Member == nil {
		return u.user.person("")
	}
	return u.user.person(u.Member.Nick)
}

type message struct {
	ID              string                `json:"id"`
	ChannelID       string                `json:"channel_id"`
	GuildID         string                `json:"guild_id"`
	Type            discordgo.MessageType `json:"type"`
	Content         *string               `json:"content"` // nil in an update that is about something else
	Author          *user                 `json:"author"`
	Member          *member               `json:"member"`
	Timestamp       time.Time             `json:"timestamp"`
	EditedAt        *time.Time            `json:"edited_timestamp"`
	Mentions        elements[namedUser]   `json:"mentions"`
	MentionRoles    elements[string]      `json:"mention_roles"`
	MentionChannels elements[struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}] `json:"mention_channels"`
	Attachments   elements[attachment] `json:"attachments"`
	Embeds        elements[embed]      `json:"embeds"`
	Stickers      elements[sticker]    `json:"sticker_items"`
	Poll          *poll                `json:"poll"`
	WebhookID     string               `json:"webhook_id"`
	ApplicationID string               `json:"application_id"`
	Nonce         any                  `json:"nonce"` // a number or a string
	Reference     *struct {
		Type      int    `json:"type"` // 1: forwarded
		MessageID string `json:"message_id"`
		ChannelID string `json:"channel_id"`
	} `json:"message_reference"`
	Referenced *message            `json:"referenced_message"`
	Snapshots  elements[snapshot]  `json:"message_snapshots"`
	Components elements[component] `json:"components"`
	Flags      int                 `json:"flags"`
}

// snapshot is what was forwarded.
type snapshot struct{ Message message }

// UnmarshalJSON reads what of it can be read.
func (s *snapshot) UnmarshalJSON(raw []byte) error {
	var inside struct {
		Message json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal(raw, &inside); err != nil {
		return err
	}
	return adapters.DecodeFields(inside.Message, &s.Message)
}

type attachment struct {
	ID       string `json:"id"`
	Filename string `json:"filename"`
	Title    string `json:"title"`
	MIME     string `json:"content_type"`
	Size     int64  `json:"size"`
	URL      string `json:"url"`
	Waveform string `json:"waveform"` // of a voice message
}

type embed struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Author      *struct {
		Name string `json:"name"`
	} `json:"author"`
	Fields elements[struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}] `json:"fields"`
	Image *struct {
		URL string `json:"url"`
	} `json:"image"`
	Footer *struct {
		Text string `json:"text"`
	} `json:"footer"`
}

type sticker struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Format int    `json:"format_type"`
}

type poll struct {
	Question struct {
		Text string `json:"text"`
	} `json:"question"`
	Answers elements[struct {
		Media struct {
			Text string `json:"text"`
		} `json:"poll_media"`
	}] `json:"answers"`
}

// component is a part of a message laid out in components; only what it shows counts.
type component struct {
	Type        int    `json:"type"`
	Content     string `json:"content"` // Discord's Markdown
	Label       string `json:"label"`
	Placeholder string `json:"placeholder"`
	Description string `json:"description"`
	Options     elements[struct {
		Label string `json:"label"`
	}] `json:"options"`
	Items elements[struct {
		Description string `json:"description"`
	}] `json:"items"`
	Components elements[component] `json:"components"`
	Accessory  *component          `json:"accessory"` // beside a section
}

type channel struct {
	ID            string                `json:"id"`
	Type          discordgo.ChannelType `json:"type"`
	GuildID       string                `json:"guild_id"`
	ParentID      string                `json:"parent_id"`
	Name          string                `json:"name"`
	LastMessageID string                `json:"last_message_id"`
	Recipients    elements[user]        `json:"recipients"`
	Overwrites    elements[overwrite]   `json:"permission_overwrites"`
	Flags         int                   `json:"flags"`
	Tags          elements[forumTag]    `json:"available_tags"` // of a forum
	Archive       *struct {
		At time.Time `json:"archive_timestamp"`
	} `json:"thread_metadata"`
}

type forumTag struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Moderated bool   `json:"moderated"` // only moderators give it
}

type overwrite struct {
	ID    string `json:"id"`
	Type  int    `json:"type"` // 0: a role, 1: a member
	Allow string `json:"allow"`
	Deny  string `json:"deny"`
}

type guild struct {
	ID          string                `json:"id"`
	OwnerID     string                `json:"owner_id"`
	Unavailable bool                  `json:"unavailable"`
	Channels    elements[channel]     `json:"channels"`
	Threads     elements[channel]     `json:"threads"`
	Roles       elements[role]        `json:"roles"`
	Emojis      elements[customEmoji] `json:"emojis"`
	Members     elements[member]      `json:"members"`
}

type role struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Permissions string `json:"permissions"`
}

type customEmoji struct {
	ID       string `json:"id"` // empty: the name is Unicode
	Name     string `json:"name"`
	Animated bool   `json:"animated"`
}

// interaction is a slash command or a pressed button.
type interaction struct {
	ID        string   `json:"id"`
	Type      int      `json:"type"`
	Token     string   `json:"token"`
	GuildID   string   `json:"guild_id"`
	ChannelID string   `json:"channel_id"`
	Channel   *channel `json:"channel"`
	Member    *member  `json:"member"`
	User      *user    `json:"user"`
	Message   *message `json:"message"`
	Data      struct {
		Name     string                  `json:"name"`
		CustomID string                  `json:"custom_id"`
		Values   elements[string]        `json:"values"`
		TargetID string                  `json:"target_id"`
		Options  elements[commandOption] `json:"options"`
	} `json:"data"`
}

type commandOption struct {
	Name    string                  `json:"name"`
	Value   json.RawMessage         `json:"value"`
	Options elements[commandOption] `json:"options"`
}

// isThread reports whether t is a kind of thread.
func isThread(t discordgo.ChannelType) bool {
	switch t {
	case discordgo.ChannelTypeGuildNewsThread, discordgo.ChannelTypeGuildPublicThread, discordgo.ChannelTypeGuildPrivateThread:
		return true
	default:
		return false
	}
}

// isPrivate reports whether ch is a thread that not everybody in its channel sees.
// It is a chat of its own; other threads belong to their channel's.
func (ch channel) isPrivate() bool { return ch.Type == discordgo.ChannelTypeGuildPrivateThread }

// hasThreads reports whether threads can be opened in t.
func hasThreads(t discordgo.ChannelType) bool {
	return t == discordgo.ChannelTypeGuildText || t == discordgo.ChannelTypeGuildNews || isForum(t)
}

// isForum reports whether all that is said in t is said in its threads.
func isForum(t discordgo.ChannelType) bool {
	return t == discordgo.ChannelTypeGuildForum || t == discordgo.ChannelTypeGuildMedia
}

// holdsMessages reports whether people write in t, or in its threads.
func holdsMessages(t discordgo.ChannelType) bool {
	return t != discordgo.ChannelTypeGuildCategory && t != discordgo.ChannelTypeGuildStore && t != 14 // a directory of servers
}
