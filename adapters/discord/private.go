package discord

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
)

var _ adapters.PrivateSender = (*Client)(nil)

// A commandAnswer holds what it takes to answer a slash command of the last minutes to the
// person who gave it. Whoever has its token can answer, so it is in no error, log line or update.
type commandAnswer struct {
	token adapters.SecretString
	heard chan struct{} // closed once Discord has the first answer, and takes what follows
	until time.Time
}

// commandAnswers are those of the last slash command of each person in each channel. The
// zero value has none.
type commandAnswers struct {
	mu  sync.Mutex // guards what follows
	all map[commandPlace]commandAnswer
}

// A commandPlace is the channel in which a person gave a command.
type commandPlace struct{ channel, user string }

// Bounds on slash commands that can be answered
// (docs.discord.com/developers/interactions/receiving-and-responding).
const (
	answerable  = 15*time.Minute - 30*time.Second
	maxCommands = 256
)

// open notes an interaction if it is a slash command. The caller calls heard once it gave the
// first answer.
func (c *commandAnswers) open(i interaction) (heard func()) {
	user := ""
	switch {
	case i.Member != nil:
		user = i.Member.person().ID
	case i.User != nil:
		user = i.User.ID
	}
	if i.Type != slashCommand || i.Token == "" || user == "" {
		return func() {}
	}
	one := commandAnswer{adapters.SecretString(i.Token), make(chan struct{}), time.Now().Add(answerable)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || len(c.all) >= maxCommands {
		c.all = map[commandPlace]commandAnswer{}
	}
	c.all[commandPlace{i.ChannelID, user}] = one
	return sync.OnceFunc(func() { close(one.heard) })
}

// SendPrivate answers the last slash command that the person gave in the channel, which they
// alone see; Discord has no other message for one person. Without a command in the last quarter
// of an hour it fails with NoTarget.
func (c *messageSender) SendPrivate(ctx context.Context, to string, p adapters.OutgoingMessage) (adapters.Receipt, error) {
	const op = "answer command"
	channel, err := target(p.Chat, p.Thread)
	if err != nil {
		return adapters.Receipt{}, err
	}
	c.commands.mu.Lock()
	one, known := c.commands.all[commandPlace{channel, to}]
	c.commands.mu.Unlock()
	if !known || time.Now().After(one.until) {
		return adapters.Receipt{}, &adapters.Error{Kind: adapters.NoTarget, Op: op, Err: fmt.Errorf("the person gave no slash command here lately")}
	}
	select {
	case <-one.heard:
	case <-ctx.Done():
		return adapters.Receipt{}, &adapters.Error{Kind: adapters.NotSent, Op: op, Err: context.Cause(ctx)}
	}
	self, err := c.me(ctx)
	if err != nil {
		return adapters.Receipt{}, err
	}
	out := c.outgoing(p, channel)
	out.Components, out.Flags = nil, out.Flags|int(discordgo.MessageFlagsEphemeral)
	r := route{op: op, method: http.MethodPost, path: "/webhooks/" + self.application + "/" + url.PathEscape(string(one.token)), bare: true}
	var sent sentMessage
	if err := c.call(ctx, r, out, &sent); err != nil {
		return adapters.Receipt{}, err
	}
	return adapters.Receipt{At: sent.Timestamp}, nil
}
