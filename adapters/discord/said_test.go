package discord_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/adapters/discord"
	"github.com/trestle-bridge/trestle/adapters/fake"
	fakediscord "github.com/trestle-bridge/trestle/adapters/fake/discord"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// PLATFORMS 3.3, SEQ-06: whatever a message is made of, its words and files are told,
// and who said it, by the name that people see.
func TestWhatAMessageHoldsIsTold(t *testing.T) {
	const kai = `"author":{"id":"5","username":"kai.v","global_name":"Kai"}`
	type told struct {
		Who   string
		Kind  adapters.PersonKind
		Text  string
		Reply string
		From  string // whom it was forwarded from
		Files []string
	}
	for name, c := range map[string]struct {
		said string // fields of the message
		want told
	}{
		"a nickname":          {`"content":"hi",` + kai + `,"member":{"nick":"Captain"}`, told{Who: "Captain", Text: "hi"}},
		"no nickname":         {`"content":"hi",` + kai + `,"member":{"nick":null}`, told{Who: "Kai", Text: "hi"}},
		"only a user name":    {`"content":"hi","author":{"id":"5","username":"kai.v","global_name":null}`, told{Who: "kai.v", Text: "hi"}},
		"another's webhook":   {`"content":"hi","webhook_id":"6","author":{"id":"6","username":"News"}`, told{Who: "News", Kind: adapters.Bot, Text: "hi"}},
		"an answer":           {`"content":"yes",` + kai + `,"type":19,"message_reference":{"type":0,"message_id":"7","channel_id":"ROOM"}`, told{Who: "Kai", Text: "yes", Reply: "7"}},
		"followed from afar":  {`"content":"news",` + kai + `,"message_reference":{"type":0,"message_id":"7","channel_id":"8"}`, told{Who: "Kai", Text: "news"}},
		"forwarded":           {`"content":"",` + kai + `,"message_reference":{"type":1,"message_id":"7","channel_id":"8"},"message_snapshots":[{"message":{"content":"**look**","attachments":[{"id":"9","filename":"cat.png","content_type":"image/png"}]}}]`, told{Who: "Kai", Text: "**look**", From: "somebody", Files: []string{"photo cat.png"}}},
		"laid out":            {`"content":"",` + kai + `,"flags":32768,"components":[{"type":17,"components":[{"type":10,"content":"one"},{"type":1,"components":[{"type":2,"label":"Go"}]}]}]`, told{Who: "Kai", Text: "one\n\n[Go]"}},
		"an embed":            {`"content":"see",` + kai + `,"embeds":[{"type":"rich","title":"Sale","url":"https://a.example","description":"**now**","fields":[{"name":"When","value":"today"}],"footer":{"text":"end"}},{"type":"link","title":"a preview"}]`, told{Who: "Kai", Text: "see\n\n[Sale](https://a.example)\n\n**now**\n\nWhen: today\n\nend"}},
		"a poll":              {`"content":"",` + kai + `,"poll":{"question":{"text":"Soup?"},"answers":[{"poll_media":{"text":"yes"}},{"poll_media":{"text":"no"}}]}`, told{Who: "Kai", Text: "Poll: Soup?\n- yes\n- no"}},
		"a voice":             {`"content":"",` + kai + `,"flags":8192,"attachments":[{"id":"9","filename":"voice.ogg","content_type":"audio/ogg","duration_secs":2.5,"waveform":"AAA="}]`, told{Who: "Kai", Files: []string{"voice voice.ogg"}}},
		"a file with a title": {`"content":"",` + kai + `,"attachments":[{"id":"9","filename":"x.pdf","title":"the list","content_type":"application/pdf"},{"id":"10","filename":"a.mp3","content_type":"audio/mpeg"}]`, told{Who: "Kai", Files: []string{"file the list", "audio a.mp3"}}},
		"words and pictures":  {`"content":"",` + kai + `,"flags":32768,"components":[{"type":9,"components":[{"type":10,"content":"**now** <#ROOM>"}],"accessory":{"type":11,"description":"a cat"}},{"type":12,"items":[{"description":"two"},{}]},{"type":3,"placeholder":"Pick","options":[{"label":"A"},{"label":"B"}]},{"type":99,"content":7,"label":"Odd"}]`, told{Who: "Kai", Text: "**now** #general\n\n[image: a cat]\n\n[image: two] [image]\n\n[Pick: A, B]\n\n[Odd]"}},
		"an embedded picture": {`"content":"",` + kai + `,"embeds":[{"type":"rich","image":{"url":"https://a.example/x.png"}}]`, told{Who: "Kai", Text: "[image](https://a.example/x.png)"}},
		"a poll's end":        {`"content":"",` + kai + `,"type":46,"message_reference":{"type":0,"message_id":"7","channel_id":"ROOM"},"embeds":[{"type":"poll_result","fields":[{"name":"poll_question_text","value":"Soup?"},{"name":"victor_answer_id","value":"1"},{"name":"victor_answer_text","value":"yes"},{"name":"victor_answer_votes","value":"3"},{"name":"total_votes","value":"5"}]}]`, told{Who: "Kai", Text: "Poll closed: Soup?\n- yes: 3 of 5 votes", Reply: "7"}},
		"a poll nobody won":   {`"content":"",` + kai + `,"type":46,"embeds":[{"type":"poll_result","fields":[{"name":"poll_question_text","value":"Soup?"},{"name":"total_votes","value":"0"}]}]`, told{Who: "Kai", Text: "Poll closed: Soup?\n- no answer won; 0 votes"}},
		"a forwarded oddity":  {`"content":"",` + kai + `,"message_reference":{"type":1,"message_id":"7","channel_id":"8"},"message_snapshots":[{"message":{"content":"look","mention_roles":7}}]`, told{Who: "Kai", Text: "look", From: "somebody"}},
		"a sticker":           {`"content":"",` + kai + `,"sticker_items":[{"id":"9","name":"Wave","format_type":1}]`, told{Who: "Kai", Files: []string{"sticker Wave"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := open(t)
				room := w.room.ID.String()
				said := bytes.ReplaceAll([]byte(c.said), []byte("ROOM"), []byte(room))
				w.bot.Inject("MESSAGE_CREATE", fmt.Appendf(nil, `{"id":"9000001","channel_id":%q,"guild_id":%q,"timestamp":"2000-01-01T00:00:00Z",%s}`, room, w.guild.ID.String(), said))
				u, m := body[adapters.IncomingMessage](t, w.inbox.take())
				got := told{Who: u.From.Name, Kind: u.From.Kind, Text: m.Text, Reply: m.ReplyTo, From: m.Forwarded}
				for _, a := range m.Attachments {
					got.Files = append(got.Files, a.Kind+" "+a.Name)
				}
				if c.want.Kind == "" {
					c.want.Kind = adapters.Human
				}
				testutil.Same(t, "told", c.want, got)
			})
		})
	}
}

