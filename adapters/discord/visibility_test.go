package discord_test

import (
	"fmt"
	"maps"
	"net/http"
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

// SECURITY S5, ADR 15: a person who loses sight of a channel is reported, whichever
// change causes it, and only that person.
func TestWhomAChannelIsHiddenFromIsTold(t *testing.T) {
	for name, hide := range map[string]func(w *world, secret *fakediscord.GuildChannel, staff fakediscord.SnowflakeID, tom *fakediscord.HumanUser){
		"their role is taken": func(w *world, _ *fakediscord.GuildChannel, _ fakediscord.SnowflakeID, tom *fakediscord.HumanUser) {
			w.guild.Gives(tom)
		},
		"they get another one": func(w *world, _ *fakediscord.GuildChannel, staff fakediscord.SnowflakeID, tom *fakediscord.HumanUser) {
			w.guild.Gives(tom, staff+1)
		},
		"the role is deleted": func(w *world, _ *fakediscord.GuildChannel, staff fakediscord.SnowflakeID, _ *fakediscord.HumanUser) {
			w.guild.DropsRole(staff)
		},
		"their role may do less": func(w *world, _ *fakediscord.GuildChannel, _ fakediscord.SnowflakeID, tom *fakediscord.HumanUser) {
			boss := w.guild.AddRole("boss", 1<<3)
			w.guild.Gives(tom, boss)
			if got := hiddenFrom(w.inbox.take()); got["secret"] != nil {
				w.t.Errorf("hidden from %v, who may do everything", got["secret"])
			}
			w.guild.ChangesRole(boss, 0)
		},
		"the channel is closed": func(w *world, secret *fakediscord.GuildChannel, _ fakediscord.SnowflakeID, _ *fakediscord.HumanUser) {
			secret.ShowsTo(w.guild.Role(w.bot))
		},
		"hidden from one": func(_ *world, secret *fakediscord.GuildChannel, _ fakediscord.SnowflakeID, tom *fakediscord.HumanUser) {
			secret.HidesFrom(tom)
		},
		"while away": func(w *world, _ *fakediscord.GuildChannel, _ fakediscord.SnowflakeID, tom *fakediscord.HumanUser) {
			testutil.OK(w.t, w.stop())
			w.bot.Forget()
			w.guild.Gives(tom)
			w.client = w.newClient()
			w.receive()
			pass(time.Minute)
		},
		"their role is taken, which is the first that is told of them": func(w *world, _ *fakediscord.GuildChannel, _ fakediscord.SnowflakeID, tom *fakediscord.HumanUser) {
			w.restart()
			pass(time.Minute)
			w.guild.Gives(tom)
		},
		"after a restart, behind what Discord is asked about": func(w *world, secret *fakediscord.GuildChannel, _ fakediscord.SnowflakeID, tom *fakediscord.HumanUser) {
			testutil.OK(w.t, w.stop())
			w.room.NewThread(w.kai, "asked about").Says(w.kai, "hello", fakediscord.PostOptions{})
			w.says("hello")
			secret.HidesFrom(tom)
			w.client = w.newClient()
			w.receive()
			pass(time.Minute)
		},
		"after a restart": func(w *world, secret *fakediscord.GuildChannel, _ fakediscord.SnowflakeID, tom *fakediscord.HumanUser) {
			testutil.OK(w.t, w.stop())
			secret.HidesFrom(tom)
			w.client = w.newClient()
			w.receive()
			pass(time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				tom := w.AddPerson(fakediscord.UserProfile{Name: "Tom"})
				w.guild.Joins(tom)
				staff := w.guild.AddRole("staff", 0)
				w.guild.Gives(tom, staff)
				secret := w.guild.NewChannel("secret", fakediscord.TextChannel)
				secret.ShowsTo(staff, w.guild.Role(w.bot))
				w.guild.NewChannel("closed", fakediscord.TextChannel).ShowsTo(w.guild.Role(w.bot))
				if got := hiddenFrom(w.inbox.take()); got["secret"] != nil {
					t.Errorf("hidden from %v, who sees it", got["secret"])
				}
				hide(w, secret, staff, tom)
				got := hiddenFrom(w.inbox.take())
				if diff := cmp.Diff([]string{"Tom"}, got["secret"]); diff != "" || got["general"] != nil {
					t.Errorf("hidden: %v (-want +got):\n%s", got, diff)
				}
			})
		})
	}
}

