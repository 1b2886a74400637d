//go:build faultinject

package crashtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
)

// DELIVERY 2.3 on Discord: K1–K6 and K15–K21. It is never told that something
// arrived (K4), and has no sign that shows words before they are said (K22).
func TestDiscordSurvivesAKillWithoutACopy(t *testing.T) {
	survives(t, "discord", discordStage, "K4", "K22")
}

// discordStage is a server with a channel, two threads in it, and a direct chat. A
// second agent makes Ada speak through a webhook in the channel; in the direct
// chat the bot speaks itself.
func discordStage(t *testing.T, seed uint64) *stage {
	t.Helper()
	s := &stage{world: newWorld(t, seed, 0), more: ", max: {name: Max}", batched: true, resumes: true}
	discord := fakediscord.New(fakediscord.Options{})
	bot := discord.AddBot(fakediscord.BotProfile{Token: "faults", Name: "ada"})
	maya := discord.AddPerson(fakediscord.UserProfile{Name: "Maya"})
	guild := discord.NewGuild("Work", maya)
	ops := guild.NewChannel("ops", fakediscord.TextChannel)
	guild.Adds(bot, fakediscord.ManageWebhooks)
	corners := []*fakediscord.GuildChannel{ops, ops.NewThread(maya, "one"), ops.NewThread(maya, "two"), bot.Direct(maya)}
	s.config = fmt.Sprintf("adapters:\n  guild: {type: discord, token: faults, api_url: %q}\ndefault_agents: [ada]\n"+
		"spaces:\n  ops: {name: Ops, agents: [ada], wake: all, chats: [\"guild:%s\"]}\n", s.serve(t, discord.Serve), ops.ID)
	s.says = func(in corner, text string, file bool) {
		with := fakediscord.PostOptions{}
		if file {
			with.Files = []fakediscord.SharedFile{{Name: "notes.txt", MIME: "text/plain", Data: []byte("bytes of " + text)}}
		}
		corners[in].Says(maya, text, with)
	}
	s.posted = func() (all []posted) {
		for _, c := range corners {
			for _, m := range c.Sent(bot) {
				p := posted{text: m.Content, key: c.ID.String() + " " + m.Content}
				if m.Webhook != 0 {
					p.face = m.Name
				}
				if !m.Deleted {
					all = append(all, p)
				}
			}
		}
		return all
	}
	greeted := false
	s.ready = func() bool { // Discord lists no direct chats: a new one is not known to have had a gap
		if bot.Connected() && !greeted {
			greeted = true
			s.says(inPrivate, "hello", false)
		}
		return bot.Connected() && len(s.model.Ledger()) > 0
	}
	s.unacked, s.forget = func() int { return 0 }, bot.Forget
	sends := []string{"create message", "execute webhook"}
	s.limits = func() {
		for _, method := range sends {
			discord.Fault(fake.CallFault{Method: method, Do: fake.Refuse, RetryAfter: 1, Every: 3, Times: 6})
		}
	}
	s.hangs = func(skip int) func() bool {
		for _, method := range sends {
			discord.Fault(fake.CallFault{Method: method, Do: fake.Hang, Apply: true, Skip: skip})
		}
		return func() bool {
			reached := slices.ContainsFunc(discord.Ledger().Calls, func(c fakediscord.APICall) bool { return c.Fault == fake.Hang })
			if reached {
				discord.ClearFaults()
			}
			return reached
		}
	}
	s.strains = []func(){
		s.limits, bot.Freeze, bot.Reconnect, bot.Forget, func() { bot.Close(4000) }, func() { bot.Invalidate(true) }, func() { bot.Invalidate(false) },
		func() { discord.RefuseConnections(2) },
		func() { discord.Fault(fake.CallFault{Method: sends[0], Do: fake.Cut, Apply: true}) },
		func() { discord.Fault(fake.CallFault{Method: sends[1], Do: fake.Cut, Apply: true}) },
		func() { discord.Fault(fake.CallFault{Method: "get messages", Do: fake.HTML, Times: 3}) },
	}
	return s
}
