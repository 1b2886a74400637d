package telegram

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// sent is the answer to a good sendMessage.
const sent = `{"ok":true,"result":{"message_id":42,"date":1700000000,"chat":{"id":5}}}`

// answers opens a client whose every call is answered so.
func answers(t *testing.T, status int, body string) (*script, *Client) {
	t.Helper()
	s := &script{t: t, reply: func(asked) (int, string) { return status, body }}
	return s, s.open()
}

// refusal returns Telegram's own form of an error.
func refusal(code, description, parameters string) string {
	if parameters != "" {
		parameters = `,"parameters":` + parameters
	}
	return `{"ok":false,"error_code":` + code + `,"description":"` + description + `"` + parameters + `}`
}

func TestSendCarriesAllOfThePost(t *testing.T) {
	s, c := answers(t, 200, sent)
	got, err := c.Send(t.Context(), adapters.OutgoingMessage{
		Chat: "-1005", Thread: "9", ReplyTo: "41", Text: "<b>hi</b> @Ann",
		Mentions: []adapters.Person{{ID: "6", Name: "Ann"}},
	})
	testutil.OK(t, err)
	testutil.Same(t, "what came", adapters.Receipt{Message: "42", At: time.Unix(1700000000, 0).UTC()}, got)
	want := map[string][]string{
		"chat_id": {"-1005"}, "message_thread_id": {"9"}, "parse_mode": {"HTML"},
		"text":                 {`<b>hi</b> <a href="tg://user?id=6">@Ann</a>`},
		"reply_parameters":     {`{"message_id":41,"allow_sending_without_reply":true}`},
		"link_preview_options": {`{"is_disabled":true}`},
	}
	testutil.Same(t, "what came", want, map[string][]string(s.calls("sendMessage")[0].Form))
}

