package demo

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/trestle-bridge/trestle/adapters/fake/discord"
)

const discordToken = "demo.discord.token"

// DiscordDemo is the demo's Discord: one bot on one server, and channels. It is safe
// for concurrent use once every room is open.
type DiscordDemo struct {
	world    *discord.Server
	bot      *discord.BotUser
	guild    *discord.Guild
	people   map[string]*discord.HumanUser
	channels map[string]*discord.GuildChannel
}

var _ FakePlatform = (*DiscordDemo)(nil)

// NewDiscord returns a server without channels.
func NewDiscord() *DiscordDemo {
	w := discord.New(discord.Options{})
	d := &DiscordDemo{
		world: w, bot: w.AddBot(discord.BotProfile{Token: discordToken, Name: "Trestle"}), guild: w.NewGuild("Guild"),
		people: map[string]*discord.HumanUser{}, channels: map[string]*discord.GuildChannel{},
	}
	d.guild.Adds(d.bot, discord.ManageWebhooks)
	return d
}

// Serve answers on ln until ctx is done.
func (d *DiscordDemo) Serve(ctx context.Context, ln net.Listener) error {
	return d.world.Serve(ctx, ln)
}

// Open makes a channel, and members of the room's people. Everybody on the
// server reads it.
func (d *DiscordDemo) Open(r StoryRoom) string {
	for _, name := range r.People {
		if d.people[name] == nil {
			d.people[name] = d.world.AddPerson(discord.UserProfile{Name: name, Username: strings.ToLower(name)})
			d.guild.Joins(d.people[name])
		}
	}
	c := d.guild.NewChannel(r.Name[strings.LastIndex(r.Name, "/")+1:], discord.TextChannel)
	d.channels[r.Key] = c
	return c.ID.String()
}

// Says has a person say something in a channel.
func (d *DiscordDemo) Says(room, person, text string) {
	d.channels[room].Says(d.people[person], text, discord.PostOptions{})
}

// Entry is the entry of a Discord bot.
func (d *DiscordDemo) Entry(url string) string {
	return fmt.Sprintf("{type: discord, token: %q, api_url: %q}", discordToken, url)
}