// SECURITY S5, DELIVERY I13: what the application may be told is asked for until Discord
// says it: a session begun without would never be told who leaves.
func TestNoSessionBeginsBeforeTheApplicationIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		for _, f := range []fake.CallFault{{Do: fake.Refuse, Status: 429, RetryAfter: 300}, {Do: fake.Refuse, Status: 503}, {Do: fake.Cut}} {
			f.Method, f.Times = "get application", 1
			w.Fault(f)
			if _, err := w.client.Connect(t.Context()); err == nil {
				t.Errorf("connected in spite of %+v", f)
			}
			pass(5 * time.Minute)
		}
		w.Fault(fake.CallFault{Method: "get application", Do: fake.Refuse, Status: 404, Times: 1}) // it may not be told at all
		if _, err := w.client.Connect(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// SECURITY S5, DELIVERY 2.2 (7): when Discord cannot be asked who sees a channel, that is
// told once it can, also by another process; nothing else waits for it, and no
// connection ends.
func TestWhomAChannelIsHiddenFromIsAskedUntilItIsKnown(t *testing.T) {
	for _, call := range []string{"get members", "get our archived threads"} {
		for name, restarts := range map[string]bool{"same process": false, "another process": true} {
			t.Run(call+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { asksWhoSees(t, call, restarts) })
			})
		}
	}
}

func asksWhoSees(t *testing.T, call string, restarts bool) {
	t.Helper()
	w := open(t)
	tom := w.AddPerson(fakediscord.UserProfile{Name: "Tom"})
	w.guild.Joins(tom)
	w.inbox.take()
	w.restart()
	w.says("hello") // and the server is asked for
	w.inbox.take()
	fault := w.Fault(fake.CallFault{Method: call, Do: fake.HTML, Times: -1})
	w.room.HidesFrom(tom)
	w.guild.AddRole("staff", 0)
	w.guild.DropsRole(w.guild.AddRole("boss", 0))
	w.says("behind")
	pass(10 * time.Second)
	if got := w.inbox.take(); len(hiddenFrom(got)) != 0 || !slices.Equal(texts(got), []string{"behind"}) {
		t.Errorf("while Discord does not answer: %v, hidden %v", texts(got), hiddenFrom(got))
	}
	pass(time.Hour)
	if fault.Hits() > 200 {
		t.Errorf("asked %d times in an hour", fault.Hits())
	}
	if restarts {
		w.restart()
	}
	w.ClearFaults()
	pass(6 * time.Minute)
	testutil.Same(t, "hiddenFrom", map[string][]string{"general": {"Tom"}}, hiddenFrom(w.inbox.take()))
	if fresh, _ := w.begun(); fresh != 1 {
		t.Errorf("%d sessions begun, want 1", fresh)
	}
}

// SECURITY S5: the owner and administrators see every channel; a new name hides no
// channel, and where everyone sees every channel the list is empty.
func TestWhoStillSeesAChannelIsNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		boss := w.AddPerson(fakediscord.UserProfile{Name: "Boss"})
		w.guild.Joins(boss)
		w.room.Renames("lobby")
		w.guild.ChangesRole(w.guild.Role(w.bot), fakediscord.ManageWebhooks|1<<10)
		w.inbox.take()
		for _, c := range w.Ledger().Calls {
			if c.Method == "get members" {
				t.Error("all members are listed although nothing is hidden")
			}
		}
		w.guild.Gives(boss, w.guild.AddRole("boss", 1<<3))
		w.room.Denies(fakediscord.ViewChannel)
		w.guild.Renames(boss, "The Boss")
		if got := hiddenFrom(w.inbox.take()); len(got) != 0 {
			t.Errorf("hidden from %v", got)
		}
	})
}

// SECURITY S5, ADRs 34 and 35: messages of a private thread do not go into its
// channel's room: the thread is a chat of its own, with its own members.
func TestAPrivateThreadIsAChatOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		tom := w.AddPerson(fakediscord.UserProfile{Name: "Tom"})
		w.guild.Joins(tom)
		psst := w.room.NewPrivateThread(w.kai, "psst")
		w.inbox.take()
		psst.Says(w.kai, "between us", fakediscord.PostOptions{})
		psst.TakesIn(tom)
		psst.PutsOut(tom)
		w.room.NewThread(w.kai, "lunch").TakesIn(tom)
		w.guild.Leaves(tom)
		w.bot.Inject("THREAD_MEMBERS_UPDATE", fmt.Appendf(nil, `{"id":"%s","guild_id":"%s","removed_member_ids":["%s"]}`, psst.ID, w.guild.ID, w.bot.ID))
		psst.Drops()
		var got []string
		for _, u := range w.inbox.take() {
			if u.Chat.ID == psst.ID.String() {
				got = append(got, fmt.Sprintf("%T in %q", u.Body, u.Chat.Title+u.Thread.Title))
				if u.Chat.Kind == adapters.Direct { // a direct chat has no other readers; here moderators may read
					t.Errorf("the thread is a direct chat: %+v", u.Chat)
				}
			} else if _, said := u.Body.(adapters.IncomingMessage); said || u.Thread.ID == psst.ID.String() {
				t.Errorf("%T is told of %s", u.Body, u.Chat.Title)
			}
		}
		want := []string{
			`adapters.IncomingMessage in "psst"`, `adapters.PeopleJoined in "psst"`, `adapters.PeopleLeft in "psst"`, `adapters.PeopleLeft in "psst"`,
			`adapters.ChatLost in "psst"`, `adapters.ChatLost in "psst"`,
		}
		testutil.Same(t, "what came", want, got)
	})
}

