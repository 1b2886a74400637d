// Package commands parses and answers chat commands such as /stop and /status,
// without a model.
package commands

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/textformat"
	"github.com/trestle-bridge/trestle/internal/timezone"
	"github.com/trestle-bridge/trestle/spaces"
)

// A CommandHandler does what people ask of the program itself: to stop an agent, to
// begin afresh, to say what goes on and why. No model is asked. It is safe for
// concurrent use.
type CommandHandler struct {
	Roles RoleLookup
	Runs  RunController
	Rooms RoomInspector
	// Zones keeps what people say of their time zones. Default: it is not kept.
	Zones ZoneStore
	// Approvals holds the calls of tools that people decide about. Default: there are none.
	Approvals ApprovalStore
	// Missions holds the missions of rooms. Default: there are none. It needs Approvals.
	Missions MissionStore
	// Pairings lets in people who ask to be. Default: the operator alone does.
	Pairings PairingDesk
	// Links lets people link their accounts. Default: the operator alone does.
	Links *AccountLinks
	// Memories has what agents keep of their own. Default: it is not told.
	Memories MemoryDesk
	// Platforms names what the program is connected to. Default: none are named.
	Platforms func() []string
	// Name returns how people call an agent. Default: its id.
	Name func(spaces.AgentID) string
	// Modes returns what wakes an agent in a room. Default: it is not told.
	Modes func(context.Context, spaces.AgentID, spaces.SpaceID) (AgentMode, error)
	// Ack takes on the problems that were told of, for as long as the words say,
	// and returns what to answer. Default: there is nothing to take on.
	Ack func(ctx context.Context, words string, at time.Time) (string, error)
	// Currency returns the code of the currency that costs are in. Default: no cost is told.
	Currency func() string
}

// A CommandRequest is a command of an admitted person.
type CommandRequest struct {
	Command string
	Args    string
	Who     spaces.PlatformIdentity
	Account string // through which it came
	Chat    string // in which it was written; empty for a button
	Space   spaces.SpaceID
	Direct  bool // the room is their own
	// Operators is true in a chat of those who run the program.
	Operators bool
	About     spaces.MessageRef // the message they answer with it; zero when none
	At        time.Time
}

// Run runs a command in its space and returns the answer as CommonMark; empty for a
// command that is not ours.
func (a *CommandHandler) Run(ctx context.Context, q CommandRequest) (string, error) {
	switch q.Command {
	case CommandStart, CommandHelp:
		return a.help(ctx, q)
	case CommandStop:
		return a.stop(ctx, q)
	case CommandNew:
		return a.renew(ctx, q)
	case CommandMute, CommandUnmute:
		return a.mute(ctx, q)
	case CommandStatus:
		return a.status(ctx, q)
	case CommandWhy:
		return a.why(ctx, q)
	case CommandContext:
		return a.context(ctx, q)
	case CommandCompact:
		return compact(ctx, a, q)
	case CommandMode:
		return mode(ctx, a, q)
	case CommandCost:
		return a.cost(ctx, q)
	case CommandZone:
		return a.timezone(ctx, q)
	case CommandMemory:
		return memory(ctx, a, q)
	case CommandLink:
		return a.Links.answer(ctx, q)
	case CommandMission:
		return a.mission(ctx, q)
	case CommandAck:
		return a.ack(ctx, q)
	}
	return "", nil
}

