package discord_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// DELIVERY F27, R-DC: whatever ends the connection, the session is resumed and
// nothing is lost or doubled.
func TestEveryLossIsResumed(t *testing.T) {
	for name, lose := range map[string]func(*world){
		"asked to reconnect": func(w *world) { w.bot.Reconnect() },
		"invalid, resumable": func(w *world) { w.bot.Invalidate(true) },
		"cut":                func(w *world) { w.bot.Close(0) },
		"1000":               func(w *world) { w.bot.Close(1000) },
		"1001":               func(w *world) { w.bot.Close(1001) },
		"4000":               func(w *world) { w.bot.Close(4000) },
		"4001":               func(w *world) { w.bot.Close(4001) },
		"4002":               func(w *world) { w.bot.Close(4002) },
		"4003":               func(w *world) { w.bot.Close(4003) },
		"4005":               func(w *world) { w.bot.Close(4005) },
		"4008":               func(w *world) { w.bot.Close(4008) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				w.says("before")
				synctest.Wait()
				lose(w)
				w.says("meanwhile")
				pass(10 * time.Second)
				w.says("after")
				came := w.inbox.take()
				testutil.Same(t, "texts", []string{"before", "meanwhile", "after"}, texts(came))
				if slices.ContainsFunc(came, func(u adapters.Update) bool { return u.Kept }) {
					t.Errorf("what our own session has missed is told as kept: %+v", came)
				}
				if fresh, resumed := w.begun(); fresh != 1 || resumed != 1 {
					t.Errorf("%d sessions begun, %d resumed; want 1, 1", fresh, resumed)
				}
				last := w.Ledger().Sessions[1]
				if last.Path != "/gateway/resume" {
					t.Errorf("resumed at %s, want where the session said", last.Path)
				}
			})
		})
	}
}

// DELIVERY F27: a session that Discord gave up begins anew, and its gap is read
// from history, in channels, threads and direct chats.
func TestALostSessionsGapIsFilled(t *testing.T) {
	for name, lose := range map[string]func(*world){
		"invalid":   func(w *world) { w.bot.Invalidate(false) },
		"forgotten": func(w *world) { w.bot.Forget(); w.bot.Close(4000) },
		"4007":      func(w *world) { w.bot.Forget(); w.bot.Close(4007) },
		"4009":      func(w *world) { w.bot.Forget(); w.bot.Close(4009) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				thread, quiet := w.room.NewThread(w.kai, "food"), w.guild.NewChannel("quiet", fakediscord.TextChannel)
				idea := w.guild.NewChannel("ideas", fakediscord.Forum).NewThread(w.kai, "a round table")
				direct := w.bot.Direct(w.kai)
				w.says("before")
				direct.Says(w.kai, "direct before", fakediscord.PostOptions{})
				synctest.Wait()
				w.RefuseConnections(2)
				lose(w)
				w.says("meanwhile")
				thread.Says(w.kai, "in the thread", fakediscord.PostOptions{})
				quiet.Says(w.kai, "in the quiet", fakediscord.PostOptions{})
				idea.Says(w.kai, "in the forum", fakediscord.PostOptions{})
				direct.Says(w.kai, "direct meanwhile", fakediscord.PostOptions{})
				pass(time.Minute)
				w.says("after")
				got := map[string]int{}
				for _, u := range w.inbox.take() {
					if m, ok := u.Body.(adapters.IncomingMessage); ok {
						got[m.Text+" "+u.Thread.Title]++
						if gap := !strings.Contains("before after direct before", m.Text); u.Kept != gap {
							t.Errorf("%q is told as kept: %t, want %t", m.Text, u.Kept, gap)
						}
					}
				}
				want := map[string]int{
					"before ": 1, "meanwhile ": 1, "after ": 1, "in the thread food": 1, "in the quiet ": 1,
					"direct before ": 1, "direct meanwhile ": 1, "in the forum a round table": 1,
				}
				testutil.Same(t, "what came", want, got)
				if fresh, _ := w.begun(); fresh != 2 {
					t.Errorf("%d sessions begun, want 2", fresh)
				}
				refused := slices.ContainsFunc(w.Ledger().Sessions, func(s fakediscord.SessionStart) bool { return s.Refused })
				if told := name != "forgotten"; refused == told {
					t.Errorf("a session that was given up is asked for again: %t, want %t", refused, !told)
				}
			})
		})
	}
}

// PLATFORMS 3.3: Discord tells of channels that it does not show us, and counts what it
// refuses: what was said there is not asked for.
func TestAGapIsNotReadWhereNothingIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		hidden := w.guild.NewChannel("hidden", fakediscord.TextChannel)
		hidden.ShowsTo()
		ours := w.guild.NewChannel("ours", fakediscord.TextChannel)
		ours.ShowsTo(w.guild.Role(w.bot))
		w.says("before")
		synctest.Wait()
		w.bot.Invalidate(false)
		hidden.Says(w.kai, "among themselves", fakediscord.PostOptions{})
		ours.Says(w.kai, "meanwhile", fakediscord.PostOptions{})
		pass(time.Minute)
		testutil.Same(t, "texts", []string{"before", "meanwhile"}, texts(w.inbox.take()))
		for _, c := range w.Ledger().Calls {
			if c.Status == http.StatusForbidden {
				t.Errorf("refused: %s in %s", c.Method, c.Channel)
			}
		}
	})
}