// SECURITY S1: who is put out of a private thread stays the person they were: Discord tells
// their id alone.
func TestWhoIsPutOutOfAThreadIsStillAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		tom := w.AddPerson(fakediscord.UserProfile{Name: "Tom"})
		w.guild.Joins(tom)
		psst := w.room.NewPrivateThread(w.kai, "psst")
		w.inbox.take()
		psst.PutsOut(tom)
		_, left := body[adapters.PeopleLeft](t, w.inbox.take())
		testutil.Same(t, "who left", []adapters.Person{{ID: tom.ID.String(), Kind: adapters.Human}}, left.People)
	})
}

// SECURITY S5: who sees a channel no longer does not see its private threads either.
func TestPrivateThreadsAreHiddenWithTheirChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		tom := w.AddPerson(fakediscord.UserProfile{Name: "Tom"})
		w.guild.Joins(tom)
		w.room.NewPrivateThread(w.kai, "psst").Says(tom, "hello", fakediscord.PostOptions{})
		w.inbox.take()
		w.room.HidesFrom(tom)
		got := hiddenFrom(w.inbox.take())
		testutil.Same(t, "what came", map[string][]string{"general": {"Tom"}, "psst": {"Tom"}}, got)
	})
}

// SECURITY S5: a person who leaves a server leaves all its chats: any number of them,
// archived ones, and those that no event has named since a restart.
func TestWhoLeavesAServerLeavesAllItsChats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		tom := w.AddPerson(fakediscord.UserProfile{Name: "Tom"})
		w.guild.Joins(tom)
		want := []string{"general", "psst"}
		psst := w.room.NewPrivateThread(w.kai, "psst")
		psst.Says(tom, "hello", fakediscord.PostOptions{})
		psst.Archive()
		for i := range 120 {
			name := fmt.Sprint("room ", i)
			w.guild.NewChannel(name, fakediscord.TextChannel)
			want = append(want, name)
		}
		w.says("hello") // and the cursor is behind all that was told of the channels
		w.inbox.take()
		w.restart()
		w.guild.Leaves(tom)
		pass(time.Minute)
		var got []string
		for _, u := range w.inbox.take() {
			if left, ok := u.Body.(adapters.PeopleLeft); ok && left.People[0].Name == "Tom" {
				got = append(got, u.Chat.Title)
			}
		}
		testutil.Same(t, "left", want, got)
		listed := 0
		w.guild.Leaves(w.kai)
		w.inbox.take()
		for _, c := range w.Ledger().Calls {
			if c.Method == "get our archived threads" && c.Channel == w.room.ID {
				listed++
			}
		}
		if listed != 2 { // with the gap at the first start, and for the first who leaves
			t.Errorf("threads that were put away are listed %d times", listed)
		}
	})
}

// A face speaks in a private thread by the webhook of the channel it is in.
func TestAFaceSpeaksInAPrivateThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		psst := w.room.NewPrivateThread(w.kai, "psst")
		w.send(adapters.OutgoingMessage{Chat: psst.ID.String(), Text: "hello", Face: adapters.AgentPersona{Name: "Max"}})
		sent := psst.Sent(w.bot)
		if len(sent) != 1 || sent[0].Content != "hello" || sent[0].Name != "Max" || sent[0].Webhook == 0 {
			t.Errorf("the thread holds %+v", sent)
		}
	})
}

// hiddenFrom returns who is told to see a chat no longer, by the chat's title.
func hiddenFrom(updates []adapters.Update) map[string][]string {
	all := map[string]map[string]bool{}
	for _, u := range updates {
		left, ok := u.Body.(adapters.PeopleLeft)
		if !ok || !left.Unseen {
			continue
		}
		for _, p := range left.People {
			if all[u.Chat.Title] == nil {
				all[u.Chat.Title] = map[string]bool{}
			}
			all[u.Chat.Title][p.Name] = true
		}
	}
	out := map[string][]string{}
	for chat, names := range all {
		out[chat] = slices.Sorted(maps.Keys(names))
	}
	return out
}

// PLATFORMS 3.3: whose threads were put away in a channel that is not shown to us is not
// asked for.
func TestChannelsThatAreNotShownAreNotLookedInto(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		tom := w.AddPerson(fakediscord.UserProfile{Name: "Tom"})
		w.guild.Joins(tom)
		hidden := w.guild.NewChannel("hidden", fakediscord.TextChannel)
		hidden.ShowsTo()
		w.says("before")
		w.restart()
		w.guild.Gives(tom, w.guild.AddRole("staff", 0))
		pass(time.Minute)
		looked := 0
		for _, c := range w.Ledger().Calls {
			if c.Status == http.StatusForbidden {
				t.Errorf("refused: %s in %s", c.Method, c.Channel)
			}
			if c.Method == "get our archived threads" && c.Channel == w.room.ID {
				looked++
			}
		}
		if looked == 0 {
			t.Error("nothing was looked into: the story shows nothing")
		}
	})
}
