package telegram

import (
	"fmt"
	"slices"
)

// personAction is one thing a person does in a chat, beside saying something.
type personAction struct {
	place
	Do      string   `json:"do"`
	Who     int64    `json:"who"`     // the person it is done to
	Whom    int64    `json:"whom"`    // the bot it is done to
	Message int64    `json:"message"` // of edits, deletes, reacts, pins
	Thread  int64    `json:"thread"`
	Text    string   `json:"text"` // new words, title or name
	Emoji   []string `json:"emoji"`
}

func (t controlAPI) controlDoes(d personAction) (done, error) {
	chat, by, err := t.find(d.place)
	if err != nil {
		return done{}, err
	}
	out := done{OK: true}
	switch d.Do {
	case "edits":
		if !chat.Edits(d.Message, d.Text) {
			return done{}, fmt.Errorf("no message %d", d.Message)
		}
	case "deletes":
		chat.Deletes(d.Message)
	case "reacts":
		chat.Reacts(by, d.Message, d.Emoji...)
	case "pins":
		chat.Pins(by, d.Message)
	case "renames":
		chat.Renames(by, d.Text)
	case "presses":
		if !by.Presses(chat, d.Message, d.Text) {
			return done{}, fmt.Errorf("no button %q below message %d", d.Text, d.Message)
		}
	case "migrates":
		out.ID = chat.Migrates(by).ID()
	case "opens_topic":
		out.ID = chat.NewTopic(by, d.Text)
	case "renames_topic":
		chat.RenamesTopic(by, d.Thread, d.Text)
	case "closes_topic":
		chat.ClosesTopic(by, d.Thread)
	case "drops_topic":
		chat.DropsTopic(d.Thread)
	case "joins":
		chat.Joins(by)
	case "leaves":
		return out, t.leaves(chat, by, d.Who)
	default:
		return out, t.standing(chat, by, d)
	}
	return out, nil
}

func (t controlAPI) leaves(chat *Chat, by *HumanUser, who int64) error {
	gone := by
	if who != 0 {
		p, ok := t.Person(who)
		if !ok {
			return fmt.Errorf("no person %d", who)
		}
		gone = p
	}
	chat.Leaves(gone, by)
	return nil
}

// standing changes a bot's standing in the chat.
func (t controlAPI) standing(chat *Chat, by *HumanUser, d personAction) error {
	change, ok := map[string]func(*HumanUser, *BotUser){
		"adds": chat.Adds, "promotes": chat.Promotes, "restricts": chat.Restricts,
		"kicks": chat.Kicks, "blocks": chat.Blocks, "unblocks": chat.Unblocks,
	}[d.Do]
	if !ok {
		return fmt.Errorf("nobody can do %q", d.Do)
	}
	id := d.Whom
	if id == 0 {
		id = d.Bot
	}
	b, ok := t.Bot(id)
	if !ok {
		return fmt.Errorf("no bot %d", id)
	}
	change(by, b)
	return nil
}

// A WorldState is a picture of who and what there is.
type WorldState struct {
	Bots   []WorldBot    `json:"bots"`
	People []UserProfile `json:"people"`
	Chats  []WorldChat   `json:"chats"`
}

// A WorldBot is one bot in the picture.
type WorldBot struct {
	BotProfile
	ID      int64 `json:"id"`
	Pending int   `json:"pending"` // updates not confirmed
}

// A WorldChat is one chat in the picture.
type WorldChat struct {
	ID       int64            `json:"id"`
	Kind     string           `json:"kind"`
	Title    string           `json:"title,omitzero"`
	Forum    bool             `json:"forum,omitzero"`
	Bot      int64            `json:"bot,omitzero"`    // of a direct chat
	Topics   map[string]int64 `json:"topics,omitzero"` // by name
	Members  map[int64]string `json:"members"`         // standing by user id
	Messages int              `json:"messages"`
	MovedTo  int64            `json:"moved_to,omitzero"`
}

// World returns a picture of everything, each part ordered by id.
func (t *Server) World() WorldState {
	var w WorldState
	var chats []*Chat
	var direct []WorldChat
	for _, b := range t.Bots() {
		w.Bots = append(w.Bots, WorldBot{BotProfile: b.profile, ID: b.user.ID, Pending: b.Pending()})
		for _, c := range b.directs() {
			p := pictureOf(c)
			p.Bot = b.user.ID
			direct = append(direct, p)
		}
	}
	t.mu.RLock()
	for _, p := range t.people {
		w.People = append(w.People, UserProfile{ID: p.ID, Name: p.user.FirstName, LastName: p.user.LastName, Username: p.user.Username, Language: p.user.Language})
	}
	for _, c := range t.chats {
		chats = append(chats, c)
	}
	t.mu.RUnlock()
	for _, c := range chats {
		w.Chats = append(w.Chats, pictureOf(c))
	}
	w.Chats = append(w.Chats, direct...)
	slices.SortFunc(w.Bots, func(a, b WorldBot) int { return int(a.ID - b.ID) })
	slices.SortFunc(w.People, func(a, b UserProfile) int { return int(a.ID - b.ID) })
	slices.SortStableFunc(w.Chats, func(a, b WorldChat) int { return int(a.ID - b.ID) })
	return w
}

func (b *BotUser) directs() []*Chat {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]*Chat, 0, len(b.direct))
	for _, c := range b.direct {
		all = append(all, c)
	}
	return all
}

func pictureOf(c *Chat) WorldChat {
	c.mu.RLock()
	defer c.mu.RUnlock()
	p := WorldChat{
		ID: c.wire.ID, Kind: c.wire.Type, Title: c.wire.Title, Forum: c.wire.IsForum,
		Members: make(map[int64]string, len(c.members)), Messages: len(c.messages), MovedTo: c.movedTo,
	}
	for id, m := range c.members {
		p.Members[id] = m.status
	}
	for _, tp := range c.topics {
		if p.Topics == nil {
			p.Topics = make(map[string]int64)
		}
		p.Topics[tp.name] = tp.root
	}
	return p
}
