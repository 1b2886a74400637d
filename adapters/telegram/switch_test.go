package telegram_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/adapters/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// plain serves webhooks as behind a proxy: what is called over https arrives
// here without it.
func plain(network *fake.MemoryNetwork) *http.Client {
	return &http.Client{Transport: &http.Transport{DialTLSContext: func(ctx context.Context, n, _ string) (net.Conn, error) {
		return network.DialContext(ctx, n, "bots.test")
	}}}
}

// R-TG: the way of receiving may be changed at any time, with updates on their
// way and others refused; each of them arrives, and in the order of its chat.
func TestSwitchingBetweenPollingAndWebhookKeepsEveryUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network fake.MemoryNetwork
		ctx, cancel := context.WithCancel(t.Context())
		var servers sync.WaitGroup
		tg := faketelegram.NewTelegram(faketelegram.Options{})
		bot := tg.AddBot(faketelegram.BotProfile{Token: token, Name: "Ada", Username: "ada_bot"})
		kai := tg.AddPerson(faketelegram.UserProfile{Name: "Kai"})
		maya := tg.AddPerson(faketelegram.UserProfile{Name: "Maya"})
		api, err := network.Listen("telegram.test")
		testutil.OK(t, err)
		hooks, err := network.Listen("bots.test")
		testutil.OK(t, err)
		outward, inward := network.Client(), plain(&network)
		open := func(hook string) *telegram.Client {
			c, err := telegram.New(telegram.Options{Token: token, APIURL: "http://telegram.test", HTTPClient: outward, WebhookURL: hook})
			testutil.OK(t, err)
			return c
		}
		polling, called := open(""), open("https://bots.test/telegram/ada")
		servers.Go(func() { _ = tg.Serve(ctx, api) })
		servers.Go(func() { _ = fake.ServeUntilDone(ctx, hooks, called) })
		servers.Go(func() { tg.Call(ctx, inward) })
		defer func() {
			cancel()
			outward.CloseIdleConnections()
			inward.CloseIdleConnections()
			servers.Wait()
		}()

		var in inbox
		var cursor []byte
		want := map[string][]string{}
		said := 0
		say := func(n int) {
			for range n {
				said++
				who := []*faketelegram.HumanUser{kai, maya}[said%2]
				words := fmt.Sprintf("word %d", said)
				bot.Direct(who).Says(who, words, faketelegram.PostOptions{})
				want[fmt.Sprint(who.ID)] = append(want[fmt.Sprint(who.ID)], words)
			}
		}
		got := map[string][]string{}
		seen := map[string]bool{}
		for i := range 10 {
			c := []*telegram.Client{polling, called}[i%2]
			say(3) // while no client receives
			turn, stop := context.WithCancel(ctx)
			var receiving sync.WaitGroup
			receiving.Go(func() {
				if err := c.Receive(turn, cursor, &in); err != nil {
					t.Errorf("turn %d: %v", i, err)
				}
			})
			<-time.After(20 * time.Second)
			say(3)
			<-time.After(2 * time.Second)
			stop()
			receiving.Wait()
			for _, u := range in.take() {
				if m, ok := u.Body.(adapters.IncomingMessage); ok && !seen[u.Key] {
					seen[u.Key] = true
					got[u.Chat.ID] = append(got[u.Chat.ID], m.Text)
				}
			}
			cursor = in.cursor
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("said (-), received (+):\n%s", diff)
		}
		if n := bot.Pending(); n > 3 {
			t.Errorf("%d updates are not confirmed", n)
		}
	})
}
