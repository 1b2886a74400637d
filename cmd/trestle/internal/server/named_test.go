package server

import (
	"testing"
	"testing/synctest"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// R-23, BLU-11: a person whom an agent names with @ is notified on the platform: by
// username, or by id without one; no other person is, and no name in code is.
func TestWhoAnAgentNamesIsCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		args := "{\"text\":\"@Kai and @Tom Lee, not @Nobody nor `@Maya`\"}"
		w := newWorld(t, "admit: open\nphases: one\n",
			llmtest.ScriptStep{Response: llm.ModelResponse{Calls: []llm.ToolCall{{ID: "1", Name: "send_message", Args: args}}}},
			llmtest.ScriptStep{Always: true, Response: llm.ModelResponse{Text: "Responded to Kai about names. Named them. Nothing pending."}})
		defer w.stop()
		w.addChat("home", "supergroup", []string{"Kai", "Maya"})
		tom := w.telegram.AddPerson(faketelegram.UserProfile{Name: "Tom", LastName: "Lee"})
		for _, p := range []*faketelegram.HumanUser{w.people["Maya"], tom} {
			w.chats["home"].Says(p, "hello", faketelegram.PostOptions{})
		}
		w.says(w.chats["home"], w.people["Kai"], "@ada_bot who is here?", 0, 0)
		w.settle()
		sent := w.chats["home"].Sent()
		if len(sent) != 1 {
			t.Fatalf("sent %+v", sent)
		}
		var handles, ids int
		for _, e := range sent[0].Entities {
			switch e.Type {
			case "mention":
				handles++
			case "text_link", "text_mention":
				ids++
			}
		}
		if got, want := sent[0].Text, "@kai and @Tom Lee, not @Nobody nor @Maya"; got != want || ids != 1 || handles == 0 {
			t.Errorf("sent %q with %+v, want %q with a mention by handle and one by id", got, sent[0].Entities, want)
		}
	})
}
