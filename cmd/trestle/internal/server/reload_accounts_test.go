package server

import (
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/activity"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm/offline"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

const miaAccount = "  mia: {type: telegram, token: \"7002:mia-token\", api_url: \"http://telegram.test\"}\n"

// ECOSYSTEM 4, 1 rule 2: an account that is added to the file is served without a
// restart; taken out, it is let go and the others stay; brought back, it hears
// what was said meanwhile, once.
func TestAnAccountComesAndGoesWithoutARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, "agents: {ada: {name: Ada}}\nspaces: {den: {agents: [ada], wake: none, chats: [\"telegram:-1001000000001\"]}}\n", offline.EchoModel{})
		w.addChat("den", "supergroup", []string{"Kai"})
		mia := w.telegram.AddBot(faketelegram.BotProfile{Token: "7002:mia-token", Name: "Mia", Username: "mia_bot"})
		barn := w.telegram.NewSupergroup("Barn", w.people["Kai"])
		barn.Adds(w.people["Kai"], mia)
		both := "agents: {ada: {name: Ada}}\nspaces:\n  den: {agents: [ada], wake: none, chats: [\"telegram:-1001000000001\"]}\n" +
			"  barn: {name: Barn, agents: [ada], wake: none, chats: [\"mia:-1001000000002\"]}\n"
		alone := w.config
		hears := func(when, words string, want int) {
			t.Helper()
			if got := strings.Count(w.log(spaces.Room), words); got != want {
				t.Errorf("%s: %q is in the record %d times, want %d", when, words, got, want)
			}
		}

		w.accounts = miaAccount
		w.reload(both)
		w.settle()
		barn.Says(w.people["Kai"], "is anybody in the barn", faketelegram.PostOptions{})
		w.settle()
		hears("added", "is anybody in the barn", 1)
		if got := accountsOf(w.process); !slices.Equal(got, []string{"local", "telegram", "mia"}) {
			t.Errorf("served are %v", got)
		}

		first := w.process.conns.all()[1]
		w.accounts = ""
		w.reload(alone)
		w.settle()
		barn.Says(w.people["Kai"], "still there", faketelegram.PostOptions{})
		w.chats["den"].Says(w.people["Kai"], "hello den", faketelegram.PostOptions{})
		w.settle()
		hears("taken out", "still there", 0)
		hears("taken out", "hello den", 1)
		if mia.Pending() != 1 || len(w.process.accounts()) != 1 || w.process.conns.all()[1] != first {
			t.Errorf("after it was taken out: %d waiting, connected %v", mia.Pending(), w.process.accounts())
		}

		w.accounts = miaAccount
		w.reload(both)
		w.settle()
		hears("brought back", "still there", 1)
		hears("brought back", "is anybody in the barn", 1)
		if l := w.process.conns.all(); l[1] != first || l[1].Status().State != activity.ConnConnected {
			t.Error("an account whose entry stayed was not left alone")
		}
		w.stop()
	})
}

// An entry that cannot be served is a problem of its own, and mended by the next
// reading.
func TestAnAccountThatCannotBeServedIsMendedByTheNextReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, carefulAda)
		w.addChat("den", "supergroup", []string{"Kai"})
		w.telegram.AddBot(faketelegram.BotProfile{Token: "7002:mia-token", Name: "Mia", Username: "mia_bot"})
		entry := func(c *config.Config) []string {
			var all []string
			for _, p := range c.Problems {
				all = append(all, p.Entry)
			}
			return all
		}
		w.accounts = strings.Replace(miaAccount, "http://telegram.test", "not an address", 1)
		next := w.load()
		if len(entry(next)) == 0 {
			t.Fatal("the file has nothing wrong")
		}
		testutil.OK(t, w.process.apply(t.Context(), next))
		if got := accountsOf(w.process); slices.Contains(got, "mia") {
			t.Errorf("served are %v", got)
		}
		w.accounts = miaAccount
		w.reload(carefulAda)
		w.settle()
		if got := accountsOf(w.process); !slices.Contains(got, "mia") || len(w.process.entryFaults()) > 0 {
			t.Errorf("served are %v; problems %+v", got, w.process.entryFaults())
		}
		w.stop()
	})
}

// ECOSYSTEM 4: what wakes agents, as the file says it now, counts at once also in chats
// that were let in before, and after a restart.
func TestAChangedWakeReachesChatsThatWereLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rest = "admit: open\nagents: {ada: {name: Ada}}\n"
		w := newWorldOf(t, rest+"wake: all\n", offline.EchoModel{})
		w.addChat("club", "supergroup", []string{"Kai"})
		says := func(text string, want int) {
			t.Helper()
			w.chats["club"].Says(w.people["Kai"], text, faketelegram.PostOptions{})
			w.settle()
			runs, err := w.process.Store.Console().Runs(t.Context(), console.Filter{})
			testutil.OK(t, err)
			if len(runs) != want {
				t.Errorf("after %q: %d runs, want %d", text, len(runs), want)
			}
		}
		says("nice weather", 1)
		w.reload(rest)
		says("nice weather still", 1)
		w.reload(rest + "wake: all\n")
		says("nice weather again", 2)
		w.stop()
		w.config = rest
		w.start()
		says("how nice", 2)
		w.stop()
	})
}

