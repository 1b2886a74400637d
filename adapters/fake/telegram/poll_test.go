package telegram_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters/fake"
	"github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

func ids(us []update) []int64 {
	out := []int64{}
	for _, u := range us {
		out = append(out, u.ID)
	}
	return out
}

// DELIVERY 1: an update is forgotten when a later call passes a higher offset.
func TestOnlyAHigherOffsetConfirms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		chat.Says(w.maya, "one", telegram.PostOptions{})
		chat.Says(w.maya, "two", telegram.PostOptions{})

		first := w.poll(t, 0, nil)
		if len(first) != 2 || first[1].ID != first[0].ID+1 {
			t.Fatalf("got ids %v, want two that follow each other", ids(first))
		}
		pass(time.Second)
		if again := w.poll(t, 0, nil); !cmp.Equal(ids(again), ids(first)) {
			t.Errorf("after a poll that confirmed nothing got %v, want %v again", ids(again), ids(first))
		}
		if rest := w.poll(t, first[1].ID, nil); !cmp.Equal(ids(rest), ids(first[1:])) {
			t.Errorf("got %v, want %v", ids(rest), ids(first[1:]))
		}
		w.poll(t, first[1].ID+1, nil)
		acked := w.Ledger().Acked
		if len(acked) != 2 || acked[0].Update != first[0].ID || acked[1].Update != first[1].ID || acked[1].Kind != "message" || acked[1].Chat != chat.ID() {
			t.Errorf("ledger acked %+v, want both updates", acked)
		}
		if w.bot.Pending() != 0 {
			t.Errorf("%d updates pending, want none", w.bot.Pending())
		}
	})
}

func TestALongPollWakesWithTheFirstUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		start := time.Now()
		go func() {
			pass(20 * time.Second)
			chat.Says(w.maya, "hello", telegram.PostOptions{})
		}()
		us := w.poll(t, 0, fields{"timeout": "50"})
		if len(us) != 1 || us[0].Message.Text != "hello" {
			t.Fatalf("got %+v, want the one message", us)
		}
		if waited := time.Since(start); waited != 20*time.Second {
			t.Errorf("waited %s, want 20s", waited)
		}
	})
}

// PLATFORMS 1.3: the timeout is capped at 50 s.
func TestALongPollEndsEmptyAfterFiftySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		start := time.Now()
		if us := w.poll(t, 0, fields{"timeout": "500"}); len(us) != 0 {
			t.Errorf("got %v, want nothing", us)
		}
		if waited := time.Since(start); waited != 50*time.Second {
			t.Errorf("waited %s, want 50s", waited)
		}
	})
}

// PLATFORMS 1.3: the older of two polls ends with 409.
func TestASecondPollerThrowsOutTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		older := make(chan answer, 1)
		ctx := t.Context()
		go func() {
			a, err := w.try(ctx, "getUpdates", fields{"timeout": "50"})
			if err != nil {
				t.Error(err)
			}
			older <- a
		}()
		synctest.Wait()
		w.poll(t, 0, fields{"timeout": "1"})
		want := "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
		if a := <-older; a.Status != 409 || a.Code != 409 || a.Description != want {
			t.Errorf("the older poll got %d %q, want 409 %q", a.Status, a.Description, want)
		}
	})
}

func TestAPollWhileAWebhookIsSetIsAConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		w.call(t, "setWebhook", fields{"url": "https://example.com/hook"})
		var info struct{ URL string }
		w.must(t, &info, "getWebhookInfo", nil)
		if info.URL != "https://example.com/hook" {
			t.Errorf("webhook info has url %q", info.URL)
		}
		if a := w.call(t, "getUpdates", nil); a.Code != 409 {
			t.Errorf("got %+v, want 409", a)
		}
		w.call(t, "deleteWebhook", nil)
		w.poll(t, 0, nil)
	})
}

// PLATFORMS 1.3: reactions must be asked for by name, and the wish is sticky.
func TestReactionsComeOnlyWhenNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		m := chat.Says(w.maya, "hello", telegram.PostOptions{})
		chat.Reacts(w.maya, m, "👍")
		us := w.poll(t, 0, nil) // names everything, but only from now on
		if len(us) != 1 {
			t.Fatalf("got %d updates before reactions were named, want 1", len(us))
		}
		w.call(t, "getUpdates", fields{"offset": id(us[0].ID + 1)})
		chat.Reacts(w.maya, m, "🔥")
		var later []update
		w.must(t, &later, "getUpdates", fields{"offset": id(us[0].ID + 1)})
		if len(later) != 1 || later[0].Reaction == nil || later[0].Reaction.NewList[0].Emoji != "🔥" {
			t.Errorf("got %+v, want the one reaction", later)
		}
	})
}

