package console_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// A change of the configuration is shown as lines of the file first, written when it is asked for, and
// taken back.
func TestSettingsAreChangedInTwoSteps(t *testing.T) {
	w := consoletest.Open(t)
	w.Program.Say("trestle words")
	page := func(method, path string, form url.Values, code int, want ...string) string {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rec := httptest.NewRecorder()
		w.Console.Socket().ServeHTTP(rec, r)
		text := rec.Body.String()
		if rec.Code != code {
			t.Fatalf("%s: %d %s", path, rec.Code, text)
		}
		for _, s := range want {
			if !strings.Contains(text, s) {
				t.Errorf("%s lacks %q in %s", path, s, text)
			}
		}
		return text
	}
	page("GET", "/settings", nil, 200, "agents.ada.persona", "None was made here")
	if text := page("GET", "/settings", nil, 200); strings.Contains(text, "<code>data</code>") {
		t.Error("a default is listed")
	}
	page("GET", "/settings?all=1", nil, 200, "<code>data</code>")
	page("GET", "/settings?find=BUDGET+day", nil, 200, "budget.per_day")
	page("GET", "/settings?find=not+there", nil, 200, "No key has these words")
	page("GET", "/settings/change?path=nothing", nil, 404)
	page("GET", "/settings/change?path=agents", nil, 200, "a group of keys")
	page("GET", "/settings/change?path=listen", nil, 200, "on the machine alone", "trestle config set listen VALUE")
	page("GET", "/settings/change?path=admit", nil, 200, `<option selected>pairing</option>`, "Use the default")
	if text := page("GET", "/settings/change?path=model.api_key", nil, 200, `type="password"`, "is not shown again"); strings.Contains(text, "***'") {
		t.Error("the command has a credential")
	}

	change := url.Values{"path": {"admit"}, "value": {"it's open"}}
	page("POST", "/settings/change", change, 200, "- admit: trestle words", "+ admit: it&#39;s open", "Write it", `trestle config set admit &#39;it&#39;\&#39;&#39;s open&#39;`)
	if all, _ := w.Settings.Changes(); len(all) > 0 {
		t.Error("a change that was shown is written")
	}
	change.Set("verb", "apply")
	page("POST", "/settings/change", change, http.StatusSeeOther)
	page("GET", "/settings/change?written=1&path=admit", nil, 200, "it counts within seconds")
	page("GET", "/settings", nil, 200, "+ admit: it&#39;s open", "Take it back")
	page("POST", "/settings/undo", url.Values{"seen": {"first"}}, http.StatusSeeOther)
	page("GET", "/settings", nil, 200, "None was made here")
	page("POST", "/settings/change", url.Values{"path": {"admit"}, "reset": {"1"}}, 200, "- admit: trestle words", "trestle config unset admit")
	if text := page("POST", "/settings/change", url.Values{"path": {"agents.ada.name"}, "value": {"Eve"}}, 200, "may not write this file"); strings.Contains(text, "Write it") {
		t.Error("a file that cannot be written has a button")
	}
	w.Settings.Refuse(refusedChangeError{})
	page("POST", "/settings/change", url.Values{"path": {"admit"}, "value": {"x"}}, 400, "admit is none of", "choose one")
	change.Set("value", "x")
	page("POST", "/settings/change", change, 400, "admit is none of")
	testutil.Same(t, "written", 0, func() int { all, _ := w.Settings.Changes(); return len(all) }())
}

type refusedChangeError struct{}

func (refusedChangeError) Error() string { return "refused" }

func (refusedChangeError) Refusal() console.ErrorAnswer {
	return console.ErrorAnswer{Error: "admit is none of the words", Do: "choose one"}
}
