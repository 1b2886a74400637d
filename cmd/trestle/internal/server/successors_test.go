package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

const (
	withAda = "admit: open\nagents: {ada: {name: Ada}, bea: {name: Bea}}\ndefault_agents: [ada]\nspaces: {den: {agents: [ada], wake: all, chats: [\"telegram:-1001000000001\"]}}\n"
	withBea = "admit: open\nagents: {bea: {name: Bea}}\nspaces: {den: {agents: [bea], wake: all, chats: [\"telegram:-1001000000001\"]}}\n"
)

// DESIGN 9: who wrote to an agent that the configuration has no more is answered by who
// joins such chats now, after a reload and after a restart.
func TestAChatOfAnAgentThatIsGoneGetsAnotherOne(t *testing.T) {
	for name, change := range map[string]func(*world){
		"reload":  func(w *world) { w.reload(withBea) },
		"restart": func(w *world) { w.config = withBea; w.restart() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answers := func(text string) []llmtest.ScriptStep {
					return []llmtest.ScriptStep{llmtest.Says("thinking"), llmtest.Calls(llm.ToolCall{ID: "1", Name: "send_message", Args: `{"text":"` + text + `"}`}), llmtest.Says("Responded.")}
				}
				w := newWorld(t, withAda, append(answers("It is Ada."), answers("It is Bea.")...)...)
				w.addChat("kai", "direct", []string{"Kai"})
				w.chats["kai"].Says(w.people["Kai"], "hello", faketelegram.PostOptions{})
				w.settle()
				change(w)
				w.chats["kai"].Says(w.people["Kai"], "hello again", faketelegram.PostOptions{})
				w.settle()
				testutil.Same(t, "what was sent", "kai: \"It is Ada.\"\nkai: \"It is Bea.\"\n", w.sent())
				w.stop()
			})
		})
	}
}

// A brooding model answers nothing until it is told to.
type brooding struct {
	llm.ChatModel
	answers bool
}

func (b *brooding) Generate(ctx context.Context, r llm.ModelRequest) (llm.ModelResponse, error) {
	if !b.answers {
		<-ctx.Done()
		return llm.ModelResponse{}, context.Cause(ctx)
	}
	return b.ChatModel.Generate(ctx, r)
}

// DELIVERY 2.2 promise 2: what an agent had begun when it was taken out of the
// configuration has an end and a reason, and does not go on when it is back.
func TestAnAgentThatComesBackSaysNothingStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &brooding{ChatModel: llmtest.NewScripted(t.Errorf)}
		w := newWorldOf(t, withAda, b)
		w.addChat("den", "supergroup", []string{"Kai"})
		w.chats["den"].Says(w.people["Kai"], "what is on tonight?", faketelegram.PostOptions{})
		pass(5 * time.Second)
		tally := func() (inbox, open int) {
			n, err := w.process.Store.Console().Tally(t.Context(), time.Now())
			testutil.OK(t, err)
			return n.Inbox, n.Open
		}
		if _, open := tally(); open != 1 {
			t.Fatalf("%d cycles are open, want the one that is to be left behind", open)
		}
		w.config, b.answers = withBea, true
		w.restart()
		if inbox, open := tally(); inbox != 0 || open != 0 {
			t.Errorf("%d rows and %d cycles are left", inbox, open)
		}
		pass(3 * time.Hour)
		w.config = withAda
		w.restart()
		testutil.Same(t, "what was sent", "", w.sent())
		w.stop()
	})
}
