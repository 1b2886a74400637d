package cli

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// Issue 3: two accounts of one process in one chat that one space maps for both.
// What people say is recorded once, what the agent says is said once, and whichever
// bot is called, the agent hears it.
// In a basic group each of them numbers the messages for itself.
func TestTwoBotsInOneChatAreOneRoom(t *testing.T) {
	for name, open := range map[string]func(*faketelegram.Server, string, ...*faketelegram.HumanUser) *faketelegram.Chat{
		"supergroup": (*faketelegram.Server).NewSupergroup, "basic group": (*faketelegram.Server).NewGroup,
	} {
		t.Run(name, func(t *testing.T) { twoBotsInOneChat(t, open) })
	}
}

func twoBotsInOneChat(t *testing.T, open func(*faketelegram.Server, string, ...*faketelegram.HumanUser) *faketelegram.Chat) {
	t.Helper()
	s := stage0(t)
	tg := faketelegram.NewTelegram(faketelegram.Options{})
	bots := []*faketelegram.BotUser{
		tg.AddBot(faketelegram.BotProfile{Token: "71:ada-token", Name: "Ada", Username: "ada_bot", SeesBots: true}),
		tg.AddBot(faketelegram.BotProfile{Token: "72:mia-token", Name: "Mia", Username: "mia_bot", SeesBots: true}),
	}
	kai, maya := tg.AddPerson(faketelegram.UserProfile{Name: "Kai"}), tg.AddPerson(faketelegram.UserProfile{Name: "Maya"})
	chat := open(tg, "Family", kai, maya)
	for _, b := range bots {
		chat.Adds(kai, b)
		chat.Promotes(kai, b)
	}
	api := httptest.NewServer(tg)
	t.Cleanup(api.Close)
	text := "listen: \"\"\nwake: mention\nlimits: {outgoing: \"off\"}\nadapters:\n" +
		"  ada: {type: telegram, token: \"71:ada-token\", api_url: \"" + api.URL + "\"}\n" +
		"  mia: {type: telegram, token: \"72:mia-token\", api_url: \"" + api.URL + "\"}\n" +
		fmt.Sprintf("spaces:\n  family: {name: Family, chats: [\"ada:%[1]d\", \"mia:%[1]d\"]}\n", chat.ID())
	testutil.OK(t, os.WriteFile(filepath.Join(s.folder, "trestle.yaml"), []byte(text), 0o600))
	t.Run("live", func(t *testing.T) {
		s.serve(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for i, words := range []string{"@ada_bot good morning", "@mia_bot good evening"} {
			m := chat.Says(kai, words, faketelegram.PostOptions{})
			if _, err := chat.AwaitSent(ctx, i+1); err != nil {
				t.Fatalf("%s: %v", words, err)
			}
			chat.Reacts(maya, m, "👍")
			chat.Edits(m, words+"!")
		}
		for range 3 { // the same words three times within a second or two
			chat.Says(maya, "ok", faketelegram.PostOptions{})
		}
		first := chat.Sent()[0] // whose receipt is recorded, since the next was sent after it
		chat.Says(maya, "thank you", faketelegram.PostOptions{ReplyTo: first.ID})
		if _, err := chat.AwaitSent(ctx, 3); err != nil {
			t.Fatal(err)
		}
	})
	if n := len(chat.Sent()); n != 3 {
		t.Errorf("%d messages of bots, want 3", n)
	}
	store, err := sqlite.Open(t.Context(), sqlite.Options{Dir: filepath.Join(s.folder, "data"), NewID: storeopen.NewID})
	testutil.OK(t, err)
	t.Cleanup(func() { _ = store.Close(t.Context()) }) // the folder goes with it
	places, err := store.Border().Place(t.Context(), "telegram:72", fmt.Sprint(chat.ID()))
	testutil.OK(t, err)
	events, err := store.Shell().Events(t.Context(), places[0].Space, spaces.Primary, 0, 1000)
	testutil.OK(t, err)
	got := map[string]int{}
	answered := map[spaces.EventID]string{}
	for _, e := range events {
		switch b := e.Body.(type) {
		case spaces.MessagePosted:
			if _, ours := e.Actor.IsAgent(); ours {
				got["agent"]++
				answered[e.ID] = "agent"
				continue
			}
			got[b.Text]++
			if b.Text == "thank you" && answered[e.ReplyTo] != "agent" {
				t.Errorf("the reply to the agent answers %q", e.ReplyTo)
			}
		case spaces.ReactionAdded:
			if b.Target == "" {
				t.Errorf("a reaction to nothing: %+v", b)
			}
			got["reacted"]++
		case spaces.MessageEdited:
			if b.Target == "" {
				t.Errorf("an edit of nothing: %+v", b)
			}
			got["edited"]++
		}
	}
	want := map[string]int{"@ada_bot good morning": 1, "@mia_bot good evening": 1, "thank you": 1, "ok": 3, "agent": 3, "reacted": 2, "edited": 2}
	testutil.Same(t, "recorded", want, got)
	if found, err := store.Audit(t.Context(), time.Now()); err != nil || len(found) > 0 {
		t.Errorf("audit: %v, %v", found, err)
	}
}
