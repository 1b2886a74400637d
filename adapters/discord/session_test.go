package discord_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
)

// R-DC, PLATFORMS 3.2: a session is counted durably before Discord hears of it, so
// that a kill right after costs no uncounted one.
func TestASessionIsCountedBeforeItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, fakediscord.Options{}, fakediscord.BotProfile{})
		w.Mute(true) // and so nothing but the count can be stored
		w.receive()
		pass(time.Second)
		var stored struct {
			Identified map[string]int `json:"i"`
		}
		if err := json.Unmarshal(w.inbox.saved(), &stored); err != nil || len(stored.Identified) != 1 {
			t.Errorf("stored is %s, %v; want one session counted", w.inbox.saved(), err)
		}
		w.Mute(false)
	})
}

// PLATFORMS 3.2: after op 9 the next connection keeps Discord's pause of one to five
// seconds, and sessions begin at least five seconds apart.
func TestSessionsKeepTheirDistance(t *testing.T) {
	for _, resumable := range []bool{true, false} {
		t.Run(fmt.Sprint("resumable ", resumable), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				least := 5 * time.Second
				if resumable {
					pass(time.Hour)
					least = time.Second
				}
				lost := time.Now()
				w.bot.Invalidate(resumable)
				pass(15 * time.Second)
				all := w.Ledger().Sessions
				if len(all) != 2 {
					t.Fatalf("%d sessions, want two", len(all))
				}
				if !resumable {
					lost = all[0].At
				}
				if apart := all[1].At.Sub(lost); apart < least || apart > 12*time.Second {
					t.Errorf("the next comes after %s, want %s at least", apart, least)
				}
			})
		})
	}
}

// R-DC: every heartbeat names the last event that was taken, and one that Discord
// asks for comes at once.
func TestHeartbeatsNameTheLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		pass(time.Minute)
		w.says("one")
		w.says("two")
		synctest.Wait()
		regular := len(w.bot.Beats())
		w.bot.Asks()
		synctest.Wait()
		beats := w.bot.Beats()
		if regular == 0 || len(beats) != regular+1 {
			t.Fatalf("%d heartbeats, and %d after Discord asked for one", regular, len(beats))
		}
		if first, last := beats[0], beats[regular]; first < 2 || last != first+2 {
			t.Errorf("heartbeats name %v, want the last two events more at the end", beats)
		}
	})
}

// F29, I13: a storm of 1,500 losses within an hour, each of them for good, stays
// within the budget, which outlives the process; and afterwards all is well.
func TestAStormStaysWithinTheIdentifyBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		losses := 0
		for begin := time.Now(); time.Since(begin) < time.Hour; losses++ {
			w.bot.Invalidate(false)
			w.bot.Close(0)
			<-time.After(2400 * time.Millisecond)
			if losses == 700 {
				w.restart()
			}
		}
		fresh, _ := w.begun()
		if fresh > 900 || losses < 1400 {
			t.Errorf("%d sessions begun in %d losses, want at most 900", fresh, losses)
		}
		pass(5 * time.Minute) // at the pace of the budget, the next session may be most of a minute away
		w.says("calm again")
		if got := texts(w.inbox.take()); len(got) != 1 {
			t.Errorf("got %q", got)
		}
	})
}

// R-DC: beyond the budget no session begins, and how long is said.
func TestTheIdentifyBudgetIsKeptOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, fakediscord.Options{}, fakediscord.BotProfile{})
		hour := time.Now().Unix() / 3600
		w.inbox.cursor = fmt.Appendf(nil, `{"i":{"%d":899}}`, hour)
		w.receive()
		w.bot.Invalidate(false)
		err := w.failure(time.Minute)
		e, ok := errors.AsType[*adapters.Error](err)
		if !ok || e.Kind != adapters.Limited || e.RetryAfter < 23*time.Hour {
			t.Errorf("ended with %v, want limited for about a day", err)
		}
		if fresh, _ := w.begun(); fresh != 1 {
			t.Errorf("%d sessions begun, want the one that was left", fresh)
		}
	})
}

// R-DC, PLATFORMS 3.2: what Discord itself counts bounds us as well: a program that
// shares the token, or a data folder that was lost, leaves fewer sessions than we know.
func TestDiscordsOwnCountOfSessionsIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, fakediscord.Options{}, fakediscord.BotProfile{Begun: 898})
		w.receive()
		for range 3 {
			w.bot.Invalidate(false)
			pass(time.Minute)
		}
		err := w.failure(time.Minute)
		e, ok := errors.AsType[*adapters.Error](err)
		if !ok || e.Kind != adapters.Limited || e.RetryAfter < 3*time.Hour || e.RetryAfter > 4*time.Hour {
			t.Errorf("ended with %v, want limited until discord counts anew", err)
		}
		if fresh, _ := w.begun(); fresh != 2 {
			t.Errorf("%d sessions begun, want the two that were left", fresh)
		}
	})
}

// Shards share the servers; all of them are heard, and each is resumed.
func TestShardsShareTheServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pass(16 * 365 * 24 * time.Hour) // the ids of Discord begin in 2015, and say which shard a server is on
		w := newWorld(t, fakediscord.Options{}, fakediscord.BotProfile{Shards: 3})
		rooms := []*fakediscord.GuildChannel{w.room}
		for i := range 5 {
			pass(time.Millisecond)
			g := w.NewGuild(fmt.Sprint("server ", i), w.kai)
			rooms = append(rooms, g.NewChannel("general", fakediscord.TextChannel))
			g.Adds(w.bot, 0)
		}
		w.receive()
		pass(time.Minute) // sessions begin apart from each other
		for _, phase := range []string{"one", "two"} {
			for _, room := range rooms {
				room.Says(w.kai, phase, fakediscord.PostOptions{})
			}
			heard := 0
			for _, u := range w.inbox.take() {
				if _, said := u.Body.(adapters.IncomingMessage); said {
					heard++
				}
			}
			if heard != len(rooms) {
				t.Errorf("phase %s: %d heard, want each of %d once", phase, heard, len(rooms))
			}
			w.restart()
		}
		if fresh, resumed := w.begun(); fresh != 3 || resumed != 6 {
			t.Errorf("%d sessions begun, %d resumed; want 3, 6", fresh, resumed)
		}
		for i, s := range w.Ledger().Sessions[:3] {
			if i > 0 && s.At.Sub(w.Ledger().Sessions[i-1].At) < 5*time.Second {
				t.Errorf("session %d begins %s after the one before", i, s.At.Sub(w.Ledger().Sessions[i-1].At))
			}
		}
	})
}
