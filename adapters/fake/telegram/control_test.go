package telegram_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/fake/telegram"
)

// panel drives a fake the way another process does.
type panel struct{ h http.Handler }

type made struct {
	OK      bool
	ID      int64
	Message int64
	Update  int64
	Count   int
	Topics  map[string]int64
	Error   string
}

func (p panel) do(t *testing.T, method, path, body string, into any) int {
	t.Helper()
	rec := httptest.NewRecorder()
	p.h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
	if err := json.Unmarshal(rec.Body.Bytes(), into); err != nil {
		t.Fatalf("%s %s: %v in %q", method, path, err, rec.Body)
	}
	return rec.Code
}

func (p panel) post(t *testing.T, what, body string) made {
	t.Helper()
	var m made
	if code := p.do(t, http.MethodPost, "/control/"+what, body, &m); code != http.StatusOK {
		t.Fatalf("%s %s: %d %s", what, body, code, m.Error)
	}
	return m
}

// The examples of the package comment work as written, one after the other.
func TestAWorldIsDrivenOverHTTP(t *testing.T) {
	tg := telegram.NewTelegram(telegram.Options{})
	p := panel{tg.Control()}
	p.post(t, "bots", `{"token":"1:a","name":"Ada","username":"ada_bot"}`)
	maya := p.post(t, "people", `{"name":"Maya","username":"maya"}`)
	room := p.post(t, "chats", `{"kind":"forum","title":"Family","people":[5000000001],"bots":[1],"topics":["Food"]}`)
	if maya.ID != 5000000001 || room.ID != -1001000000001 || room.Topics["Food"] != 2 {
		t.Fatalf("made %+v and %+v, want the ids the package comment shows", maya, room)
	}
	said := p.post(t, "says", `{"chat":-1001000000001,"from":5000000001,"text":"@ada_bot hello","thread":2}`)
	p.post(t, "says", `{"bot":1,"from":5000000001,"text":"hello, just us"}`)
	p.post(t, "does", `{"chat":-1001000000001,"from":5000000001,"do":"edits","message":`+id(said.Message)+`,"text":"hi"}`)
	p.post(t, "does", `{"chat":-1001000000001,"from":5000000001,"do":"promotes","whom":1}`)
	p.post(t, "inject", `{"bot":1,"update":{"brand_new":{}}}`)
	p.post(t, "fault", `{"do":"refuse","method":"sendMessage","retry_after":2,"every":5,"times":-1}`)
	p.do(t, http.MethodDelete, "/control/fault", "", new(made))

	var w telegram.WorldState
	p.do(t, http.MethodGet, "/control/world", "", &w)
	if len(w.Bots) != 1 || w.Bots[0].Pending != 8 || len(w.People) != 1 || len(w.Chats) != 2 {
		t.Errorf("the world is %+v, want a bot with eight updates, a person, two chats", w)
	}
	rec := httptest.NewRecorder()
	tg.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/bot1:a/sendMessage?chat_id=-1001000000001&text=hello", http.NoBody))
	var sent []telegram.ChatMessage
	p.do(t, http.MethodGet, "/control/sent?chat=-1001000000001&wait=5s&n=1", "", &sent)
	if len(sent) != 1 || sent[0].Text != "hello" {
		t.Errorf("sent %+v, want one hello", sent)
	}
	p.do(t, http.MethodGet, "/control/sent?bot=1&from=5000000001&wait=1ms", "", &sent)
	if len(sent) != 0 {
		t.Errorf("sent %+v to the direct chat, want nothing", sent)
	}
	var ledger telegram.CallLog
	p.do(t, http.MethodGet, "/control/ledger", "", &ledger)
	if len(ledger.Calls) != 1 {
		t.Errorf("%d calls in the ledger, want 1", len(ledger.Calls))
	}
}

func TestAControlCallThatCannotBeDoneSaysWhy(t *testing.T) {
	tg := telegram.NewTelegram(telegram.Options{})
	tg.AddBot(telegram.BotProfile{Token: "1:a"})
	tg.AddPerson(telegram.UserProfile{ID: 5, Name: "Maya"})
	p := panel{tg.Control()}
	for _, c := range [][2]string{
		{"bots", `{"token":"x"}`},
		{"people", `{"nome":"Maya"}`},
		{"chats", `{"kind":"palace","people":[5]}`},
		{"chats", `{"kind":"group"}`},
		{"chats", `{"kind":"group","people":[6]}`},
		{"chats", `{"kind":"group","people":[5],"bots":[6]}`},
		{"says", `{"chat":-1,"from":5,"text":"x"}`},
		{"says", `{"bot":1,"from":6,"text":"x"}`},
		{"does", `{"bot":1,"from":5,"do":"sings"}`},
		{"does", `{"bot":1,"from":5,"do":"edits","message":9}`},
		{"inject", `{"bot":1,"update":null}`},
		{"disorder", `{"bot":9}`},
		{"fault", `{`},
	} {
		var m made
		if code := p.do(t, http.MethodPost, "/control/"+c[0], c[1], &m); code != http.StatusBadRequest || m.Error == "" {
			t.Errorf("%s %s: %d %+v, want 400 with a reason", c[0], c[1], code, m)
		}
	}
}

func FuzzBotRequest(f *testing.F) {
	f.Add("sendMessage", "application/json", `{"chat_id":5,"text":"<b>x</b>","parse_mode":"HTML"}`)
	f.Add("getUpdates", "application/x-www-form-urlencoded", "offset=-1&limit=0&allowed_updates=[]")
	f.Add("setMessageReaction", "application/json", `{"chat_id":5,"message_id":1,"reaction":[{"type":"emoji","emoji":"👍"}]}`)
	f.Add("editMessageText", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\ny\r\n--x--\r\n")
	f.Fuzz(func(t *testing.T, method, kind, body string) {
		tg := telegram.NewTelegram(telegram.Options{})
		b := tg.AddBot(telegram.BotProfile{Token: "1:a", Username: "ada_bot"})
		b.Direct(tg.AddPerson(telegram.UserProfile{ID: 5, Name: "Maya"}))
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://telegram.test/", bytes.NewReader([]byte(body)))
		req.URL.Path = "/bot1:a/" + method
		req.Header.Set("Content-Type", kind)
		rec := httptest.NewRecorder()
		if strings.EqualFold(method, "getUpdates") && strings.Contains(body, "timeout") {
			return // would wait for what never comes
		}
		tg.ServeHTTP(rec, req)
		var a answer
		if err := json.Unmarshal(rec.Body.Bytes(), &a); err != nil {
			t.Fatalf("answered %q: %v", rec.Body, err)
		}
		if a.OK != (rec.Code == http.StatusOK) || !a.OK && a.Code != rec.Code {
			t.Errorf("status %d with %s", rec.Code, rec.Body)
		}
	})
}
