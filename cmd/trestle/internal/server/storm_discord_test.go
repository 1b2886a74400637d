package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
)

// bridged is a room on Telegram and Discord: in the kitchen copies go through a
// webhook, in the cellar the bot speaks itself.
func bridged(t *testing.T) *world {
	t.Helper()
	w := bridgedTo(t, "discord", "guild:6", "guild:7")
	w.discord.rooms["cellar"].Denies(fakediscord.ManageWebhooks)
	w.settle()
	return w
}

// arrived returns what the bot posted in a channel.
func (s *discordSide) arrived(room string) (all []string) {
	for _, m := range s.rooms[room].Sent(s.bot) {
		all = append(all, m.Content)
	}
	return all
}

// DELIVERY F45, I6, I7, I9: every copy arrives once, in order, through a webhook and
// without, and none is sent before Discord allows it.
func TestAStormOfDiscordsLosesAndDoublesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := bridged(t)
		told := w.weathers(func(f fake.CallFault) {
			f.Every, f.Times = 2, 2
			for _, f.Method = range []string{"execute webhook", "create message"} {
				w.discord.Fault(f)
			}
		}, w.discord.ClearFaults)
		arrive(t, "kitchen", told, w.discord.arrived("kitchen"))
		for i, text := range told {
			told[i] = "**Kai** (Telegram): " + text
		}
		arrive(t, "cellar", told, w.discord.arrived("cellar"))
		for _, c := range w.discord.Ledger().Calls {
			if c.Early > 0 {
				t.Errorf("%s came %s before Discord allows it", c.Method, c.Early)
			}
		}
		w.stop()
	})
}

// DELIVERY F46: what can never succeed fails at once, and what is behind it, and
// beside it, passes; a server that let us go is not called again.
func TestWhatDiscordNeverTakesHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := bridged(t)
		w.tells("before")
		w.settle()
		w.discord.Fault(fake.CallFault{Method: "execute webhook", Do: fake.Refuse, Status: 400})
		w.tells("refused")
		w.tells("behind it")
		w.settle()
		arrive(t, "kitchen", []string{"before", "behind it"}, w.discord.arrived("kitchen"))
		w.discord.rooms["cellar"].Drops()
		w.settle()
		w.tells("without a cellar")
		w.settle()
		if got := w.discord.arrived("kitchen"); !slices.Contains(got, "without a cellar") {
			t.Errorf("beside a channel that is gone arrive %q", got)
		}
		w.discord.guild.Kicks(w.discord.bot)
		w.settle()
		calls := len(w.discord.Ledger().Calls)
		w.tells("to nobody")
		w.settle()
		pass(time.Hour)
		for _, c := range w.discord.Ledger().Calls[calls:] {
			if c.Method == "execute webhook" || c.Method == "create message" {
				t.Errorf("%s was called after we had been let go", c.Method)
			}
		}
		w.audited()
		w.stop()
	})
}

// DELIVERY F24, I2, I11: an edit before its original, a reply before its parent, a
// delete of an unknown message, and all of it twice, leave a sound log in which each
// fact is recorded once.
func TestDiscordsEventsOutOfOrderLeaveASoundLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "# discord\nagents: {ada: {name: Ada}}\nservers:\n  \"guild:3\": {agents: [ada], wake: none}\n")
		w.addChat("kitchen", "discord", []string{"Maya"})
		w.settle()
		s := w.discord
		message := func(id int, more string) json.RawMessage {
			return fmt.Appendf(nil, `{"id":"%d","channel_id":"%s","guild_id":"%s","type":0,"timestamp":"2000-01-01T00:00:00Z","author":{"id":"%s","username":"maya","global_name":"Maya"}%s}`,
				id, s.rooms["kitchen"].ID, s.guild.ID, s.person("Maya").ID, more)
		}
		events := []struct {
			kind string
			data json.RawMessage
		}{
			{"MESSAGE_UPDATE", message(9001, `,"content":"mended","edited_timestamp":"2000-01-01T00:00:09Z"`)},
			{"MESSAGE_CREATE", message(9001, `,"content":"original"`)},
			{"MESSAGE_CREATE", message(9003, `,"content":"an answer","message_reference":{"type":0,"message_id":"9002","channel_id":"`+s.rooms["kitchen"].ID.String()+`"}`)},
			{"MESSAGE_CREATE", message(9002, `,"content":"what it answers"`)},
			{"MESSAGE_DELETE", fmt.Appendf(nil, `{"id":"9004","channel_id":"%s","guild_id":"%s"}`, s.rooms["kitchen"].ID, s.guild.ID)},
		}
		for range 2 {
			for _, e := range events {
				s.bot.Inject(e.kind, e.data)
				w.settle()
			}
		}
		w.audited()
		got, _ := w.render("log")
		want := "== kitchen\n#1 linked 6\n#2 joined Ada\n#3 edited Maya \"mended\"\n#4 said Maya \"original\"\n#5 said Maya \"an answer\"\n#6 said Maya \"what it answers\"\n#7 deleted\n"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
		w.stop()
	})
}
