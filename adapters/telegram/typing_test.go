package telegram_test

import (
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/trestle-bridge/trestle/adapters"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// K22: what is shown before it is sent is no message.
func TestDraftIsShownInPrivateChatsAndIsNoMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		chat := w.bot.Direct(w.kai)
		chat.Says(w.kai, "hello", faketelegram.PostOptions{})
		direct := strconv.FormatInt(w.kai.ID, 10)
		p := adapters.OutgoingMessage{Chat: direct, Text: w.client.Split("so *far*")[0], Key: "one"}
		for _, text := range []string{p.Text, p.Text + " so good"} {
			p.Text = text
			testutil.OK(t, w.client.Preview(t.Context(), p))
		}
		p.Key, p.Choices = "two", []adapters.ChoiceButton{{Label: "Stop", Value: "stop run"}}
		testutil.OK(t, w.client.Preview(t.Context(), p))
		drafts := chat.Drafts()
		if len(drafts) != 3 || drafts[0].ID != drafts[1].ID || drafts[1].ID == drafts[2].ID || drafts[0].ID == 0 ||
			drafts[0].Stop || !drafts[2].Stop || drafts[0].Text != "so far" || drafts[1].Text != "so far so good" {
			t.Errorf("drafts %+v", drafts)
		}
		if len(chat.Sent()) != 0 {
			t.Errorf("a draft became a message: %+v", chat.Sent())
		}
		group := w.NewSupergroup("Family", w.kai)
		group.Adds(w.kai, w.bot)
		p.Chat = strconv.FormatInt(group.ID(), 10)
		if err := w.client.Preview(t.Context(), p); adapters.KindOf(err) != adapters.Invalid {
			t.Errorf("in a group: got %v, want invalid", err)
		}
	})
}

func TestMenuIsSetOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		menu := []adapters.CommandMenuEntry{{Name: "stop", Help: "stop what I am doing"}, {Name: "help", Help: "say what I can do"}}
		for range 2 {
			testutil.OK(t, w.client.Commands(t.Context(), menu))
		}
		want := `[{"command":"stop","description":"stop what I am doing"},{"command":"help","description":"say what I can do"}]`
		testutil.Same(t, "what came", want, string(w.bot.Menu()))
		set := 0
		for _, c := range w.Ledger().Calls {
			if c.Method == "setMyCommands" {
				set++
			}
		}
		if set != 1 {
			t.Errorf("set %d times, want 1", set)
		}
		for _, bad := range []adapters.CommandMenuEntry{{Name: "Stop", Help: "x"}, {Name: "", Help: "x"}, {Name: "a-b", Help: "x"}, {Name: "stop"}} {
			if err := w.client.Commands(t.Context(), []adapters.CommandMenuEntry{bad}); adapters.KindOf(err) != adapters.Invalid {
				t.Errorf("%+v: got %v, want invalid", bad, err)
			}
		}
		if err := w.client.Commands(t.Context(), nil); err != nil || string(w.bot.Menu()) != "[]" {
			t.Errorf("taken away: %v, %s", err, w.bot.Menu())
		}
	})
}
