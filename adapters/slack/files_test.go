package slack_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakeslack "github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// words returns what a reader sees of the messages in a channel.
func words(c *fakeslack.WorkspaceChannel) []string {
	var all []string
	for _, one := range c.Sent() {
		all = append(all, one.Text+" + "+strings.Join(one.Files, ", "))
	}
	return all
}

// DELIVERY 2.2 (4): a message keeps its words when its files are hung on it, in each
// of the three forms, and where Slack takes no other than mrkdwn.
func TestAFileLeavesTheWordsOfItsMessage(t *testing.T) {
	for name, refuses := range map[string]string{"in its form": "", "as mrkdwn": "invalid_blocks"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *workspace) {
				c := w.adapter(w.options())
				open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("a,b")), nil }
				var want []string
				for key, text := range map[string]string{"k1": "the table", "k2": `\*the\* table`, "k3": "# the table"} {
					p := adapters.OutgoingMessage{Chat: w.ops.ID, Text: c.Split(text)[0], Key: key, Files: []adapters.OutgoingFile{{Name: "t.csv", MIME: "text/csv", Open: open}}}
					shown := strings.NewReplacer("# ", "", `\`, "").Replace(text)
					if refuses != "" {
						shown = strings.ReplaceAll(shown, "*", "") // which mrkdwn takes for its own
					}
					want = append(want, shown+" + t.csv")
					form := fake.CallFault{Method: "chat.postMessage", Do: fake.Refuse, Description: refuses}
					if text != "the table" && refuses != "" {
						w.Fault(form)
					}
					w.Fault(fake.CallFault{Method: "chat.update", Do: fake.Cut})
					if _, err := c.Send(w.t.Context(), p); adapters.KindOf(err) != adapters.Unknown || err == nil {
						w.t.Fatalf("%v, want unknown", err)
					}
					if form.Method = "chat.update"; text != "the table" && refuses != "" {
						w.Fault(form)
					}
					if _, found, err := c.Find(w.t.Context(), p); !found || err != nil {
						w.t.Errorf("found %t, %v", found, err)
					}
					if p.Key += "again"; text != "the table" && refuses != "" {
						form.Method = "chat.postMessage"
						w.Fault(form)
					}
					want = append(want, want[len(want)-1])
					if _, err := c.Send(w.t.Context(), p); err != nil {
						w.t.Error(err)
					}
				}
				testutil.Same(w.t, "words", want, words(w.ops))
			})
		})
	}
}

// a long text that is sent in rich text can be edited: beside its blocks Slack
// takes 4,000 letters of an update.
func TestALongTextCanBeEdited(t *testing.T) {
	inBubble(t, func(w *workspace) {
		c := w.adapter(w.options())
		sent, err := c.Send(w.t.Context(), adapters.OutgoingMessage{Chat: w.ops.ID, Text: c.Split("short * and sweet")[0]})
		testutil.OK(w.t, err)
		long := "*2* " + strings.Repeat("<& ", 1000)
		part := c.Split(strings.NewReplacer("*", `\*`, "<", `\<`, "&", `\&`).Replace(long))[0]
		testutil.OK(w.t, c.Edit(w.t.Context(), adapters.MessageRef{Chat: w.ops.ID, Message: sent.Message}, part))
		if got := w.ops.Sent()[0].Text; strings.TrimSpace(got) != strings.TrimSpace(long) {
			w.t.Errorf("got %.40q of %d letters", got, len(got))
		}
	})
}

// DELIVERY 2.4: a message that went without its face is completed with the words that
// it has.
func TestAFileLeavesTheWordsOfAMessageWithoutItsFace(t *testing.T) {
	inBubble(t, func(w *workspace) {
		open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("a,b")), nil }
		p := adapters.OutgoingMessage{
			Chat: w.ops.ID, Text: "the table", Unmasked: "Max: the table", Face: adapters.AgentPersona{Name: "Max"}, Key: "k",
			Files: []adapters.OutgoingFile{{Name: "t.csv", MIME: "text/csv", Open: open}},
		}
		w.Fault(fake.CallFault{Method: "chat.postMessage", Do: fake.Refuse, Description: "missing_scope"})
		w.Fault(fake.CallFault{Method: "chat.update", Do: fake.Cut})
		if _, err := w.adapter(w.options()).Send(w.t.Context(), p); adapters.KindOf(err) != adapters.Unknown || err == nil {
			w.t.Fatalf("%v, want unknown", err)
		}
		if _, found, err := w.adapter(w.options()).Find(w.t.Context(), p); !found || err != nil {
			w.t.Errorf("found %t, %v", found, err)
		}
		testutil.Same(w.t, "words", []string{"Max: the table + t.csv"}, words(w.ops))
	})
}
