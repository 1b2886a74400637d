package activity

import (
	"slices"
	"strings"

	"github.com/trestle-bridge/trestle/adapters"
)

// The commands that people have. The model never sees one as a request.
const (
	commandStart  = "start"
	commandHelp   = "help"
	commandStatus = "status"
	commandStop   = "stop"
	commandNew    = "new"
	commandMute   = "mute"
	commandUnmute = "unmute"
	commandWhy    = "why"
	commandCost   = "cost"
)

// Commands returns what people can ask of the program itself, in the order of a
// platform's menu.
func Commands() []adapters.CommandMenuEntry {
	return []adapters.CommandMenuEntry{
		{Name: commandHelp, Help: "what I can do for you"},
		{Name: commandStatus, Help: "what I am doing"},
		{Name: commandStop, Help: "stop what I am doing, now"},
		{Name: commandNew, Help: "begin a fresh conversation here"},
		{Name: commandMute, Help: "follow this room in silence"},
		{Name: commandUnmute, Help: "speak here again"},
		{Name: commandWhy, Help: "why I answered, or did not"},
		{Name: commandCost, Help: "what this room used today"},
		{Name: commandStart, Help: "say hello"},
	}
}

// called writes a command as people write it on the platform of an account: Slack
// keeps what begins with a slash for itself.
func called(account, command string) string {
	platform, _, _ := strings.Cut(account, ":")
	if platform == "slack" {
		return "!" + command
	}
	return "/" + command
}

// command returns the command a message begins with: as its adapter read it, or
// behind a mention of us, which is how people call a bot where a slash alone
// belongs to the platform.
func (in *Ingress) command(m adapters.Message) *adapters.Command {
	if m.Command != nil || !m.ToUs {
		return m.Command
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(m.Text), " ")
	if !in.calls(first) {
		return nil
	}
	name, args, _ := strings.Cut(strings.TrimSpace(rest), " ")
	name, slash := strings.CutPrefix(strings.ToLower(name), "/")
	known := slices.ContainsFunc(Commands(), func(c adapters.CommandMenuEntry) bool { return c.Name == name })
	if !slash || !known {
		return nil
	}
	return &adapters.Command{Name: name, Args: strings.TrimSpace(args)}
}

// calls reports whether a word is a mention of us.
func (in *Ingress) calls(word string) bool {
	word = strings.ReplaceAll(strings.TrimRight(word, ",:"), `\`, "") // Markdown may escape a handle's underscores
	handle, ok := strings.CutPrefix(word, "@")
	if ok && handle != "" && (strings.EqualFold(handle, in.account.Handle) || strings.EqualFold(handle, in.account.Name)) {
		return true
	}
	id, ok := strings.CutPrefix(strings.TrimSuffix(word, ">"), "<@")
	return ok && strings.TrimPrefix(id, "!") == in.account.ID
}

// isCommand reports whether u is a message that begins with one of the commands;
// without names, with any.
func isCommand(u adapters.Update, names ...string) bool {
	m, ok := u.Body.(adapters.Message)
	return ok && m.Command != nil && (len(names) == 0 || slices.Contains(names, m.Command.Name))
}
