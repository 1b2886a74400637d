package discord_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/trestle-bridge/trestle/adapters"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// schemas returns Discord's own description of the bodies of calls, by name.
func schemas(t *testing.T) func(call string) *jsonschema.Resolved {
	t.Helper()
	raw, err := os.ReadFile("testdata/openapi/requests.json")
	testutil.OK(t, err)
	return func(call string) *jsonschema.Resolved {
		t.Helper()
		var s jsonschema.Schema
		testutil.OK(t, json.Unmarshal(raw, &s))
		if s.Defs["call "+call] == nil {
			return nil
		}
		s.Ref = "#/$defs/call " + call
		resolved, err := s.Resolve(nil)
		testutil.OK(t, err)
		return resolved
	}
}

// DELIVERY 2.6, SECURITY S6, issue 5: every request fits Discord's schema, and every
// text, edits too, turns off mentions and previews.
func TestEveryRequestIsValidByDiscordsSchema(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		everyRequest(t, w)
		schema, seen := schemas(t), map[string]int{}
		for _, c := range w.Ledger().Calls {
			s := schema(c.Method)
			if s == nil || len(c.Body) == 0 {
				if len(c.Body) > 0 {
					t.Errorf("%s has a body, and no schema: %s", c.Method, c.Body)
				}
				continue
			}
			var body any
			testutil.OK(t, json.Unmarshal(c.Body, &body))
			if err := s.Validate(body); err != nil {
				t.Errorf("%s %s\n%v", c.Method, c.Body, err)
			}
			seen[c.Method]++
			if call, holds := quiet(t, c.Body); holds && !call {
				t.Errorf("%s may call people or show previews: %s", c.Method, c.Body)
			}
		}
		for _, call := range []string{
			"create message", "edit message", "begin thread", "open thread", "create webhook", "execute webhook", "edit webhook message",
			"answer interaction", "set commands",
		} {
			if seen[call] == 0 {
				t.Errorf("no %s was made", call)
			}
		}
		if s := schema("create message"); s.Validate(map[string]any{"content": 1}) == nil || s.Validate(map[string]any{"contents": "x"}) == nil {
			t.Error("the schema takes anything")
		}
	})
}

// quiet reports whether a body holds words, and whether those neither call anybody
// who is not named nor show previews.
func quiet(t *testing.T, raw []byte) (quiet, holds bool) {
	t.Helper()
	type text struct {
		Content *string `json:"content"`
		Flags   int     `json:"flags"`
		Allowed struct {
			Parse   []string `json:"parse"`
			Replied *bool    `json:"replied_user"`
		} `json:"allowed_mentions"`
		Message *text `json:"message"` // of a thread that begins
	}
	var said text
	if err := json.Unmarshal(raw, &said); err != nil && raw[0] == '{' {
		t.Fatal(err)
	}
	if said.Message != nil {
		said = *said.Message
	}
	a := said.Allowed
	return a.Parse != nil && len(a.Parse) == 0 && a.Replied != nil && !*a.Replied && said.Flags&4 != 0, said.Content != nil
}

// everyRequest makes every kind of call that has a body.
func everyRequest(t *testing.T, w *world) {
	t.Helper()
	ctx := t.Context()
	chat := w.room.ID.String()
	thread := w.room.NewThread(w.kai, "food")
	forum := w.guild.NewChannel("forum", fakediscord.Forum)
	button := w.says("here")
	synctest.Wait()
	kai := adapters.Person{ID: w.kai.ID.String(), Name: "Kai"}
	face := adapters.AgentPersona{Name: "Discord Max", Avatar: "https://example.org/max.png"}
	file := adapters.OutgoingFile{Name: "list.txt", MIME: "text/plain", Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte("milk"))), nil
	}}
	recording := file
	recording.Name, recording.MIME, recording.Spoken = "voice.ogg", "audio/ogg", 1500*time.Millisecond
	receipts := map[string]adapters.Receipt{}
	for name, p := range map[string]adapters.OutgoingMessage{
		"plain":   {Text: "hello @Kai", Key: "a key of any length whatever, longer than a nonce", Mentions: []adapters.Person{kai}},
		"answer":  {Text: "yes", ReplyTo: button.String()},
		"thread":  {Text: "inside", Thread: thread.ID.String()},
		"file":    {Text: "the list", Key: "f", Files: []adapters.OutgoingFile{file}},
		"spoken":  {Text: "heard", Files: []adapters.OutgoingFile{recording}},
		"face":    {Text: "I am Max", Face: face},
		"both":    {Text: "in the thread", Face: face, Thread: thread.ID.String(), Files: []adapters.OutgoingFile{file}},
		"buttons": {Text: "Shall I?", Choices: []adapters.ChoiceButton{{Label: "Yes", Value: "yes"}, {Label: "No", Value: "no"}}},
		"no name": {Text: "nobody", Face: adapters.AgentPersona{Name: strings.Repeat("x", 100), Avatar: ":robot:"}},
	} {
		p.Chat = chat
		r, err := w.client.Send(ctx, p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		receipts[name] = r
	}
	if _, err := w.client.Send(ctx, adapters.OutgoingMessage{Chat: forum.ID.String(), Text: "**What** is new?"}); err != nil {
		t.Error(err)
	}
	if _, err := w.client.Thread(ctx, adapters.MessageRef{Chat: chat, Message: receipts["plain"].Message}, "**Who** brings it?"); err != nil {
		t.Error(err)
	}
	for name, thread := range map[string]string{"plain": "", "face": "", "both": thread.ID.String()} {
		if err := w.client.Edit(ctx, adapters.MessageRef{Chat: chat, Thread: thread, Message: receipts[name].Message}, "changed"); err != nil {
			t.Errorf("edit %s: %v", name, err)
		}
	}
	for _, answered := range []func() int{
		w.room.Invokes(w.kai, w.bot, "stop", "now"),
		w.room.Presses(w.kai, w.bot, button, "approve 7"),
	} {
		synctest.Wait()
		if answered() == 0 {
			t.Error("an interaction was not answered")
		}
	}
	if err := w.client.Commands(ctx, []adapters.CommandMenuEntry{{Name: "stop", Help: "ends what I am doing"}, {Name: "help"}}); err != nil {
		t.Error(err)
	}
}
