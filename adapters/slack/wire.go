package slack

import (
	"encoding/json"

	"github.com/trestle-bridge/trestle/adapters"
)

// The structs below hold what we read of Slack's JSON and no more. The library's
// own refuse a whole event for one block they cannot read; these take what they
// find, and a field of another type is an error only where the rest means something
// else without it.

// UnmarshalJSON reads a delivery, which is none without its event.
func (c *callback) UnmarshalJSON(raw []byte) error {
	type fields callback
	return adapters.DecodeFields(raw, (*fields)(c), "type", "team_id", "event")
}

// UnmarshalJSON reads an event, which is none without its kind, and what it is about.
func (e *event) UnmarshalJSON(raw []byte) error {
	type fields event
	return adapters.DecodeFields(raw, (*fields)(e), "type", "event_ts", "item", "reaction")
}

// UnmarshalJSON reads a channel, which is known by its id.
func (c *channel) UnmarshalJSON(raw []byte) error {
	type fields channel
	return adapters.DecodeFields(raw, (*fields)(c), "id", "is_im", "is_mpim", "is_private")
}

// UnmarshalJSON reads a user, who is known by their id.
func (u *user) UnmarshalJSON(raw []byte) error {
	type fields user
	return adapters.DecodeFields(raw, (*fields)(u), "id", "team_id", "deleted")
}

// UnmarshalJSON reads a message, which needs the fields that say who wrote it, what, where
// and when.
func (m *message) UnmarshalJSON(raw []byte) error {
	type fields message
	return adapters.DecodeFields(raw, (*fields)(m), "type", "subtype", "ts", "thread_ts", "channel", "channel_type",
		"user", "bot_id", "team", "text", "message", "previous_message", "deleted_ts")
}

// callback is the body of one delivery of the Events API.
type callback struct {
	Type    string          `json:"type"`
	Team    string          `json:"team_id"`         // where it happened: in a shared channel perhaps another's
	Context string          `json:"context_team_id"` // through whose workspace it is told
	Event   json.RawMessage `json:"event"`
	Limited int64           `json:"minute_rate_limited"` // of app_rate_limited
	// Authorizations are the installations that may see it.
	Authorizations []struct {
		Team       string `json:"team_id"`
		Enterprise bool   `json:"is_enterprise_install"`
	} `json:"authorizations"`
}

// event is what the kinds of events have in common, and the fields of the small ones.
type event struct {
	Type    string          `json:"type"`
	At      string          `json:"event_ts"`
	User    json.RawMessage `json:"user"`    // an id, or a whole user
	Channel json.RawMessage `json:"channel"` // an id, or a whole channel
	// ChannelID is where pins and a few others keep the channel's id.
	ChannelID   string `json:"channel_id"`
	ChannelType string `json:"channel_type"`
	Team        string `json:"team"`
	UserTeam    string `json:"user_team"`
	Inviter     string `json:"inviter"`
	Actor       string `json:"actor_id"`
	Thread      string `json:"thread_ts"` // of an agent's session
	Tab         string `json:"tab"`       // of app_home_opened
	// Context and AppContext say what a person looks at, see viewed: the one in an event
	// about it, the other in a message.
	Context    json.RawMessage `json:"context"`
	AppContext json.RawMessage `json:"app_context"`

	Reaction string `json:"reaction"`
	Item     item   `json:"item"`

	Limited    int64  `json:"minute_rate_limited"`
	OldChannel string `json:"old_channel_id"`
	NewChannel string `json:"new_channel_id"`
}

// item is what a reaction or a pin is on.
type item struct {
	Type    string `json:"type"`
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	Message struct {
		TS string `json:"ts"`
	} `json:"message"`
}

// channel is a conversation as Slack describes it.
type channel struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	IsIM       bool   `json:"is_im"`
	IsMPIM     bool   `json:"is_mpim"`
	IsPrivate  bool   `json:"is_private"`
	IsGroup    bool   `json:"is_group"`
	IsMember   bool   `json:"is_member"`
	IsArchived bool   `json:"is_archived"`
	Created    int64  `json:"created"`
}

// user is a person as Slack describes them.
type user struct {
	ID       string `json:"id"`
	Team     string `json:"team_id"`
	Name     string `json:"name"`
	RealName string `json:"real_name"`
	IsBot    bool   `json:"is_bot"`
	Deleted  bool   `json:"deleted"`
	Zone     string `json:"tz"` // https://docs.slack.dev/reference/objects/user-object
	Profile  struct {
		RealName    string `json:"real_name"`
		DisplayName string `json:"display_name"`
		Team        string `json:"team"`
		Image       string `json:"image_72"`
	} `json:"profile"`
}

// message is something said, in an event or in history.
type message struct {
	Type        string          `json:"type"`
	Subtype     string          `json:"subtype"`
	TS          string          `json:"ts"`
	ThreadTS    string          `json:"thread_ts"`
	At          string          `json:"event_ts"`
	Channel     string          `json:"channel"`
	ChannelType string          `json:"channel_type"`
	User        string          `json:"user"`
	Username    string          `json:"username"`
	BotID       string          `json:"bot_id"`
	Team        string          `json:"team"`
	UserTeam    string          `json:"user_team"`
	SourceTeam  string          `json:"source_team"`
	ParentUser  string          `json:"parent_user_id"`
	Text        string          `json:"text"`
	Blocks      json.RawMessage `json:"blocks"`
	Attachments json.RawMessage `json:"attachments"`
	Files       json.RawMessage `json:"files"`
	Edited      *struct {
		TS string `json:"ts"`
	} `json:"edited"`
	Profile struct {
		Name string `json:"name"`
	} `json:"bot_profile"`
	UserProfile eventProfile    `json:"user_profile"`
	AppContext  json.RawMessage `json:"app_context"` // what its author looks at, in the direct chat with an agent

	// Of message_changed and message_deleted.
	Message  *message `json:"message"`
	Previous *message `json:"previous_message"`
	Deleted  string   `json:"deleted_ts"`
}

// eventProfile is what a message says of the person who wrote it, mostly one of another
// workspace, whom users.info may not know.
type eventProfile struct {
	Name        string `json:"name"`
	RealName    string `json:"real_name"`
	DisplayName string `json:"display_name"`
	Team        string `json:"team"`
}

// file is a file seen on a message.
type file struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Title      string `json:"title"`
	MIME       string `json:"mimetype"`
	Subtype    string `json:"subtype"` // slack_audio for a voice note
	Mode       string `json:"mode"`    // tombstone and hidden_by_limit: gone
	Size       int64  `json:"size"`
	URL        string `json:"url_private_download"`
	PrivateURL string `json:"url_private"`
}

// command is a slash command, from a form or from a socket.
type command struct {
	Command     string `json:"command"`
	Text        string `json:"text"`
	User        string `json:"user_id"`
	Team        string `json:"team_id"`
	Enterprise  string `json:"enterprise_id"`
	Channel     string `json:"channel_id"`
	ChannelName string `json:"channel_name"`
	Trigger     string `json:"trigger_id"`
	Respond     string `json:"response_url"`
}
