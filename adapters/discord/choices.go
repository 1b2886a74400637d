package discord

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
)

var (
	_ adapters.ChoiceOfferer = (*Client)(nil)
	_ adapters.Stopper       = (*Client)(nil)
	_ adapters.StatusShower  = (*Client)(nil)
)

// ShowRun shows nothing: Discord has no sign for a run but buttons.
func (*Client) ShowRun(context.Context, adapters.RunStatus) (adapters.StopControl, error) {
	return adapters.StopLine, nil
}

// ShowsStatus reports whether a chat is with one person, who sees that the bot is typing. In a
// server it is not said at whose message the bot is.
func (c *Client) ShowsStatus(chat string) bool {
	ch, known := c.known.channel(chat)
	return known && ch.GuildID == ""
}

// rows returns buttons in the rows of a message, five in each at most
// (docs.discord.com, components/reference#action-row).
func rows(choices []adapters.ChoiceButton) []discordgo.ActionsRow {
	const perRow = 5
	var all []discordgo.ActionsRow
	for row := range slices.Chunk(choices, perRow) {
		var one discordgo.ActionsRow
		for _, c := range row {
			one.Components = append(one.Components, discordgo.Button{Style: discordgo.SecondaryButton, Label: c.Label, CustomID: c.Value})
		}
		all = append(all, one)
	}
	return all
}

// A pressAnswer is how a press that came lately can be answered. Its token lets anybody
// in for a quarter of an hour, and is in no error, log line or update.
type pressAnswer struct {
	token adapters.SecretString
	// heard is closed once Discord knows that we heard the press, and takes what follows.
	// Nil: Discord called us with the press, and takes said as the answer to its call.
	heard chan struct{}
	said  string
}

// pressAnswers are those of the presses that came lately, by their interaction. The zero
// value has none.
type pressAnswers struct {
	mu  sync.Mutex // guards what follows
	all map[string]*pressAnswer
}

// maxPresses bounds the presses that can be answered.
const maxPresses = 256

// open notes an interaction if it is a press; called is true where Discord waits for the
// answer to its call.
func (p *pressAnswers) open(i interaction, called bool) *pressAnswer {
	if i.Type != pressed || i.ID == "" || i.Token == "" {
		return nil
	}
	one := &pressAnswer{token: adapters.SecretString(i.Token)}
	if !called {
		one.heard = make(chan struct{})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil || len(p.all) >= maxPresses {
		p.all = map[string]*pressAnswer{}
	}
	p.all[i.ID] = one
	return one
}

func (p *pressAnswers) get(id string) *pressAnswer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[id]
}

// say keeps the answer to a call, and reports whether Discord still waits for it.
func (p *pressAnswers) say(id, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.all[id]
	if one == nil || one.heard != nil {
		return false
	}
	one.said = text
	return true
}

// close returns what the answer to a call is to say.
func (p *pressAnswers) close(id string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.all[id]
	if one == nil {
		return ""
	}
	delete(p.all, id)
	return one.said
}

// AnswerPress shows text to the person who pressed. That we heard the press Discord was
// told when it came.
func (c *Client) AnswerPress(ctx context.Context, press, text string) error {
	const op = "answer press"
	one := c.presses.get(press)
	if one == nil {
		return &adapters.Error{Kind: adapters.Invalid, Op: op, Err: fmt.Errorf("there is no press %q that could be answered", press)}
	}
	if text != "" {
		text = escape(text, false)
	}
	if c.presses.say(press, text) || text == "" {
		return nil
	}
	select {
	case <-one.heard:
	case <-ctx.Done():
		return &adapters.Error{Kind: adapters.NotSent, Op: op, Err: context.Cause(ctx)}
	}
	self, err := c.me(ctx)
	if err != nil {
		return err
	}
	r := route{op: op, method: http.MethodPost, path: "/webhooks/" + self.application + "/" + url.PathEscape(string(one.token)), bare: true}
	return c.call(ctx, r, outgoing{Content: text, Allowed: only(nil), Flags: suppressEmbeds | int(discordgo.MessageFlagsEphemeral)}, nil)
}
