package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/llm/modelhttp"
	"github.com/trestle-bridge/trestle/internal/llm/openai"
	"github.com/trestle-bridge/trestle/internal/testutil"
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
		case llmtest.CallsBadly, llmtest.SaysNothing:
			want = apology
		default:
		}
		t.Run(string(habit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := threeRooms(t, llmtest.MediocreModel{Habit: habit, Answer: answer})
				defer w.stop()
				w.saysEverywhere("@Ada when is dinner?")
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

// An endpoint that takes no tools, and fails for a moment, has the person answered in the
// model's words on every platform; its word for silence alone says nothing.
func TestAPersonIsAnsweredOverAnEndpointWithoutTools(t *testing.T) {
	const answer = "Dinner is at six."
	words := echoing(func(r llm.ModelRequest) string {
		last := r.Messages[len(r.Messages)-1].Text
		for _, m := range r.Messages {
			if strings.Contains(m.Text, "INBOX (") {
				last = m.Text
			}
		}
		if strings.Contains(last, "thank you") {
			return "[silent]"
		}
		return answer
	})
	synctest.Test(t, func(t *testing.T) {
		failing := 3
		endpoint := &llmtest.Server{
			Model: words,
			Rules: slices.DeleteFunc(llmtest.EndpointRules(), func(r llmtest.EndpointRule) bool { return r.Name != "Ollama: no tools" }),
			Fault: func(n int, _ llm.ModelRequest) llmtest.EndpointFault {
				if n <= failing {
					return llmtest.EndpointFault{Kind: llmtest.ServerError}
				}
				return llmtest.EndpointFault{}
			},
		}
		client, err := openai.New(modelhttp.ClientOptions{BaseURL: "http://model.test/v1", Transport: tripper(func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			endpoint.ServeHTTP(w, r)
			return w.Result(), nil
		})})
		testutil.OK(t, err)
		w := threeRooms(t, client)
		defer w.stop()
		w.saysEverywhere("@Ada when is dinner?")
		pass(10 * time.Minute)
		w.settle()
		if got := w.sent(); strings.Count(got, strconv.Quote(answer)) != 3 {
			t.Errorf("sent:\n%s\nwant the answer once in each chat", got)
		}
		before := w.sent()
		w.saysEverywhere("@Ada thank you")
		pass(10 * time.Minute)
		w.settle()
		testutil.Same(t, "what is in the chats after the model stayed silent", before, w.sent())
		all := endpoint.Ledger()
		if len(all) < failing+6 {
			t.Errorf("the endpoint was asked %d times", len(all))
		}
		for _, e := range all {
			if len(e.Request.Tools) > 0 {
				t.Error("a request offers tools to an endpoint that takes none")
			}
		}
	})
}

// An echoing model answers every request with a text.
type echoing func(llm.ModelRequest) string

func (f echoing) Generate(_ context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	return llm.ModelResponse{Text: f(r), Finish: llm.Stopped}, nil
}

// threeRooms returns a world with a group on each platform, for an agent that is
// answered by m.
func threeRooms(t *testing.T, m llm.ChatModel) *world {
	t.Helper()
	w := newWorldOf(t, `# slack, discord
agents: {ada: {name: Ada, phases: auto}}
spaces:
  family: {agents: [ada], wake: mention, chats: ["telegram:-1001000000001"]}
  ops: {agents: [ada], wake: mention, chats: ["acme:C0000007"]}
  kitchen: {agents: [ada], wake: mention, chats: ["guild:7"]}
`, m)
	w.addChat("family", "supergroup", []string{"Kai"})
	w.addChat("ops", "slack", []string{"Maya"})
	w.addChat("kitchen", "discord", []string{"Lee"})
	w.settle()
	return w
}

// saysEverywhere posts a message in each of three rooms.
func (w *world) saysEverywhere(text string) {
	w.chats["family"].Says(w.people["Kai"], text, faketelegram.PostOptions{})
	w.slack.rooms["ops"].Says(w.slack.people["Maya"], text, fakeslack.PostOptions{})
	w.discord.rooms["kitchen"].Says(w.discord.people["Lee"], text, fakediscord.PostOptions{})
	w.settle()
}
