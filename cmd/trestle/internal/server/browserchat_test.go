package server

import (
	"bytes"
	"context"
	"html"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/adapters/fake"
	faketelegram "github.com/trestle-bridge/trestle/adapters/fake/telegram"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// A browserOfOwner asks the console for pages as the owner of the machine.
type browserOfOwner struct {
	w       *world
	console http.Handler
}

func (b browserOfOwner) get(path string) string {
	b.w.t.Helper()
	rec := httptest.NewRecorder()
	b.console.ServeHTTP(rec, httptest.NewRequestWithContext(b.w.t.Context(), http.MethodGet, path, nil))
	if rec.Code != http.StatusOK {
		b.w.t.Fatalf("%s: %d: %s", path, rec.Code, rec.Body)
	}
	return rec.Body.String()
}

// post sends a form, with a file if it has a name, and returns the code and where it leads to.
func (b browserOfOwner) post(path string, fields url.Values, name, data string) (int, string) {
	b.w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for k := range fields {
		testutil.OK(b.w.t, form.WriteField(k, fields.Get(k)))
	}
	if name != "" {
		part, err := form.CreateFormFile("file", name)
		testutil.OK(b.w.t, err)
		_, err = part.Write([]byte(data))
		testutil.OK(b.w.t, err)
	}
	testutil.OK(b.w.t, form.Close())
	r := httptest.NewRequestWithContext(b.w.t.Context(), http.MethodPost, path, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	rec := httptest.NewRecorder()
	b.console.ServeHTTP(rec, r)
	return rec.Code, rec.Header().Get("Location")
}

// A streamed is an answer that is written while others read it.
type streamed struct {
	http.ResponseWriter

	mu   sync.Mutex // guards text
	text strings.Builder
}

func (s *streamed) Header() http.Header { return http.Header{} }
func (s *streamed) WriteHeader(int)     {}
func (s *streamed) Flush()              {}
func (s *streamed) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *streamed) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// parts returns the parts of a page that a pattern matches, unescaped.
func parts(page, pattern string) (all []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(page, -1) {
		all = append(all, html.UnescapeString(strings.Join(m[1:], " ")))
	}
	return all
}

// An operator talks with one agent alone in the browser: a line with a file is in the record
// once although its form is sent twice, the agent asks, a button answers, and the page shows
// each step with its run.
func TestOperatorsTalkInTheBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask := llmtest.ScriptStep{Response: llm.ModelResponse{Calls: []llm.ToolCall{{ID: "1", Name: "ask", Args: `{"question":"Which **day**?","options":["Tuesday","Friday"]}`}}}}
		say := llmtest.ScriptStep{Response: llm.ModelResponse{Calls: []llm.ToolCall{{ID: "2", Name: "send_message", Args: `{"text":"Friday it is."}`}}}}
		w := newWorld(t, "admit: open\nphases: one\nagents:\n  ada: {name: Ada}\n  bob: {name: Bob}\nspaces:\n  kitchen: {agents: [ada, bob]}\n", ask, say)
		defer w.stop()
		b := browserOfOwner{w, w.process.newConsole().Socket()}
		list := parts(b.get("/chat"), `href="(/chat/[^"]+)"`)
		testutil.Same(t, "rooms", []string{"/chat/kitchen", "/chat/with:ada", "/chat/with:bob"}, list)

		const room = "/chat/with:ada"
		page := b.get(room)
		form := url.Values{"line": parts(page, `name="line" value="([^"]+)"`), "text": {"When do we meet?"}}
		ctx, leave := context.WithCancel(t.Context())
		stream, done := new(streamed), make(chan struct{})
		go func() {
			defer close(done)
			b.console.ServeHTTP(stream, httptest.NewRequestWithContext(ctx, http.MethodGet, room+"/events", nil))
		}()
		for range 2 {
			if code, to := b.post(room, form, "plan.txt", "cake at five"); code != http.StatusSeeOther || to != "/chat/with%3Aada" {
				t.Fatalf("said: %d, %q", code, to)
			}
		}
		w.settle()
		page = b.get(room)
		testutil.Same(t, "lines", []string{"mine When do we meet?", "agent-said Which <strong>day</strong>?\n\nTuesday\nFriday"}, linesOnPage(page))
		testutil.Same(t, "buttons", []string{"Tuesday", "Friday"}, parts(page, `<button>([^<]*day)</button>`))
		if !strings.Contains(stream.String(), `"kind":"changed"`) {
			t.Errorf("the browser was told %q", stream)
		}
		file := parts(page, `href="(/files/[^"]+)"`)
		if len(file) != 1 || b.get(file[0]) != "cake at five" {
			t.Errorf("the file is %q", file)
		}

		written := databaseCommits(w)
		b.get(room)
		if n := databaseCommits(w); n != written {
			t.Errorf("a look at an open room was committed: %s transactions, before %s", n, written)
		}
		press := url.Values{"message": parts(page, `name="message" value="([^"]+)"`)[:1], "value": parts(page, `name="value" value="([^"]+)"`)[1:]}
		code, to := b.post(room+"/press", press, "", "")
		if code != http.StatusSeeOther || strings.Contains(to, "told=") {
			t.Fatalf("pressed: %d, %q", code, to)
		}
		w.settle()
		page = b.get(room)
		if got := linesOnPage(page); len(got) != 3 || got[2] != "agent-said Friday it is." {
			t.Errorf("lines %q", got)
		}
		if got := parts(page, `<button>([^<]*day)</button>`); len(got) != 0 {
			t.Errorf("buttons %q are left", got)
		}
		runs := parts(page, `href="(/runs/[^"]+)">context`)
		if len(runs) == 0 || !strings.Contains(b.get(runs[0]), "When do we meet?") {
			t.Errorf("the answers lead to the frames %q", runs)
		}
		_, to = b.post(room+"/press", press, "", "")
		if !strings.Contains(to, "told=") {
			t.Errorf("pressed again: %q, want words", to)
		}

		if code, _ := b.post("/chat/kitchen", url.Values{"text": {"anyone?"}}, "", ""); code != http.StatusSeeOther {
			t.Fatalf("said in the kitchen: %d", code)
		}
		w.settle()
		if got := parts(b.get("/chat/kitchen"), `<p class="under"><span>([^<]*)`); len(got) != 1 || !strings.Contains(got[0], "@Ada, @Bob") {
			t.Errorf("a line that names no agent has %q below it", got)
		}
		leave()
		<-done
	})
}

