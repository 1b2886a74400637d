package demo

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/trestle-bridge/trestle/adapters/fake/discord"
)

const discordToken = "demo.discord.token"

// Discord is the demo's Discord: one bot on one server, and channels. It is safe
// for concurrent use once every room is open.
type Discord struct {
	world    *discord.Discord
	bot      *discord.Bot
	guild    *discord.Guild
	people   map[string]*discord.Person
	channels map[string]*discord.Channel
}

var _ Platform = (*Discord)(nil)

// NewDiscord returns a server without channels.
func NewDiscord() *Discord {
	w := discord.New(discord.Options{})
	d := &Discord{
		world: w, bot: w.AddBot(discord.BotProfile{Token: discordToken, Name: "Trestle"}), guild: w.NewGuild("Guild"),
		people: map[string]*discord.Person{}, channels: map[string]*discord.Channel{},
	}
	d.guild.Adds(d.bot, discord.ManageWebhooks)
	return d
}

// Serve answers on ln until ctx is done.
func (d *Discord) Serve(ctx context.Context, ln net.Listener) error { return d.world.Serve(ctx, ln) }

// Open makes a channel, and members of the room's people. Everybody on the
// server reads it.
func (d *Discord) Open(r Room) string {
	for _, name := range r.People {
		if d.people[name] == nil {
			d.people[name] = d.world.AddPerson(discord.Profile{Name: name, Username: strings.ToLower(name)})
			d.guild.Joins(d.people[name])
		}
	}
	c := d.guild.NewChannel(r.Name[strings.LastIndex(r.Name, "/")+1:], discord.TextChannel)
	d.channels[r.Key] = c
	return c.ID.String()
}

// Says has a person say something in a channel.
func (d *Discord) Says(room, person, text string) {
	d.channels[room].Says(d.people[person], text, discord.Said{})
}

// Entry is the entry of a Discord bot.
func (d *Discord) Entry(url string) string {
	return fmt.Sprintf("{type: discord, token: %q, api_url: %q}", discordToken, url)
}
