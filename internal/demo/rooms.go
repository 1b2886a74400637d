package demo

// A StoryRoom is one room of the demo.
type StoryRoom struct {
	Key      string // of its entry in the configuration
	Name     string // as people see it
	Platform string // name of the adapter it is on
	Also     string // of another that has a chat of the same room; empty: none
	Circle   string
	Agents   []string
	People   []string
	Relay    bool // what people say there is shown in every chat of the room, the terminal included
}

// platforms returns the names of the adapters that the room is on.
func (r StoryRoom) platforms() []string {
	if r.Also == "" {
		return []string{r.Platform}
	}
	return []string{r.Platform, r.Also}
}

// The people and the agents of the demo.
const (
	maya  = "Maya"
	bob   = "Bob"
	zed   = "Zed"
	adaID = "ada"
	maxID = "max"
)

// The rooms of the demo, by key.
const (
	family = "family"
	ops    = "ops"
	lobby  = "lobby"
)

// Rooms returns the rooms of the demo. Another platform joins by a room that
// names it and a [Platform] for it.
func Rooms() []StoryRoom {
	return []StoryRoom{
		{Key: family, Name: "family", Platform: "telegram", Circle: "home", Agents: []string{adaID}, People: []string{maya, bob}, Relay: true},
		{Key: ops, Name: "#ops", Platform: "slack", Also: "discord", Circle: "home", Agents: []string{adaID, maxID}, People: []string{bob, maya}, Relay: true},
		{Key: lobby, Name: "guild/lobby", Platform: "discord", Circle: "lobby", Agents: []string{adaID}, People: []string{zed, bob}, Relay: true},
	}
}
