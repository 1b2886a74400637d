package server

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
)

// DELIVERY K17, K18, I6: a send whose answer is lost is never a second message on
// Discord, whether the bot speaks itself or through a webhook, and whether the
// process lives on or not.
func TestALostAnswerIsNoSecondMessageOnDiscord(t *testing.T) {
	for name, config := range map[string]string{
		"own voice": "# discord\nagents:\n  ada: {name: Ada, phases: one}\nservers:\n  \"guild:3\": {agents: [ada], wake: mention}\n",
		"webhook": "# discord\nagents:\n  ada: {name: Ada, phases: one}\n  max: {name: Max, phases: one}\n" +
			"servers:\n  \"guild:3\": {agents: [ada, max], wake: mention}\n",
	} {
		for _, arrived := range []bool{true, false} {
			for _, restarts := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, config, script(t, "ada acts: send_message {\"text\":\"Only once.\"}\nada rests: Responded to Maya about once.")...)
					for _, call := range []string{"create message", "execute webhook"} {
						w.discord.Fault(fake.CallFault{Method: call, Do: fake.Cut, Apply: arrived})
					}
					w.addChat("kitchen", "discord", []string{"Maya"})
					s := &scene{world: w, labels: map[string]int64{}}
					s.do(t, "& Maya@kitchen: @BOT once, please")
					pass(5 * time.Second)
					if restarts {
						w.restart()
					}
					pass(5 * time.Minute)
					w.settle()
					var said int
					for _, m := range w.discord.rooms["kitchen"].Sent(w.discord.bot) {
						if m.Content == "Only once." {
							said++
						}
					}
					if said != 1 {
						t.Errorf("%s, arrived %v, restart %v: said %d times", name, arrived, restarts, said)
					}
					if !slices.ContainsFunc(w.discord.Ledger().Calls, func(c fakediscord.APICall) bool { return c.Fault == fake.Cut && c.Applied == arrived }) {
						t.Errorf("%s: no call met the fault", name)
					}
					w.stop()
				})
			}
		}
	}
}
