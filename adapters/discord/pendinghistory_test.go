package discord_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// broken makes calls of that name about a channel fail, as long as it is in force.
func broken(method string, ch *fakediscord.GuildChannel) fake.CallFault {
	return fake.CallFault{Method: method, Chat: int64(ch.ID), Do: fake.Refuse, Status: 500, Times: -1} //nolint:gosec // an id of the fake's
}

// told counts the words of messages, each key once.
func told(updates []adapters.Update) map[string]int {
	got := map[string]int{}
	for _, words := range texts(updates) {
		got[words]++
	}
	return got
}

// DELIVERY 2.2 (7): a channel about which Discord does not answer holds up no other
// one, ends no session, and what was said in it is read once Discord answers, also
// by another process.
func TestAChannelThatCannotBePlacedHoldsUpNobody(t *testing.T) {
	for name, restarts := range map[string]bool{"same process": false, "another process": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				direct := w.bot.Direct(w.kai)
				fault := w.Fault(broken("get channel", direct))
				direct.Says(w.kai, "one", fakediscord.PostOptions{})
				direct.Says(w.kai, "two", fakediscord.PostOptions{})
				w.says("behind")
				pass(10 * time.Second)
				testutil.Same(t, "texts", []string{"behind"}, texts(w.inbox.take()))
				asked := fault.Hits()
				direct.Says(w.kai, "three", fakediscord.PostOptions{})
				w.says("at once")
				if diff := cmp.Diff([]string{"at once"}, texts(w.inbox.take())); diff != "" || fault.Hits() != asked {
					t.Errorf("asked %d times more\n%s", fault.Hits()-asked, diff)
				}
				pass(time.Hour)
				if hits := fault.Hits(); hits > 200 {
					t.Errorf("asked %d times in an hour", hits)
				}
				if restarts {
					w.restart()
				}
				w.ClearFaults()
				pass(6 * time.Minute)
				testutil.Same(t, "texts", []string{"one", "two", "three"}, texts(w.inbox.take()))
				direct.Says(w.kai, "four", fakediscord.PostOptions{})
				testutil.Same(t, "texts", []string{"four"}, texts(w.inbox.take()))
				if fresh, _ := w.begun(); fresh != 1 {
					t.Errorf("%d sessions begun, want 1", fresh)
				}
			})
		})
	}
}

// DELIVERY 2.2 (1), (7): what is owed of a channel when a new session begins is told with
// what was said in between.
func TestWhatIsOwedOutlivesItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.says("before")
		w.inbox.take()
		w.restart() // no event has named the server since
		w.Fault(fake.CallFault{Method: "get guild", Do: fake.HTML, Times: -1})
		w.Fault(fake.CallFault{Method: "get channel", Do: fake.HTML, Times: -1})
		w.says("owed")
		pass(time.Minute)
		w.says("meanwhile")
		w.bot.Forget()
		w.bot.Close(4000)
		pass(time.Minute)
		w.ClearFaults()
		pass(6 * time.Minute)
		w.says("after")
		testutil.Same(t, "told", []string{"owed", "meanwhile", "after"}, texts(w.inbox.take()))
	})
}

// DELIVERY 2.2 (7), R-DC: a channel whose history Discord does not show just now
// costs no session after the other; the other gaps are filled, and this one later.
func TestABrokenHistoryHoldsUpNobody(t *testing.T) {
	for name, what := range map[string]string{"of a channel": "get messages", "of what was put away": "get archived threads"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				first := w.guild.NewChannel("first", fakediscord.TextChannel)
				thread := first.NewThread(w.kai, "put away")
				w.says("before")
				w.inbox.take()
				testutil.OK(t, w.stop())
				pass(time.Minute)
				w.bot.Forget()
				on := first
				if what == "get archived threads" {
					on = thread
				}
				on.SaysUnheard(w.kai, "hidden")
				w.room.SaysUnheard(w.kai, "shown")
				thread.Archive()
				w.Fault(broken(what, first))
				w.client = w.newClient()
				w.receive()
				pass(time.Hour)
				w.says("after")
				testutil.Same(t, "told", map[string]int{"shown": 1, "after": 1}, told(w.inbox.take()))
				if fresh, _ := w.begun(); fresh != 2 {
					t.Errorf("%d sessions begun, want 2", fresh)
				}
				w.ClearFaults()
				pass(6 * time.Minute)
				testutil.Same(t, "told", map[string]int{"hidden": 1}, told(w.inbox.take()))
			})
		})
	}
}

// DELIVERY 2.2 (1): what was left to history, which then is not shown to us, is a
// visible gap.
func TestWhatWasLeftToAHiddenHistoryIsAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		direct := w.bot.Direct(w.kai)
		w.Fault(broken("get channel", direct))
		direct.Says(w.kai, "unheard", fakediscord.PostOptions{})
		pass(9 * time.Second)
		w.ClearFaults()
		hidden := broken("get messages", direct)
		hidden.Status = 403
		w.Fault(hidden)
		pass(time.Minute)
		if u, _ := body[adapters.UpdateGap](t, w.inbox.take()); u.Chat.ID != direct.ID.String() {
			t.Errorf("the gap is in %q, want in %s", u.Chat.ID, direct.ID)
		}
	})
}