// DELIVERY 2.4 and PLATFORMS 1.4
func TestEveryOutcomeOfASendHasItsKind(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
		want   adapters.Error
	}{
		{"flood", 429, refusal("429", "Too Many Requests: retry after 9", `{"retry_after":9}`), adapters.Error{Kind: adapters.Limited, RetryAfter: 9 * time.Second}},
		{"flood told in words only", 429, refusal("429", "Too Many Requests: retry after 9", ""), adapters.Error{Kind: adapters.Limited, RetryAfter: 9 * time.Second}},
		{"flood page", 429, "<html>slow down</html>", adapters.Error{Kind: adapters.Limited}},
		{"migrated", 400, refusal("400", "Bad Request: group chat was upgraded to a supergroup chat", `{"migrate_to_chat_id":-1009}`), adapters.Error{Kind: adapters.Moved, MovedTo: "-1009"}},
		{"blocked", 403, refusal("403", "Forbidden: bot was blocked by the user", ""), adapters.Error{Kind: adapters.Forbidden}},
		{"kicked", 403, refusal("403", "Forbidden: bot was kicked from the supergroup chat", ""), adapters.Error{Kind: adapters.Forbidden}},
		{"no right", 400, refusal("400", "Bad Request: not enough rights to send text messages to the chat", ""), adapters.Error{Kind: adapters.Forbidden}},
		{"topic closed", 400, refusal("400", "Bad Request: TOPIC_CLOSED", ""), adapters.Error{Kind: adapters.NoTarget}},
		{"no write access", 400, refusal("400", "Bad Request: have no write access to the chat", ""), adapters.Error{Kind: adapters.Forbidden}},
		{"no words here", 400, refusal("400", "Bad Request: CHAT_SEND_PLAIN_FORBIDDEN", ""), adapters.Error{Kind: adapters.Forbidden}},
		{"banned from groups", 400, refusal("400", "Bad Request: USER_BANNED_IN_CHANNEL", ""), adapters.Error{Kind: adapters.Forbidden}},
		{"restricted", 400, refusal("400", "Bad Request: CHAT_RESTRICTED", ""), adapters.Error{Kind: adapters.Forbidden}},
		{"gone for good", 400, refusal("400", "Bad Request: INPUT_USER_DEACTIVATED", ""), adapters.Error{Kind: adapters.Forbidden}},
		{"no such id", 400, refusal("400", "Bad Request: CHAT_ID_INVALID", ""), adapters.Error{Kind: adapters.NoTarget}},
		{"no chat", 400, refusal("400", "Bad Request: chat not found", ""), adapters.Error{Kind: adapters.NoTarget}},
		{"no thread", 400, refusal("400", "Bad Request: message thread not found", ""), adapters.Error{Kind: adapters.NoTarget}},
		{"no reply target", 400, refusal("400", "Bad Request: message to be replied not found", ""), adapters.Error{Kind: adapters.NoTarget}},
		{"too long", 400, refusal("400", "Bad Request: message is too long", ""), adapters.Error{Kind: adapters.Invalid}},
		{"empty", 400, refusal("400", "Bad Request: message text is empty", ""), adapters.Error{Kind: adapters.Invalid}},
		{"dead token", 401, refusal("401", "Unauthorized", ""), adapters.Error{Kind: adapters.Unauthorized}},
		{"no token at all", 404, refusal("404", "Not Found", ""), adapters.Error{Kind: adapters.Unauthorized}},
		{"no such method", 404, refusal("404", "Not Found: method not found", ""), adapters.Error{Kind: adapters.Invalid}},
		{"code in the body only", 200, refusal("403", "Forbidden: user is deactivated", ""), adapters.Error{Kind: adapters.Forbidden}},
		{"their trouble", 500, refusal("500", "Internal Server Error", ""), adapters.Error{Kind: adapters.NotSent}},
		{"their trouble, naming a chat", 500, refusal("500", "chat not found", ""), adapters.Error{Kind: adapters.NotSent}},
		{"proxy page", 502, "<html>", adapters.Error{Kind: adapters.Unknown}},
		{"foreign 403", 403, "<html>", adapters.Error{Kind: adapters.Unknown}},
		{"not processed in time", 408, "", adapters.Error{Kind: adapters.NotSent}},
		{"unreadable", 200, "{", adapters.Error{Kind: adapters.Unknown}},
		{"empty object", 200, "{}", adapters.Error{Kind: adapters.Unknown}},
		{"no id", 200, `{"ok":true,"result":{"date":1}}`, adapters.Error{Kind: adapters.Unknown}},
		{"no message", 200, `{"ok":true,"result":true}`, adapters.Error{Kind: adapters.Unknown}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, c := answers(t, test.status, test.body)
			_, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: "5", Text: "x"})
			e, ok := err.(*adapters.Error) //nolint:errorlint // the contract says the type itself
			if !ok {
				t.Fatalf("got %v", err)
			}
			if e.Kind != test.want.Kind || e.RetryAfter != test.want.RetryAfter || e.MovedTo != test.want.MovedTo || e.Op != "sendMessage" {
				t.Errorf("got %v, want %+v", e, test.want)
			}
			if n := len(s.calls("sendMessage")); n != 1 {
				t.Errorf("sent %d times", n)
			}
		})
	}
}

// DELIVERY 2.4: what happened on the wire decides.
func TestSendThatMayHaveArrivedIsUnknown(t *testing.T) {
	var calls atomic.Int32
	after := func(h http.HandlerFunc) string {
		return serve(t, func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			h(w, r)
		})
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testutil.OK(t, err)
	testutil.OK(t, listener.Close())
	for _, test := range []struct {
		name, url string
		want      adapters.FailureKind
		calls     int32
	}{
		{"nobody there", "http://" + listener.Addr().String(), adapters.NotSent, 0},
		{"cut off after the request", after(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), adapters.Unknown, 1},
		{"no answer in time", after(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), adapters.Unknown, 1},
		{"cut off within the answer", after(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			io.WriteString(w, sent) //nolint:errcheck // cut off on purpose
		}), adapters.Unknown, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls.Store(0)
			c, err := New(Options{Token: testToken, APIURL: test.url, CallTimeout: 300 * time.Millisecond})
			testutil.OK(t, err)
			if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: "5", Text: "x"}); adapters.KindOf(err) != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if calls.Load() != test.calls {
				t.Errorf("the server was asked %d times, want %d", calls.Load(), test.calls)
			}
		})
	}
}

func TestCancelledSendSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := answers(t, hang, "")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Send(ctx, adapters.OutgoingMessage{Chat: "5", Text: "x"})
		if err == nil || !strings.Contains(err.Error(), "deadline") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRefusedMarkupGoesAsPlainTextOnce(t *testing.T) {
	s := &script{t: t}
	s.reply = func(a asked) (int, string) {
		if a.Form.Get("parse_mode") != "" {
			return 400, refusal("400", "Bad Request: can't parse entities: Unsupported start tag", "")
		}
		return 200, sent
	}
	if _, err := s.open().Send(t.Context(), adapters.OutgoingMessage{Chat: "5", Text: `<b>a &lt; b</b> <a href="http://x.y">link</a>`}); err != nil {
		t.Fatal(err)
	}
	calls := s.calls("sendMessage")
	if len(calls) != 2 || calls[1].Form.Get("text") != "a < b link" || calls[1].Form.Has("parse_mode") {
		t.Errorf("calls: %+v", calls)
	}

	s, c := answers(t, 400, refusal("400", "Bad Request: can't parse entities: still", ""))
	if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: "5", Text: "x"}); adapters.KindOf(err) != adapters.Invalid || len(s.calls("sendMessage")) != 2 {
		t.Errorf("got %v after %d calls, want invalid after 2", err, len(s.calls("sendMessage")))
	}
}

func TestReplyToAForeignIdIsRefusedHere(t *testing.T) {
	s, c := answers(t, 200, sent)
	if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: "5", Text: "x", ReplyTo: "170000.1"}); adapters.KindOf(err) != adapters.Invalid {
		t.Errorf("got %v", err)
	}
	if len(s.calls("sendMessage")) != 0 {
		t.Error("it was sent")
	}
}

// DELIVERY 2.2: what answers a message that only an export knows is sent all the same,
// like what answers one that is gone.
func TestAnAnswerToAnImportedMessageIsSent(t *testing.T) {
	s, c := answers(t, 200, sent)
	x := exportReader{q: ExportQuery{Export: ExportedChat{Type: "personal_chat"}}}
	if _, err := c.Send(t.Context(), adapters.OutgoingMessage{Chat: "5", Text: "x", ReplyTo: x.name(7)}); err != nil {
		t.Fatal(err)
	}
	if form := s.calls("sendMessage")[0].Form; form.Has("reply_parameters") || form.Get("text") != "x" {
		t.Errorf("sent %v", form)
	}
}

func TestEditAndDeleteTakeTheGoalForReached(t *testing.T) {
	m := adapters.MessageRef{Chat: "5", Message: "42"}
	for _, test := range []struct {
		name, said string
		edit, del  adapters.FailureKind // -1: success
	}{
		{"not modified", "Bad Request: message is not modified: specified new message content", -1, adapters.Invalid},
		{"gone", "Bad Request: message to delete not found", adapters.NoTarget, -1},
		{"too old", "Bad Request: message can't be deleted for everyone", adapters.Forbidden, adapters.Forbidden},
		{"gone for the edit", "Bad Request: message to edit not found", adapters.NoTarget, adapters.NoTarget},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, c := answers(t, 400, refusal("400", test.said, ""))
			for op, got := range map[adapters.FailureKind]error{test.edit: c.Edit(t.Context(), m, "new"), test.del: c.Delete(t.Context(), m)} {
				if (op == -1) != (got == nil) || got != nil && adapters.KindOf(got) != op {
					t.Errorf("got %v, want %s", got, op)
				}
			}
		})
	}
	s, c := answers(t, 200, `{"ok":true,"result":true}`)
	testutil.OK(t, c.Edit(t.Context(), m, c.Split("**new**")[0]))
	if form := s.calls("editMessageText")[0].Form; form.Get("text") != "<b>new</b>" || form.Get("message_id") != "42" {
		t.Errorf("edited with %v", form)
	}
}

