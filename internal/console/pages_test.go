package console_test

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/hud"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/shell"
)

var links = regexp.MustCompile(`(?:href|src)="([^"]+)"`)

// Every page is there without script, and every link of every page leads
// somewhere: lists, permanent links of rows, pages before and after.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	w := consoletest.Open(t)
	for _, text := range []string{"lunch", "a&b <c> \"d\" 'e' ?f=g#h", "دعوة"} {
		w.Live(text)
	}
	session := w.Key(console.KeySession)
	h := w.Console.Handler()
	seen, queue := map[string]bool{"/": true}, []string{"/"}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		rec := do(t, h, call{target: path, header: cookie(session.Secret)})
		if rec.Code != http.StatusOK {
			t.Errorf("%s: %d", path, rec.Code)
			continue
		}
		if !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/html") {
			continue
		}
		body := rec.Body.String()
		if strings.Contains(body, "<no value>") || strings.Contains(body, " style=") || strings.Contains(body, "ZgotmplZ") {
			t.Errorf("%s holds what no page should", path)
		}
		if path != "/login" && !strings.Contains(body, "Same in the terminal") {
			t.Errorf("%s does not say how to see the same in the terminal", path)
		}
		for _, m := range links.FindAllStringSubmatch(body, -1) {
			to, _, _ := strings.Cut(html.UnescapeString(m[1]), "#")
			if strings.HasPrefix(to, "?") {
				base, _, _ := strings.Cut(path, "?")
				to = base + to
			}
			if to != "" && !seen[to] && len(seen) < 400 {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	for _, want := range []string{"/spaces", "/uplinks", "/minds/ada/home", "/memory/ada/home", "/runs", "/tools", "/approvals", "/people", "/denials", "/prompts", "/prompts/tags@1", "/live", "/jobs", "/jobs/1", "/problems", "/settings", "/static/console.js", "/static/console.css"} {
		if !seen[want] {
			t.Errorf("nothing leads to %s", want)
		}
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(p string) bool { return strings.Contains(p, "/steps/") }) {
		t.Error("nothing leads to a frame")
	}
	t.Logf("%d addresses, each answered", len(seen))
}

// get reads an answer of the API over the control socket.
func get(t *testing.T, w *consoletest.ConsoleWorld, path string, code int) map[string]any {
	t.Helper()
	rec := ownerDo(t, w, http.MethodGet, path, "")
	if rec.Code != code {
		t.Fatalf("%s: %d %s", path, rec.Code, rec.Body)
	}
	var v map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v in %s", path, err, rec.Body)
	}
	return v
}

// PRD-5.1-A4, PRD-5.2-3, PRD-5.2-6, PRD-5.2-A3, BLU-57
func TestRunTellsItsStopReasonDenialsAndBudget(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("hello")
	v := get(t, w, "/api/runs/"+string(l.Closed), 200)
	denials := v["permission_denials"].([]any)
	if v["stop_reason"] != "completed" || v["stop_detail"] != "hello" || v["tokens_used"] != 2700.0 || v["token_budget_estimate"] != 400_000.0 {
		t.Errorf("run is %v", v)
	}
	if len(denials) != 1 || denials[0].(map[string]any)["reason"] != "hello" || denials[0].(map[string]any)["risk"] != "T3" {
		t.Errorf("denials %v", denials)
	}
	if cost := v["cost"].(float64); cost < 0.0059 || cost > 0.0061 { // 2000 at 2, 6000 at 0.2, 100 at 8, a million each
		t.Errorf("cost %v", cost)
	}
	if steps := v["steps"].([]any); len(steps) != 2 || len(steps[1].(map[string]any)["acts"].([]any)) != 1 {
		t.Errorf("steps %v", v["steps"])
	}
	if v["frame_plan"].(map[string]any)["budget"] != 20_000.0 || len(v["deliveries"].([]any)) != 1 {
		t.Errorf("plan %v, deliveries %v", v["frame_plan"], v["deliveries"])
	}
	if v["active_space"] != v["space"] || len(v["waits"].([]any)) != 0 {
		t.Errorf("active is %v of %v, waits %v", v["active_space"], v["space"], v["waits"])
	}
	for name := range v {
		if strings.Contains(name, "admin") {
			t.Errorf("a run has %s", name)
		}
	}
	get(t, w, "/api/runs/none", 404)
	get(t, w, "/api/runs?since=yesterday", 400)
	get(t, w, "/api/runs?limit=501", 400)
	get(t, w, "/api/runs?before=none", 400)
}

