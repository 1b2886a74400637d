package discord_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// readHistory is the right to what was said before.
const readHistory = 1 << 16

// DELIVERY 2.4, K17: where the bot may not read messages, an attempt that was not found
// may have arrived all the same.
func TestNothingIsFoundWhereNothingIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		thread := w.room.NewThread(w.kai, "aside")
		p := adapters.OutgoingMessage{Chat: w.room.ID.String(), Text: "once", Key: "k", Face: adapters.AgentPersona{Name: "Max"}}
		w.Fault(fake.CallFault{Method: "execute webhook", Do: fake.Cut, Apply: true})
		if _, err := w.client.Send(t.Context(), p); adapters.KindOf(err) != adapters.Unknown || err == nil {
			t.Errorf("got %v, want unknown", err)
		}
		w.room.Denies(readHistory)
		synctest.Wait()
		another := w.newClient() // a process that was told of no server
		for name, client := range map[string]adapters.DeliveryChecker{"the one that listens": w.client, "another": another} {
			for _, p.Thread = range []string{"", thread.ID.String()} {
				if _, found, err := client.Find(t.Context(), p); found || adapters.KindOf(err) != adapters.Forbidden || err == nil {
					t.Errorf("%s, thread %q: found %v, %v; want forbidden", name, p.Thread, found, err)
				}
			}
		}
	})
}

// DELIVERY 2.2 (1): messages of a room whose history the bot may not read, posted while
// no process was connected or while the room was not known, are a visible gap there.
func TestARoomWhosePastIsNotShownHasAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.room.Denies(readHistory)
		quiet := w.guild.NewChannel("quiet", fakediscord.TextChannel)
		w.says("heard")
		w.inbox.take()
		testutil.OK(t, w.stop())
		pass(time.Hour)
		w.bot.Forget()
		w.room.SaysUnheard(w.kai, "unheard")
		gone := quiet.SaysUnheard(w.kai, "deleted")
		quiet.Deletes(gone)
		w.client = w.newClient()
		w.receive()
		pass(time.Minute)
		got := w.inbox.take()
		u, gap := body[adapters.UpdateGap](t, got)
		if len(got) != 1 || u.Chat.ID != w.room.ID.String() || !strings.Contains(gap.Reason, "Read Message History") {
			t.Errorf("got %+v", got)
		}
		w.says("after")
		testutil.Same(t, "texts", []string{"after"}, texts(w.inbox.take()))
	})
}

// issue 5: a past that is not shown is not taken for an empty one.
func TestAPastThatIsNotShownIsSaidToBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		empty := w.guild.NewChannel("empty", fakediscord.TextChannel)
		w.says("before")
		read := func(ch *fakediscord.GuildChannel) error {
			return w.client.History(t.Context(), adapters.HistoryRange{Chat: ch.ID.String()}, func(context.Context, adapters.HistoryPage) error { return nil })
		}
		w.room.Denies(readHistory)
		synctest.Wait()
		if err := read(w.room); adapters.KindOf(err) != adapters.Forbidden || err == nil {
			t.Errorf("got %v, want forbidden", err)
		}
		if err := read(empty); err != nil {
			t.Error(err)
		}
	})
}

// PLATFORMS 3.3: calls are few. A direct chat in which nothing was said is read once, and
// not asked where it belongs.
func TestAQuietDirectChatTakesOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		direct := w.bot.Direct(w.kai)
		direct.Says(w.kai, "hello", fakediscord.PostOptions{})
		w.inbox.take()
		testutil.OK(t, w.stop())
		before := len(w.Ledger().Calls)
		w.bot.Forget()
		w.client = w.newClient()
		w.receive()
		pass(time.Minute)
		var about []string
		for _, c := range w.Ledger().Calls[before:] {
			if c.Channel == direct.ID {
				about = append(about, c.Method)
			}
		}
		testutil.Same(t, "calls about the chat", []string{"get messages"}, about)
	})
}
