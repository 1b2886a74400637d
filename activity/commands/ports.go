package commands

import (
	"context"
	"errors"
	"time"

	"github.com/trestle-bridge/trestle/spaces"
)

// RoleLookup looks up roles.
type RoleLookup interface {
	// Role returns the highest role that the configuration or an approval grants to a
	// sender; [spaces.OfMember] when neither grants one. It does not tell whether the
	// sender is admitted.
	Role(ctx context.Context, who spaces.PlatformIdentity) (spaces.AuthorityLevel, error)
}

// ZoneStore keeps the time zones of people.
type ZoneStore interface {
	// SetZone stores the time zone of a person, unless a higher source gave theirs; an empty
	// name takes it back.
	SetZone(ctx context.Context, who spaces.PlatformIdentity, zone string, from spaces.ZoneSource) error
}

// RunController are how people hold agents back.
type RunController interface {
	// Halt ends what agents do, at once and durably; see [spaces.Halt].
	Halt(ctx context.Context, h spaces.StopRequest) (spaces.StopResult, error)
	// Renew has the agents of a room begin afresh there: what was said before is no
	// longer part of what they carry in mind. Nothing is deleted.
	Renew(ctx context.Context, space spaces.SpaceID, at time.Time) error
	// Mute has agents of a room be silent there, or lifts it, and returns those for
	// whom that is new.
	Mute(ctx context.Context, m spaces.MuteRequest) ([]spaces.AgentID, error)
	// Compact has an agent of a room shorten what it has in mind, and says what that came
	// to. It fails with [ErrBusy] when it cannot be done now.
	Compact(ctx context.Context, agent spaces.AgentID, space spaces.SpaceID) (spaces.ContextCompacted, error)
}

// ErrBusy is why an agent does not shorten now what it has in mind: it is at work elsewhere.
var ErrBusy = errors.New("the agent is at work elsewhere")

// RoomInspector tells what agents do and did in one room. Nothing of another room is in
// its answers.
type RoomInspector interface {
	// Now tells how the agents of a room stand, in the order they came.
	Now(ctx context.Context, space spaces.SpaceID, at time.Time) (RoomStatus, error)
	// Last tells of each agent of the room what became of the message at about or,
	// when that is zero or unknown, of the newest message that is no command. An
	// agent that has not been asked anything yet is left out.
	Last(ctx context.Context, space spaces.SpaceID, about spaces.MessageRef) ([]MessageOutcome, error)
	// Contexts tells what the prompt of the last run of each agent of the room held. An
	// agent without a run that ended here is left out.
	Contexts(ctx context.Context, space spaces.SpaceID) ([]ContextUse, error)
}

// ContextUse is what a prompt held, in tokens: about so many of each kind, together as many as
// Tokens says.
type ContextUse struct {
	Agent  spaces.AgentID
	At     time.Time // when the run began
	Tokens int       // of the prompt
	Budget int       // of the prompt
	Fixed  int       // rules, tools and what the agent is
	Rooms  int       // what it keeps of all its rooms, its notes and its memories
	Runs   int       // runs since that was put together
	Now    int       // this run, and how the rooms stand
	Old    int       // old messages that were looked up for it
	Freed  int       // what had no room
}

// RoomStatus is how the agents of a room stand.
type RoomStatus struct {
	Agents  []AgentStatus
	Waiting int // messages that no run has looked at yet
	Unsent  int // decided and not sent
}

// AgentStatus is one agent in a room.
type AgentStatus struct {
	Agent  spaces.AgentID
	Since  time.Time // when its run here began; zero when it rests
	Asleep time.Time // until when it sleeps; zero when it does not
	// MutedUntil is until when it follows the room in silence; see [spaces.Uplink].
	MutedUntil time.Time
	Runs       int // in this room, since the day began
	Cancelled  int // of them stopped by a person
	Failed     int // of them ended by a fault or a limit
	Denials    int
	Usage      spaces.TokenUsage // in this room, since the day began
}

// MessageOutcome is what became of a message with one agent.
type MessageOutcome struct {
	Agent  spaces.AgentID
	Reason string // the gate's word on the message; empty while it has not been judged
	Tries  int    // runs over it that came to nothing
	GaveUp bool   // no other is made; Stop says how the last one ended
	Woke   bool
	Run    spaces.CycleID    // empty when it did not wake
	Stop   spaces.StopReason // empty while the run is open
	Spoke  int               // messages in this room
	Acts   []string          // what the agent asked for, in order, each name once
	// Took is how long the calls of tools from outside took together, by their names.
	Took   map[string]time.Duration
	Denied []string // codes of the acts that were refused, each once
	Usage  spaces.TokenUsage
	Model  string // that answered in place of the agent's own, last; empty: its own did
	// InWords is true when the model is known to answer in words in place of calling a
	// tool.
	InWords bool
}
