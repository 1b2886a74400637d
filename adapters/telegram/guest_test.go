package telegram_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// asked has Kai ask the bot in a group that it is no member of, and returns the chat that
// the query is.
func asked(w *world, text string) adapters.Chat {
	group := w.NewSupergroup("Party", w.kai)
	w.kai.AsksGuest(group, w.bot, text, faketelegram.PostOptions{})
	synctest.Wait()
	all := w.inbox.take()
	return all[len(all)-1].Chat
}

// answer is what Kai sees of the last query's answer.
func (w *world) answer() string {
	all := w.GuestQueries()
	return all[len(all)-1].Answer
}

// Since Bot API 10: a guest answers with one message, to which all that it says belongs.
func TestAGuestAnswersWithOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openOn(t, faketelegram.Options{})
		chat := asked(w, "@ada_bot what is it?")
		if !chat.Guest || chat.Kind != adapters.Group || chat.Title != "guest in Party" {
			t.Errorf("asked in %+v, want a chat of a guest", chat)
		}
		ctx, say := t.Context(), func(text string) (adapters.Receipt, error) {
			return w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: chat.ID, Text: text})
		}
		testutil.OK(t, w.client.Typing(ctx, adapters.MessageRef{Chat: chat.ID}))
		testutil.OK(t, w.client.Typing(ctx, adapters.MessageRef{Chat: chat.ID}))
		testutil.Same(t, "before the answer", "…", w.answer())

		<-time.After(time.Minute) // by then the query itself cannot be answered any more
		first, err := say("<b>A cake</b>")
		testutil.OK(t, err)
		testutil.Same(t, "the answer", "A cake", w.answer())
		second, err := say("of nuts")
		testutil.OK(t, err)
		testutil.Same(t, "with its second part", "A cake\n\nof nuts", w.answer())
		testutil.Same(t, "the message", first.Message, second.Message)

		at := adapters.MessageRef{Chat: chat.ID, Message: second.Message}
		testutil.OK(t, w.client.Edit(ctx, at, "of plums"))
		testutil.Same(t, "with its second part edited", "A cake\n\nof plums", w.answer())
		if _, err := say(strings.Repeat("word ", 820)); adapters.KindOf(err) != adapters.Invalid {
			t.Errorf("a part that does not fit: %v, want a definite no", err)
		}
		testutil.OK(t, w.client.Delete(ctx, at))
		testutil.Same(t, "with its second part deleted", "A cake\n\n…", w.answer())
	})
}

// What a guest cannot do is refused before Telegram is asked, and an answer that begins after
// its time is over is refused by Telegram.
func TestWhatAGuestCannotDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := openOn(t, faketelegram.Options{})
		chat := asked(w, "@ada_bot hello?").ID
		calls := len(w.Ledger().Calls)
		at := adapters.MessageRef{Chat: chat, Message: "1"}
		_, file := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: chat, Files: []adapters.OutgoingFile{{Name: "a.txt"}}})
		_, alone := w.client.SendPrivate(t.Context(), "1", adapters.OutgoingMessage{Chat: chat, Text: "hi"})
		for what, err := range map[string]error{
			"a file": file, "a private message": alone, "a reaction": w.client.React(t.Context(), at, "👍"),
			"a draft": w.client.Preview(t.Context(), adapters.OutgoingMessage{Chat: chat, Text: "hi"}),
		} {
			if adapters.KindOf(err) != adapters.Invalid {
				t.Errorf("%s: %v, want a definite no", what, err)
			}
		}
		if n := len(w.Ledger().Calls); n != calls {
			t.Errorf("Telegram was asked %d times", n-calls)
		}
		<-time.After(time.Minute)
		if _, err := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: chat, Text: "hi"}); !adapters.KindOf(err).Permanent() || w.answer() != "" {
			t.Errorf("too late: %v and %q, want a definite no", err, w.answer())
		}
	})
}