// R-DC, DELIVERY 2.2.1: what was said in a thread that was put away meanwhile is
// read from history as well, in public and private ones, over several pages.
func TestAGapInArchivedThreadsIsFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		old := w.room.NewThread(w.kai, "long over")
		old.Says(w.kai, "nothing new", fakediscord.PostOptions{})
		old.Archive()
		public, private := w.room.NewThread(w.kai, "open"), w.room.NewPrivateThread(w.kai, "ours")
		w.says("before")
		w.inbox.take()
		testutil.OK(t, w.stop())
		pass(time.Hour)
		w.bot.Forget()
		want := map[string]int{"open: in public": 1, "alone in ours: in private": 1, ": after": 1}
		public.SaysUnheard(w.kai, "in public")
		private.SaysUnheard(w.kai, "in private")
		public.Archive()
		private.Archive()
		for i := range 120 {
			th := w.room.NewPrivateThread(w.kai, fmt.Sprint("pair ", i))
			th.SaysUnheard(w.kai, "psst")
			th.Archive()
			want[fmt.Sprintf("alone in pair %d: psst", i)] = 1
		}
		w.client = w.newClient()
		w.receive()
		pass(time.Minute)
		w.says("after")
		got := map[string]int{}
		for _, u := range w.inbox.take() {
			if m, ok := u.Body.(adapters.IncomingMessage); ok {
				where := u.Thread.Title
				if u.Chat.ID != w.room.ID.String() {
					where += "alone in " + u.Chat.Title
				}
				got[where+": "+m.Text]++
			}
		}
		testutil.Same(t, "what came", want, got)
		reads := 0
		for _, c := range w.Ledger().Calls {
			if c.Method == "get messages" && c.Channel == old.ID {
				reads++
			}
		}
		if reads != 0 {
			t.Errorf("a thread without anything new was read %d times", reads)
		}
	})
}

// R-DC: a restart goes on in the same session; when that is gone, history tells,
// page after page.
func TestARestartMissesNothing(t *testing.T) {
	for _, away := range []time.Duration{time.Second, time.Hour} {
		t.Run(away.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				w.says("before")
				synctest.Wait()
				testutil.OK(t, w.stop())
				want := []string{"before"}
				pass(away)
				for i := range 230 {
					want = append(want, fmt.Sprint("line ", i))
					w.says(want[i+1])
				}
				w.client = w.newClient()
				w.receive()
				pass(10 * time.Second)
				w.says("after")
				testutil.Same(t, "texts", append(want, "after"), texts(w.inbox.take()))
				fresh, resumed := w.begun()
				if gone := away > time.Minute; gone != (fresh == 2) || gone == (resumed == 1) {
					t.Errorf("%d sessions begun, %d resumed", fresh, resumed)
				}
			})
		})
	}
}

// R-DC: a session whose gap was not filled to its end is not resumed: the next
// one begins with the gap.
func TestAnUnfilledGapIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.says("before")
		synctest.Wait()
		testutil.OK(t, w.stop())
		w.bot.Forget()
		w.room.SaysUnheard(w.kai, "meanwhile")
		w.Fault(hang("get messages"))
		w.receive() // reads history, and hangs there
		pass(10 * time.Second)
		testutil.OK(t, w.stop())
		w.ClearFaults()
		w.client = w.newClient()
		w.receive()
		pass(10 * time.Second)
		testutil.Same(t, "texts", []string{"before", "meanwhile"}, texts(w.inbox.take()))
	})
}

// R-DC, F27: dead connections are found within one heartbeat that is missed.
func TestZombiesAreFoundWithinOneHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		pass(10 * time.Minute) // beats are answered
		w.bot.Freeze()
		w.says("into the dark")
		pass(2*41250*time.Millisecond + 2*time.Second) // one is missed, and the next finds it out
		testutil.Same(t, "texts", []string{"into the dark"}, texts(w.inbox.take()))
		if fresh, resumed := w.begun(); fresh != 1 || resumed != 1 {
			t.Errorf("%d sessions begun, %d resumed; want 1, 1", fresh, resumed)
		}
	})
}

// PLATFORMS 3.2: neither a server that never speaks nor one that asks to
// reconnect during the handshake holds us up.
func TestNoHandshakeHangs(t *testing.T) {
	t.Run("silent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, fakediscord.Options{}, fakediscord.BotProfile{})
			w.Mute(true)
			w.receive()
			pass(45 * time.Second)
			w.Mute(false)
			pass(45 * time.Second)
			w.says("hello")
			testutil.Same(t, "texts", []string{"hello"}, texts(w.inbox.take()))
		})
	})
	t.Run("pushed away", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, fakediscord.Options{}, fakediscord.BotProfile{})
			w.Push(true)
			w.receive()
			pass(time.Minute)
			w.Push(false)
			pass(time.Minute)
			w.says("hello")
			testutil.Same(t, "texts", []string{"hello"}, texts(w.inbox.take()))
			if fresh, _ := w.begun(); fresh != 1 {
				t.Errorf("%d sessions begun, want 1", fresh)
			}
		})
	})
}

