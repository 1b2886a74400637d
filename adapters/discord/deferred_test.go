package discord_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// whoLeft returns who left which chat, each key once.
func whoLeft(updates []adapters.Update) map[string][]string {
	got, keys := map[string][]string{}, map[string]bool{}
	for _, u := range updates {
		if left, ok := u.Body.(adapters.PeopleLeft); ok && !left.Unseen && !keys[u.Key] {
			keys[u.Key] = true
			for _, p := range left.People {
				got[u.Chat.ID] = append(got[u.Chat.ID], p.ID)
			}
		}
	}
	return got
}

// SECURITY S5, DELIVERY 2.2 (7): who leaves while Discord does not answer leaves all the
// same once it does, in order with their coming back, also for another process; what is
// said meanwhile is told at once, and no connection ends.
func TestWhoLeavesWhileDiscordDoesNotAnswerLeavesLater(t *testing.T) {
	for name, restarts := range map[string]bool{"same process": false, "another process": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				tom := w.AddPerson(fakediscord.UserProfile{Name: "Tom"})
				liv := w.AddPerson(fakediscord.UserProfile{Name: "Liv"})
				w.guild.Joins(tom)
				w.guild.Joins(liv)
				w.restart() // no event has named the server since
				w.Fault(fake.CallFault{Method: "get our archived threads", Do: fake.HTML, Times: -1})
				w.inbox.take()
				w.guild.Leaves(tom)
				w.guild.Leaves(liv)
				w.guild.Joins(liv)
				w.says("behind")
				pass(10 * time.Second)
				if got := w.inbox.take(); !slices.Equal(texts(got), []string{"behind"}) || len(whoLeft(got)) != 0 {
					t.Errorf("while Discord does not answer: %v, left %v", texts(got), whoLeft(got))
				}
				if restarts {
					w.restart()
				}
				w.ClearFaults()
				pass(6 * time.Minute)
				got := w.inbox.take()
				want := map[string][]string{w.room.ID.String(): {tom.ID.String(), liv.ID.String()}}
				testutil.Same(t, "whoLeft", want, whoLeft(got))
				if len(got) == 0 {
					t.Fatal("nothing is told")
				}
				last := got[len(got)-1]
				if joined, ok := last.Body.(adapters.PeopleJoined); !ok || joined.People[0].Name != "Liv" {
					t.Errorf("the last that is told is %+v, want that Liv came back", last.Body)
				}
				if fresh, _ := w.begun(); fresh != 1 {
					t.Errorf("%d sessions begun, want 1", fresh)
				}
			})
		})
	}
}

// DELIVERY 2.2 (7): a command from a channel that Discord does not place just now is
// told once it does, and holds up nothing.
func TestACommandThatCannotBePlacedIsToldLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		hidden := w.guild.NewChannel("hidden", fakediscord.TextChannel)
		w.inbox.take()
		w.restart()
		w.Fault(fake.CallFault{Method: "get guild", Do: fake.HTML, Times: -1})
		hidden.Invokes(w.kai, w.bot, "stop", "")
		pass(30 * time.Second)
		if got := texts(w.inbox.take()); len(got) != 0 {
			t.Errorf("told while Discord does not answer: %v", got)
		}
		w.ClearFaults()
		pass(6 * time.Minute)
		u, said := body[adapters.IncomingMessage](t, w.inbox.take())
		if u.Chat.ID != hidden.ID.String() || said.Command == nil || said.Command.Name != "stop" {
			t.Errorf("told in %q: %+v", u.Chat.ID, said)
		}
		if fresh, _ := w.begun(); fresh != 1 {
			t.Errorf("%d sessions begun, want 1", fresh)
		}
	})
}

// DELIVERY 2.2 (1), R-DC: an id whose time lies ahead is not one that Discord gave: its
// message is told, and says nothing of where reading goes on.
func TestAnIdFromTheFutureMovesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		said := w.says("before")
		raw, err := json.Marshal(map[string]any{
			"id": "18446744073709551000", "channel_id": w.room.ID, "guild_id": w.guild.ID, "content": "odd", "type": 0,
			"timestamp": time.Now(), "author": map[string]any{"id": w.kai.ID, "username": "kai"},
		})
		testutil.OK(t, err)
		w.bot.Inject("MESSAGE_CREATE", raw)
		synctest.Wait()
		w.RefuseConnections(1)
		w.bot.Forget()
		w.bot.Close(4000)
		w.says("meanwhile")
		w.guild.NewChannel("quiet", fakediscord.TextChannel).SaysUnheard(w.kai, "in the quiet")
		pass(time.Minute)
		want := map[string]int{"before": 1, "odd": 1, "meanwhile": 1, "in the quiet": 1}
		if diff := cmp.Diff(want, told(w.inbox.take())); diff != "" {
			t.Errorf("after %s: %s", said, diff)
		}
	})
}

// DELIVERY I13: a session that neither begins nor is resumed, though heartbeats are
// answered, is asked for again, and nothing is lost.
func TestASilentBeginningIsGivenUp(t *testing.T) {
	for name, forget := range map[string]bool{"resumed": false, "begun": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				w.says("before")
				synctest.Wait()
				w.Swallow(1)
				if forget {
					w.Swallow(2) // the resumption, too
					w.bot.Forget()
				}
				w.bot.Close(4000)
				w.says("meanwhile")
				pass(3 * time.Minute)
				w.says("after")
				testutil.Same(t, "told", map[string]int{"before": 1, "meanwhile": 1, "after": 1}, told(w.inbox.take()))
			})
		})
	}
}

// PLATFORMS 3.3: what Discord refuses only for the message it answers is sent without
// that; a thread that is locked closes no chat.
func TestAnAnswerThatDiscordRefusesIsSentAsAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		notice := w.room.Says(w.kai, "", fakediscord.PostOptions{Type: 24})
		said := w.says("hello")
		w.send(adapters.OutgoingMessage{Text: "to a notice", Key: "a", ReplyTo: notice.String()})
		w.Fault(fake.CallFault{Method: "create message", Do: fake.Refuse, Status: 403, Description: "160002 Cannot reply without permission to read message history"})
		w.send(adapters.OutgoingMessage{Text: "to what we may not read", Key: "b", ReplyTo: said.String()})
		got := map[string]fakediscord.SnowflakeID{}
		for _, one := range w.room.Sent(w.bot) {
			got[one.Content] = one.ReplyTo
		}
		testutil.Same(t, "what came", map[string]fakediscord.SnowflakeID{"to a notice": 0, "to what we may not read": 0}, got)
		for code, want := range map[int]adapters.FailureKind{160005: adapters.NoTarget, 50083: adapters.NoTarget, 50013: adapters.Forbidden} {
			w.Fault(fake.CallFault{Method: "create message", Do: fake.Refuse, Status: 400, Description: fmt.Sprint(code, " no")})
			_, err := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: w.room.ID.String(), Text: "x"})
			if adapters.KindOf(err) != want {
				t.Errorf("code %d is %v, want %v", code, err, want)
			}
		}
	})
}
