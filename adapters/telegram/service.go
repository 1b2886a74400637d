package telegram

import "github.com/trestle-bridge/trestle/adapters"

// told returns what a service message tells of, or nil when a person said
// something, or when it tells of what we do not read.
func (m *message) told() []adapters.Update {
	switch {
	case len(m.NewMembers) > 0:
		return m.joined()
	case m.LeftMember != nil:
		return m.left()
	case m.MigrateTo != 0:
		return m.migrated(m.Chat, m.MigrateTo)
	case m.MigrateFrom != 0:
		// The new chat tells the same fact. It belongs to the old one.
		old := chat{ID: m.MigrateFrom, Type: "group", Title: m.Chat.Title}
		return m.migrated(old, m.Chat.ID)
	}
	u := m.update()
	switch {
	case m.NewTitle != "":
		u.Body = adapters.ChatRenamed{Title: m.NewTitle}
	case m.GroupCreated, m.SuperCreated, m.ChanCreated:
		u.Body = adapters.ChatRenamed{Title: m.Chat.name()}
	case m.TopicCreated != nil && m.TopicCreated.Name != "":
		u.Thread.Title = m.TopicCreated.Name
		u.Body = adapters.ChatRenamed{Title: m.TopicCreated.Name}
	case m.TopicEdited != nil && m.TopicEdited.Name != "" && m.ThreadID != 0: // the General topic has no id, and its name is not the chat's
		u.Thread.Title = m.TopicEdited.Name
		u.Body = adapters.ChatRenamed{Title: m.TopicEdited.Name}
	case m.Pinned != nil && m.Pinned.ID != 0:
		u.Body = adapters.MessagePinned{Message: formatID(m.Pinned.ID)}
	default:
		return nil
	}
	return []adapters.Update{u}
}

// joined returns one update for each person, so that chat_member's telling of
// the same is the same fact.
func (m *message) joined() []adapters.Update {
	var updates []adapters.Update
	for _, who := range m.NewMembers {
		u := m.update()
		u.Key = memberKey("join", m.Chat.ID, who.ID, m.Date)
		u.Body = adapters.PeopleJoined{People: []adapters.Person{who.person()}}
		updates = append(updates, u)
	}
	return updates
}

// left returns who went, and by whose hand.
func (m *message) left() []adapters.Update {
	who := *m.LeftMember
	u := m.update()
	u.Key = memberKey("left", m.Chat.ID, who.ID, m.Date)
	u.Body = adapters.PeopleLeft{People: []adapters.Person{who.person()}, By: by(u.From, who)}
	return []adapters.Update{u}
}

// migrated says that a group goes on as a supergroup.
func (m *message) migrated(from chat, to int64) []adapters.Update {
	u := m.update()
	u.Key = migrationKey(from.ID, to)
	u.Chat = from.chat()
	u.Body = adapters.ChatMigrated{To: formatID(to)}
	return []adapters.Update{u}
}

// by returns who removed a person; zero when they left by themselves.
func by(actor adapters.Person, gone user) adapters.Person {
	if actor.ID == formatID(gone.ID) {
		return adapters.Person{}
	}
	return actor
}
