package slack_test

import (
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// SEQ-96, PLATFORMS 2: people's words from another chat stand under their name, or
// behind it where the bot token lacks chat:write.customize; their edits do the same.
func TestCarriedWordsAlwaysShowWhoseTheyAre(t *testing.T) {
	const led = "Zoe (Discord): "
	for name, c := range map[string]struct {
		lacks, refuses bool
		username, want string
	}{
		"with the scope": {username: "Zoe (Discord)"},
		"without":        {lacks: true, want: led},
		"told late":      {refuses: true, want: led},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *workspace) {
				t := w.t
				o := w.options()
				if c.lacks {
					const token = "xoxb-plain"
					app := w.AddApp(fakeslack.AppProfile{
						Name: "Plain", BotToken: token, AppToken: "xapp-plain",
						Scopes: strings.Split(strings.ReplaceAll(fakeslack.AllScopes, "chat:write.customize,", ""), ","),
					})
					w.ops.Invites(w.maya, app)
					o.BotToken = token
				}
				client := w.adapter(o)
				if _, err := client.Connect(t.Context()); err != nil {
					t.Fatal(err)
				}
				if c.refuses {
					w.Fault(fake.CallFault{Method: "chat.postMessage", Do: fake.Refuse, Description: "missing_scope"})
				}
				p := adapters.OutgoingMessage{Chat: w.ops.ID, Key: "k", Text: "hello", Unmasked: "*Zoe* (Discord): hello", Face: adapters.AgentPersona{Name: "Zoe (Discord)"}}
				r, err := client.Send(t.Context(), p)
				testutil.OK(t, err)
				if m := w.ops.Sent()[0]; m.Username != c.username || m.Text != c.want+"hello" {
					t.Errorf("%q says %q, want %q to say %q", m.Username, m.Text, c.username, c.want+"hello")
				}
				if masks := client.SupportsPersona(p.Chat); masks != (c.username != "") {
					t.Errorf("has faces: %t", masks)
				}
				testutil.OK(t, client.EditAs(t.Context(), adapters.MessageRef{Chat: p.Chat, Message: r.Message}, "hi", "*Zoe* (Discord): hi"))
				if m := w.ops.Sent()[0]; m.Text != c.want+"hi" {
					t.Errorf("edited to %q, want %q", m.Text, c.want+"hi")
				}
			})
		})
	}
}
