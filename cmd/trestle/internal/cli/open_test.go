package cli

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/internal/console"
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
