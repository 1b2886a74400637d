package browsertest

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// witness is in every page before its own scripts.
const witness = `window.ran = []; window.marked = () => window.ran.push("marked");
for (const name of ["alert", "confirm", "prompt"]) window[name] = () => window.ran.push(name);`

// inspection returns what is wrong with a page: scripts that ran, elements and
// attributes that are not ours, and what it has loaded from elsewhere.
const inspection = `
const wrong = [...window.ran];
const ours = new URL("/", location.href).href;
for (const e of document.querySelectorAll("*")) {
  for (const a of e.attributes) {
    if (/^on/i.test(a.name)) wrong.push(e.tagName + " has " + a.name);
    if (/^(href|src|action|data|ping|formaction|srcset|background)$/i.test(a.name)) {
      const to = new URL(a.value, location.href);
      // A link that a message of a chat has: it leads to a page, without a way back to ours.
      if (a.name === "href" && e.tagName === "A" && e.closest(".bubbles .words") && /^(https?|mailto):$/.test(to.protocol) &&
        e.rel === "noopener noreferrer nofollow" && e.target === "_blank") continue;
      if (!to.href.startsWith(ours)) wrong.push(e.tagName + " leads to " + to.href);
    }
    if (a.name === "style" || a.name === "srcdoc") wrong.push(e.tagName + " has " + a.name);
  }
}
const strangers = document.querySelectorAll("iframe, object, embed, base, style, img:not([src^='/files/']), video, audio, template, math, foreignObject, animate, marquee, noscript, meta[http-equiv], script:not([src='/static/console.js'], [src='/static/chat.js'])");
for (const e of strangers) wrong.push("there is a " + e.tagName);
if (document.scripts.length !== (document.querySelector("[data-chat]") ? 2 : 1)) wrong.push(document.scripts.length + " scripts");
for (const r of performance.getEntriesByType("resource")) if (!r.name.startsWith(ours)) wrong.push("loaded " + r.name);
if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText)) wrong.push("control characters");
if (!document.querySelector("main")) wrong.push("no page");
return wrong;`

// watch has the browser take note of what runs, with the console's own policy
// switched off: escaping alone must do.
func watch(b *browser) {
	b.devtools("Page.setBypassCSP", map[string]any{"enabled": true})
	b.devtools("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": witness})
}

// SECURITY S18: 6,613 vectors and CommonMark in every field that is rendered: no script
// runs, nothing is loaded from elsewhere, nothing is in the page that the
// templates did not put there.
func TestNothingAnybodyWroteRuns(t *testing.T) {
	b := newBrowser(t)
	s := newStand(t, b)
	p := newTrap(t)
	all := vectors(p.elsewhere())
	watch(b)
	const together = 45
	pages, wrong := 0, 0
	look := func(path string) {
		b.visit(s.server.URL + path)
		var found []string
		b.run(inspection, &found)
		pages++
		if len(found) > 0 {
			wrong++
			t.Errorf("%s: %q", path, found[:min(len(found), 5)])
		}
	}
	spec, table := commonMark(t), crossed()
	groups := slices.AppendSeq(slices.Collect(slices.Chunk(all, together)), slices.Chunk(slices.Concat(spec, table), 10*together))
	for _, group := range groups[:testutil.Repeats(len(groups))] {
		text := strings.ToValidUTF8(strings.Join(group, "\n"), "\ufffd")
		l := s.Live(text)
		look("/spaces/" + string(l.Space))
		look("/chat/" + consoletest.ChatRoom)
		look("/runs/" + string(l.Closed))
		look("/runs/" + string(l.Closed) + "/steps/1")
		look("/search?q=" + url.QueryEscape(text))
	}
	// Each of the first kind alone, where nothing before it could have closed
	// what it needs open, in the lists that show every field.
	for i := 0; i < len(all); i += (2*len(payloads) + 1) * (len(groups) / testutil.Repeats(len(groups))) {
		one := strings.ToValidUTF8(all[i], "\ufffd")
		s.Live(one)
		for _, path := range []string{"/", "/problems"} {
			look(path)
		}
	}
	for _, path := range lists() {
		look(path)
	}
	if calls := p.caught(); len(calls) > 0 {
		t.Errorf("requests to elsewhere: %q", calls[:min(len(calls), 5)])
	}
	if n := len(all) + len(table); n < 6613 || len(spec) < 650 {
		t.Errorf("only %d vectors, and %d examples of CommonMark", n, len(spec))
	}
	t.Logf("%d vectors and %d examples of CommonMark in every field, %d pages looked at: %d with a script run, a foreign element or a foreign request; %d external requests",
		len(all)+len(table), len(spec), pages, wrong, len(p.caught()))
}

