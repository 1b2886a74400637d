package spaces

import "strings"

// SpaceID names a space. Minted by the store when a space is opened; unique for
// ever; it is never parsed.
type SpaceID string

// BranchID names a line of one space's log, unique within the space.
type BranchID string

// Primary is the branch that reaches platforms. Every room has it.
const Primary BranchID = "main"

// EventID names an event. Minted by the store when the event is appended, or
// before that by the part that must refer to it; unique for ever.
type EventID string

// ObjectID names an object within a space. The fixed ones are below.
type ObjectID string

// The objects a space may hold.
const (
	ChatObject    ObjectID = "chat"
	InfoObject    ObjectID = "info"
	NotesObject   ObjectID = "agent_notes"
	GoalsObject   ObjectID = "goals"
	MemoryObject  ObjectID = "memories"
	PlansObject   ObjectID = "plans"
	ContextObject ObjectID = "context_manager"
	SelfObject    ObjectID = "self" // the inner log's own events
)

// ThreadID names a conversation inside a space. Minted by the platform, unique
// within the space; empty is the space itself.
type ThreadID string

// EntityID names a person, agent, service or speaking chat. Minted by the store
// for people, from the configuration for agents; unique for ever.
type EntityID string

// AgentID names an agent: its key in the configuration.
type AgentID string

// CircleID names a set of spaces whose contents an agent may carry between
// them: a name from the configuration, or one minted for a space on its own.
type CircleID string

// OwnCircle returns the circle of a space that was given none: no other space can
// be in it.
func OwnCircle(id SpaceID) CircleID { return CircleID("own:" + string(id)) }

// Own returns the space whose own circle c is, and false of a circle that more
// spaces may be in.
func (c CircleID) Own() (SpaceID, bool) {
	id, own := strings.CutPrefix(string(c), "own:")
	return SpaceID(id), own
}

// CycleID names a cycle. Minted by the store at the claim; unique for ever.
type CycleID string

// ActionID names an action in the outbox. Minted by the shell; unique for ever.
type ActionID string

// A Mind is one agent in one circle: one branch of its inner space, one
// consciousness. It is comparable and serves as a key.
type Mind struct {
	Agent  AgentID
	Circle CircleID
}

// String returns "agent/circle", the name people use for a mind.
func (m Mind) String() string { return string(m.Agent) + "/" + string(m.Circle) }

// ParseMind reads what [Mind.String] wrote.
func ParseMind(s string) (Mind, bool) {
	agent, circle, ok := strings.Cut(s, "/")
	return Mind{AgentID(agent), CircleID(circle)}, ok && agent != "" && circle != ""
}

// Inner returns the space that holds the agent's inner log.
func (m Mind) Inner() SpaceID { return SpaceID("inner:" + string(m.Agent)) }

// Branch returns the branch of the inner space that is this mind.
func (m Mind) Branch() BranchID { return BranchID(m.Circle) }

// MindAt returns the mind whose inner log a branch of a space is, and false
// for a branch of a room.
func MindAt(space SpaceID, branch BranchID) (Mind, bool) {
	agent, ok := strings.CutPrefix(string(space), "inner:")
	return Mind{AgentID(agent), CircleID(branch)}, ok
}

// Entity returns the entity that speaks for the agent.
func (a AgentID) Entity() EntityID { return EntityID("agent:" + string(a)) }

// IsAgent reports whether the entity is one of our agents, and which.
func (e EntityID) IsAgent() (AgentID, bool) {
	name, ok := strings.CutPrefix(string(e), "agent:")
	return AgentID(name), ok
}

// A MessageRef names a message on a platform: account key, chat and message id there.
// The zero Ref names nothing.
type MessageRef struct {
	Account string `json:"a"`
	Chat    string `json:"c"`
	Message string `json:"m"`
}

// IsZero reports whether the reference names nothing.
func (r MessageRef) IsZero() bool { return r == MessageRef{} }
