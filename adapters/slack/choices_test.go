package slack_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/adapters/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// offer posts a message with two buttons.
func (w *workspace) offer(c *slack.Client, thread string) string {
	w.t.Helper()
	r, err := c.Send(w.t.Context(), adapters.OutgoingMessage{
		Chat: w.ops.ID, Thread: thread, Text: "Shall I?", Choices: []adapters.ChoiceButton{{Label: "Yes", Value: "yes"}, {Label: "No", Value: "no"}},
	})
	testutil.OK(w.t, err)
	return r.Message
}

// TOOLS 4: a press is acknowledged within Slack's three seconds, also while the gap of its
// channel is still being filled, and nothing kept of it lets anybody in.
func TestAPressDoesNotWaitForHistory(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		w.ops.Says(w.maya, "while we were away", fakeslack.PostOptions{})
		w.app.Forget()
		w.Fault(fake.CallFault{Method: "conversations.history", Do: fake.Delay, Wait: 20 * time.Second, Times: -1})
		b := new(book)
		c, _ := w.runs(b, w.options())
		ts := w.offer(c, "")
		if !w.ops.Presses(w.maya, ts, "Yes") {
			t.Fatal("there is no such button")
		}
		pass(3 * time.Second)
		if got := w.ops.PressedButtons(); len(got) != 1 || !got[0].Acked {
			t.Errorf("pressed: %+v, want it acknowledged", got)
		}
		picked := heard[adapters.ChoicePicked](b)
		if len(picked) != 1 || picked[0].Value != "yes" || picked[0].Message != ts || len(b.said()) > 0 {
			t.Errorf("got %+v and %q, want the press before history", picked, b.said())
		}
		for _, u := range b.all() {
			if strings.Contains(string(encoded(t, u)), "/respond/") {
				t.Errorf("the update holds the address that lets anybody in: %+v", u)
			}
		}
	})
}

// PLATFORMS 2: a slash command is acknowledged within Slack's three seconds, also while the
// gap of its channel is still being filled. Where it is not, Slack tells the person so.
func TestACommandDoesNotWaitForHistory(t *testing.T) {
	inBubble(t, func(w *workspace) {
		t := w.t
		w.ops.Says(w.maya, "while we were away", fakeslack.PostOptions{})
		w.app.Forget()
		w.Fault(fake.CallFault{Method: "conversations.history", Do: fake.Delay, Wait: 20 * time.Second, Times: -1})
		b := new(book)
		w.runs(b, w.options())
		w.ops.Commands(w.maya, w.app, "/trestle", "stop")
		pass(3 * time.Second)
		testutil.Same(t, "heard", []string{"/stop"}, b.said())
		testutil.Same(t, "told", 0, len(w.ops.Whispers()))
	})
	inBubble(t, func(w *workspace) {
		t := w.t
		w.ops.Commands(w.maya, w.app, "/trestle", "stop") // while nothing runs
		pass(time.Minute)
		b := new(book)
		w.runs(b, w.options())
		pass(time.Minute)
		testutil.Same(t, "heard", 0, len(b.said()))
		testutil.Same(t, "told", []fakeslack.EphemeralMessage{{To: w.maya.ID, Text: `/trestle failed with the error "operation_timeout"`}}, w.ops.Whispers())
	})
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	testutil.OK(t, err)
	return out
}

