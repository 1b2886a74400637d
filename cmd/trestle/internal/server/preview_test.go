package server

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
)

// K22, issue 3: of long answers in a private chat, what Telegram's pace holds
// back is shown meanwhile, and every part is sent once.
func TestWhatWaitsForItsTurnIsShownAsADraft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		say := func(topic string) llmtest.ScriptStep {
			args := fmt.Sprintf(`{"more":true,"text":%q}`, strings.Repeat(strings.Repeat(topic+" ", 500)+"\n\n", 3))
			return llmtest.ScriptStep{Response: llm.ModelResponse{Calls: []llm.ToolCall{{ID: topic, Name: "send_message", Args: args}}}}
		}
		w := newWorld(t, "admit: open\nphases: one\n", say("trees"), say("rivers"), say("hills"), llmtest.ScriptStep{
			Always: true, Response: llm.ModelResponse{Text: "Responded to Kai about nature. Said much. Nothing pending."},
		})
		defer w.stop()
		w.addChat("kai", "direct", []string{"Kai"})
		w.says(w.chats["kai"], w.people["Kai"], "tell me everything", 0, 0)
		w.settle()
		pass(20 * time.Second)
		w.settle()
		sent, drafts := w.chats["kai"].Sent(), w.chats["kai"].Drafts()
		if len(sent) != 9 || len(drafts) == 0 {
			t.Fatalf("%d parts and %d drafts, want 9 parts, some of them shown before", len(sent), len(drafts))
		}
		for _, d := range drafts {
			later := false
			for _, m := range sent {
				later = later || m.Text == d.Text && !m.At.Before(d.At)
			}
			if !later {
				t.Errorf("shown and not sent after it: %.40q", d.Text)
			}
		}
	})
}