// PLATFORMS 3.2: who is stopped between two attempts to connect makes no other.
func TestAStopEndsThePauseBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.RefuseConnections(100)
		w.bot.Close(4000)
		pass(5500 * time.Millisecond)
		began := time.Now()
		if err := w.stop(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the stop took %s", took)
		}
	})
}

// R-DC: after these codes Discord is not asked again.
func TestFatalCloseCodesStop(t *testing.T) {
	for _, code := range []int{4004, 4012, 4013, 4014} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				w.bot.Close(code)
				err := w.failure(5 * time.Second)
				if adapters.KindOf(err) != adapters.Unauthorized || !adapters.IsFinal(err) {
					t.Errorf("ended with %v, want unauthorized for good", err)
				}
				pass(time.Hour)
				if fresh, resumed := w.begun(); fresh+resumed != 1 {
					t.Errorf("connected again after %d", code)
				}
			})
		})
	}
}

// I13: Discord decides how many shards there are. When it reports too few, the client
// asks again with backoff, and the operator has nothing to change.
func TestAnotherNumberOfShardsIsAskedFor(t *testing.T) {
	for _, code := range []int{4010, 4011} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				w.bot.Close(code)
				err := w.failure(5 * time.Second)
				if adapters.KindOf(err) != adapters.Unauthorized || adapters.IsFinal(err) || !strings.Contains(fmt.Sprint(err), "asked again") {
					t.Errorf("ended with %v, want unauthorized for now, and what follows", err)
				}
				w.receive()
				pass(10 * time.Second)
				w.says("hello")
				testutil.Same(t, "texts", []string{"hello"}, texts(w.inbox.take()))
			})
		})
	}
}

// PLATFORMS 3.2: an intent that is not allowed is told, with what to do.
func TestAMissingIntentIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, fakediscord.Options{}, fakediscord.BotProfile{NoContent: true})
		w.receive()
		err := w.failure(time.Second)
		if adapters.KindOf(err) != adapters.Unauthorized || err == nil {
			t.Errorf("ended with %v, want unauthorized", err)
		}
	})
}

// Who is on a server is asked for only where it is allowed.
func TestWithoutTheMembersIntentEverythingElseWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, fakediscord.Options{}, fakediscord.BotProfile{NoMembers: true})
		w.receive()
		w.says("hello")
		testutil.Same(t, "texts", []string{"hello"}, texts(w.inbox.take()))
	})
}

// A sink that takes its time holds the platform up, and is no reason to take the
// connection for dead.
func TestASlowSinkIsNoZombie(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, fakediscord.Options{Heartbeat: 10 * time.Second}, fakediscord.BotProfile{})
		w.receive()
		release := w.inbox.block()
		defer release()
		for i := range 600 {
			w.says(fmt.Sprint("line ", i))
		}
		<-time.After(50 * time.Second) // five beats; the platform waits no longer than a minute
		release()
		pass(time.Minute)
		if got := texts(w.inbox.take()); len(got) != 600 || got[599] != "line 599" {
			t.Errorf("got %d lines", len(got))
		}
		if fresh, resumed := w.begun(); fresh != 1 || resumed != 0 {
			t.Errorf("%d sessions begun, %d resumed; want 1, 0", fresh, resumed)
		}
	})
}

// Issue 30: a process that takes over from a frozen one records all that the other read and
// did not record, in its order and before what follows; where the session is gone, from history.
func TestATakeoverFromAFrozenProcessMissesNothing(t *testing.T) {
	for _, gone := range []bool{false, true} {
		t.Run(fmt.Sprintf("session gone %t", gone), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				w.says("before")
				w.inbox.take()
				release := w.inbox.block()
				var want []string
				for i := range 230 {
					want = append(want, fmt.Sprint("line ", i))
					w.says(want[i])
				}
				pass(time.Minute)
				stopped, stop := make(chan error, 1), w.stop
				go func() { stopped <- stop() }() // it brings nothing more, and does not end before the sink lets it
				synctest.Wait()
				if gone {
					w.bot.Forget()
				}
				var second inbox
				ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
				ended := make(chan error, 1)
				next, cursor := w.newClient(), w.inbox.saved()
				go func() { ended <- next.Receive(ctx, cursor, &second) }()
				pass(10 * time.Second)
				w.says("after")
				testutil.Same(t, "texts", append(want, "after"), texts(second.take()))
				cancel()
				testutil.OK(t, <-ended)
				release()
				testutil.OK(t, <-stopped)
			})
		})
	}
}