// TOOLS 4, SECURITY S9: presses come by requests too; one without Slack's signature, and one
// that is too old, is refused before it is read.
func TestAPressIsProvedLikeAnEvent(t *testing.T) {
	called(t, func(w *workspace, c *slack.Client, b *book) {
		t := w.t
		ts := w.offer(c, "")
		w.ops.Presses(w.maya, ts, "No")
		pass(time.Second)
		if got := heard[adapters.ChoicePicked](b); len(got) != 1 || got[0].Value != "no" {
			t.Errorf("got %+v, want one press", got)
		}
		if got := w.ops.PressedButtons(); len(got) != 1 || !got[0].Acked {
			t.Errorf("pressed: %+v, want it acknowledged", got)
		}
		forged := []byte(url.Values{"payload": {`{"type":"block_actions","user":{"id":"U1"},"team":{"id":"T0000001"},"trigger_id":"Tr9","channel":{"id":"` + w.ops.ID +
			`"},"container":{"message_ts":"` + ts + `"},"actions":[{"action_id":"choice:0","value":"yes","action_ts":"1700000000.000100"}]}`}}.Encode())
		for name, sign := range map[string]func(http.Header){
			"unsigned": func(http.Header) {},
			"stranger": func(h http.Header) { fakeslack.Sign(h, "another secret", forged, time.Now()) },
			"replayed": func(h http.Header) { fakeslack.Sign(h, signingSecret, forged, time.Now().Add(-6*time.Minute)) },
		} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/slack/events", bytes.NewReader(forged))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			sign(r.Header)
			answer := httptest.NewRecorder()
			c.ServeHTTP(answer, r)
			if answer.Code < 400 {
				t.Errorf("%s: answered %d", name, answer.Code)
			}
		}
		if got := heard[adapters.ChoicePicked](b); len(got) != 1 {
			t.Errorf("got %+v, want the proved press alone", got)
		}
	})
}

// TOOLS 4: who presses in a thread is answered there; who has left the channel is not there
// to be told, which is no reason to try again.
func TestAPressIsAnsweredInItsThread(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		t := w.t
		c := w.adapter(w.options())
		root := w.ops.Says(w.maya, "about the tap", fakeslack.PostOptions{})
		w.ops.Presses(w.maya, w.offer(c, root), "Yes")
		pass(time.Second)
		picked := heard[adapters.ChoicePicked](b)
		if len(picked) != 1 {
			t.Fatalf("got %+v, want one press", picked)
		}
		testutil.OK(t, c.AnswerPress(t.Context(), picked[0].Press, "not you <!here>"))
		got := w.ops.Whispers()
		if len(got) != 1 || got[0].Thread != root || got[0].To != w.maya.ID || len(w.Ledger().Called) > 0 {
			t.Errorf("told %+v, want in the thread %s; called %+v", got, root, w.Ledger().Called)
		}
		w.ops.Leaves(w.maya)
		if err := c.AnswerPress(t.Context(), picked[0].Press, "not you"); adapters.KindOf(err) != adapters.NoTarget {
			t.Errorf("who has left is told: %v, want no target", err)
		}
	})
}

// A workspace that refuses the blocks with buttons gets the words, which say how to answer.
func TestAMessageWhoseButtonsAreRefusedIsSentWithoutThem(t *testing.T) {
	inBubble(t, func(w *workspace) {
		w.Fault(fake.CallFault{Method: "chat.postMessage", Do: fake.Refuse, Description: "invalid_blocks"})
		w.offer(w.adapter(w.options()), "")
		if sent := w.ops.Sent(); len(sent) != 1 || sent[0].Text != "Shall I?" || len(sent[0].Buttons) > 0 {
			w.t.Errorf("sent %+v, want the words alone", sent)
		}
	})
}

// What others do with blocks, in our workspace or another, is no press of ours.
func TestOnlyPressesOfOurButtonsCount(t *testing.T) {
	listening(t, func(w *workspace, b *book) {
		const press = `{"type":"block_actions","user":{"id":"U1","team_id":"TEAM"},"team":{"id":"TEAM"},"trigger_id":"TrN","channel":{"id":"C1"},` +
			`"container":{"message_ts":"1700000000.000100"},"message":{"bot_id":"BOT"},"actions":[{"action_id":"ACTION","value":"yes","action_ts":"1700000000.000200"}]}`
		for i, form := range [][]string{
			{"TEAM", "T9", "BOT", w.app.BotID, "ACTION", "choice:0"},
			{"TEAM", w.Team(), "BOT", "B9", "ACTION", "choice:0"},
			{"TEAM", w.Team(), "BOT", w.app.BotID, "ACTION", "poll"},
			{"block_actions", "view_submission", "TEAM", w.Team()},
		} {
			form = append(form, "TrN", "Tr"+string(rune('a'+i)))
			w.app.InjectPayload("interactive", []byte(strings.NewReplacer(form...).Replace(press)))
		}
		pass(time.Second)
		if got := b.all(); len(heard[adapters.ChoicePicked](b)) > 0 || w.app.Pending() > 0 {
			w.t.Errorf("got %+v; %d wait for their acknowledgement", got, w.app.Pending())
		}
	})
}
