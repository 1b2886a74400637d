package server

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// A person who addresses an agent is answered once, however badly its model calls tools,
// or told that it could not; on every platform.
func TestAPersonIsAnsweredByAMediocreModel(t *testing.T) {
	const answer = "Dinner is at six."
	const apology = "I could not answer this: what my model returned could not be used. Please ask again."
	for _, habit := range llmtest.BadHabits {
		want := answer
		switch habit {
		case llmtest.RefusesInWords:
			want = "I am sorry, I cannot do that. " + answer
		case llmtest.CallsBadly, llmtest.SearchesForever, llmtest.SaysNothing:
			want = apology
		default:
		}
		t.Run(string(habit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorldOf(t, `# slack, discord
agents: {ada: {name: Ada, phases: auto}}
spaces:
  family: {agents: [ada], wake: mention, chats: ["telegram:-1001000000001"]}
  ops: {agents: [ada], wake: mention, chats: ["acme:C0000007"]}
  kitchen: {agents: [ada], wake: mention, chats: ["guild:7"]}
`, llmtest.MediocreModel{Habit: habit, Answer: answer})
				defer w.stop()
				w.addChat("family", "supergroup", []string{"Kai"})
				w.addChat("ops", "slack", []string{"Maya"})
				w.addChat("kitchen", "discord", []string{"Lee"})
				w.settle()
				w.chats["family"].Says(w.people["Kai"], "@Ada when is dinner?", faketelegram.PostOptions{})
				w.slack.rooms["ops"].Says(w.slack.people["Maya"], "@Ada when is dinner?", fakeslack.PostOptions{})
				w.discord.rooms["kitchen"].Says(w.discord.people["Lee"], "@Ada when is dinner?", fakediscord.PostOptions{})
				w.settle()
				pass(time.Minute)
				w.settle()
				got := w.sent()
				if n := strings.Count(got, fmt.Sprintf("%q", want)); n != 3 || strings.Count(got, answer) > 3 {
					t.Errorf("sent:\n%s\nwant %q once in each chat", got, want)
				}
			})
		})
	}
}
