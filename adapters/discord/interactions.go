package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
)

// Kinds of interaction and of our first answer (docs.discord.com,
// interactions/receiving-and-responding).
const (
	asked        = 1 // whether a person is there
	slashCommand = 2
	pressed      = 3
	completion   = 4
	submitted    = 5

	alive        = 1
	sayMessage   = 4
	laterUpdate  = 6
	completeWith = 8
)

// acks answer interactions, which Discord gives up after three seconds: the
// person is told that we heard, and what follows comes as ordinary messages.
type acks struct {
	client *Client
	slots  chan struct{}
	wg     sync.WaitGroup
}

// maxAcks bounds the answers on their way.
const maxAcks = 16

func newAcks(c *Client) *acks { return &acks{client: c, slots: make(chan struct{}, maxAcks)} }

// wait returns when every answer is given.
func (a *acks) wait() { a.wg.Wait() }

// see answers an interaction in the background. One too many is not answered: the
// person sees that it failed, and it is recorded all the same.
func (a *acks) see(ctx context.Context, raw json.RawMessage) {
	var i interaction
	if adapters.DecodeFields(raw, &i, "id", "token", "channel_id") != nil || i.ID == "" || i.Token == "" {
		return
	}
	press := a.client.presses.open(i, false)
	answered := a.client.commands.open(i)
	heard := func() {
		answered()
		if press != nil {
			close(press.heard)
		}
	}
	select {
	case a.slots <- struct{}{}:
	default:
		a.client.log.Warn("too many interactions at once")
		heard()
		return
	}
	a.wg.Go(func() {
		defer func() { <-a.slots }()
		defer heard()
		if err := a.client.acknowledge(ctx, i); err != nil && ctx.Err() == nil {
			a.client.log.Warn("interaction not answered", "error", err)
		}
	})
}

// firstAnswer is what an interaction is answered at once.
type firstAnswer struct {
	Type int        `json:"type"`
	Data *firstSaid `json:"data,omitempty"`
}

type firstSaid struct {
	Content string    `json:"content,omitempty"`
	Flags   int       `json:"flags,omitempty"`
	Choices *[]string `json:"choices,omitempty"`
}

// firstAnswer returns how an interaction is answered at once; false when it is
// of a kind that we do not know.
func (i interaction) firstAnswer() (firstAnswer, bool) {
	switch {
	case i.Type == asked:
		return firstAnswer{Type: alive}, true
	case i.Type == completion:
		return firstAnswer{completeWith, &firstSaid{Choices: &[]string{}}}, true
	case i.Type == slashCommand, i.Type == submitted && i.Message == nil:
		return firstAnswer{sayMessage, &firstSaid{Content: "✓ " + i.echo(), Flags: int(discordgo.MessageFlagsEphemeral)}}, true
	case i.Type == pressed, i.Type == submitted:
		return firstAnswer{Type: laterUpdate}, true
	}
	return firstAnswer{}, false
}

// echo returns an interaction as text for the person who sent it. Text that is too long
// for a message is cut, because Discord would refuse the answer.
func (i interaction) echo() string {
	line := []rune(i.line())
	for most := maxUnits - 10; ; most = most * 9 / 10 {
		cut := line[:min(len(line), most)]
		words := escape(string(cut), false)
		if len(cut) < len(line) {
			words += "…"
		}
		if units(words) <= maxUnits-10 {
			return words
		}
	}
}

// acknowledge gives the first answer to an interaction. A second one, after a
// replay, is refused, which does no harm.
func (c *Client) acknowledge(ctx context.Context, i interaction) error {
	body, known := i.firstAnswer()
	if !known {
		return nil
	}
	r := route{op: "answer interaction", method: http.MethodPost, path: "/interactions/" + i.ID + "/" + i.Token + "/callback", bare: true}
	return c.call(ctx, r, body, nil)
}

// readInteraction reads a slash command as a command to us, and a pressed button as what
// was chosen.
func (r *receiver) readInteraction(ctx context.Context, raw json.RawMessage) ([]adapters.Update, error) {
	var i interaction
	if err := adapters.DecodeFields(raw, &i, "id", "type", "channel_id", "guild_id", "member", "user"); err != nil || i.ID == "" {
		return r.unreadable("INTERACTION_CREATE", raw, reasonOf(err, "it has no id")), nil
	}
	if i.Type != slashCommand && i.Type != pressed && i.Type != submitted || i.ChannelID == "" {
		return nil, nil
	}
	if i.Channel != nil && i.GuildID == "" {
		r.client.known.learnChannel(*i.Channel)
	}
	chat, thread, err := r.client.place(ctx, i.ChannelID, i.GuildID)
	if err != nil {
		return nil, err
	}
	u := adapters.Update{ID: i.ID, Key: "interaction:" + i.ID, Chat: chat, Thread: thread, At: flake(i.ID).time()}
	switch {
	case i.Member != nil:
		u.From = i.Member.person()
	case i.User != nil:
		u.From = i.User.person("")
	}
	if now := time.Now().UTC(); flake(i.ID) == 0 || u.At.After(now) {
		u.At = now
	}
	if i.Type == pressed {
		if i.Message == nil || i.Data.CustomID == "" {
			return nil, nil // it is below nothing that we posted
		}
		u.Body = adapters.ChoicePicked{Message: i.Message.ID, Value: i.Data.CustomID, Press: i.ID}
		return []adapters.Update{u}, nil
	}
	name, args, _ := strings.Cut(i.line(), " ")
	said := adapters.IncomingMessage{
		ID: i.ID, Text: escape(i.line(), true), ToUs: true,
		Command: &adapters.ChatCommand{Name: strings.ToLower(strings.TrimPrefix(name, "/")), Args: args},
	}
	if i.Message != nil {
		said.ReplyTo = i.Message.ID
	}
	u.Body = said
	return []adapters.Update{u}, nil
}

// line returns an interaction as a person would have typed it.
func (i interaction) line() string {
	if i.Type != slashCommand {
		return strings.Join(append([]string{i.Data.CustomID}, i.Data.Values...), " ")
	}
	words := []string{"/" + i.Data.Name}
	var add func([]commandOption)
	add = func(options []commandOption) {
		for _, o := range options {
			if len(o.Value) == 0 || string(o.Value) == "null" {
				words = append(words, o.Name) // a subcommand
				add(o.Options)
				continue
			}
			var text string
			if json.Unmarshal(o.Value, &text) != nil {
				text = string(o.Value)
			}
			words = append(words, text)
		}
	}
	add(i.Data.Options)
	if i.Data.TargetID != "" {
		words = append(words, i.Data.TargetID)
	}
	return strings.Join(words, " ")
}

var _ adapters.CommandMenu = (*Client)(nil)

// Commands sets the slash commands that Discord offers everywhere, each with one
// field for words. Setting the same list again changes nothing.
func (c *Client) Commands(ctx context.Context, list []adapters.CommandMenuEntry) error {
	self, err := c.me(ctx)
	if err != nil {
		return err
	}
	const text = 3
	type option struct {
		Type        int    `json:"type"`
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	type command struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Options     []option `json:"options"`
	}
	commands := []command{}
	for _, e := range list {
		help := cmp.Or(e.Help, e.Name)
		if runes := []rune(help); len(runes) > 100 {
			help = string(runes[:99]) + "…"
		}
		commands = append(commands, command{strings.ToLower(e.Name), help, []option{{text, "text", "What to say with it"}}})
	}
	r := route{op: "set commands", method: http.MethodPut, path: "/applications/" + self.application + "/commands"}
	return c.call(ctx, r, commands, nil)
}
