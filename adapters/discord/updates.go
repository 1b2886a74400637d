package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// read turns one event into updates. What cannot be read, or panics, comes back as
// unreadable with its bytes; an error means that Discord could not be asked for
// what is needed to place it.
func (r *receiver) read(ctx context.Context, e event) ([]adapters.Update, error) {
	return adapters.ReadGuarded(r.client.log, e.Type, e.RawData, func() ([]adapters.Update, error) { return r.readKind(ctx, e) })
}

// readKind reads an event by its kind.
func (r *receiver) readKind(ctx context.Context, e event) ([]adapters.Update, error) {
	switch e.Type {
	case "MESSAGE_CREATE":
		return r.readMessage(ctx, e.RawData)
	case "MESSAGE_UPDATE":
		return r.readEdit(ctx, e.RawData)
	case "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		return r.readDelete(ctx, e.Type, e.RawData)
	case "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE", "MESSAGE_REACTION_REMOVE_EMOJI", "MESSAGE_REACTION_REMOVE_ALL":
		return r.readReaction(ctx, e)
	case "INTERACTION_CREATE":
		return r.readInteraction(ctx, e.RawData)
	case reckoning:
		return r.readReckoning(ctx, e)
	case "GUILD_CREATE":
		return r.readGuild(ctx, e)
	case "GUILD_DELETE", "CHANNEL_DELETE", "THREAD_DELETE":
		return r.readEnd(e), nil
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		return r.readChannel(ctx, e)
	case "GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE":
		return r.readMember(ctx, e)
	case "THREAD_MEMBERS_UPDATE":
		return r.readThreadMembers(ctx, e)
	case "GUILD_UPDATE", "GUILD_ROLE_CREATE", "GUILD_EMOJIS_UPDATE", "THREAD_LIST_SYNC":
		r.learn(e)
		return nil, nil
	case "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE":
		return r.readRole(ctx, e)
	case "GUILD_MEMBER_UPDATE":
		r.learn(e)
		return r.readRoles(ctx, e)
	case "":
		if e.Operation != opDispatch && e.Operation != -1 {
			return nil, nil // an operation of the gateway that we do not know
		}
	}
	if slices.Contains(saysNothing, e.Type) && e.Type != "" {
		return nil, nil
	}
	reason := "a kind we do not read"
	if e.Type == "" {
		reason = "it is no event"
	}
	return r.unreadable(e.Type, e.RawData, reason), nil
}

// tells returns the update that says of a chat what e tells, and Discord gives no
// identity of its own.
func (e event) tells(what string, ch channel, b adapters.UpdateBody) adapters.Update {
	return adapters.Update{
		ID: ch.ID, Key: eventKey(what+":"+ch.ID, e.session.ID, e.session.Seq), Chat: ch.chat(), At: time.Now().UTC(), Body: b,
	}
}

// saysNothing names the events that tell nothing of what people say, or tell it
// a second time.
var saysNothing = []string{
	"RESUMED", "APPLICATION_COMMAND_PERMISSIONS_UPDATE", "AUTO_MODERATION_ACTION_EXECUTION", "AUTO_MODERATION_RULE_CREATE",
	"AUTO_MODERATION_RULE_DELETE", "AUTO_MODERATION_RULE_UPDATE", "CHANNEL_INFO", "CHANNEL_PINS_UPDATE", "ENTITLEMENT_CREATE",
	"ENTITLEMENT_DELETE", "ENTITLEMENT_UPDATE", "GUILD_APPLICATION_COMMAND_INDEX_UPDATE", "GUILD_AUDIT_LOG_ENTRY_CREATE",
	"GUILD_BAN_ADD", "GUILD_BAN_REMOVE", "GUILD_INTEGRATIONS_UPDATE", "GUILD_JOIN_REQUEST_CREATE", "GUILD_JOIN_REQUEST_DELETE",
	"GUILD_JOIN_REQUEST_UPDATE", "GUILD_MEMBERS_CHUNK", "GUILD_SCHEDULED_EVENT_CREATE", "GUILD_SCHEDULED_EVENT_DELETE",
	"GUILD_SCHEDULED_EVENT_UPDATE", "GUILD_SCHEDULED_EVENT_USER_ADD", "GUILD_SCHEDULED_EVENT_USER_REMOVE",
	"GUILD_SOUNDBOARD_SOUNDS_UPDATE", "GUILD_SOUNDBOARD_SOUND_CREATE", "GUILD_SOUNDBOARD_SOUND_DELETE",
	"GUILD_SOUNDBOARD_SOUND_UPDATE", "GUILD_STICKERS_UPDATE", "INTEGRATION_CREATE", "INTEGRATION_DELETE", "INTEGRATION_UPDATE",
	"INVITE_CREATE", "INVITE_DELETE", "MESSAGE_POLL_VOTE_ADD", "MESSAGE_POLL_VOTE_REMOVE", "PRESENCE_UPDATE", "SOUNDBOARD_SOUNDS", "STAGE_INSTANCE_CREATE", "STAGE_INSTANCE_DELETE",
	"STAGE_INSTANCE_UPDATE", "SUBSCRIPTION_CREATE", "SUBSCRIPTION_DELETE", "SUBSCRIPTION_UPDATE",
	"THREAD_MEMBER_UPDATE", "TYPING_START", "USER_UPDATE", "VOICE_CHANNEL_EFFECT_SEND", "VOICE_CHANNEL_START_TIME_UPDATE",
	"VOICE_CHANNEL_STATUS_UPDATE", "VOICE_SERVER_UPDATE", "VOICE_STATE_UPDATE", "WEBHOOKS_UPDATE",
}