// databaseCommits returns how many transactions the process has committed.
func databaseCommits(w *world) string {
	rec := httptest.NewRecorder()
	w.process.telemetry.Metrics().ServeHTTP(rec, httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "/metrics", nil))
	return parts(rec.Body.String(), `(?m)^trestle_database_commits_total (\S+)`)[0]
}

// linesOnPage returns the messages of a page, each behind whose it is.
func linesOnPage(page string) []string {
	all := parts(page, `(?s)<li id="m[^"]+" class="([^"]+)">.*?<div class="words">(.*?)</div>`)
	for i := range all {
		all[i] = strings.TrimSpace(regexp.MustCompile(`</?(p|ol|ul|li|br|a)\b[^>]*>`).ReplaceAllString(regexp.MustCompile(`(?s)<p><a .*`).ReplaceAllString(all[i], ""), ""))
	}
	return all
}

// An operator has a message sent again that the platform refused, and drops one that the platform
// asks to wait with; the room is told what became of each.
func TestOperatorsSendAgainOrDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := llmtest.Calls(llmtest.Call("1", "send_message", map[string]any{"text": "At eight."}))
		w := newWorld(t, "admit: open\nphases: one\nagents:\n  ada: {name: Ada}\n", answer, llmtest.Says("Nothing pending."), answer, llmtest.Says("Nothing pending."))
		defer w.stop()
		w.addChat("home", "direct", []string{"Kai"})
		b := browserOfOwner{w, w.process.newConsole().Socket()}
		verb := func(name string) (form string) {
			run := parts(b.get("/runs"), `href="/runs/([0-9a-f-]{36})"`)[0]
			if all := parts(b.get("/runs/"+run), `action="(/runs/[^"]+/`+name+`)"`); len(all) == 1 {
				form = all[0]
			}
			return form
		}
		sent := func() int { return len(w.chats["home"].Sent()) }

		w.telegram.Fault(fake.CallFault{Method: "sendMessage", Do: fake.Refuse, Status: 403, Description: "Forbidden: bot was blocked by the user"})
		w.chats["home"].Says(w.people["Kai"], "when?", faketelegram.PostOptions{})
		w.settle()
		if sent() != 0 || verb("drop") != "" {
			t.Fatalf("%d were sent", sent())
		}
		again := verb("resend")
		if code, _ := b.post(again, url.Values{}, "", ""); code != http.StatusSeeOther {
			t.Fatalf("sent again: %d", code)
		}
		w.settle()
		if log := w.log(spaces.Room); sent() != 1 || verb("resend") != "" || !strings.Contains(log, "delivered") {
			t.Errorf("%d were sent\n%s", sent(), log)
		}
		if code, _ := b.post(again, url.Values{}, "", ""); code != http.StatusBadRequest {
			t.Errorf("sent again, what is there: %d", code)
		}

		w.telegram.Fault(fake.CallFault{Method: "sendMessage", Do: fake.Refuse, RetryAfter: 600})
		w.chats["home"].Says(w.people["Kai"], "and when again?", faketelegram.PostOptions{})
		w.settle()
		if code, _ := b.post(verb("drop"), url.Values{}, "", ""); code != http.StatusSeeOther {
			t.Fatalf("dropped: %d", code)
		}
		pass(20 * time.Minute)
		w.settle()
		if log := w.log(spaces.Room); sent() != 1 || !strings.Contains(log, "cancelled") {
			t.Errorf("%d were sent\n%s", sent(), log)
		}
	})
}
