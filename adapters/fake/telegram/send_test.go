package telegram_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// PLATFORMS 1.4: the platform's own words for each refusal.
func TestEveryRefusalHasThePlatformsWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		direct := w.bot.Direct(w.maya)
		theirs := direct.Says(w.maya, "hello", telegram.PostOptions{})
		forum := w.NewForum("Family", w.maya)
		forum.Adds(w.maya, w.bot)
		topic := forum.NewTopic(w.maya, "Food")
		elsewhere := forum.NewTopic(w.maya, "Travel")
		inTopic := forum.Says(w.maya, "pasta?", telegram.PostOptions{Thread: topic})
		closed := forum.NewTopic(w.maya, "Closed")
		forum.ClosesTopic(w.maya, closed)
		gone := forum.NewTopic(w.maya, "Gone")
		forum.DropsTopic(gone)
		kicked := w.NewSupergroup("Kicked", w.maya)
		kicked.Adds(w.maya, w.bot)
		kicked.Kicks(w.maya, w.bot)
		stranger := w.NewGroup("Stranger", w.maya)
		mute := w.NewSupergroup("Mute", w.maya)
		mute.Adds(w.maya, w.bot)
		mute.Restricts(w.maya, w.bot)
		blocked := w.AddPerson(telegram.UserProfile{Name: "Kai"})
		w.bot.Direct(blocked).Blocks(blocked, w.bot)

		chat, room := id(direct.ID()), id(forum.ID())
		for _, c := range []struct {
			name, method string
			fields       fields
			code         int
			text         string
		}{
			{"no chat", "sendMessage", fields{"chat_id": "-42", "text": "x"}, 400, "Bad Request: chat not found"},
			{"chat not named", "sendMessage", fields{"text": "x"}, 400, "Bad Request: chat_id is empty"},
			{"a person who never wrote", "sendMessage", fields{"chat_id": "9", "text": "x"}, 400, "Bad Request: chat not found"},
			{"no text", "sendMessage", fields{"chat_id": chat}, 400, "Bad Request: message text is empty"},
			{"only markup", "sendMessage", fields{"chat_id": chat, "text": "<b> </b>", "parse_mode": "HTML"}, 400, "Bad Request: text must be non-empty"},
			{"bad markup", "sendMessage", fields{"chat_id": chat, "text": "a < b", "parse_mode": "HTML"}, 400, `Bad Request: can't parse entities: Unsupported start tag "" at byte offset 2`},
			{"too long", "sendMessage", fields{"chat_id": chat, "text": strings.Repeat("ж", 4097)}, 400, "Bad Request: message is too long"},
			{"unknown mode", "sendMessage", fields{"chat_id": chat, "text": "x", "parse_mode": "BBCode"}, 400, "Bad Request: unsupported parse_mode"},
			{"reply to nothing", "sendMessage", fields{"chat_id": chat, "text": "x", "reply_parameters": `{"message_id":99}`}, 400, "Bad Request: message to be replied not found"},
			{"reply across topics", "sendMessage", fields{"chat_id": room, "text": "x", "message_thread_id": id(elsewhere), "reply_parameters": `{"message_id":` + id(inTopic) + `}`}, 400, "Bad Request: message to be replied not found"},
			{"no such topic", "sendMessage", fields{"chat_id": room, "text": "x", "message_thread_id": "999"}, 400, "Bad Request: message thread not found"},
			{"dropped topic", "sendMessage", fields{"chat_id": room, "text": "x", "message_thread_id": id(gone)}, 400, "Bad Request: message thread not found"},
			{"closed topic", "sendMessage", fields{"chat_id": room, "text": "x", "message_thread_id": id(closed)}, 400, "Bad Request: TOPIC_CLOSED"},
			{"topic where there are none", "sendMessage", fields{"chat_id": chat, "text": "x", "message_thread_id": "1"}, 400, "Bad Request: message thread not found"},
			{"kicked", "sendMessage", fields{"chat_id": id(kicked.ID()), "text": "x"}, 403, "Forbidden: bot was kicked from the supergroup chat"},
			{"never let in", "sendMessage", fields{"chat_id": id(stranger.ID()), "text": "x"}, 403, "Forbidden: bot is not a member of the group chat"},
			{"blocked", "sendMessage", fields{"chat_id": id(blocked.ID), "text": "x"}, 403, "Forbidden: bot was blocked by the user"},
			{"restricted", "sendMessage", fields{"chat_id": id(mute.ID()), "text": "x"}, 400, "Bad Request: not enough rights to send text messages to the chat"},
			{"edit of nothing", "editMessageText", fields{"chat_id": chat, "message_id": "99", "text": "x"}, 400, "Bad Request: message to edit not found"},
			{"edit of another's", "editMessageText", fields{"chat_id": chat, "message_id": id(theirs), "text": "x"}, 400, "Bad Request: message can't be edited"},
			{"delete of nothing", "deleteMessage", fields{"chat_id": chat, "message_id": "99"}, 400, "Bad Request: message to delete not found"},
			{"delete without right", "deleteMessage", fields{"chat_id": room, "message_id": id(inTopic)}, 400, "Bad Request: message can't be deleted"},
			{"reaction to nothing", "setMessageReaction", fields{"chat_id": chat, "message_id": "99", "reaction": `[{"type":"emoji","emoji":"👍"}]`}, 400, "Bad Request: message to react not found"},
			{"reaction not in the set", "setMessageReaction", fields{"chat_id": chat, "message_id": id(theirs), "reaction": `[{"type":"emoji","emoji":"🍎"}]`}, 400, "Bad Request: REACTION_INVALID"},
			{"two reactions", "setMessageReaction", fields{"chat_id": chat, "message_id": id(theirs), "reaction": `[{"type":"emoji","emoji":"👍"},{"type":"emoji","emoji":"🔥"}]`}, 400, "Bad Request: REACTIONS_TOO_MANY"},
			{"unknown action", "sendChatAction", fields{"chat_id": chat, "action": "dancing"}, 400, "Bad Request: wrong parameter action in request"},
			{"no such file", "getFile", fields{"file_id": "nope"}, 400, "Bad Request: invalid file_id"},
			{"bad command", "setMyCommands", fields{"commands": `[{"command":"Stop!","description":"x"}]`}, 400, "Bad Request: BOT_COMMAND_INVALID"},
			{"no such method", "sendTelepathy", nil, 404, "Not Found: method not found"},
		} {
			a := w.call(t, c.method, c.fields)
			if a.OK || a.Status != c.code || a.Code != c.code || a.Description != c.text {
				t.Errorf("%s: got %d %q, want %d %q", c.name, a.Code, a.Description, c.code, c.text)
			}
		}
		stranger2 := w.client
		stranger2.token = "77:guess"
		if a := stranger2.call(t, "getMe", nil); a.Status != 401 || a.Description != "Unauthorized" {
			t.Errorf("a wrong token got %d %q, want 401 Unauthorized", a.Status, a.Description)
		}
	})
}