// F25: update ids begin anew at random after a week of silence.
func TestUpdatesAfterARestartOfIDsAreNotLostToAnOldOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		chat.Says(w.maya, "before", telegram.PostOptions{})
		before := w.poll(t, 0, nil)
		w.poll(t, before[0].ID+1, nil)
		w.bot.RestartUpdateIDs(5000)
		chat.Says(w.maya, "after", telegram.PostOptions{})
		us := w.poll(t, before[0].ID+1, nil)
		if len(us) != 1 || us[0].ID != 5000 || us[0].Message.Text != "after" {
			t.Errorf("got %+v, want update 5000", us)
		}
	})
}

// PLATFORMS 1.3: updates are kept for a day.
func TestAnUpdateNobodyFetchesExpiresAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		chat.Says(w.maya, "old", telegram.PostOptions{})
		pass(23 * time.Hour)
		chat.Says(w.maya, "new", telegram.PostOptions{})
		pass(2 * time.Hour)
		us := w.poll(t, 0, nil)
		if len(us) != 1 || us[0].Message.Text != "new" {
			t.Errorf("got %+v, want only the newer one", us)
		}
		if r := w.Ledger(); len(r.Expired) != 1 || len(r.Acked) != 0 {
			t.Errorf("ledger: %d expired, %d acked; want 1, 0", len(r.Expired), len(r.Acked))
		}
	})
}

func TestTheSameOffsetAtOnceGetsOneUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		for range 3 {
			chat.Says(w.maya, "hello", telegram.PostOptions{})
		}
		if n := len(w.poll(t, 0, nil)); n != 3 {
			t.Errorf("the first poll got %d, want 3", n)
		}
		if n := len(w.poll(t, 0, nil)); n != 1 {
			t.Errorf("the same poll at once got %d, want 1", n)
		}
	})
}

// F23: every update delivered two to five times.
func TestDisorderRepeatsEveryUpdateAndLosesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		w.bot.Disorder(telegram.QueueReordering{Copies: 5, Shuffle: true})
		chat := w.bot.Direct(w.maya)
		const n = 50
		for range n {
			chat.Says(w.maya, "hello", telegram.PostOptions{})
		}
		seen := map[int64]int{}
		var offset int64
		for range 20 {
			us := w.poll(t, offset, fields{"limit": "30", "timeout": "1"})
			for _, u := range us {
				seen[u.ID]++
				offset = max(offset, u.ID+1)
			}
			pass(5 * time.Second)
		}
		if len(seen) != n {
			t.Errorf("saw %d updates, want %d", len(seen), n)
		}
		for u, copies := range seen {
			if copies < 2 || copies > 5 {
				t.Errorf("update %d came %d times, want 2 to 5", u, copies)
			}
		}
	})
}

func TestRedeliverRepeatsWhatWasConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		chat.Says(w.maya, "hello", telegram.PostOptions{})
		us := w.poll(t, 0, nil)
		next := us[0].ID + 1
		w.poll(t, next, nil)
		if n := w.bot.Redeliver(5); n != 1 {
			t.Fatalf("redelivered %d, want the one there was", n)
		}
		again := w.poll(t, next, nil)
		if !cmp.Equal(ids(again), ids(us)) {
			t.Errorf("got %v, want %v again", ids(again), ids(us))
		}
	})
}

// STYLE 49: a bubble's clock moves only when everything in it is blocked; a
// long poll over the network in memory is such a block.
func TestALongPollOverTheNetworkInMemoryIsIdleInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := w.try(ctx, "getUpdates", fields{"timeout": "50"})
			done <- err
		}()
		synctest.Wait() // returns: the poll is durably blocked
		select {
		case err := <-done:
			t.Fatalf("the poll ended early: %v", err)
		default:
		}
		cancel()
		if err := <-done; err == nil {
			t.Error("a cancelled poll succeeded")
		}
	})
}

func TestServeEndsWithItsContextAndCutsWhoIsConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := telegram.NewTelegram(telegram.Options{})
		w.AddBot(telegram.BotProfile{Token: "77:secret", Username: "ada_bot"})
		n := new(fake.MemoryNetwork)
		ln, err := n.Listen("telegram.test")
		testutil.OK(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- w.Serve(ctx, ln) }()
		c := client{http: n.Client(), base: "http://telegram.test", token: "77:secret"}
		polled := make(chan error, 1)
		bg := t.Context()
		go func() {
			_, err := c.try(bg, "getUpdates", fields{"timeout": "50"})
			polled <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := <-polled; err == nil {
			t.Error("a poll outlived the server")
		}
		if _, err := n.DialContext(t.Context(), "tcp", "telegram.test"); err == nil {
			t.Error("the server still listens")
		}
	})
}
