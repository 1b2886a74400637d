package console_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/shell"
	"github.com/trestle-bridge/trestle/spaces"
)

// submit posts a form of a page over the control socket and returns its status.
func submit(t *testing.T, w *consoletest.ConsoleWorld, path string, fields url.Values) int {
	t.Helper()
	form := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(fields.Encode()))
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	w.Console.Socket().ServeHTTP(rec, form)
	return rec.Code
}

// The operator lets people in by their code and chats by their name, refuses and shuts out; on
// the page and over the API.
func TestPeopleAreLetInAndShutOutInTheConsole(t *testing.T) {
	w := consoletest.Open(t)
	w.Program.Say("Maya <b>")
	page := ownerDo(t, w, http.MethodGet, "/people", "").Body.String()
	for _, want := range []string{"Maya &lt;b&gt;", `action="/people/admit"`, `aria-label="Refuse Maya &lt;b&gt;"`, `<details class="confirm"><summary aria-label="Shut out -9"`, `<b class="count">1</b>`, "trestle pair"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, post := range []struct {
		path   string
		fields url.Values
		code   int
	}{
		{"/people/admit", url.Values{"code": {"K7QD-X2FM"}, "role": {"admin"}, "circle": {"home"}}, 303},
		{"/people/admit", url.Values{"chat": {"telegram:-1001"}}, 303},
		{"/people/admit", url.Values{"code": {"WRONG"}}, 400},
		{"/people/revoke", url.Values{"account": {"telegram:42"}, "id": {"8"}}, 303},
		{"/people/revoke", url.Values{"account": {"telegram:42"}, "id": {"1"}}, 400},
	} {
		if got := submit(t, w, post.path, post.fields); got != post.code {
			t.Errorf("%s %v: %d, want %d", post.path, post.fields, got, post.code)
		}
	}
	for path, body := range map[string]string{"/api/pairings": `{"code":"K7QD-X2FM"}`, "/api/pairings/revoke": `{"account":"telegram:42","id":"7"}`} {
		if rec := ownerDo(t, w, http.MethodPost, path, body); rec.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
		if rec := ownerDo(t, w, http.MethodPost, path, `{"code":"WRONG"}`); rec.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s of no one: %d", path, rec.Code)
		}
	}
	asked := w.Program.Asked()
	testutil.Same(t, "asked first", []string{"admit K7QD-X2FM admin home", "admit telegram:-1001  ", "shut out telegram:42 8"}, asked[:3])
	testutil.Same(t, "asked over the API", 2, len(asked[3:]))
	if all := get(t, w, "/api/pairings", 200); len(all["pairings"].([]any)) != 1 || len(all["admitted"].([]any)) != 2 || len(all["refused"].([]any)) != 1 {
		t.Errorf("lists are %v", all)
	}
}