// PRD-5.2-A5
func TestRunUnderWayIsCancelledAndAnotherIsNot(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("hello")
	for run, want := range map[string]int{string(l.Open): 202, string(l.Closed): 409, "none": 404, string(l.Open)[:30]: 404} {
		if got := ownerDo(t, w, http.MethodPost, "/api/runs/"+run+"/cancel", ""); got.Code != want {
			t.Errorf("%s: %d %s, want %d", run, got.Code, got.Body, want)
		}
	}
	if got := w.Program.Cancelled(); len(got) != 1 || got[0] != l.Open {
		t.Errorf("cancelled %v", got)
	}
}

// ECOSYSTEM 6: lists are paged by key; every run is on one page, and on one only.
func TestListsArePagedByKey(t *testing.T) {
	w := consoletest.Open(t)
	for range 7 {
		w.Live("hello")
	}
	for _, list := range []struct{ path, items, key string }{{"/api/runs", "runs", "run"}, {"/api/denials", "denials", "n"}, {"/api/jobs", "jobs", "id"}} {
		var all []any
		before := ""
		for range 20 {
			v := get(t, w, list.path+"?limit=3&before="+url.QueryEscape(before), 200)
			for _, item := range v[list.items].([]any) {
				all = append(all, item.(map[string]any)[list.key])
			}
			next, more := v["next"]
			if !more {
				break
			}
			before = strings.TrimSuffix(fmt.Sprintf("%v", next), ".0")
		}
		seen := map[any]bool{}
		for _, x := range all {
			seen[x] = true
		}
		if len(all) != 14 || len(seen) != 14 {
			t.Errorf("%s: %d items, %d of them different, want 14", list.path, len(all), len(seen))
		}
	}
}

// PRD-6.1-A3
func TestToolsTellTierAndRisk(t *testing.T) {
	w := consoletest.Open(t)
	tools := get(t, w, "/api/tools", 200)["tools"].([]any)
	if tool := tools[0].(map[string]any); tool["tier"] != "platform" || tool["risk"] != "T2" {
		t.Errorf("tool %v", tool)
	}
}

// ECOSYSTEM 1, rule 9: the frame is the bytes the model was sent, and says so; a
// frame whose words were taken out later says that.
func TestFrameIsExactUntilWordsAreTakenOut(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("hello, all of you")
	path := "/api/runs/" + string(l.Closed) + "/steps/1"
	v := get(t, w, path, 200)
	var parts []string
	for _, m := range v["messages"].([]any) {
		parts = append(parts, m.(map[string]any)["part"].(string))
	}
	if v["exact"] != true || strings.Join(parts, " ") != "system cycle cycle tail" {
		t.Errorf("frame %v of %v", v["exact"], parts)
	}
	second := get(t, w, "/api/runs/"+string(l.Open)+"/steps/0", 200)
	if got := len(second["messages"].([]any)); got != 5 { // the closed run before it is in it
		t.Errorf("the next run sees %d messages", got)
	}
	err := w.Store.Shell().Redact(t.Context(), l.Mind, shell.RedactionRequest{Event: l.Woke, Shown: hud.NewRedaction("hello, all of you")})
	if err != nil {
		t.Fatal(err)
	}
	v = get(t, w, path, 200)
	tail := v["messages"].([]any)[3].(map[string]any)["text"]
	if v["exact"] != false || tail != "TIME: [deleted]" {
		t.Errorf("after the deletion: exact %v, tail %v", v["exact"], tail)
	}
	get(t, w, "/api/runs/"+string(l.Closed)+"/steps/9", 404)
	get(t, w, "/api/runs/"+string(l.Closed)+"/steps/x", 404)
}
