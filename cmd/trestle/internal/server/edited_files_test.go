package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A live location moves by edits: the agent is shown the newest place in one line,
// whether or not it saw the place before.
func TestLiveLocationIsShownWhereItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		says := llmtest.Says("Responded to Maya about the place. Seen.")
		w := newWorld(t, `
agents: {ada: {name: Ada, phases: one}}
spaces:
  family: {agents: [ada], wake: mention, chats: ["telegram:-1001000000001"]}
`, says, says)
		defer w.stop()
		w.addChat("family", "supergroup", []string{"Maya", "Kai"})
		w.settle()
		maya := w.people["Maya"]
		moves := func(kind string, at int) {
			t.Helper()
			edited := ""
			if kind == "edited_message" {
				edited = fmt.Sprintf(`,"edit_date":%d`, time.Now().Unix()+int64(at))
			}
			_, err := w.bot.Inject(json.RawMessage(fmt.Sprintf(`{%q:{"message_id":200,"from":{"id":%d,"is_bot":false,"first_name":"Maya"},`+
				`"chat":{"id":-1001000000001,"type":"supergroup","title":"family"},"date":%d%s,"location":{"latitude":48.%d,"longitude":11.5,"live_period":3600}}}`,
				kind, maya.ID, time.Now().Unix(), edited, at)))
			testutil.OK(t, err)
		}
		moves("message", 1)
		for at := 2; at <= 4; at++ {
			moves("edited_message", at)
		}
		w.settle()
		w.says(w.chats["family"], w.people["Kai"], "@ada_bot where is she?", 0, 0)
		w.settle()
		for at := 5; at <= 30; at++ {
			moves("edited_message", at)
		}
		w.settle()
		w.says(w.chats["family"], w.people["Kai"], "@ada_bot and now?", 0, 0)
		w.settle()
		asked := w.model.Requests()
		if len(asked) != 2 {
			t.Fatalf("the model was asked %d times, want 2", len(asked))
		}
		for i, want := range []string{`+location "48.400000, 11.500000"`, `edited #3 +location "48.300000, 11.500000": ""`} {
			var frame strings.Builder
			for _, m := range asked[i].Messages {
				frame.WriteString(m.Text + "\n")
			}
			got := frame.String()
			if i == 1 {
				got = got[strings.LastIndex(got, "INBOX"):]
			}
			if strings.Count(got, want) != 1 || strings.Count(got, "+location") != 1 {
				t.Errorf("request %d lacks %s, or has more places:\n%s", i, want, got)
			}
		}
	})
}
