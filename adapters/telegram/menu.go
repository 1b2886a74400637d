package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.CommandMenu = (*Client)(nil)

// commandName is what Telegram takes as a command's name.
var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// maxMenu and maxHelp are what Telegram takes of a menu (core.telegram.org/bots/api#setmycommands).
const (
	maxMenu = 100
	maxHelp = 256
)

// menuEntry is one command as Telegram has it.
type menuEntry struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// Commands sets the bot's menu in all chats and languages; an empty one takes it
// away. What Telegram does not take as a name is Invalid. A menu that stands
// already is left alone.
func (c *Client) Commands(ctx context.Context, entries []adapters.CommandMenuEntry) error {
	menu := make([]menuEntry, 0, len(entries))
	for _, e := range entries {
		if !commandName.MatchString(e.Name) || e.Help == "" || len(entries) > maxMenu {
			return &adapters.Error{Kind: adapters.Invalid, Op: "setMyCommands", Err: fmt.Errorf("telegram takes no command %q: names are of a to z, 0 to 9 and _, with a few words of help, 100 at most", e.Name)}
		}
		help := []rune(e.Help)
		menu = append(menu, menuEntry{e.Name, string(help[:min(len(help), maxHelp)])})
	}
	want, err := json.Marshal(menu)
	if err != nil {
		return &adapters.Error{Kind: adapters.Invalid, Op: "setMyCommands", Err: err}
	}
	stands, err := call[[]menuEntry](ctx, c, "getMyCommands", nil, c.limit)
	if err != nil {
		return err
	}
	if have, err := json.Marshal(append([]menuEntry{}, stands...)); err == nil && string(have) == string(want) {
		return nil
	}
	_, err = call[bool](ctx, c, "setMyCommands", tgbotapi.Params{"commands": string(want)}, c.limit)
	return err
}
