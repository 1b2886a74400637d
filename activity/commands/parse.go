package commands

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// The chat commands. A model never sees one as a request.
const (
	CommandStart  = "start"
	CommandHelp   = "help"
	CommandStatus = "status"
	CommandStop   = "stop"
	CommandNew    = "new"
	CommandMute   = "mute"
	CommandUnmute = "unmute"
	CommandWhy    = "why"
	CommandCost   = "cost"
	CommandZone   = "timezone"
	// CommandContext asks how full the context of an agent is.
	CommandContext = "context"
	// CommandCompact has agents shorten what they have in mind.
	CommandCompact = "compact"
	// CommandMode asks what wakes the agents of a room.
	CommandMode = "mode"
)

// CommandMenu returns the commands in the order of a platform's menu.
func CommandMenu() []adapters.CommandMenuEntry {
	return []adapters.CommandMenuEntry{
		{Name: CommandHelp, Help: "what I can do for you"},
		{Name: CommandStatus, Help: "what I am doing"},
		{Name: CommandStop, Help: "stop what I am doing, now"},
		{Name: CommandNew, Help: "begin a fresh conversation here"},
		{Name: CommandMute, Help: "follow this room in silence, for good or for a time such as 2h"},
		{Name: CommandUnmute, Help: "speak here again"},
		{Name: CommandWhy, Help: "why I answered, or did not"},
		{Name: CommandMode, Help: "which messages I look at when they come"},
		{Name: CommandContext, Help: "how much I have in mind, and of what"},
		{Name: CommandCompact, Help: "shorten what I have in mind, now"},
		{Name: CommandMemory, Help: "what I know of you, and how to change it"},
		{Name: CommandCost, Help: "what this room used today"},
		{Name: CommandMission, Help: "how the missions of this room stand"},
		{Name: CommandZone, Help: "set the clock that your reminders go by"},
		{Name: CommandLink, Help: "let me know you on another platform too"},
		{Name: CommandStart, Help: "say hello"},
	}
}

// ForAskerAlone reports whether only the person who gave a command needs its answer, which
// tells them something or refuses. The answer to a command that changes the room is for all.
func ForAskerAlone(command, answer string) bool {
	if answer == onlyDeciders {
		return true
	}
	switch command {
	case CommandHelp, CommandStatus, CommandWhy, CommandMode, CommandContext, CommandCost, CommandZone, CommandMemory, CommandLink, CommandStart:
		return true
	}
	return false
}

// ParseCommand returns the command that a message begins with, nil without one: as
// the adapter parsed it, or behind a mention of the account, which is how people
// address a bot where the platform reserves the slash. A decision about a call of a tool
// needs no slash. What is only a command and no known one asks for help.
func ParseCommand(account adapters.BotAccount, m adapters.IncomingMessage) *adapters.ChatCommand {
	if m.Command != nil {
		if m.Command.Only && !isCommand(m.Command.Name) {
			return &adapters.ChatCommand{Name: CommandHelp, Args: m.Command.Name, Only: true}
		}
		return m.Command
	}
	if c := cmp.Or(parseDecision(m.Text), parseMission(m.Text), parsePairing(m.Text), parseLink(m.Text)); c != nil || !m.ToUs {
		return c
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(m.Text), " ")
	if !mentions(account, first) {
		return nil
	}
	name, args, _ := strings.Cut(strings.TrimSpace(rest), " ")
	name, slash := strings.CutPrefix(strings.ToLower(name), "/")
	if !slash || !inMenu(name) {
		return nil
	}
	return &adapters.ChatCommand{Name: name, Args: strings.TrimSpace(args)}
}

// inMenu reports whether a word is a command of the menu.
func inMenu(word string) bool {
	return slices.ContainsFunc(CommandMenu(), func(c adapters.CommandMenuEntry) bool { return c.Name == word })
}

// isCommand reports whether a word is a command, in the menu or not.
func isCommand(word string) bool {
	return inMenu(word) || slices.Contains([]string{CommandApprove, CommandDeny, CommandChoose, CommandLetIn, CommandRefuse, CommandAck}, word)
}

// mentions reports whether a word is a mention of the account.
func mentions(account adapters.BotAccount, word string) bool {
	word = strings.ReplaceAll(strings.TrimRight(word, ",:"), `\`, "") // Markdown may escape a handle's underscores
	handle, ok := strings.CutPrefix(word, "@")
	if ok && handle != "" && (strings.EqualFold(handle, account.Handle) || strings.EqualFold(handle, account.Name)) {
		return true
	}
	id, ok := strings.CutPrefix(strings.TrimSuffix(word, ">"), "<@")
	return ok && strings.TrimPrefix(id, "!") == account.ID
}

// CommandAck acknowledges alerts. It is accepted in operators' chats only, and there
// without a slash too.
const CommandAck = "ack"

// ackWords is how operators answer an alert: "ack", "ack 2h", "ack 3 for 2h".
var ackWords = regexp.MustCompile(`(?i)^/?ack((?: +#?\d+)?(?: +(?:for +)?\d+ *[smhd])?)$`)

// ParseAcknowledgement returns the command in an operator's answer to an alert, nil
// for any other text.
func ParseAcknowledgement(text string) *adapters.ChatCommand {
	found := ackWords.FindStringSubmatch(strings.Trim(strings.TrimSpace(text), "`.!"))
	if found == nil {
		return nil
	}
	return &adapters.ChatCommand{Name: CommandAck, Args: strings.TrimSpace(found[1])}
}