// ECOSYSTEM 4: what a server's entry says now reaches the rooms that are open
// already: when they wake, and who is in them.
func TestAChangedServerReachesTheRoomsThatAreOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agents := "# discord\nagents:\n  ada: {name: Ada}\n  max: {name: Max}\n"
		w := newWorldOf(t, agents+"servers:\n  \"guild:3\": {agents: [ada], wake: none}\n", offline.EchoModel{})
		w.addChat("kitchen", "discord", []string{"Maya"})
		w.discord.rooms["kitchen"].Says(w.discord.people["Maya"], "nobody answers this", fakediscord.PostOptions{})
		w.settle()
		room := func() spaces.ConfiguredSpace {
			t.Helper()
			rooms, err := w.process.border.Admitted(t.Context(), "discord:"+w.discord.bot.ID.String())
			testutil.OK(t, err)
			for _, r := range rooms {
				if slices.ContainsFunc(r.Chats, func(m spaces.ChatMapping) bool { return m.Chat == w.discord.rooms["kitchen"].ID.String() }) {
					return r
				}
			}
			t.Fatalf("no room of the kitchen among %+v", rooms)
			return spaces.ConfiguredSpace{}
		}
		before := room()
		if before.Wake != spaces.WakeNone || !slices.Equal(before.Agents, []spaces.AgentID{"ada"}) {
			t.Fatalf("at first: %+v", before)
		}
		w.reload(agents + "servers:\n  \"guild:3\": {agents: [max], wake: all, max_steps: 3}\n")
		w.settle()
		after := room()
		if after.Space != before.Space || after.Wake != spaces.WakeAll || !slices.Equal(after.Agents, []spaces.AgentID{"max"}) {
			t.Errorf("after the change: %+v", after)
		}
		if got := w.process.shellSettings("max", after.Space).MaxSteps; got != 3 {
			t.Errorf("steps in a room of the server: %d, want those of its entry", got)
		}
		w.discord.rooms["kitchen"].Says(w.discord.people["Maya"], "somebody answers that", fakediscord.PostOptions{})
		w.settle()
		runs, err := w.process.Store.Console().Runs(t.Context(), console.Filter{Space: after.Space})
		if err != nil || len(runs) != 1 || runs[0].Mind.Agent != "max" {
			t.Errorf("runs %+v, %v", runs, err)
		}
		w.stop()
	})
}

func accountsOf(s *Server) []string {
	var names []string
	for _, l := range s.conns.all() {
		names = append(names, l.name)
	}
	return names
}

// ECOSYSTEM 4: the settings of a server's entry hold in its rooms also while the
// platform is away, and in processes that do not serve the account.
func TestAServersSettingsHoldWhereItIsNotServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, "# discord\nagents: {ada: {name: Ada}}\n"+
			"servers:\n  \"guild:3\": {agents: [ada], wake: all, max_steps: 3, acts: {send_message: false}}\n", offline.EchoModel{})
		w.addChat("kitchen", "discord", []string{"Maya"})
		w.discord.rooms["kitchen"].Says(w.discord.people["Maya"], "hello", fakediscord.PostOptions{})
		w.settle()
		rooms, err := w.process.border.Admitted(t.Context(), "discord:"+w.discord.bot.ID.String())
		testutil.OK(t, err)
		holds := func(when string, p *AccountManager) {
			t.Helper()
			set := p.shellSettings("ada", rooms[0].Space)
			if set.MaxSteps != 3 || !slices.Contains(set.Without, "send_message") || !set.Told {
				t.Errorf("%s: %d steps, without %v, told %v", when, set.MaxSteps, set.Without, set.Told)
			}
		}
		holds("at first", w.process.AccountManager)
		beside := NewServer(w.load(), slog.New(slog.DiscardHandler), io.Discard, true).AccountManager
		beside.border = w.process.border
		testutil.OK(t, beside.loadServersOf(t.Context(), []spaces.PendingWork{{Space: rooms[0].Space}}))
		holds("beside the process that serves it", beside)
		w.stop()
		w.discord.Fault(fake.CallFault{Do: fake.Refuse, Times: -1, Status: 503})
		w.boot()
		pass(5 * time.Second)
		holds("after a start without the platform", w.process.AccountManager)
		w.stop()
	})
}
