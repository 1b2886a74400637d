package spaces

import "time"

// SpaceKind tells rooms from inner spaces.
type SpaceKind string

// The kinds of space.
const (
	Room  SpaceKind = "room"
	Inner SpaceKind = "inner"
)

// A WakePolicy says which messages wake an agent in a space beside the rules that always apply.
type WakePolicy string

// The wake policies of the configuration.
const (
	WakeAuto    WakePolicy = "auto"    // direct chats and rooms of two wake, elsewhere mentions and replies
	WakeMention WakePolicy = "mention" // direct chats, elsewhere only mentions and replies
	WakeAll     WakePolicy = "all"     // every message
	WakeNone    WakePolicy = "none"    // only mentions and replies; what platforms mark as meant for us counts as one
)

// A LinkPolicy says which addresses stay links in what an agent writes in a space. The
// empty policy is [LinksOpen] where nothing can be carried out by an address, and
// [LinksKnown] elsewhere.
type LinkPolicy string

// The link policies of the configuration.
const (
	LinksOpen  LinkPolicy = "open"  // all
	LinksKnown LinkPolicy = "known" // those that people said there, that a tool's result has, and hosts of the operator
	LinksNone  LinkPolicy = "none"  // none
)

// A Space is a room, or an agent's inner space.
type Space struct {
	ID     SpaceID
	Kind   SpaceKind
	Name   string
	Circle CircleID // the circle of the room; empty for inner spaces
	Wake   WakePolicy
	// Direct is true when the room is one person's own chat with us.
	Direct bool
	// Closed is true when every member is known: direct chats and local rooms.
	// Elsewhere people may read who have never been seen to speak.
	Closed bool
	// Guest is true when the agent is no member of the room's chat: it was asked there for one
	// answer, by a message that is all it sees.
	Guest bool
	// Configured is true when an entry of the configuration is about the room itself;
	// a channel of a configured server has none.
	Configured bool
	// AgentRun is the number of agent messages at the end of the log since a
	// person last spoke.
	AgentRun  int
	CreatedAt time.Time
}

// EntityKind tells people from programs.
type EntityKind string

// The kinds of entity, as the HUD names them.
const (
	Human   EntityKind = "human"
	Agent   EntityKind = "agent"
	Bot     EntityKind = "bot"     // a program that is not ours
	Service EntityKind = "service" // a chat that speaks as itself, the platform
)

// An Entity is a person, agent, bot or service that can act in spaces.
type Entity struct {
	ID     EntityID
	Kind   EntityKind
	Name   string // newest display name; may be chosen to deceive
	Handle string // without @
	// Portrait is the public address of their picture; may be empty.
	Portrait string
	// Zone is the name of their time zone, such as "Europe/Zurich", as they, the
	// configuration or their platform gave it; empty is unknown.
	Zone string
	// ZoneFrom says who gave the time zone: another one replaces it only if it comes from
	// the same source or a higher one.
	ZoneFrom ZoneSource
}

// A ZoneSource is who gave a person's time zone; a higher one is believed before a lower.
type ZoneSource int

// The sources of a time zone.
const (
	ZoneOfPlatform ZoneSource = iota // their profile there
	ZoneOfConfig                     // the entry of the person in the configuration
	ZoneOfPerson                     // they said so
)

// A PlatformIdentity is an entity's name on one platform. Two identities are the same
// entity only if an operator or the configuration links them.
type PlatformIdentity struct {
	Platform string
	Scope    string // the Slack team; empty elsewhere
	User     string
	Kind     EntityKind
	Name     string
	Handle   string
	Portrait string // says nothing without a Name
	Zone     string // name of the time zone; empty is unknown
}

// A SpaceMember is an entity in a space.
type SpaceMember struct {
	Entity
	Since int64 // seq of the event by which we learned of it
}

// A ChatPlacement says where the updates of a chat go.
type ChatPlacement struct {
	Space  SpaceID
	Object ObjectID
	Circle CircleID
	Lost   bool // the chat could not be reached when it was last tried
}

// A ChatMapping ties a chat to a space, many to many (`activity.SpaceMapping` is
// the behaviour over it).
type ChatMapping struct {
	Account string // adapter account key
	Chat    string
	Title   string
	Space   SpaceID
	Object  ObjectID
	Relay   bool // people's messages travel to the space's other chats
	Live    bool // false after we were removed
}

// An OpenRequest asks for a space, or for more chats and agents on an existing one.
// It is idempotent: opening twice changes nothing.
type OpenRequest struct {
	Name   string
	Circle CircleID // empty: a circle of the space's own
	Wake   WakePolicy
	Direct bool
	Closed bool
	Guest  bool
	Agents []AgentID
	Chats  []ChatMapping // Space and Object are filled in by the store
	At     time.Time
	// Key names the entry of the configuration this comes from, so that a renamed
	// or extended entry finds its space again; empty for chats admitted at run time.
	Key string
}

// A ConfiguredSpace room is one whose form is the configuration's: that of an entry of
// its own, or of the server its chat belongs to.
type ConfiguredSpace struct {
	Space  SpaceID
	Key    string // of the entry; empty when it has none of its own
	Circle CircleID
	Wake   WakePolicy
	Agents []AgentID     // who is in it now
	Chats  []ChatMapping // which chats it has now
}

// An AgentRemoval has agents leave a space and gives up chats of it, because the
// configuration does not name them there any more.
type AgentRemoval struct {
	Space  SpaceID
	Agents []AgentID
	Chats  []ChatMapping // their Account and Chat count
	Reason string        // in words, for the log
	At     time.Time
}

// RoomDefaults are the settings of a space that is opened when a chat is admitted
// without being named in the configuration.
type RoomDefaults struct {
	Circle CircleID // empty: a circle of its own
	Wake   WakePolicy
	Agents []AgentID // the one that speaks for the account first
}