func TestAMessageIsReadAlikeInEveryEncoding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		first := chat.Says(w.maya, "hello", telegram.PostOptions{})
		reply := `{"message_id":` + id(first) + `,"allow_sending_without_reply":true}`
		form := fields{"chat_id": id(chat.ID()), "text": "<b>x</b>", "parse_mode": "HTML", "reply_parameters": reply}

		var multi bytes.Buffer
		mw := multipart.NewWriter(&multi)
		for k, v := range form {
			testutil.OK(t, mw.WriteField(k, v))
		}
		testutil.OK(t, mw.Close())
		for kind, body := range map[string]string{
			"application/json":         `{"chat_id":` + id(chat.ID()) + `,"text":"<b>x</b>","parse_mode":"HTML","reply_parameters":` + reply + `}`,
			mw.FormDataContentType():   multi.String(),
			"application/json; x=text": `{"chat_id":"` + id(chat.ID()) + `","text":"<b>x</b>","parse_mode":"html","reply_parameters":` + reply + `,"message_thread_id":null}`,
		} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.base+"/bot"+w.token+"/SENDmessage", strings.NewReader(body))
			testutil.OK(t, err)
			req.Header.Set("Content-Type", kind)
			if a, err := w.do(req); err != nil || !a.OK {
				t.Errorf("%s: %+v, %v", kind, a, err)
			}
		}
		w.must(t, new(message), "sendMessage", form)
		for _, m := range chat.Sent() {
			if m.Text != "x" || m.ReplyTo != first || len(m.Entities) != 1 || m.Entities[0].Type != "bold" {
				t.Errorf("sent %+v, want a bold x that answers %d", m, first)
			}
		}
		if n := len(chat.Sent()); n != 4 {
			t.Errorf("%d messages, want 4", n)
		}
	})
}

func TestSendEditReactDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		m := w.send(t, chat.ID(), "  <i>hi</i> @maya \n", fields{"parse_mode": "HTML"})
		if m.Text != "hi @maya" || m.From.ID != 77 || !m.From.IsBot || len(m.Entities) != 2 {
			t.Errorf("sent %+v, want the text without markup and white space", m)
		}
		at := fields{"chat_id": id(chat.ID()), "message_id": id(m.ID), "text": "hello"}
		var edited message
		w.must(t, &edited, "editMessageText", at)
		if edited.Text != "hello" || edited.EditDate == 0 {
			t.Errorf("edited %+v", edited)
		}
		if a := w.call(t, "editMessageText", at); a.Code != 400 || !strings.HasPrefix(a.Description, "Bad Request: message is not modified") {
			t.Errorf("the same edit again: %+v, want not modified", a)
		}
		at["reaction"] = `[{"type":"emoji","emoji":"🔥"}]`
		w.must(t, new(bool), "setMessageReaction", at)
		w.must(t, new(bool), "deleteMessage", at)
		got := chat.Sent()[0]
		if got.Edits != 1 || !got.Deleted || !cmp.Equal(got.Reactions, map[int64][]string{77: {"🔥"}}) {
			t.Errorf("the message is now %+v, want edited once, burning, deleted", got)
		}
		w.must(t, new(bool), "sendChatAction", fields{"chat_id": id(chat.ID()), "action": "typing"})
		if a := chat.Actions(); len(a) != 1 || a[0].Action != "typing" {
			t.Errorf("actions %+v, want one typing", a)
		}
	})
}

func TestALongTextIsMeasuredAfterParsing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		w.send(t, chat.ID(), "<b>"+strings.Repeat("&lt;", 4096)+"</b>", fields{"parse_mode": "HTML"})
	})
}

// SECURITY: what leaves through a link preview is seen in the ledger.
func TestThePreviewBotFetchesTheFirstAddressUnlessForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		chat := w.bot.Direct(w.maya)
		off := fields{"link_preview_options": `{"is_disabled":true}`}
		w.send(t, chat.ID(), "see https://a.example.com/?q=1 and https://b.example.com", nil)
		w.send(t, chat.ID(), "see https://c.example.com", off)
		w.send(t, chat.ID(), "no address", nil)
		m := w.send(t, chat.ID(), `<a href="https://d.example.com">d</a>`, fields{"parse_mode": "HTML"})
		w.call(t, "editMessageText", fields{"chat_id": id(chat.ID()), "message_id": id(m.ID), "text": "now https://e.example.com/x"})
		var got []string
		for _, u := range w.Ledger().Unfurled {
			got = append(got, u.URL)
		}
		want := []string{"https://a.example.com/?q=1", "https://d.example.com/", "https://e.example.com/x"}
		testutil.Same(t, "fetched", want, got)
		if s := chat.Sent(); s[0].NoPreview || !s[1].NoPreview {
			t.Errorf("previews forbidden: %v, %v; want no, yes", s[0].NoPreview, s[1].NoPreview)
		}
	})
}

func TestAFileCanBeFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegram.Options{})
		w.bot.Direct(w.maya).Says(w.maya, "look", telegram.PostOptions{File: &telegram.SharedFile{Kind: "document", Name: "a.txt", Data: []byte("hello")}})
		m := w.poll(t, 0, nil)[0].Message
		if m.Caption != "look" || m.Text != "" || m.Document == nil {
			t.Fatalf("got %+v, want a document with a caption", m)
		}
		var f struct {
			Path string `json:"file_path"`
			Size int    `json:"file_size"`
		}
		w.must(t, &f, "getFile", fields{"file_id": m.Document.FileID})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.base+"/file/bot"+w.token+"/"+f.Path, nil)
		testutil.OK(t, err)
		res, err := w.http.Do(req)
		testutil.OK(t, err)
		defer res.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(res.Body); err != nil || b.String() != "hello" || f.Size != 5 {
			t.Errorf("fetched %q (%d bytes said), %v; want hello", b.String(), f.Size, err)
		}
	})
}
