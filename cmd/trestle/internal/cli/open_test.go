package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// SECURITY S7, ECOSYSTEM 3.2: open prints a link that opens one browser; token
// makes what opens the console for a program, until it is revoked.
func TestOpenAndTokenOpenTheConsole(t *testing.T) {
	s := stage{folder: t.TempDir()}
	s.serve(t)
	link, errs, code := s.do(t, "", "open")
	if code != apperr.Done || !strings.HasPrefix(link, "http://127.0.0.1:") || !strings.Contains(link, "/open?k=") {
		t.Fatalf("open: exit %s: %s%s", code, link, errs)
	}
	jar, err := cookiejar.New(nil)
	testutil.OK(t, err)
	address, _, _ := strings.Cut(strings.TrimSpace(link), "/open")
	browser := &http.Client{Jar: jar}
	status := func(client *http.Client, url, token string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		testutil.OK(t, err)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(r)
		testutil.OK(t, err)
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if got := status(browser, address+"/", ""); got != 401 {
		t.Errorf("before the link: %d", got)
	}
	if got := status(browser, strings.TrimSpace(link), ""); got != 200 {
		t.Errorf("the link: %d", got)
	}
	for _, page := range []string{"/", "/spaces", "/runs", "/minds", "/settings", "/uplinks", "/api/tools", "/api/config/schema"} {
		if got := status(browser, address+page, ""); got != 200 {
			t.Errorf("%s in the browser: %d", page, got)
		}
	}
	made := answerOf[console.NewToken](t, s, "token", "add", "monitoring", "-o", "json")
	if got := status(http.DefaultClient, address+"/api/status", made.Secret); got != 200 {
		t.Errorf("the token: %d", got)
	}
	if list, _, _ := s.do(t, "", "token", "list"); !strings.Contains(list, "monitoring") || strings.Contains(list, made.Secret) {
		t.Errorf("list: %s", list)
	}
	if _, errs, code := s.do(t, "", "token", "revoke", "nothing"); code != apperr.Failed {
		t.Errorf("revoke of nothing: exit %s: %s", code, errs)
	}
	s.done(t, "", "token", "revoke", made.ID)
	if got := status(http.DefaultClient, address+"/api/status", made.Secret); got != 401 {
		t.Errorf("the revoked token: %d", got)
	}
}

// ECOSYSTEM 3.1: the socket speaks the console's API, without a credential.
func TestSocketSpeaksTheAPI(t *testing.T) {
	s := stage{folder: t.TempDir()}
	s.serve(t)
	data := answerOf[statusAnswer](t, s, "status", "-o", "json").Data
	control, running := control.DialSocket(t.Context(), filepath.Join(data, control.SocketName))
	if !running {
		t.Fatal("nothing answers on the socket")
	}
	for _, path := range []string{"/api/spaces", "/api/minds", "/api/runs", "/api/tools", "/api/denials", "/api/problems", "/api/adapters", "/api/config", "/api/pairings", "/api/openapi.json", "/health/bootstrap"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://trestle"+path, nil)
		testutil.OK(t, err)
		resp, err := control.Client.Do(r)
		testutil.OK(t, err)
		var v map[string]any
		if err := json.NewDecoder(resp.Body).Decode(&v); err != nil || resp.StatusCode != http.StatusOK || len(v) == 0 {
			t.Errorf("%s: %s %v %v", path, resp.Status, v, err)
		}
		_ = resp.Body.Close()
	}
}

// A run is lived once more from its page in the console, beside what it was, and nothing of it
// happens. No file can be read that way.
func TestRunsAreRehearsedInTheConsole(t *testing.T) {
	s := stage{folder: t.TempDir()}
	s.serve(t)
	s.done(t, "hello\n", "chat")
	runs := answerOf[[]api.RunRow](t, s, "runs", "-o", "json")
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	link := strings.TrimSpace(s.done(t, "", "open"))
	address, _, _ := strings.Cut(link, "/open")
	jar, err := cookiejar.New(nil)
	testutil.OK(t, err)
	browser := &http.Client{Jar: jar}
	ask := func(method, url, form string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(form))
		testutil.OK(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := browser.Do(r)
		testutil.OK(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		testutil.OK(t, err)
		return resp.StatusCode, string(body)
	}
	ask(http.MethodGet, link, "")
	run := address + "/runs/" + string(runs[0].Run)
	if _, page := ask(http.MethodGet, run, ""); !strings.Contains(page, `action="/runs/`+string(runs[0].Run)+`/rehearse"`) {
		t.Error("the page of the run does not offer it")
	}
	code, page := ask(http.MethodPost, run+"/rehearse", "budget=6000")
	if code != http.StatusOK || !strings.Contains(page, "It decided the same") || !strings.Contains(page, "--budget 6000") {
		t.Errorf("rehearsed: %d\n%s", code, page)
	}
	for form, want := range map[string]string{
		"budget=5":               "give 4000 or more",
		"budget=many":            "a number of tokens",
		"prompts=%2Fetc%2Fhosts": "neither a version of a section nor a file",
	} {
		if code, page := ask(http.MethodPost, run+"/rehearse", form); code != http.StatusBadRequest || !strings.Contains(page, want) {
			t.Errorf("%s: %d %s, want %q", form, code, page, want)
		}
	}
	if n := len(answerOf[[]api.RunRow](t, s, "runs", "-o", "json")); n != 1 {
		t.Errorf("%d runs afterwards", n)
	}
}
