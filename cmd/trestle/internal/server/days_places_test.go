package server

import (
	"strconv"
	"strings"
	"time"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// A place is a chat of a platform in which the people of a day talk.
type place interface {
	says(who, text string, answers bool) (message string)
	shares(who, text string)   // a file, with words beside it
	likes(who, message string) // or what was said last by the agents
	edits(message, text string)
	deletes(message string) bool // false: the platform sends no event
	loses(who string)            // who goes reads it no more
	takes(who string)            // back
	whose() string               // of a direct chat; empty for others
	platform() string
	title() string
}

// A telegramPlace may have topics.
type telegramPlace struct {
	d      *day
	name   string
	topics []int64
	direct bool
}

func (p telegramPlace) says(who, text string, answers bool) string {
	chat := p.d.chats[p.name]
	s := faketelegram.PostOptions{Thread: p.topics[p.d.rng.IntN(len(p.topics))]}
	if sent := chat.Sent(); answers && len(sent) > 0 {
		last := sent[len(sent)-1]
		s.ReplyTo, s.Thread = last.ID, last.Thread
	}
	return strconv.FormatInt(chat.Says(p.d.people[who], text, s), 10)
}

func (p telegramPlace) shares(who, text string) {
	p.d.chats[p.name].Says(p.d.people[who], text, faketelegram.PostOptions{File: &faketelegram.SharedFile{Kind: "document", Name: "list.csv", MIME: "text/csv", Data: []byte("a,b")}})
}

func (p telegramPlace) likes(who, message string) {
	id, _ := strconv.ParseInt(message, 10, 64)
	if sent := p.d.chats[p.name].Sent(); len(sent) > 0 {
		id = sent[len(sent)-1].ID
	}
	p.d.chats[p.name].Reacts(p.d.people[who], id, "👍")
}

func (p telegramPlace) edits(message, text string) {
	id, _ := strconv.ParseInt(message, 10, 64)
	p.d.chats[p.name].Edits(id, text)
}

func (telegramPlace) deletes(string) bool { return false }

func (p telegramPlace) loses(who string) { p.d.chats[p.name].Leaves(p.d.people[who], p.d.people[who]) }
func (p telegramPlace) takes(who string) { p.d.chats[p.name].Joins(p.d.people[who]) }
func (telegramPlace) platform() string   { return "telegram" }

func (p telegramPlace) whose() string {
	if p.direct {
		return p.name
	}
	return ""
}

func (p telegramPlace) title() string { return p.name }

// A slackPlace is a channel, or the direct chat of a person.
type slackPlace struct {
	d    *day
	room *fakeslack.WorkspaceChannel
	who  string
}

func (p slackPlace) says(who, text string, answers bool) string {
	var s fakeslack.PostOptions
	if sent := p.room.Sent(); answers && len(sent) > 0 {
		last := sent[len(sent)-1]
		if s.Thread = last.Thread; s.Thread == "" {
			s.Thread = last.TS
		}
	}
	text = strings.ReplaceAll(text, "@ada_bot", "<@"+p.d.slack.app.User()+">")
	return p.room.Says(p.d.slack.people[who], text, s)
}

func (p slackPlace) shares(who, text string) {
	p.room.Says(p.d.slack.people[who], text, fakeslack.PostOptions{File: &fakeslack.SharedFile{Name: "list.csv", MIME: "text/csv", Data: []byte("a,b")}})
}

func (p slackPlace) likes(who, message string) {
	if sent := p.room.Sent(); len(sent) > 0 {
		message = sent[len(sent)-1].TS
	}
	p.room.Reacts(p.d.slack.people[who], message, "tada")
}

func (p slackPlace) edits(message, text string)  { p.room.Edits(message, text) }
func (p slackPlace) deletes(message string) bool { p.room.Deletes(message); return true }
func (p slackPlace) loses(who string)            { p.room.Leaves(p.d.slack.people[who]) }
func (p slackPlace) takes(who string)            { p.room.Joins(p.d.slack.people[who]) }
func (p slackPlace) whose() string               { return p.who }
func (slackPlace) platform() string              { return "slack" }
func (p slackPlace) title() string               { return "slack " + p.room.ID }

// A discordPlace is a channel, or a thread of one.
type discordPlace struct {
	d    *day
	room *fakediscord.GuildChannel
	who  string
}

func (p discordPlace) says(who, text string, answers bool) string {
	var s fakediscord.PostOptions
	if sent := p.room.Sent(p.d.discord.bot); answers && len(sent) > 0 {
		s.ReplyTo = sent[len(sent)-1].ID
	}
	text = strings.ReplaceAll(text, "@ada_bot", "<@"+p.d.discord.bot.ID.String()+">")
	return p.room.Says(p.d.discord.person(who), text, s).String()
}

func (p discordPlace) shares(who, text string) {
	p.room.Says(p.d.discord.person(who), text, fakediscord.PostOptions{Files: []fakediscord.SharedFile{{Name: "list.csv", MIME: "text/csv", Data: []byte("a,b")}}})
}

func (p discordPlace) likes(who, message string) {
	id := p.d.discord.message(message)
	if sent := p.room.Sent(p.d.discord.bot); len(sent) > 0 {
		id = sent[len(sent)-1].ID
	}
	p.room.Reacts(p.d.discord.person(who), id, "👍")
}

func (p discordPlace) edits(message, text string) { p.room.Edits(p.d.discord.message(message), text) }

func (p discordPlace) deletes(message string) bool {
	p.room.Deletes(p.d.discord.message(message))
	return true
}

func (p discordPlace) loses(who string) { p.room.HidesFrom(p.d.discord.person(who)) }
func (p discordPlace) takes(who string) { p.room.ShowsAgain(p.d.discord.person(who)) }
func (p discordPlace) whose() string    { return p.who }
func (discordPlace) platform() string   { return "discord" }
func (p discordPlace) title() string    { return "discord " + p.room.ID.String() }

// loses has the ways to platforms break as they do.
func (d *day) loses() {
	n := d.rng.IntN(11)
	if d.remapped && n >= 7 {
		return // what is told again would be news in another room
	}
	switch n {
	case 0:
		d.slack.app.Sever()
	case 1:
		d.slack.app.Disconnect("refresh_requested")
	case 2:
		d.slack.app.Freeze()
	case 3:
		d.discord.lose("resumed")
	case 4:
		d.discord.lose("forgotten")
	case 5:
		d.discord.bot.Freeze()
	case 6:
		d.discord.bot.Invalidate(d.rng.IntN(2) == 0)
	case 7:
		d.slack.app.Redeliver(20)
	case 8:
		d.bot.Redeliver(20)
		d.door.repeats(20)
	case 9:
		d.slack.app.Disorder(1 + d.rng.IntN(3))
	case 10:
		d.bot.Disorder(faketelegram.QueueReordering{Copies: d.rng.IntN(3), Shuffle: d.rng.IntN(2) == 0})
	}
}

// A posted is a message that a platform took from the program.
type posted struct {
	platform, message, text string
	at                      time.Time
	struck                  bool // its answer was harmed
	early                   time.Duration
}

// posts returns what the platforms took, in the order of each.
func (d *day) posts() (all []posted) {
	for _, c := range d.telegram.Ledger().Calls {
		if c.Method == "sendMessage" && c.Applied {
			all = append(all, posted{"telegram", strconv.FormatInt(c.Chat, 10) + "/" + strconv.FormatInt(c.Message, 10), c.Text, c.At, c.Fault != "", c.Early})
		}
	}
	for _, c := range d.slack.Ledger().Calls {
		if c.Method == "chat.postMessage" && c.Applied {
			all = append(all, posted{"slack", c.Message, c.Text, c.At, c.Fault != "", c.Early})
		}
	}
	for _, c := range d.discord.Ledger().Calls {
		if (c.Method == "create message" || c.Method == "execute webhook") && c.Applied {
			all = append(all, posted{"discord", c.Message.String(), c.Text, c.At, c.Fault != "", c.Early})
		}
	}
	return all
}
