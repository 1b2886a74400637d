package telegram

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
)

// A reader turns what the platform sends into updates.
type reader struct {
	self     user
	markdown markdown
}

// decode reads one update. It is total: what cannot be read comes back as
// Unreadable with the raw bytes. id is the update's id, or atLeast when it has
// none. Most updates are one fact; several people joining at once are several.
func (r reader) decode(raw json.RawMessage, atLeast int64) (id int64, updates []adapters.Update) {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil || e.ID == nil {
		reason := "no update_id"
		if err != nil {
			reason = err.Error()
		}
		atLeast = idIn(raw, atLeast)
		return atLeast, []adapters.Update{unreadable(raw, atLeast, "", reason)}
	}
	updates = r.read(&e, raw)
	for i := range updates {
		updates[i].ID = formatID(*e.ID)
	}
	return *e.ID, updates
}

// read calls the reader for the update's kind.
func (r reader) read(e *envelope, raw json.RawMessage) []adapters.Update {
	var updates []adapters.Update
	var err error
	var kind string
	switch {
	case e.Message != nil:
		kind = "message"
		updates, err = r.readMessage(e.Message)
	case e.EditedMessage != nil:
		kind = "edited_message"
		updates, err = r.readEdit(e.EditedMessage)
	case e.ChannelPost != nil:
		kind = "channel_post"
		updates, err = r.readMessage(e.ChannelPost)
	case e.EditedChannelPost != nil:
		kind = "edited_channel_post"
		updates, err = r.readEdit(e.EditedChannelPost)
	case e.MessageReaction != nil:
		kind = "message_reaction"
		updates, err = readReaction(e.MessageReaction)
	case e.MyChatMember != nil:
		kind = "my_chat_member"
		updates, err = readStanding(e.MyChatMember)
	case e.ChatMember != nil:
		kind = "chat_member"
		updates, err = readMember(e.ChatMember)
	case e.CallbackQuery != nil:
		kind = "callback_query"
		updates, err = readPress(e.CallbackQuery)
	case e.GuestMessage != nil:
		kind = "guest_message"
		updates, err = r.readGuest(e.GuestMessage)
	case e.StoppedGeneration != nil:
		kind = "stopped_message_generation"
		updates, err = readStop(e.StoppedGeneration)
	default:
		return []adapters.Update{unreadable(raw, *e.ID, unknownKind(raw, "update_id"), "a kind we do not read")}
	}
	if err != nil {
		return []adapters.Update{unreadable(raw, *e.ID, kind, err.Error())}
	}
	for i := range updates {
		updates[i].Common = common(e, updates[i])
		if !updates[i].Common && e.MyChatMember == nil && e.CallbackQuery == nil {
			updates[i].Alike = alike(updates[i])
		}
		if bad, ok := updates[i].Body.(adapters.UnreadableUpdate); ok {
			if bad.Kind == "" {
				bad.Kind = kind
				updates[i].Body = bad
			}
			updates[i].Key, updates[i].Raw = adapters.RawKey(raw), raw
		}
	}
	return updates
}

// common reports whether every bot in the chat gives the fact the same key. Supergroups
// and channels number their messages for all accounts; elsewhere each account has its
// own numbers. The bot's own membership and the buttons of its messages concern the bot
// alone.
func common(e *envelope, u adapters.Update) bool {
	_, unread := u.Body.(adapters.UnreadableUpdate)
	id, err := strconv.ParseInt(u.Chat.ID, 10, 64)
	return err == nil && id < superID(0) && e.MyChatMember == nil && e.CallbackQuery == nil && !unread
}

// updateID finds an update's id where JSON cannot be parsed.
var updateID = regexp.MustCompile(`"update_id"\s*:\s*([0-9]{1,18})\b`)

// idIn returns the id of an update whose JSON may not be readable; atLeast if there is none.
func idIn(raw []byte, atLeast int64) int64 {
	if found := updateID.FindSubmatch(raw); found != nil {
		atLeast, _ = strconv.ParseInt(string(found[1]), 10, 64) // at most 18 digits
	}
	return atLeast
}

// unreadable keeps what could not be read, in its chat if that much can be told.
func unreadable(raw json.RawMessage, id int64, kind, reason string) adapters.Update {
	u := adapters.Update{
		ID:   formatID(id),
		Key:  adapters.RawKey(raw),
		Body: adapters.UnreadableUpdate{Kind: kind, Reason: reason},
		Raw:  raw,
	}
	var kinds map[string]json.RawMessage
	if onBehalf[kind] {
		u.Raw = nil // what people wrote to another account is not kept
		return u
	}
	if json.Unmarshal(raw, &kinds) != nil {
		return u
	}
	var inside struct {
		Chat chat  `json:"chat"`
		Date int64 `json:"date"`
	}
	if json.Unmarshal(kinds[kind], &inside) == nil && inside.Chat.ID != 0 {
		u.Chat, u.At = inside.Chat.chat(), at(inside.Date)
	}
	return u
}

// onBehalf are the kinds that happen in chats of a person for whom the bot may
// act. Their ids are those of the bot's own chats with the same people, so that
// they belong to the account and to none of its chats.
var onBehalf = map[string]bool{
	"business_message": true, "edited_business_message": true, "deleted_business_messages": true, "guest_message": true,
}

// unknownKind returns the first name in raw, by alphabet, that is not among known.
func unknownKind(raw json.RawMessage, known ...string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}

// at returns Telegram's time; the zero time when it does not say.
func at(unix int64) time.Time {
	if unix <= 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0).UTC()
}

// chat returns c in the contract's form.
func (c chat) chat() adapters.Chat {
	kind := adapters.Group
	switch c.Type {
	case "private":
		kind = adapters.Direct
	case "channel":
		kind = adapters.Channel
	}
	return adapters.Chat{ID: formatID(c.ID), Kind: kind, Title: c.name()}
}

// telegramItself is the account that speaks for the platform.
const telegramItself = 777000

// person returns u in the contract's form.
func (u user) person() adapters.Person {
	kind := adapters.Human
	switch {
	case u.ID == telegramItself:
		kind = adapters.Service
	case u.IsBot:
		kind = adapters.Bot
	}
	return adapters.Person{ID: formatID(u.ID), Kind: kind, Name: u.name(), Handle: u.Username}
}

// person returns a chat that speaks as itself: a channel, or a group whose
// administrator stays anonymous.
func (c chat) person() adapters.Person {
	return adapters.Person{ID: formatID(c.ID), Kind: adapters.Service, Name: c.name(), Handle: c.Username}
}