// unreadable keeps what could not be read, in its chat if that much can be told.
func (r *receiver) unreadable(kind string, raw json.RawMessage, reason string) []adapters.Update {
	u := adapters.Update{
		ID: adapters.RawKey(raw), Key: adapters.RawKey(raw), At: time.Now().UTC(),
		Body: adapters.UnreadableUpdate{Kind: kind, Reason: reason}, Raw: raw,
	}
	var inside struct {
		ChannelID string `json:"channel_id"`
	}
	if json.Unmarshal(raw, &inside) == nil && inside.ChannelID != "" {
		if ch, known := r.client.known.channel(inside.ChannelID); known && (!isThread(ch.Type) || ch.isPrivate()) {
			u.Chat = ch.chat()
		}
	}
	r.client.log.Warn("event not readable", "kind", kind, "reason", reason)
	return []adapters.Update{u}
}

// reasonOf returns err's words, or else those given.
func reasonOf(err error, otherwise string) string {
	if err != nil {
		return err.Error()
	}
	return otherwise
}

// readEdit reads a change of a message's words. Updates about something else (a
// preview that was added, a pin) have no time of editing, or no words.
func (r *receiver) readEdit(ctx context.Context, raw json.RawMessage) ([]adapters.Update, error) {
	var m message
	if err := adapters.DecodeFields(raw, &m, essential...); err != nil || m.ID == "" || m.ChannelID == "" {
		return r.unreadable("MESSAGE_UPDATE", raw, reasonOf(err, "it has no id or no channel")), nil
	}
	switch {
	case m.Content == nil || r.isOurs(&m):
		return nil, nil
	case m.EditedAt == nil && m.answers():
		return r.client.updatesOf(ctx, r.self, &m, raw) // one that is known already changes nothing
	case m.EditedAt == nil, !usual(m.Type): // of a notice nothing more is told
		return nil, nil
	}
	u, err := r.client.updateOf(ctx, &m)
	if err != nil {
		return nil, err
	}
	m.GuildID = cmp.Or(m.GuildID, u.Chat.Group)
	said := r.client.said(r.self, &m)
	content := []string{said.Text}
	for _, a := range said.Attachments {
		content = append(content, a.ID)
	}
	u.At = m.EditedAt.UTC()
	u.Key = editKey(m.ChannelID, m.ID, u.At, strings.Join(content, "\x00"))
	u.Body = adapters.MessageEdit{New: said, KeepsFiles: m.Attachments == nil}
	return []adapters.Update{u}, nil
}

// readDelete reads the end of one or several messages. Discord does not say who.
func (r *receiver) readDelete(ctx context.Context, kind string, raw json.RawMessage) ([]adapters.Update, error) {
	var said struct {
		ID        string           `json:"id"`
		IDs       elements[string] `json:"ids"`
		ChannelID string           `json:"channel_id"`
		GuildID   string           `json:"guild_id"`
	}
	if err := json.Unmarshal(raw, &said); err != nil || said.ChannelID == "" {
		return r.unreadable(kind, raw, reasonOf(err, "it has no channel")), nil
	}
	if said.ID != "" {
		said.IDs = append(said.IDs, said.ID)
	}
	said.IDs = slices.DeleteFunc(said.IDs, r.client.deleted.has)
	if len(said.IDs) == 0 {
		return nil, nil
	}
	chat, thread, err := r.client.place(ctx, said.ChannelID, said.GuildID)
	if err != nil {
		return nil, err
	}
	return []adapters.Update{{
		ID: said.IDs[0], Key: deleteKey(said.ChannelID, strings.Join(said.IDs, ",")), Common: isCommon(chat), Chat: chat, Thread: thread,
		At: time.Now().UTC(), Body: adapters.MessageDeletion{Messages: said.IDs},
	}}, nil
}

// readReaction reads one emoji that a person put on a message or took away, or what
// was cleared of everybody's.
func (r *receiver) readReaction(ctx context.Context, e event) ([]adapters.Update, error) {
	var said struct {
		UserID    string      `json:"user_id"`
		ChannelID string      `json:"channel_id"`
		MessageID string      `json:"message_id"`
		GuildID   string      `json:"guild_id"`
		Member    *member     `json:"member"`
		Emoji     customEmoji `json:"emoji"`
	}
	if err := json.Unmarshal(e.RawData, &said); err != nil || said.ChannelID == "" || said.MessageID == "" {
		return r.unreadable(e.Type, e.RawData, reasonOf(err, "it has no message")), nil
	}
	if said.UserID == r.self.ID {
		return nil, nil
	}
	chat, thread, err := r.client.place(ctx, said.ChannelID, said.GuildID)
	if err != nil {
		return nil, err
	}
	u := adapters.Update{
		ID: said.MessageID, Key: eventKey("reaction", e.session.ID, e.session.Seq), Chat: chat, Thread: thread,
		At: time.Now().UTC(),
	}
	if said.Member != nil && said.Member.User != nil {
		u.From = said.Member.person()
		r.client.known.meet(u.From)
	} else {
		u.From = r.userByID(ctx, said.UserID)
	}
	switch emoji := said.Emoji.shown(); e.Type {
	case "MESSAGE_REACTION_ADD":
		u.Body = adapters.ReactionChange{Message: said.MessageID, New: []string{emoji}}
	case "MESSAGE_REACTION_REMOVE":
		u.Body = adapters.ReactionChange{Message: said.MessageID, Old: []string{emoji}}
	default:
		u.Body = adapters.ReactionsCleared{Message: said.MessageID, Emoji: emoji}
	}
	return []adapters.Update{u}, nil
}

// shown returns e as the contract has it: Unicode, or a name in colons.
func (e customEmoji) shown() string {
	if e.ID == "" {
		return e.Name
	}
	return ":" + cmp.Or(e.Name, e.ID) + ":"
}
