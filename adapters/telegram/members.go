package telegram

import (
	"encoding/json"

	"github.com/trestle-bridge/trestle/adapters"
)

// readMember reads chat_member: another came, went, or got other rights.
func readMember(raw json.RawMessage) ([]adapters.Update, error) {
	var c memberChange
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	if c.Chat.ID == 0 || c.New.User.ID == 0 {
		return nil, errUnnamed
	}
	u := c.update()
	who := c.New.User
	switch {
	case !c.Old.in() && c.New.in():
		u.Key = memberKey("join", c.Chat.ID, who.ID, c.Date)
		u.Body = adapters.PeopleJoined{People: []adapters.Person{who.person()}}
	case c.Old.in() && !c.New.in():
		u.Key = memberKey("left", c.Chat.ID, who.ID, c.Date)
		u.Body = adapters.PeopleLeft{People: []adapters.Person{who.person()}, By: by(u.From, who)}
	default:
		u.Body = adapters.UnreadableUpdate{Kind: "chat_member", Reason: "a change of rights, neither a join nor a leave"}
	}
	return []adapters.Update{u}, nil
}

// readStanding reads my_chat_member: our own coming, going or change of rights.
func readStanding(raw json.RawMessage) ([]adapters.Update, error) {
	var c memberChange
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	if c.Chat.ID == 0 {
		return nil, errUnnamed
	}
	u := c.update()
	u.Key = standingKey(c.Chat.ID, c.Date, c.Old.Status, c.New.Status)
	switch {
	case c.New.in():
		u.Body = adapters.ChatGained{}
	case c.New.Status == "":
		u.Body = adapters.UnreadableUpdate{Kind: "my_chat_member", Reason: "no new status"}
	case c.Chat.Type == "private":
		u.Body = adapters.ChatLost{Reason: "blocked"}
	default:
		u.Body = adapters.ChatLost{Reason: c.New.Status}
	}
	return []adapters.Update{u}, nil
}

// update returns what every update made of c has; key and body are to be set.
func (c memberChange) update() adapters.Update {
	return adapters.Update{Chat: c.Chat.chat(), From: c.From.person(), At: at(c.Date)}
}

// readReaction reads message_reaction.
func readReaction(raw json.RawMessage) ([]adapters.Update, error) {
	var c reactionChange
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, err
	}
	if c.Chat.ID == 0 || c.MessageID == 0 {
		return nil, errUnnamed
	}
	u := adapters.Update{Chat: c.Chat.chat(), At: at(c.Date)}
	switch {
	case c.User != nil:
		u.From = c.User.person()
	case c.ActorChat != nil:
		u.From = c.ActorChat.person()
	}
	r := adapters.ReactionChange{Message: formatID(c.MessageID), Old: reactionEmoji(c.Old), New: reactionEmoji(c.New)}
	u.Key = reactionKey(c.Chat.ID, c.MessageID, u.From.ID, c.Date, r)
	u.Body = r
	return []adapters.Update{u}, nil
}

// reactionEmoji returns the reactions as the contract has them.
func reactionEmoji(reactions []reactionType) []string {
	var out []string
	for _, r := range reactions {
		switch r.Type {
		case "emoji":
			out = append(out, r.Emoji)
		case "custom_emoji":
			out = append(out, ":"+r.CustomEmojiID+":")
		default:
			out = append(out, ":"+r.Type+":")
		}
	}
	return out
}