// SEQ-06: what a program says to a command comes without its words while it thinks, and
// its words with an update: they are what it said, once, and no edit.
func TestWhatAProgramThinksOfIsToldWhenItIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		message := func(content string, flags int) []byte {
			return fmt.Appendf(nil, `{"id":"%d","channel_id":%q,"guild_id":%q,"type":20,"flags":%d,"content":%q,"edited_timestamp":null,"timestamp":"2000-01-01T00:00:00Z","author":{"id":"6","username":"Helper","bot":true}}`,
				9000001, w.room.ID.String(), w.guild.ID.String(), flags, content)
		}
		w.bot.Inject("MESSAGE_CREATE", message("", 128))
		if got := w.inbox.take(); len(got) != 0 {
			t.Errorf("thinking is told as %+v", got)
		}
		w.bot.Inject("MESSAGE_UPDATE", message("42", 0))
		u, m := body[adapters.IncomingMessage](t, w.inbox.take())
		if m.Text != "42" || m.ID != "9000001" || u.From.Name != "Helper" {
			t.Fatalf("told %+v", m)
		}
		w.bot.Inject("MESSAGE_UPDATE", message("42", 0)) // a preview of what it links to, say
		for _, again := range w.inbox.take() {
			if again.Key != u.Key {
				t.Errorf("told once more, as %+v", again)
			}
		}
	})
}