// An agent is stopped, muted and unmuted on the page of a space, which shows whether it is
// muted; an agent that is not there is not.
func TestAgentsAreSteeredInTheConsole(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("hello")
	path := "/spaces/" + string(l.Space)
	page := ownerDo(t, w, http.MethodGet, path, "").Body.String()
	for _, want := range []string{path + "/agents/ada/mute", path + "/agents/ada/stop", "cannot be undone", `<span class="stop good">answers</span>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for verb, code := range map[string]int{"ada/stop": 303, "ada/mute": 303, "ada/unmute": 303, "ada/dance": 404, "bob/stop": 404} {
		if got := submit(t, w, path+"/agents/"+verb, nil); got != code {
			t.Errorf("%s: %d, want %d", verb, got, code)
		}
	}
	testutil.Same(t, "asked", 3, len(w.Program.Asked()))
	if v := ownerDo(t, w, http.MethodPost, "/api"+path+"/agents/ada/stop", ""); v.Code != 200 || !strings.Contains(v.Body.String(), `"unsent": 2`) {
		t.Errorf("over the API: %d %s", v.Code, v.Body)
	}
	_, err := w.Store.Shell().Mute(t.Context(), spaces.MuteRequest{Space: l.Space, Agent: "ada"})
	testutil.OK(t, err)
	page = ownerDo(t, w, http.MethodGet, path, "").Body.String()
	if !strings.Contains(page, path+"/agents/ada/unmute") || strings.Contains(page, path+"/agents/ada/mute") || !strings.Contains(page, "follows it in silence") {
		t.Error("the page does not show that the agent is muted")
	}
	testutil.Same(t, "muted", []any{"ada"}, get(t, w, "/api"+path, 200)["muted"].([]any))
}

// An open problem is quietened on the page and over the API.
func TestAProblemIsQuietened(t *testing.T) {
	w := consoletest.Open(t)
	if page := ownerDo(t, w, http.MethodGet, "/problems", "").Body.String(); !strings.Contains(page, `action="/problems/3/ack"`) {
		t.Error("the page has no button")
	}
	for path, code := range map[string]int{"/problems/3/ack": 303, "/problems/4/ack": 404, "/problems/0/ack": 404, "/problems/x/ack": 404} {
		if got := submit(t, w, path, nil); got != code {
			t.Errorf("%s: %d, want %d", path, got, code)
		}
	}
	if got := ownerDo(t, w, http.MethodPost, "/api/problems/3/ack", ""); got.Code != 200 {
		t.Errorf("over the API: %d", got.Code)
	}
	testutil.Same(t, "asked", []string{"quiet 3", "quiet 3"}, w.Program.Asked())
}

// The log says who changed something: the token, the browser, the owner of the machine; and
// nothing of what is only read.
func TestTheLogSaysWhoChangedWhat(t *testing.T) {
	w := consoletest.Open(t)
	var log bytes.Buffer
	w.Console.Logger = slog.New(slog.NewTextHandler(&log, nil))
	token, session := w.Key(console.KeyToken), w.Key(console.KeySession)
	h := w.Console.Handler()
	do(t, h, call{target: "/problems", header: cookie(session.Secret)})
	if log.Len() > 0 {
		t.Errorf("reading is logged: %s", &log)
	}
	do(t, h, call{method: http.MethodPost, target: "/problems/3/ack", header: cookie(session.Secret)})
	do(t, h, call{method: http.MethodPost, target: "/api/problems/9/ack", header: bearer(token.Secret)})
	ownerDo(t, w, http.MethodPost, "/api/problems/3/ack", "")
	for _, want := range []string{
		`by="browser ` + session.ID + ` of a link of this machine" method=POST path=/problems/3/ack status=303`,
		`by="token ` + token.ID + ` test" method=POST path=/api/problems/9/ack status=404`,
		`by="the owner of this machine's socket" method=POST path=/api/problems/3/ack status=200`,
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %s: %s", want, &log)
		}
	}
	if strings.Contains(log.String(), token.Secret) || strings.Contains(log.String(), session.Secret) {
		t.Error("the log has a secret")
	}
}

// The list of runs says who asked, the words of both, the model and the money; words that were
// deleted since are in it no more. Chips narrow it, and an id that fits several runs is answered
// with them.
func TestRunsAreListedWithTheirWords(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("where is <b>lunch</b>")
	page := ownerDo(t, w, http.MethodGet, "/runs", "").Body.String()
	for _, want := range []string{
		"<b>where is &lt;b&gt;lunch&lt;/b&gt;</b> where is &lt;b&gt;lunch", `<td class="words">where is &lt;b&gt;lunch`, "gpt-5-mini", "0.0060",
		`href="/runs?before=&amp;since=24h">last 24h`, `href="/runs?agent=ada&amp;before=">ada`, `data-fresh="agent_assigned,mission_stop"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if chosen := ownerDo(t, w, http.MethodGet, "/runs?agent=ada", "").Body.String(); !strings.Contains(chosen, `href="/runs?agent=&amp;before=" aria-current="true">ada`) {
		t.Error("a chosen chip is not taken back by its link")
	}
	row := get(t, w, "/api/runs", 200)["runs"].([]any)[1].(map[string]any)
	if row["asked"] != "where is <b>lunch</b>" || row["answer"] != row["asked"] || row["sends"] != 1.0 || row["asker"].(map[string]any)["name"] == "" {
		t.Errorf("row is %v", row)
	}
	err := w.Store.Shell().Redact(t.Context(), l.Mind, shell.RedactionRequest{Event: l.Woke, Shown: hud.NewRedaction("where is <b>lunch</b>")})
	testutil.OK(t, err)
	row = get(t, w, "/api/runs", 200)["runs"].([]any)[1].(map[string]any)
	if row["asked"] == "where is <b>lunch</b>" {
		t.Errorf("deleted words are listed: %v", row)
	}
	if rec := ownerDo(t, w, http.MethodGet, "/runs/00000000", ""); rec.Code != http.StatusNotFound || !strings.Contains(rec.Body.String(), string(l.Closed)) || !strings.Contains(rec.Body.String(), string(l.Open)) {
		t.Errorf("a short id of several runs: %d %s", rec.Code, rec.Body)
	}
}

// A rehearsal is asked for as the form says, and what anyone wrote is shown as words.
func TestRehearsalsAreShownBesideTheRun(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live(`<script>alert(1)</script>`)
	form := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/runs/"+string(l.Closed)+"/rehearse", strings.NewReader("model=m2&budget=8000&prompts=tags%401+voice%402"))
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	w.Console.Socket().ServeHTTP(rec, form)
	page := rec.Body.String()
	if rec.Code != http.StatusOK || strings.Contains(page, "<script>alert") || strings.Count(page, `class="differs"`) != 1 {
		t.Errorf("%d: %s", rec.Code, page)
	}
	if !strings.Contains(page, "trestle rehearse "+string(l.Closed)+" --model m2 --budget 8000 --prompt tags@1 --prompt voice@2") {
		t.Error("the page does not say the same in the terminal")
	}
	if asked := w.Program.Asked(); !slices.Contains(asked, "rehearse m2 8000 [tags@1 voice@2]") {
		t.Errorf("asked %q", asked)
	}
	if !strings.Contains(ownerDo(t, w, http.MethodGet, "/runs/"+string(l.Closed), "").Body.String(), "/rehearse") {
		t.Error("the page of the run does not offer it")
	}
	if strings.Contains(ownerDo(t, w, http.MethodGet, "/runs/"+string(l.Open), "").Body.String(), "/rehearse") {
		t.Error("a run under way can be rehearsed")
	}
}
