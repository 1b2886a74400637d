package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/trestle-bridge/trestle/adapters"
)

// retold says in a line what updates tell.
func retold(updates []adapters.Update) string {
	var out []string
	said := func(m adapters.IncomingMessage) string {
		words := []string{fmt.Sprintf("%q", m.Text)}
		for _, a := range m.Attachments {
			words = append(words, fmt.Sprintf("+%s %q", a.Kind, a.Name))
		}
		return strings.Join(words, " ")
	}
	for _, u := range updates {
		var line string
		switch b := u.Body.(type) {
		case adapters.IncomingMessage:
			line = "says " + said(b)
		case adapters.MessageEdit:
			line = "edits " + said(b.New)
			if b.KeepsFiles {
				line += " keeping files"
			}
		case adapters.UnreadableUpdate:
			line = "unread " + b.Kind
		case adapters.ChatRenamed:
			line = "renames to " + b.Title
		default:
			line = fmt.Sprintf("%T", u.Body)
		}
		if u.From.Name != "" {
			line = u.From.Name + " " + line
		}
		if u.Thread.ID != "" {
			line += fmt.Sprintf(" in %s %q", u.Thread.ID, u.Thread.Title)
		}
		out = append(out, line)
	}
	return strings.Join(out, "; ")
}

// check reads messages of a room, by what each has beside its id and place.
func check(t *testing.T, kind string, cases [][2]string) {
	t.Helper()
	r := unconnected(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // Discord is not asked
	for _, c := range cases {
		raw := `{"id":"100","channel_id":"5","guild_id":"1","timestamp":"2020-01-01T00:00:00Z",` + c[0] + `}`
		got, err := r.read(ctx, event{Event: discordgo.Event{Operation: opDispatch, Type: kind, RawData: json.RawMessage(raw)}})
		if line := retold(got); err != nil || line != c[1] {
			t.Errorf("%s\n got %s (%v)\nwant %s", c[0], line, err, c[1])
		}
	}
}

// What a message carries after an edit is what is told, whichever kind it is.
func TestEditsOfEveryKindOfContent(t *testing.T) {
	const maya = `"author":{"id":"2","username":"maya","global_name":"Maya"},"edited_timestamp":"2020-01-01T00:00:00Z",`
	check(t, "MESSAGE_UPDATE", [][2]string{
		{maya + `"content":"look","attachments":[{"id":"7","filename":"new.pdf","content_type":"application/pdf","size":9}]`, `Maya edits "look" +file "new.pdf"`},
		{maya + `"content":"look","attachments":[]`, `Maya edits "look"`},
		{maya + `"content":"look"`, `Maya edits "look" keeping files`},
		{maya + `"content":"","attachments":[{"id":"7","filename":"a.png","content_type":"image/png","title":"A nice one"}]`, `Maya edits "" +photo "A nice one"`},
		{maya + `"content":"x","attachments":{}`, `Maya edits "x" keeping files`},
		{maya + `"content":"x","attachments":[7,{"id":"7","filename":"b.txt"}]`, `Maya edits "x" +file "b.txt"`},
		{maya + `"content":"","flags":8192,"attachments":[{"id":"7","filename":"voice-message.ogg","duration_secs":3,"waveform":"x"}]`, `Maya edits "" +voice "voice-message.ogg"`},
		{maya + `"content":"x","sticker_items":[{"id":"3","name":"Wave"}]`, `Maya edits "x" +sticker "Wave" keeping files`},
		{maya + `"content":"","embeds":[{"type":"rich","title":"T","description":"D"}],"attachments":[]`, `Maya edits "T\n\nD"`},
		{maya + `"content":"x","poll":{"question":{"text":"Lunch?"},"answers":[{"poll_media":{"text":"soup"}}]}`, `Maya edits "x\n\nPoll: Lunch?\n- soup" keeping files`},
		{maya + `"content":"x","components":[{"type":17,"components":[{"type":10,"content":"inside"}]}]`, `Maya edits "x\n\ninside" keeping files`},
		{maya + `"content":"x","type":4711`, ``},
		{maya + `"content":7`, `unread MESSAGE_UPDATE`},
	})
}

// People have the names that a message tells, unless those are blank.
func TestNamesOfEveryKindOfSender(t *testing.T) {
	check(t, "MESSAGE_CREATE", [][2]string{
		{`"content":"x","author":{"id":"2","username":"maya","global_name":"Maya"},"member":{"nick":"Mimi"}`, `Mimi says "x"`},
		{`"content":"x","author":{"id":"2","username":"maya","global_name":null}`, `maya says "x"`},
		{`"content":"x","author":{"id":"2","username":"maya","global_name":"  "},"member":{"nick":""}`, `maya says "x"`},
		{`"content":"x","author":{"id":"2","username":"maya","global_name":"Maya"},"member":{"nick":"\u2003"}`, `Maya says "x"`},
		{`"content":"x","author":{"id":"2","username":"maya"},"member":{"nick":7}`, `maya says "x"`},
		{`"content":"x","webhook_id":"6","author":{"id":"6","username":"CI bot"}`, `CI bot says "x"`},
	})
}

// A message of a kind that is not known is a notice, and no words of the person it names.
func TestUnknownKindsAreNoWords(t *testing.T) {
	const maya = `"author":{"id":"2","username":"maya","global_name":"Maya"},`
	check(t, "MESSAGE_CREATE", [][2]string{
		{maya + `"content":"","shared_client_theme":{"colors":["a"]}`, `Maya unread shared_client_theme`},
		{maya + `"content":"","activity":{"type":1},"application":{"name":"Game"}`, `Maya unread activity`},
		{maya + `"content":"","brand_new":[{"text":"words"}]`, `Maya unread brand_new`},
		{maya + `"content":"beside it","brand_new":{"text":"words"}`, `Maya says "beside it"`},
		{maya + `"content":"","nonce":"1","position":3,"reactions":[]`, `Maya says ""`}, // a bot that may not see words
		{maya + `"content":"","flags":32768,"components":[{"type":99,"content":"new"}]`, `Maya says "new"`},
		{maya + `"content":"","sticker_items":[{"id":"3","name":"Wave"}]`, `Maya says "" +sticker "Wave"`},
		{maya + `"content":"x","type":99`, `Maya unread message type 99`},
		{maya + `"content":"x","type":-1`, `Maya unread message type -1`},
		{maya + `"content":"x","type":"19"`, `unread MESSAGE_CREATE`},
	})
}