// lists are the pages that show everything.
func lists() []string {
	return []string{
		"/", "/spaces", "/people", "/uplinks?window=1h", "/uplinks?window=7d", "/minds", "/minds/ada/home", "/memory", "/memory/ada/home?limit=500", "/runs", "/runs?limit=500", "/tools", "/approvals", "/denials?limit=500", "/prompts", "/live", "/jobs", "/problems", "/settings",
		"/settings?all=1", "/settings?find=%22%3E%3Cscript%3Emarked()%3C/script%3E", "/settings/change?path=%22%3E%3Cscript%3Emarked()%3C/script%3E", "/settings/change?path=admit",
		"/runs?stop=%22%3E%3Cscript%3Emarked()%3C/script%3E&agent=%22onfocus%3Dmarked()&since=%3Csvg/onload%3Dmarked()%3E", "/memory/ada/home?words=%22%3E%3Cimg%20src%3Dx%20onerror%3Dmarked()%3E&reader=%22onfocus%3Dmarked()", "/denials?agent=%22%3E%3Cimg%20src%3Dx%20onerror%3Dmarked()%3E&since=x",
		"/live?type=%22%3E%3Cscript%3Emarked()%3C/script%3E,gate_decision", "/nothing/%3Cscript%3Emarked()%3C/script%3E", "/uplinks?space=%22%3E%3Cscript%3Emarked()%3C/script%3E",
		"/figures", "/figures?range=day&space=%22%3E%3Cscript%3Emarked()%3C/script%3E&agent=%22onfocus%3Dmarked()&platform=%3Csvg/onload%3Dmarked()%3E",
	}
}

// The test above can fail: what it looks for is found on a page that does not
// escape.
func TestUnescapedVectorsAreSeen(t *testing.T) {
	b := newBrowser(t)
	p := newTrap(t)
	seen := 0
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><script src="/static/console.js"></script><main>%s</main>`, r.URL.Query().Get("v"))
	}))
	defer bad.Close()
	watch(b)
	for _, v := range payloads[:28] {
		b.visit(bad.URL + "/?v=" + url.QueryEscape(strings.ReplaceAll(v, "TRAP", p.elsewhere())))
		var found []string
		b.run(inspection, &found)
		if len(found) == 0 {
			t.Errorf("%q is not seen", v)
			continue
		}
		seen++
	}
	if len(p.caught()) == 0 {
		t.Error("no vector has reached the trap")
	}
	blind := 0
	const together = 12 // elements
	for i, group := range slices.Collect(slices.Chunk(crossed(), together*len(handlers))) {
		b.visit(bad.URL + "/?v=" + url.QueryEscape(strings.Join(group, "\n")))
		var found []string
		b.run(inspection, &found)
		all := strings.ToLower(strings.Join(found, "\n"))
		for _, e := range elements[i*together : min((i+1)*together, len(elements))] {
			if e != "image" && !strings.Contains(all, e+" has on") { // image becomes img
				blind++
				t.Errorf("handlers of %s are not seen", e)
			}
		}
	}
	b.visit(bad.URL + "/?v=" + url.QueryEscape(html.EscapeString(strings.Join(payloads, " "))))
	var found []string
	if b.run(inspection, &found); len(found) > 0 {
		t.Errorf("escaped vectors are seen: %q", found)
	}
	t.Logf("%d of %d payloads and %d of %d elements are seen where nothing is escaped", seen, 28, len(elements)-blind, len(elements))
}

// ECOSYSTEM 6: the page of long work follows it by itself.
func TestJobsPageFollowsTheWork(t *testing.T) {
	b := newBrowser(t)
	s := newStand(t, b)
	s.Live("first")
	b.visit(s.server.URL + "/jobs")
	b.run("document.body.dataset.kept = 'yes'", nil)
	if _, err := s.Store.Jobs().Ask(t.Context(), 1, jobs.Cancelled, time.Now()); err != nil {
		t.Fatal(err)
	}
	s.Bus.Publish("job", "cancelled", nil, time.Now())
	var kept string
	b.await(`const done = arguments[arguments.length - 1];
const wait = () => document.querySelector("#j1.cancelled") ? done(document.body.dataset.kept) : setTimeout(wait, 20); wait();`, &kept)
	if kept != "yes" {
		t.Error("the page was loaded again")
	}
}

// SECURITY S18: live events are put into the page as text.
func TestLiveEventsAreText(t *testing.T) {
	b := newBrowser(t)
	s := newStand(t, b)
	p := newTrap(t)
	watch(b)
	b.visit(s.server.URL + "/live")
	b.await(`const done = arguments[arguments.length - 1]; const wait = () => document.querySelector("[data-controls]").hidden ? setTimeout(wait, 20) : done(); wait();`, nil)
	all := vectors(p.elsewhere())
	for _, group := range slices.Collect(slices.Chunk(all, 8)) {
		text := strings.ToValidUTF8(strings.Join(group, "\n"), "\ufffd")
		s.Bus.Publish("tool_result", text, map[string]any{"mind": text, "cycle": text, "note": text}, consoletest.Started)
	}
	s.Bus.Publish("mission_stop", "the last one", nil, consoletest.Started)
	b.await(`const done = arguments[arguments.length - 1]; const wait = () => document.body.innerText.includes("the last one") ? done() : setTimeout(wait, 20); wait();`, nil)
	b.run(`for (const d of document.querySelectorAll("details")) d.open = true; return null;`, nil)
	var found []string
	if b.run(inspection, &found); len(found) > 0 {
		t.Errorf("live: %q", found[:min(len(found), 8)])
	}
	var lines int
	b.run(`return document.querySelectorAll(".live li").length`, &lines)
	if lines < 50 {
		t.Errorf("%d live lines are shown", lines)
	}
	t.Logf("%d vectors in %d live events: %d findings, %d external requests", len(all), lines, len(found), len(p.caught()))
}
