package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"github.com/trestle-bridge/trestle/adapters"
)

// address sets what m has to do with us: its command, if it has one and that is
// not for another bot, and whether it is meant for us.
func (m *message) address(out *adapters.IncomingMessage, text string, entities []entity, self user) {
	command, to := commandOf(text, entities)
	if command != nil && (to == "" || strings.EqualFold(to, self.Username)) {
		out.Command = command
	}
	switch {
	case command != nil && out.Command == nil: // for another bot
	case m.Chat.Type == "private", command != nil && to != "",
		slices.ContainsFunc(out.Mentions, func(p adapters.Person) bool { return p.ID == formatID(self.ID) }):
		out.ToUs = true
	case m.ReplyTo != nil && !m.answersTopic() && m.ReplyTo.From != nil && m.ReplyTo.From.ID == self.ID:
		out.ToUs, out.ByReply = true, true
	}
}

// commandOf returns the command that text begins with, and the bot it is
// addressed to: empty when it names none.
func commandOf(text string, entities []entity) (command *adapters.ChatCommand, to string) {
	for _, e := range entities {
		if e.Type != "bot_command" || e.Offset != 0 {
			continue
		}
		head, rest := cutUnits(text, e.Length)
		name, to, _ := strings.Cut(strings.TrimPrefix(head, "/"), "@")
		if name == "" {
			return nil, ""
		}
		return &adapters.ChatCommand{Name: strings.ToLower(name), Args: strings.TrimSpace(rest)}, to
	}
	return nil, ""
}

// cutUnits cuts text after n UTF-16 units, or at its end.
func cutUnits(text string, n int) (head, rest string) {
	for i, r := range text {
		if n <= 0 {
			return text[:i], text[i:]
		}
		n -= max(utf16.RuneLen(r), 1)
	}
	return text, ""
}

// maxHandle bounds the bytes of a handle, of which Telegram allows 32.
const maxHandle = 128

// peopleIn returns those whom text names, each once. Telegram gives the id
// only for people without a username and for us; of the others it gives only
// the handle.
func peopleIn(text string, entities []entity, self user) []adapters.Person {
	var out []adapters.Person
	named := map[string]bool{}
	add := func(p adapters.Person) {
		if len(p.Handle) > maxHandle {
			return
		}
		if key := p.ID + "@" + strings.ToLower(p.Handle); !named[key] {
			named[key] = true
			out = append(out, p)
		}
	}
	entities = entities[:min(len(entities), maxEntities)]
	at := unitOffsets(text, entities)
	for i, e := range entities {
		switch {
		case e.Type == "text_mention" && e.User != nil:
			add(e.User.person())
		case e.Type == "mention" && e.Offset >= 0:
			handle := strings.TrimPrefix(text[at[2*i]:at[2*i+1]], "@")
			switch {
			case handle == "":
			case strings.EqualFold(handle, self.Username):
				add(self.person())
			default:
				add(adapters.Person{Handle: handle})
			}
		}
	}
	return out
}

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

// Commands sets the bot's menu in all chats and languages; an empty one takes it away.
// What Telegram does not take as a name is Invalid. A menu that is set already is left
// alone.
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