// PLATFORMS 3.3: a sticker is found without the message it is on, also when that was
// forwarded; those that move are kept apart.
func TestStickersAreFetchedFromWhereTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		w.bot.Inject("MESSAGE_CREATE", fmt.Appendf(nil, `{"id":"9000001","channel_id":%q,"guild_id":%q,"content":"","author":{"id":"5","username":"kai"},
			"message_reference":{"type":1,"message_id":"7","channel_id":"8"},"message_snapshots":[{"message":{"content":"","sticker_items":[{"id":"9","name":"Wave","format_type":1},{"id":"10","name":"Jump","format_type":4}]}}]}`,
			w.room.ID.String(), w.guild.ID.String()))
		_, m := body[adapters.IncomingMessage](t, w.inbox.take())
		if len(m.Attachments) != 2 {
			t.Fatalf("told %+v", m)
		}
		asked := addresses{}
		c, err := discord.New(discord.Options{Token: rigToken, HTTPClient: &http.Client{Transport: &asked}})
		testutil.OK(t, err)
		for _, a := range m.Attachments {
			if f, err := c.Fetch(t.Context(), a, 100); err != nil || f.Close() != nil {
				t.Errorf("%s: %v", a.ID, err)
			}
		}
		testutil.Same(t, "asked", addresses{"https://cdn.discordapp.com/stickers/9.png", "https://media.discordapp.net/stickers/10.gif"}, asked)
	})
}

// addresses are what was asked for; all of it is there.
type addresses []string

func (a *addresses) RoundTrip(r *http.Request) (*http.Response, error) {
	*a = append(*a, r.URL.String())
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// PLATFORMS 3.3: what Discord would not take with one message is refused before it
// is asked.
func TestFilesThatDiscordDoesNotTakeAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		file := func(mb int) adapters.OutgoingFile {
			return adapters.OutgoingFile{Name: "big.bin", Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(make([]byte, mb<<20))), nil
			}}
		}
		for name, c := range map[string]struct {
			files []adapters.OutgoingFile
			taken bool
		}{
			"one of ten megabytes": {[]adapters.OutgoingFile{file(10)}, true},
			"one of eleven":        {[]adapters.OutgoingFile{file(11)}, false},
			"three of nine":        {[]adapters.OutgoingFile{file(9), file(9), file(9)}, false},
		} {
			_, err := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: w.room.ID.String(), Text: "x", Files: c.files})
			if c.taken && err != nil || !c.taken && (err == nil || adapters.KindOf(err) != adapters.Invalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if sent := w.room.Sent(w.bot); len(sent) != 1 {
			t.Errorf("%d messages were sent, want one", len(sent))
		}
	})
}

// A recording of what was said is a voice message, and a file where the channel takes none.
func TestARecordingIsAVoiceMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t)
		file := adapters.OutgoingFile{Name: "voice.ogg", MIME: "audio/ogg", Spoken: 1500 * time.Millisecond, Open: func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("OggS")), nil
		}}
		send := func() fakediscord.SentMessage {
			t.Helper()
			_, err := w.client.Send(t.Context(), adapters.OutgoingMessage{Chat: w.room.ID.String(), Text: "words", Files: []adapters.OutgoingFile{file}})
			testutil.OK(t, err)
			sent := w.room.Sent(w.bot)
			return sent[len(sent)-1]
		}
		if m := send(); m.Flags&(1<<13) == 0 || m.Content != "" || len(m.Files) != 1 {
			t.Errorf("sent %+v", m)
		}
		w.Fault(fake.CallFault{Method: "create message", Do: fake.Refuse, Status: 400, Description: `{"code":50173,"message":"You cannot send voice messages in this channel."}`, Times: 1})
		if m := send(); m.Flags&(1<<13) != 0 || m.Content != "words" || len(m.Files) != 1 || len(w.room.Sent(w.bot)) != 2 {
			t.Errorf("sent %+v", m)
		}
	})
}
