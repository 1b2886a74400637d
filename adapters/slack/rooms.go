package slack

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/trestle-bridge/trestle/adapters"
)

// member reads a person's coming or going; our own changes the map.
func (r reader) member(ctx context.Context, e event) ([]adapters.Update, error) {
	id, on := idOf(e.User), idOf(e.Channel)
	if id == "" || on == "" {
		return nil, fmt.Errorf("it does not say who, or where")
	}
	u := adapters.Update{
		Key:  eventKey(e.Type, on, id, e.At),
		Chat: r.c.names.chat(ctx, on, e.ChannelType, r.self.Team),
		At:   timeOf(e.At), From: r.who(ctx, id, e.Team),
	}
	came := e.Type == "member_joined_channel"
	switch {
	case id == r.self.User && came:
		u.From, u.Body = r.who(ctx, e.Inviter, ""), adapters.ChatGained{}
	case id == r.self.User:
		u.From, u.Body = r.who(ctx, e.Actor, ""), adapters.ChatLost{Reason: "removed"}
	case came:
		u.Body = adapters.PeopleJoined{People: []adapters.Person{u.From}}
	default:
		left := adapters.PeopleLeft{People: []adapters.Person{u.From}}
		if e.Actor != "" && e.Actor != id {
			left.By = r.who(ctx, e.Actor, "")
		}
		u.Body = left
	}
	return []adapters.Update{u}, nil
}

// renamed reads a channel's new name and remembers it.
func (r reader) renamed(ctx context.Context, e event) ([]adapters.Update, error) {
	var ch channel
	if err := json.Unmarshal(e.Channel, &ch); err != nil || ch.ID == "" {
		return nil, fmt.Errorf("it does not say which channel")
	}
	r.c.names.renamed(ch.ID, ch.Name)
	chat := r.c.names.chat(ctx, ch.ID, "", r.self.Team)
	chat.Title = ch.Name
	return []adapters.Update{{
		Key: eventKey("rename", ch.ID, e.At, adapters.HashContent(ch.Name)), Chat: chat, At: timeOf(e.At), Body: adapters.ChatRenamed{Title: ch.Name},
	}}, nil
}

// standing reads what opens or closes a channel to us.
func (r reader) standing(ctx context.Context, e event) ([]adapters.Update, error) {
	on := idOf(e.Channel)
	if on == "" {
		return nil, fmt.Errorf("it does not say which channel")
	}
	u := adapters.Update{
		Key: eventKey(e.Type, on, e.At), Chat: r.c.names.chat(ctx, on, "", r.self.Team),
		From: r.who(ctx, idOf(e.User), ""), At: timeOf(e.At),
	}
	switch e.Type {
	case "channel_unarchive", "group_unarchive":
		u.Body = adapters.ChatGained{}
	case "channel_archive", "group_archive":
		u.Body = adapters.ChatLost{Reason: "archived"}
	case "channel_deleted", "group_deleted":
		u.Body = adapters.ChatLost{Reason: "deleted"}
	default:
		u.Body = adapters.ChatLost{Reason: "removed"}
	}
	return []adapters.Update{u}, nil
}

// migrated reads a channel's new id, which it gets when it becomes shared. Messages keep
// their ts.
func (r reader) migrated(e event) ([]adapters.Update, error) {
	if e.OldChannel == "" || e.NewChannel == "" {
		return nil, nil
	}
	return []adapters.Update{{
		Key:  eventKey("migrate", e.OldChannel, e.NewChannel),
		Chat: r.c.names.known(e.OldChannel, r.self.Team), At: timeOf(e.At), Body: adapters.ChatMigrated{To: e.NewChannel, Same: true},
	}}, nil
}

// person remembers what an event tells of a person. Who is deactivated is gone from
// every channel, and no channel's event tells it
// (slack.com/help/articles/204475027-Deactivate-a-members-account).
func (r reader) person(ctx context.Context, e event) ([]adapters.Update, error) {
	var u user
	if len(e.User) > 0 {
		if err := json.Unmarshal(e.User, &u); err != nil {
			return nil, fmt.Errorf("it does not say who: %w", err)
		}
	}
	if u.ID == "" {
		return nil, nil
	}
	r.c.names.learned(u)
	if !u.Deleted || e.Type != "user_change" {
		return nil, nil
	}
	var updates []adapters.Update
	for _, chat := range r.c.names.rooms() {
		updates = append(updates, adapters.Update{
			Key: eventKey("deactivated", chat.ID, u.ID, e.At), Chat: chat, At: timeOf(e.At),
			Body: adapters.PeopleLeft{People: []adapters.Person{r.who(ctx, u.ID, "")}, Unseen: true},
		})
	}
	return updates, nil
}