// timezone keeps the time zone that a person names.
func (a *CommandHandler) timezone(ctx context.Context, q CommandRequest) (string, error) {
	typed := adapters.TypedCommand(q.Who.Platform, CommandZone)
	switch args := strings.ToLower(q.Args); {
	case args == "" || a.Zones == nil:
		return fmt.Sprintf("Write `%s Europe/Zurich` or `%[1]s New York`, and your reminders go by that clock. `%[1]s off` takes it back.", typed), nil
	case args == "off":
		if err := a.Zones.SetZone(ctx, q.Who, "", spaces.ZoneOfPerson); err != nil {
			return "", err
		}
		return "Your reminders go by the clock of the room again.", nil
	}
	in, err := timezone.Find(q.Args)
	if err != nil {
		answer := "There is no time zone of that name. Write a city such as `Zurich`, or a name such as `America/New_York`."
		if near := timezone.Nearest(q.Args); len(near) > 0 {
			answer = "There is no time zone of that name. Did you mean `" + strings.Join(near, "`, `") + "`?"
		}
		return answer, nil
	}
	if err := a.Zones.SetZone(ctx, q.Who, in.String(), spaces.ZoneOfPerson); err != nil {
		return "", err
	}
	return fmt.Sprintf("Your reminders go by the clock of %s: it is %s there.", in, q.At.In(in).Format("Mon 15:04 MST")), nil
}

// stop ends what agents do in the room: a person who may set them to work may stop
// them. With the name of an agent it ends that one's work alone.
func (a *CommandHandler) stop(ctx context.Context, q CommandRequest) (string, error) {
	agent, err := a.named(ctx, q)
	if err != nil {
		return "", err
	}
	done, err := a.Runs.Halt(ctx, spaces.StopRequest{Space: q.Space, Agent: agent, Unsent: true, At: q.At})
	if err != nil {
		return "", err
	}
	return stopText(done), nil
}

// stopText says what a halt came to.
func stopText(done spaces.StopResult) string {
	var parts []string
	if n := len(done.Runs); n > 0 {
		parts = append(parts, counted(n, "run", "runs")+" ended")
	}
	if done.Waiting > 0 {
		parts = append(parts, counted(done.Waiting, "waiting message", "waiting messages")+" dropped")
	}
	if done.Waits > 0 {
		parts = append(parts, counted(done.Waits, "question", "questions")+" given up")
	}
	if n := len(done.Calls); n > 0 {
		parts = append(parts, counted(n, "tool call", "tool calls")+" cancelled")
	}
	if done.Unsent > 0 {
		parts = append(parts, counted(done.Unsent, "unsent message", "unsent messages")+" taken back")
	}
	if done.Paused > 0 {
		parts = append(parts, counted(done.Paused, "mission", "missions")+" paused")
	}
	if len(parts) == 0 {
		return "Nothing was under way here."
	}
	return "Stopped: " + strings.Join(parts, ", ") + "."
}

// renewed says honestly what a fresh start is.
const renewed = "A fresh start: what was said here before is no longer part of what I carry in mind. " +
	"Nothing is deleted. The chat and my record keep it, I can look it up when you ask, and my notes, goals and memories stay."

// renew begins afresh. In a room of several people it takes a person who may
// decide for them.
func (a *CommandHandler) renew(ctx context.Context, q CommandRequest) (string, error) {
	may, err := a.decides(ctx, q)
	if err != nil || !may {
		return onlyDeciders, err
	}
	if err := a.Runs.Renew(ctx, q.Space, q.At); err != nil {
		return "", err
	}
	return renewed, nil
}

// onlyDeciders answers a person who may not decide for a room of several people.
const onlyDeciders = "In a room of several people only an admin or the owner may do that."

// decides reports whether a person may decide for all who are in the room.
func (a *CommandHandler) decides(ctx context.Context, q CommandRequest) (bool, error) {
	if q.Direct {
		return true, nil
	}
	role, err := a.Roles.Role(ctx, q.Who)
	if err != nil {
		return false, fmt.Errorf("role of the asker: %w", err)
	}
	return role >= spaces.OfAdmin, nil
}

// named returns the agent of the room that is called so; empty when there is none.
func (a *CommandHandler) named(ctx context.Context, q CommandRequest) (spaces.AgentID, error) {
	wanted := strings.TrimPrefix(q.Args, "@")
	if wanted == "" {
		return "", nil
	}
	now, err := a.Rooms.Now(ctx, q.Space, q.At)
	if err != nil {
		return "", fmt.Errorf("agents of %s: %w", q.Space, err)
	}
	for _, n := range now.Agents {
		if strings.EqualFold(wanted, string(n.Agent)) || strings.EqualFold(wanted, a.name(n.Agent)) {
			return n.Agent, nil
		}
	}
	return "", nil
}

