package demo

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

const telegramToken = "7001:demo"

// Telegram is the demo's Telegram: one bot, and groups with people. It is safe
// for concurrent use once every room is open.
type Telegram struct {
	*faketelegram.Telegram
	bot    *faketelegram.Bot
	people map[string]*faketelegram.Person
	chats  map[string]*faketelegram.Chat
}

var _ Platform = (*Telegram)(nil)

// NewTelegram returns a Telegram without rooms.
func NewTelegram() *Telegram {
	t := faketelegram.NewTelegram(faketelegram.Options{})
	return &Telegram{
		Telegram: t, bot: t.AddBot(faketelegram.BotProfile{Token: telegramToken, Name: "Trestle", Username: "trestle_demo_bot"}),
		people: map[string]*faketelegram.Person{}, chats: map[string]*faketelegram.Chat{},
	}
}

// Serve answers on ln until ctx is done.
func (t *Telegram) Serve(ctx context.Context, ln net.Listener) error {
	return fake.ServeUntilDone(ctx, ln, t.Telegram)
}

// Open makes a group of the room's people and adds the bot.
func (t *Telegram) Open(r Room) string {
	var people []*faketelegram.Person
	for _, name := range r.People {
		if t.people[name] == nil {
			t.people[name] = t.AddPerson(faketelegram.Profile{Name: name, Username: strings.ToLower(name)})
		}
		people = append(people, t.people[name])
	}
	c := t.NewSupergroup(r.Name, people...)
	c.Adds(people[0], t.bot)
	t.chats[r.Key] = c
	return strconv.FormatInt(c.ID(), 10)
}

// Says has a person say something in a room.
func (t *Telegram) Says(room, person, text string) {
	t.chats[room].Says(t.people[person], text, faketelegram.Said{})
}

// Entry is the entry of a Telegram bot.
func (t *Telegram) Entry(url string) string {
	return fmt.Sprintf("{type: telegram, token: %q, api_url: %q}", telegramToken, url)
}
