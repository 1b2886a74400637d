package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/control"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/llm"
	"github.com/trestle-bridge/trestle/internal/llm/llmtest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
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

// PRD-5.2-A5: a run is ended in mid-turn over the API, keeps its stop reason, and
// says nothing.
func TestRunIsCancelledInMidTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "admit: open\nphases: one\n", llmtest.ScriptStep{Do: func(ctx context.Context, _ llm.Request) (llm.Response, error) {
			<-ctx.Done() // a model that does not come to an end
			return llm.Response{}, context.Cause(ctx)
		}})
		defer w.stop()
		w.addChat("kai", "direct", []string{"kai"})
		w.says(w.chats["kai"], w.people["kai"], "hello", 0, 0)
		pass(5 * time.Second)
		api := w.process.newConsole().Socket()
		ask := func(method, path string, v any) int {
			t.Helper()
			rec := httptest.NewRecorder()
			api.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, path, nil))
			if err := json.Unmarshal(rec.Body.Bytes(), v); err != nil {
				t.Fatalf("%s: %v in %s", path, err, rec.Body)
			}
			return rec.Code
		}
		var list struct{ Runs []console.RunRow }
		if ask(http.MethodGet, "/api/runs", &list); len(list.Runs) != 1 || list.Runs[0].State != spaces.CycleOpen {
			t.Fatalf("runs %+v", list.Runs)
		}
		run := string(list.Runs[0].Run)
		var answer map[string]any
		if code := ask(http.MethodPost, "/api/runs/"+run+"/cancel", &answer); code != http.StatusAccepted {
			t.Errorf("cancel: %d %v", code, answer)
		}
		w.settle()
		var after console.RunRow
		if ask(http.MethodGet, "/api/runs/"+run, &after); after.Stop != spaces.StopCancelled || after.State == spaces.CycleOpen {
			t.Errorf("the run is %+v", after)
		}
		if code := ask(http.MethodPost, "/api/runs/"+run+"/cancel", &answer); code != http.StatusConflict {
			t.Errorf("a second cancel: %d", code)
		}
		if got := w.chats["kai"].Sent(); len(got) != 1 || got[0].Text != "Stopped by a person." {
			t.Errorf("sent %+v, want nothing of the run and one word about its end", got)
		}
	})
}