func TestReactionsAreTelegramsOwn(t *testing.T) {
	m := adapters.MessageRef{Chat: "5", Message: "42"}
	for emoji, want := range map[string]string{
		"👍": "👍", "👍🏽": "👍", "❤️": "❤", "👨‍💻": "👨‍💻", "": "",
	} {
		s, c := answers(t, 200, `{"ok":true,"result":true}`)
		if err := c.React(t.Context(), m, emoji); err != nil {
			t.Errorf("%s: %v", emoji, err)
			continue
		}
		set := `[{"type":"emoji","emoji":"` + want + `"}]`
		if want == "" {
			set = "[]"
		}
		if got := s.calls("setMessageReaction")[0].Form.Get("reaction"); got != set {
			t.Errorf("%s: sent %s, want %s", emoji, got, set)
		}
	}
	_, c := answers(t, 200, `{"ok":true,"result":true}`)
	err := c.React(t.Context(), m, "🦖")
	if adapters.KindOf(err) != adapters.Invalid || !strings.Contains(err.Error(), "👍") {
		t.Errorf("got %v, want invalid with the list", err)
	}
}

func TestTypingKeepsToTheThread(t *testing.T) {
	s, c := answers(t, 200, `{"ok":true,"result":true}`)
	testutil.OK(t, c.Typing(t.Context(), adapters.MessageRef{Chat: "5", Thread: "9"}))
	if form := s.calls("sendChatAction")[0].Form; form.Get("action") != "typing" || form.Get("message_thread_id") != "9" {
		t.Errorf("sent %v", form)
	}
}

// R-23, SECURITY S6
func TestMentionsCallOnlyThoseGiven(t *testing.T) {
	people := []adapters.Person{{ID: "6", Name: "Ann"}, {ID: "7", Name: "Ann Lee"}, {ID: "8", Name: "Bob & Co", Handle: "bob_b"}, {ID: "chan", Name: "Nobody"}}
	for markup, want := range map[string]string{
		"hi @Ann!":                                              `hi <a href="tg://user?id=6">@Ann</a>!`,
		"hi @Ann Lee, @ann":                                     `hi <a href="tg://user?id=7">@Ann Lee</a>, <a href="tg://user?id=6">@ann</a>`,
		"@Bob &amp; Co and @BOB_B":                              "@bob_b and @bob_b",
		"@Annika me@Ann @Nobody @Zoe":                           "@Annika me@Ann @Nobody @Zoe",
		"<code>@Ann</code> <b>@Ann</b>":                         `<code>@Ann</code> <b><a href="tg://user?id=6">@Ann</a></b>`,
		`<a href="http://x.y/@Ann">@Ann</a>`:                    `<a href="http://x.y/@Ann">@Ann</a>`,
		"<pre><code class=\"language-x\">@Ann</code></pre>@Ann": "<pre><code class=\"language-x\">@Ann</code></pre>" + `<a href="tg://user?id=6">@Ann</a>`,
		"https://x.y/@Ann, see @Ann":                            `https://x.y/@Ann, see <a href="tg://user?id=6">@Ann</a>`,
		"@":                                                     "@", "": "",
	} {
		if got := linkMentions(markup, people); got != want {
			t.Errorf("%s\n became %s\n want   %s", markup, got, want)
		}
	}
	full := strings.Repeat("x", 4091) + " @Bo"
	if got := stripHTML(linkMentions(full, []adapters.Person{{ID: "8", Name: "Bo", Handle: "a_handle_much_longer"}})); got != full {
		t.Errorf("a full message grew to %d bytes", len(got))
	}
}

func BenchmarkSend(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) //nolint:errcheck // a benchmark's server
		io.WriteString(w, sent)     //nolint:errcheck // a benchmark's server
	}))
	defer server.Close()
	c, err := New(Options{Token: testToken, APIURL: server.URL})
	if err != nil {
		b.Fatal(err)
	}
	post := adapters.OutgoingMessage{Chat: "-1001234", ReplyTo: "41", Text: c.Split("Sure, **Kai**: the meeting is at `10:00`.")[0]}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Send(b.Context(), post); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
