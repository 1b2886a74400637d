package server

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// discordOwner is the owner's name on Discord, whose id is ownersID.
const discordOwner = "Olivia"

// discordSenders are the twelve kinds of sender as events of the gateway. Discord
// knows no anonymous admin: what speaks for a server is Discord itself.
func discordSenders(w *world) []wireSender {
	s, n := w.discord, 0
	person := func(name string, id int) *fakediscord.HumanUser {
		return s.AddPerson(fakediscord.UserProfile{Name: name, ID: fakediscord.SnowflakeID(id)})
	}
	author := func(p *fakediscord.HumanUser, name string) string {
		return fmt.Sprintf(`{"id":"%s","username":"someone","global_name":%q,"discriminator":"0"}`, p.ID, name)
	}
	message := func(event string, in fakediscord.SnowflakeID, more string) string {
		n++
		return fmt.Sprintf(`{"t":%q,"d":{"id":"%d","channel_id":"%s","type":0,"timestamp":"2000-01-01T00:00:00Z",%s}}`, event, 9000+n, in, more)
	}
	said := fmt.Sprintf(`"content":%q`, canary)
	direct := func(p *fakediscord.HumanUser, name, more string) string {
		return message("MESSAGE_CREATE", s.bot.Direct(p).ID, `"author":`+author(p, name)+","+said+more)
	}
	fred, lea, eve := person("Fred", 6_000_000_015), person("Lea", 6_000_000_017), person("Eve", 6_000_000_016)
	room := func(from, more string) string {
		g := s.NewGuild("nobody named it", fred, s.people[discordOwner], lea)
		c := g.NewChannel("hall", fakediscord.TextChannel)
		in := c.ID
		if more == "thread" {
			in, more = c.NewThread(fred, "a thread").ID, ""
		}
		g.Adds(s.bot, 0)
		g.Leaves(lea)
		g.Joins(lea)
		w.settle()
		if from != "" {
			from = `"author":` + from + ","
		}
		return message("MESSAGE_CREATE", in, fmt.Sprintf(`"guild_id":"%s",%s"content":"<@%s> %s","mentions":[{"id":"%[3]s","username":"ada","bot":true}]%[5]s`,
			g.ID, from, s.bot.ID, canary, more))
	}
	program := fmt.Sprintf(`{"id":"777","username":%q,"bot":true}`, discordOwner)
	return []wireSender{
		{"renamed to the owner's name", direct(person("renamed", 6_000_000_011), discordOwner, ""), true},
		{"bot", room(program, ""), false},
		{"webhook", room(program, `,"webhook_id":"777"`), false},
		{"Discord itself", room(`{"id":"643945264868098049","username":"Community Updates","bot":true,"system":true}`, ""), false},
		{"forwards the owner's words", message("MESSAGE_CREATE", s.bot.Direct(fred).ID, fmt.Sprintf(
			`"author":%s,"content":"","message_reference":{"type":1,"message_id":"5","channel_id":"6"},"message_snapshots":[{"message":{"type":0,%s}}]`, author(fred, "Fred"), said)), true},
		{"edits after they were shut out", message("MESSAGE_UPDATE", s.bot.Direct(eve).ID, `"edited_timestamp":"2000-01-01T00:00:09Z","author":`+author(eve, "Eve")+","+said), false},
		{"left and rejoined", room(author(lea, "Lea"), ""), true},
		{"the owner in a thread of a channel", room(author(s.people[discordOwner], discordOwner), "thread"), true},
		{"guest", room(author(person("guest", 6_000_000_019), discordOwner), `,"member":{"roles":[],"flags":16}`), true},
		{"deleted user", room("", ""), false},
		{"same id on another platform", direct(person(discordOwner, theirID), discordOwner, ""), true},
		{"impersonates with capitals and look-alikes", direct(person("ＯＬＩＶＩＡ", 6_000_000_022), "ＯＬＩＶＩＡ", ""), true},
	}
}

// SECURITY S1, Discord's third of the matrix. A person who is admitted elsewhere does
// not admit their other identity here, although the configuration links the two.
func TestNobodyUnauthorisedWakesAnAgentOnDiscord(t *testing.T) {
	wireStage{
		config: fmt.Sprintf("# discord\npeople: {them: {accounts: [\"telegram:%d\", \"guild:%[1]d\"]}}\n", theirID), owner: fmt.Sprintf("guild:%d", ownersID),
		elsewhere: spaces.PlatformIdentity{Platform: "telegram", User: strconv.Itoa(theirID)},
		greets: func(w *world) {
			olivia := w.discord.AddPerson(fakediscord.UserProfile{Name: discordOwner, ID: ownersID})
			w.discord.people[discordOwner] = olivia
			w.discord.bot.Direct(olivia).Says(olivia, "hello", fakediscord.PostOptions{})
		},
		pairs: func(w *world) {
			if _, err := w.process.pair(w.t.Context(), console.PairRequest{Code: w.codeOf(strconv.Itoa(ownersID)), Role: "owner"}); err != nil {
				w.t.Fatal(err)
			}
		},
		senders: discordSenders,
		deliver: func(w *world, event json.RawMessage) error {
			var e struct {
				Type string          `json:"t"`
				Data json.RawMessage `json:"d"`
			}
			if err := json.Unmarshal(event, &e); err != nil {
				return err
			}
			w.discord.bot.Inject(e.Type, e.Data)
			return nil
		},
	}.play(t)
}
