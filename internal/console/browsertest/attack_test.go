package browsertest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// attacks is a script of another site's page. Each attack returns what it could
// read of the console; the marker is a word that only the console shows.
const attacks = `
const [home, rebound, run, marker] = arguments, done = arguments[arguments.length - 1];
const timed = (p) => Promise.race([p, new Promise((r) => setTimeout(() => r(""), 400))]);
const load = (tag, attrs) => new Promise((r) => {
  const e = document.createElement(tag);
  e.onload = e.onerror = e.onloadeddata = () => r(e);
  for (const [k, v] of Object.entries(attrs)) e.setAttribute(k, v);
  document.body.append(e);
});
const peek = (e) => { try { return (e.contentDocument ?? e.getSVGDocument?.())?.documentElement.outerHTML ?? ""; } catch { return ""; } };
const form = async (method, action, fields = {}) => {
  const frame = document.createElement("iframe");
  frame.name = "f" + Math.random();
  document.body.append(frame);
  const f = document.createElement("form");
  f.method = method; f.action = action; f.target = frame.name;
  for (const [k, v] of Object.entries(fields)) { const i = document.createElement("input"); i.name = k; i.value = v; f.append(i); }
  document.body.append(f);
  const loaded = new Promise((r) => { frame.onload = r; });
  f.submit();
  await loaded;
  return peek(frame);
};
const text = (r) => r.text();
const all = {
  "fetch": () => fetch(home + "/api/spaces", { credentials: "include" }).then(text),
  "fetch without cors": () => fetch(home + "/api/spaces", { credentials: "include", mode: "no-cors" }).then(text),
  "post json": () => fetch(home + "/api/runs/" + run + "/cancel", { method: "POST", credentials: "include", headers: { "Content-Type": "application/json" }, body: "{}" }).then(text),
  "post text": () => fetch(home + "/api/runs/" + run + "/cancel", { method: "POST", credentials: "include", mode: "no-cors", body: "x" }).then(text),
  "delete": () => fetch(home + "/api/tokens/1", { method: "DELETE", credentials: "include" }).then(text),
  "form posts cancel": () => form("post", home + "/runs/" + run + "/cancel"),
  "form posts logout": () => form("post", home + "/logout"),
  "form posts token": () => form("post", home + "/api/tokens", { name: "evil" }),
  "form posts login": () => form("post", home + "/login", { token: "guess" }),
  "form gets": () => form("get", home + "/spaces"),
  "xhr": () => new Promise((r) => { const x = new XMLHttpRequest(); x.withCredentials = true; x.onloadend = () => r(x.responseText); x.open("GET", home + "/"); x.send(); }),
  "event source": () => new Promise((r) => { const s = new EventSource(home + "/events?from=0", { withCredentials: true }); s.onmessage = (m) => r(m.data); s.onerror = () => { s.close(); r(""); }; }),
  "websocket": () => new Promise((r) => { const s = new WebSocket(home.replace("http", "ws") + "/events"); s.onmessage = (m) => r(m.data); s.onopen = () => r(marker); s.onerror = () => r(""); }),
  "iframe": () => load("iframe", { src: home + "/" }).then(peek),
  "window": async () => { const w = open(home + "/"); await new Promise((r) => setTimeout(r, 300)); try { return w.document.documentElement.outerHTML; } catch { return ""; } finally { w?.close(); } },
  "script": () => { let got = ""; addEventListener("error", (e) => { got += e.message; }); return load("script", { src: home + "/api/spaces" }).then(() => got.includes(marker) ? got : Object.keys(window).includes(marker) ? marker : ""); },
  "image": () => load("img", { src: home + "/spaces" }).then((e) => e.naturalWidth ? marker : ""),
  "icon": () => load("img", { src: home + "/static/trestle.svg" }).then((e) => e.naturalWidth ? marker : ""),
  "style": () => load("link", { rel: "stylesheet", href: home + "/static/console.css" }).then((e) => { try { return e.sheet?.cssRules.length ? marker : ""; } catch { return ""; } }),
  "object": () => load("object", { data: home + "/", type: "text/html" }).then(peek),
  "beacon": async () => { navigator.sendBeacon(home + "/api/runs/" + run + "/cancel", "x"); return ""; },
  "import": () => import(home + "/static/console.js").then(() => marker),
  "other name": () => fetch(rebound + "/api/spaces").then(text),
  "other name in a frame": () => load("iframe", { src: rebound + "/" }).then(peek),
};
(async () => {
  const got = {};
  for (const [name, attack] of Object.entries(all)) {
    let data = "";
    try { data = await timed(attack()); } catch { data = ""; }
    got[name] = data.includes(marker) ? data.length : 0;
  }
  done(got);
})();`

// SECURITY S8: a page of another origin, in a browser that has a session, tries
// twenty-four attacks, from another site and from another port of this machine:
// nothing is changed and not a byte is read.
func TestPagesOfOthersGetNothing(t *testing.T) {
	b := newBrowser(t)
	s := newStand(t, b)
	const marker = "Quincunx"
	l := s.Live(marker)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>x</title><body>"))
	}))
	defer page.Close()
	_, port, err := net.SplitHostPort(page.Listener.Addr().String())
	testutil.OK(t, err)
	_, own, err := net.SplitHostPort(s.server.Listener.Addr().String())
	testutil.OK(t, err)
	b.visit(s.server.URL + "/spaces")
	var shown string
	if b.run("return document.body.innerText", &shown); !strings.Contains(shown, marker) {
		t.Fatalf("the browser has no session to begin with: %s", shown)
	}
	sessions, tries, bytes := s.sessions(t), 0, 0
	for _, origin := range []string{"http://evil.example:" + port, "http://127.0.0.1:" + port} {
		b.visit(origin + "/")
		got := map[string]int{}
		b.await(attacks, &got, s.server.URL, "http://rebound.example:"+own, string(l.Open), marker)
		tries += len(got)
		for name, n := range got {
			if bytes += n; n > 0 {
				t.Errorf("%s from %s reads %d bytes", name, origin, n)
			}
		}
	}
	b.visit("http://rebound.example:" + own + "/spaces") // as a page whose name was rebound would see itself
	if b.run("return document.documentElement.outerHTML", &shown); strings.Contains(shown, marker) {
		t.Error("a rebound name shows the console")
	}
	changes := len(s.Program.Cancelled()) + sessions - s.sessions(t)
	if tokens, err := s.Store.Keys().ListKeys(t.Context(), console.KeyToken); err != nil || len(tokens) > 0 {
		t.Errorf("tokens %v, %v", tokens, err)
	}
	if changes != 0 {
		t.Errorf("%d state changes: cancelled %v, %d sessions of %d left", changes, s.Program.Cancelled(), s.sessions(t), sessions)
	}
	b.visit(s.server.URL + "/spaces")
	if b.run("return document.body.innerText", &shown); !strings.Contains(shown, marker) {
		t.Error("the session is gone")
	}
	t.Logf("%d attacks from pages of 2 other origins: %d state changes, %d bytes of data", tries, changes, bytes)
}
