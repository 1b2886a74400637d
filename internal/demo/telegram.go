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

// TelegramDemo is the demo's Telegram: one bot, and groups with people. It is safe
// for concurrent use once every room is open.
type TelegramDemo struct {
	*faketelegram.Server
	bot    *faketelegram.BotUser
	people map[string]*faketelegram.HumanUser
	chats  map[string]*faketelegram.Chat
}

var _ FakePlatform = (*TelegramDemo)(nil)

// NewTelegram returns a Telegram without rooms.
func NewTelegram() *TelegramDemo {
	t := faketelegram.NewTelegram(faketelegram.Options{})
	return &TelegramDemo{
		Server: t, bot: t.AddBot(faketelegram.BotProfile{Token: telegramToken, Name: "Trestle", Username: "trestle_demo_bot"}),
		people: map[string]*faketelegram.HumanUser{}, chats: map[string]*faketelegram.Chat{},
	}
}

// Serve answers on ln until ctx is done.
func (t *TelegramDemo) Serve(ctx context.Context, ln net.Listener) error {
	return fake.ServeUntilDone(ctx, ln, t.Server)
}

// Open makes a group of the room's people and adds the bot.
func (t *TelegramDemo) Open(r StoryRoom) string {
	var people []*faketelegram.HumanUser
	for _, name := range r.People {
		if t.people[name] == nil {
			t.people[name] = t.AddPerson(faketelegram.UserProfile{Name: name, Username: strings.ToLower(name)})
		}
		people = append(people, t.people[name])
	}
	c := t.NewSupergroup(r.Name, people...)
	c.Adds(people[0], t.bot)
	t.chats[r.Key] = c
	return strconv.FormatInt(c.ID(), 10)
}

// Says has a person say something in a room.
func (t *TelegramDemo) Says(room, person, text string) {
	t.chats[room].Says(t.people[person], text, faketelegram.PostOptions{})
}

// Entry is the entry of a Telegram bot.
func (t *TelegramDemo) Entry(url string) string {
	return fmt.Sprintf("{type: telegram, token: %q, api_url: %q}", telegramToken, url)
}
