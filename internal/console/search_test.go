package console_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// ECOSYSTEM 6: messages are found by their words; an edited one by its last words
// alone, a deleted one never, here and in every other view (DESIGN 2).
func TestWordsThatStandAreFound(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("the Harbour at dawn")
	account, chat := "telegram:42", "-999"
	place, err := w.Store.Border().Open(t.Context(), spaces.OpenRequest{
		Name: "Docks", Circle: "home", At: time.Now(), Chats: []spaces.ChatMapping{{Account: account, Chat: chat, Title: "Docks", Live: true}},
	})
	testutil.OK(t, err)
	ref := func(id string) spaces.MessageRef { return spaces.MessageRef{Account: account, Chat: chat, Message: id} }
	kai := spaces.PlatformIdentity{Platform: "telegram", User: "u9", Kind: spaces.Human, Name: "Kai"}
	var items []spaces.IngestItem
	for i, body := range []spaces.EventBody{
		spaces.MessagePosted{Text: "a lighthouse stays", Ref: ref("1")},
		spaces.MessagePosted{Text: "a lighthouse goes", Ref: ref("2")},
		spaces.MessagePosted{Text: "an old lighthouse", Ref: ref("3")},
		spaces.MessageEdited{Text: "a new windmill", Ref: ref("3")},
		spaces.MessageDeleted{Ref: ref("2")},
	} {
		items = append(items, spaces.IngestItem{From: kai, Event: spaces.Event{
			Space: place.Space, Object: spaces.ChatObject, Body: body, At: time.Now(), RecvAt: time.Now(), Source: "s" + string(rune('a'+i)),
		}})
	}
	if _, err := w.Store.Border().Record(t.Context(), spaces.IngestBatch{Account: account, At: time.Now(), Items: items}); err != nil {
		t.Fatal(err)
	}
	find := func(query string) []string {
		t.Helper()
		var texts []string
		for _, m := range get(t, w, "/api/search?"+query, 200)["messages"].([]any) {
			texts = append(texts, m.(map[string]any)["text"].(string))
		}
		return texts
	}
	for query, want := range map[string][]string{
		"q=LIGHTHOUSE": {"a lighthouse stays"}, "q=windmill": {"a new windmill"}, "q=stays+lighthouse": {"a lighthouse stays"},
		"q=old": nil, "q=": nil, "q=harbour&limit=1": {"the Harbour at dawn"},
		"q=lighthouse&space=" + string(l.Space): nil, "q=a&space=" + string(place.Space): {"a new windmill", "a lighthouse stays"},
	} {
		testutil.Same(t, query, want, find(query))
	}
	get(t, w, "/api/search?q=x&limit=501", 400)
	page := ownerDo(t, w, "GET", "/search?q="+url.QueryEscape("it's new windmill"), "").Body.String()
	if strings.Contains(page, "/spaces/"+string(place.Space)+"?before=") || !strings.Contains(page, `trestle search &#39;it&#39;\&#39;&#39;s new windmill&#39;`) {
		t.Errorf("the page of what is not there: %s", page)
	}
	if page := ownerDo(t, w, "GET", "/search?q=windmill", "").Body.String(); !strings.Contains(page, "/spaces/"+string(place.Space)+"?before=") {
		t.Errorf("the page of what is there: %s", page)
	}
}

// PRD-5.1-4, PRD-6.1-6, ECOSYSTEM 6: a denial tells what led to it, from what woke the run to
// the root, and what in the configuration decides about it. What an agent wrote
// is in no grant.
func TestDenialTellsItsCausesAndItsGrant(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("hello")
	for _, code := range []string{"authority", "not_a_member", "bad_arguments", "tier_policy", "greeting"} {
		d := spaces.Denial{Agent: "ada", Act: "x: [evil]", Code: code, Reason: "y: [evil]", Hint: "Do without.", Cycle: l.Closed, At: time.Now()}
		w.Deny(d)
	}
	rows := get(t, w, "/api/denials?limit=5", 200)["denials"].([]any)
	grants := map[string]string{}
	for _, r := range rows {
		d := r.(map[string]any)
		chain, _ := d["because"].([]any)
		if len(chain) == 0 || chain[0].(map[string]any)["event"] != string(l.Woke) || chain[len(chain)-1].(map[string]any)["name"] != "hello" {
			t.Errorf("%v is because of %v", d["code"], chain)
		}
		grant := d["grant"].(map[string]any)
		yaml, _ := grant["yaml"].(string)
		grants[d["code"].(string)] = yaml
		if strings.Contains(yaml, "evil") || grant["says"] == "" {
			t.Errorf("the grant for %v is %v", d["code"], grant)
		}
	}
	want := map[string]string{
		"authority":    "admins: [\"telegram:123456\"]   # adapter:user\n",
		"not_a_member": "spaces:\n  NAME: {agents: [ada]}   # beside those who are there\n", "bad_arguments": "",
		"tier_policy": "", "greeting": "greeting: {look_up: true}\n",
	}
	testutil.Same(t, "grants", want, grants)
	react := spaces.Denial{Agent: "ada", Act: "react", Code: "tier_policy", Reason: "It was taken.", Cycle: l.Closed, At: time.Now()}
	w.Deny(react)
	newest := get(t, w, "/api/denials?limit=1", 200)["denials"].([]any)[0].(map[string]any)
	if got := newest["grant"].(map[string]any)["yaml"]; got != "acts: {react: true}\n" {
		t.Errorf("the grant for an act that was taken is %q", got)
	}
	page := ownerDo(t, w, "GET", "/denials", "").Body.String()
	for _, want := range []string{"Setting that allows it", "telegram:123456", "said</a> by hello", "/runs/" + string(l.Closed)} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// ECOSYSTEM 3.1: what failed carries the code of its page, and the console links it.
func TestWhatFailedNamesTheProblemToLookUp(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("the model refuses (TRS-M01) <b>")
	page := ownerDo(t, w, "GET", "/runs/"+string(l.Closed), "").Body.String()
	for _, want := range []string{`problems.md#trs-m01">TRS-M01</a>`, "&lt;b&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<b>)") || strings.Contains(page, "TRS-M01) <b>") {
		t.Error("what stood beside the code was not escaped")
	}
}