// muteTime is how the words behind /mute end that say for how long: "2h", "Ada for 3 days".
var muteTime = regexp.MustCompile(`(?i)^(?:(.+?) +)??(?:for +)?([1-9]\d{0,3}) *(m|min|minutes?|h|hours?|d|days?|w|weeks?)$`)

// cutDuration returns what stands before a length of time at the end of words, and that
// length, in words and as it is; zero without one.
func cutDuration(words string) (before, told string, lasts time.Duration) {
	m := muteTime.FindStringSubmatch(words)
	if m == nil {
		return words, "", 0
	}
	n, _ := strconv.Atoi(m[2]) // it is digits
	unit, name := time.Minute, "minute"
	switch strings.ToLower(m[3])[0] {
	case 'h':
		unit, name = time.Hour, "hour"
	case 'd':
		unit, name = 24*time.Hour, "day"
	case 'w':
		unit, name = 7*24*time.Hour, "week"
	}
	return m[1], " for " + counted(n, name, name+"s") + " or", time.Duration(n) * unit
}

// mute has agents follow the room in silence, all of them or the one that is named,
// until it is lifted or the time that is named is over: nothing wakes them there, and
// they do nothing there. What they have under way ends.
func (a *CommandHandler) mute(ctx context.Context, q CommandRequest) (string, error) {
	may, err := a.decides(ctx, q)
	if err != nil || !may {
		return onlyDeciders, err
	}
	m := spaces.MuteRequest{Space: q.Space, Lifted: q.Command == CommandUnmute, At: q.At}
	howLong := ""
	if !m.Lifted {
		var lasts time.Duration
		if q.Args, howLong, lasts = cutDuration(q.Args); lasts > 0 {
			m.Until = q.At.Add(lasts)
		}
	}
	agent, err := a.named(ctx, q)
	if err != nil {
		return "", err
	}
	if q.Args != "" && agent == "" {
		return "No agent of that name is in this room.", nil
	}
	m.Agent = agent
	changed, err := a.Runs.Mute(ctx, m)
	if err != nil {
		return "", err
	}
	names := make([]string, len(changed))
	for i, id := range changed {
		names[i] = a.name(id)
	}
	switch {
	case m.Lifted && len(changed) == 0:
		return "Nobody is muted here.", nil
	case m.Lifted:
		return joined(names) + " may speak here again.", nil
	}
	if _, err := a.Runs.Halt(ctx, spaces.StopRequest{Space: q.Space, Agent: agent, Unsent: true, At: q.At}); err != nil {
		return "", err
	}
	if len(changed) == 0 {
		return "Muted already.", nil
	}
	return fmt.Sprintf("%s in silence%s until somebody writes `%s`. What is said is remembered.",
		listed(names, "follows this room", "follow this room"), howLong, adapters.TypedCommand(q.Who.Platform, CommandUnmute)), nil
}

// ack takes problems on and says so.
func (a *CommandHandler) ack(ctx context.Context, q CommandRequest) (string, error) {
	if !q.Operators || a.Ack == nil {
		return "", nil
	}
	said, err := a.Ack(ctx, q.Args, q.At)
	if err != nil {
		return "", fmt.Errorf("acknowledge: %w", err)
	}
	return said, nil
}

// name returns how people call an agent.
func (a *CommandHandler) name(id spaces.AgentID) string {
	if a.Name != nil {
		if name := a.Name(id); name != "" {
			return spaces.PlainText(name)
		}
	}
	return spaces.PlainText(string(id))
}

// counted says how many of something there are.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return textformat.Thousands(n) + " " + many
}
