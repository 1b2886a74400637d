package discord_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A session whose heartbeats are answered and that tells nothing is found by the
// channels' newest messages, and given up for a new one, which reads history; not again
// within the hour.
func TestADeafSessionIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.says("heard")
		pass(25 * time.Minute)
		testutil.Same(t, "told", []string{"heard"}, texts(w.inbox.take()))
		if w.stop == nil {
			t.Fatal("a quiet session is given up")
		}
		w.bot.Deafen()
		w.says("unheard")
		if err := w.failure(15 * time.Minute); !errors.Is(err, adapters.ErrDeaf) {
			t.Fatalf("receive: %v", err)
		}
		w.receive()
		pass(10 * time.Second)
		testutil.Same(t, "read from history", []string{"unheard"}, texts(w.inbox.take()))
		w.says("again")
		pass(time.Second)
		testutil.Same(t, "told at once", []string{"again"}, texts(w.inbox.take()))

		w.bot.Deafen()
		pass(3 * time.Minute)
		w.says("unheard again")
		began := time.Now()
		if err := w.failure(2 * time.Hour); !errors.Is(err, adapters.ErrDeaf) || time.Since(began) < 40*time.Minute {
			t.Fatalf("after %s: %v", time.Since(began), err)
		}
		w.receive()
		pass(10 * time.Second)
		testutil.Same(t, "read from history later", []string{"unheard again"}, texts(w.inbox.take()))
	})
}

// Nothing is concluded from what was read from history when a session began, nor from a
// server that Discord does not show.
func TestAQuietSessionIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.says("one")
		pass(time.Second)
		testutil.OK(t, w.stop())
		w.bot.Forget()
		w.says("while away")
		hidden := w.guild.NewChannel("hidden", fakediscord.TextChannel)
		hidden.Says(w.kai, "not for bots", fakediscord.PostOptions{})
		pass(5 * time.Minute)
		w.receive()
		pass(3 * time.Hour)
		if w.stop == nil {
			t.Fatal("the session is given up")
		}
		fresh, _ := w.begun()
		if fresh != 2 {
			t.Errorf("%d sessions were begun", fresh)
		}
	})
}
