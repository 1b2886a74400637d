package slack_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/adapters/fake/slack"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// driven is a workspace driven over HTTP.
type driven struct {
	t    *testing.T
	base string
}

func (d driven) do(path, body string) map[string]any {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.base+path, strings.NewReader(body))
	testutil.OK(d.t, err)
	if strings.HasPrefix(path, "/api/") {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Authorization", "Bearer xoxb-1")
	}
	resp, err := http.DefaultClient.Do(r)
	testutil.OK(d.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	testutil.OK(d.t, err)
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		d.t.Fatalf("%s answers %s", path, raw)
	}
	return out
}

// A program of any language can play every part.
func TestAWorkspaceIsDrivenOverHTTP(t *testing.T) {
	s := slack.New(slack.Options{})
	mux := http.NewServeMux()
	mux.Handle("/", s)
	mux.Handle("/control/", s.Control())
	server := httptest.NewServer(mux)
	defer server.Close()
	d := driven{t, server.URL}
	app := d.do("/control/apps", `{"name":"Ada","bot_token":"xoxb-1"}`)["id"].(string)
	maya := d.do("/control/people", `{"name":"Maya"}`)["id"].(string)
	ops := d.do("/control/channels", `{"kind":"private","name":"ops","people":["`+maya+`"],"apps":["`+app+`"]}`)["id"].(string)
	in := `"channel":"` + ops + `","from":"` + maya + `","app":"` + app + `"`
	ts := d.do("/control/says", `{"channel":"`+ops+`","from":"`+maya+`","text":"hello"}`)["ts"].(string)
	for _, deed := range []string{
		`"do":"edits","ts":"` + ts + `","text":"hello there"`, `"do":"reacts","ts":"` + ts + `","names":["+1"]`, `"do":"pins","ts":"` + ts + `"`,
		`"do":"renames","text":"operations"`, `"do":"commands","text":"stop"`, `"do":"disconnects","text":"warning"`, `"do":"deletes","ts":"` + ts + `"`,
	} {
		if out := d.do("/control/does", `{`+in+`,`+deed+`}`); out["ok"] != true {
			t.Errorf("%s: %v", deed, out)
		}
	}
	if d.do("/control/clock", `{"behind":"72h"}`); d.do("/control/says", `{"channel":"`+ops+`","from":"`+maya+`","text":"later"}`)["ts"].(string) <= ts {
		t.Error("what is said later stands before what was said earlier")
	}
	d.do("/control/fault", `{"do":"refuse","method":"chat.postMessage","description":"is_archived"}`)
	for _, want := range []any{"is_archived", nil} {
		if out := d.do("/api/chat.postMessage", "channel="+ops+"&text=%2Ahi%2A"); out["error"] != want {
			t.Errorf("posting answers %v, want %v", out["error"], want)
		}
	}
	sent := s.Ledger().Calls
	if len(sent) != 2 || sent[0].Applied || !sent[1].Applied {
		t.Errorf("the ledger has %+v", sent)
	}
	for path, body := range map[string]string{
		"/control/says": `{"channel":"C404","from":"` + maya + `"}`, "/control/does": `{` + in + `,"do":"flies"}`, "/control/apps": `{"name":"x"}`,
		"/control/people": `{"nome":"x"}`, "/control/inject": `{"app":"A404","event":{}}`,
		"/control/clock": `{"behind":"soon"}`,
	} {
		if out := d.do(path, body); out["error"] == nil {
			t.Errorf("%s %s: %v, want an error", path, body, out)
		}
	}
}
