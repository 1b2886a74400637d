package console_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// The median and the 95th of a hundred are those of its calls that ended, and calls of
// unknown outcome count as failed.
func TestTimingsAreSummedUpByTool(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var calls []console.ToolTiming
	for i := range 100 {
		calls = append(calls, console.ToolTiming{Tool: "weather", Server: "weather", State: spaces.ToolDone, Proposed: at, Started: at, Ended: at.Add(time.Duration(100-i) * time.Second)})
	}
	calls[3].State, calls[4].State, calls[5].State = spaces.ToolFailed, spaces.ToolUnknown, spaces.ToolDenied
	calls = append(calls, console.ToolTiming{Tool: "ask", State: spaces.ToolAsked, Proposed: at.Add(time.Hour)})
	testutil.Same(t, "use", []console.ToolUsage{
		{Tool: "weather", Server: "weather", Calls: 100, Failed: 2, Median: 50_000, Slow: 95_000, Last: at},
		{Tool: "ask", Calls: 1, Last: at.Add(time.Hour)},
	}, console.SumTimings(calls))
}

// The operator decides about calls on a page and over the API, and takes grants back.
func TestApprovalsAreDecidedInTheConsole(t *testing.T) {
	w := consoletest.Open(t)
	page := ownerDo(t, w, http.MethodGet, "/approvals", "").Body.String()
	for _, want := range []string{"K7QDX", "tickets_create", "too late", `formaction="/approvals/K7QDX/allow"`, `action="/approvals/revoke"`, `<b class="count">1</b>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, verb := range []string{"allow", "always", "deny"} {
		if rec := ownerDo(t, w, http.MethodPost, "/approvals/K7QDX/"+verb, ""); rec.Code != http.StatusSeeOther {
			t.Errorf("%s: %d", verb, rec.Code)
		}
	}
	for path, code := range map[string]int{"/approvals/K7QDX/maybe": 404, "/approvals/OTHER/allow": 400} {
		if rec := ownerDo(t, w, http.MethodPost, path, ""); rec.Code != code {
			t.Errorf("%s: %d, want %d", path, rec.Code, code)
		}
	}
	form := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/approvals/revoke", strings.NewReader(url.Values{"agent": {"ada"}, "space": {"home"}, "tool": {"weather"}}.Encode()))
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	if w.Console.Socket().ServeHTTP(rec, form); rec.Code != http.StatusSeeOther {
		t.Errorf("revoke: %d", rec.Code)
	}
	body, err := json.Marshal(console.ApprovalDecision{Code: "K7QDX", Allow: true})
	testutil.OK(t, err)
	if rec := ownerDo(t, w, http.MethodPost, "/api/approvals", string(body)); rec.Code != http.StatusOK {
		t.Errorf("over the API: %d %s", rec.Code, rec.Body)
	}
	testutil.Same(t, "decided", []console.ApprovalDecision{
		{Code: "K7QDX", Allow: true},
		{Code: "K7QDX", Allow: true, Always: true},
		{Code: "K7QDX"},
		{Revoke: &spaces.ToolGrant{Agent: "ada", Space: "home", Tool: "weather"}},
		{Code: "K7QDX", Allow: true},
	}, w.Program.Decided())
	if got := told[console.Approvals](t, w, "/api/approvals", 200); len(got.Waiting) != 1 || len(got.Always) != 1 {
		t.Errorf("over the API %+v", got)
	}
}

// The page of tools shows what servers are doing and how tools were used, each tool once.
func TestToolsAreShown(t *testing.T) {
	w := consoletest.Open(t)
	page := ownerDo(t, w, http.MethodGet, "/tools", "").Body.String()
	for _, want := range []string{"failing", "ada, bob", "340 ms", "2.1 s", "none any longer", `action="/tools/tickets/accept"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if n := strings.Count(page, "<code>tickets.create</code>"); n != 1 {
		t.Errorf("a tool of two agents is shown %d times", n)
	}
	if rec := ownerDo(t, w, http.MethodPost, "/tools/tickets/accept", ""); rec.Code != http.StatusSeeOther {
		t.Errorf("accept: %d", rec.Code)
	}
	if rec := ownerDo(t, w, http.MethodPost, "/tools/other/accept", ""); rec.Code != http.StatusBadRequest {
		t.Errorf("accept another: %d", rec.Code)
	}
}

// A run shows what became of its calls of tools from outside: arguments, result, times.
func TestARunShowsItsCallsOfTools(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("18 °C")
	page := ownerDo(t, w, http.MethodGet, "/runs/"+string(l.Closed), "").Body.String()
	for _, want := range []string{"begun after 1.0 s, took 1.0 s", `<pre class="text">18 °C</pre>`, `<span class="stop bad">failed</span>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	timings, err := w.Store.Shell().ToolTimings(t.Context(), 1)
	testutil.OK(t, err)
	if len(timings) != 1 || timings[0].Ended.Sub(timings[0].Started) != time.Second {
		t.Errorf("the newest call is %+v", timings)
	}
	told, err := w.Store.Border().Last(t.Context(), l.Space, spaces.MessageRef{})
	testutil.OK(t, err)
	if len(told) != 1 || told[0].Took["18 °C"] != time.Second {
		t.Errorf("people are told %+v", told)
	}
}
