package console_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
)

var remembered = regexp.MustCompile(`(?s)<section><h2>Memories.*</section>`)

// ECOSYSTEM 6, Memory: what an agent believes and from where: memories with kind,
// run, sources and who may learn them; goals, plans, notes and summaries beside.
func TestMemoryPageTellsWhatIsBelievedAndFromWhere(t *testing.T) {
	w := consoletest.Open(t)
	w.Live("she takes <b>tea</b>")
	page := do(t, w.Console.Handler(), call{target: "/memory/ada/home", header: cookie(w.Key(console.KeySession).Secret)})
	got := remembered.FindString(strings.ReplaceAll(page.Body.String(), "00000000-0000-7000-8000-", ""))
	golden(t, "memory.html", moments.ReplaceAllString(got, "<time>")+"\n")
}

// Memories are looked for by their words and by who may learn them, and paged by key.
func TestMemoriesAreFoundAndPaged(t *testing.T) {
	w := consoletest.Open(t)
	texts := []string{"Zoe takes tea", "Zoe takes milk", "the cat sleeps"}
	for _, text := range texts {
		w.Live(text)
	}
	facts := func(query string) (all []string, next string) {
		v := get(t, w, "/api/memory/ada/home?"+query, 200)
		for _, m := range v["memories"].([]any) {
			all = append(all, m.(map[string]any)["fact"].(string))
		}
		next, _ = v["next"].(string)
		return all, next
	}
	for query, want := range map[string][]string{
		"words=TEA+zoe": {texts[0]}, "words=takes": {texts[1], texts[0]}, "words=dog": nil, "reader=nobody": nil, "": {texts[2], texts[1], texts[0]},
	} {
		got, next := facts(query)
		// A room has two runs, and both remember.
		got = slices.Compact(got)
		if diff := cmp.Diff(want, got); diff != "" || next != "" {
			t.Errorf("%q (-want +got):\n%s and next %q", query, diff, next)
		}
	}
	reader := get(t, w, "/api/memory/ada/home", 200)["memories"].([]any)[0].(map[string]any)["readers"].([]any)[0].(map[string]any)["name"].(string)
	if got, _ := facts("reader=" + url.QueryEscape(strings.ToUpper(reader))); len(got) == 0 {
		t.Errorf("%s may learn nothing", reader)
	}
	var all []string
	before := ""
	for range 10 {
		page, next := facts("limit=2&before=" + before)
		all = append(all, page...)
		if before = next; next == "" {
			break
		}
	}
	whole, _ := facts("")
	if diff := cmp.Diff(whole, all); diff != "" {
		t.Errorf("page by page (-whole +pages):\n%s", diff)
	}
	get(t, w, "/api/memory/ada/home?limit=x", 400)
	if got, _ := facts(""); len(got) != 6 {
		t.Errorf("%d memories, want 6", len(got))
	}
}

// SECURITY S7: to have a mind forget, or remember something else, takes a credential, and a mind that has it.
func TestChangingAMemoryIsForHolders(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("tea")
	id := get(t, w, "/api/memory/ada/home", 200)["memories"].([]any)[0].(map[string]any)["id"].(string)
	session := cookie(w.Key(console.KeySession).Secret)
	for _, x := range []struct {
		method, target string
		header         http.Header
		code           int
		body           string
	}{
		{http.MethodDelete, "/api/memory/ada/home?id=" + id, nil, http.StatusUnauthorized, ""},
		{http.MethodPost, "/memory/ada/home", nil, http.StatusUnauthorized, "id=" + id},
		{http.MethodDelete, "/api/memory/ada/home?id=none", session, http.StatusNotFound, ""},
		{http.MethodDelete, "/api/memory/ada/home?id=" + id, session, http.StatusOK, ""},
		{http.MethodPost, "/memory/ada/home", session, http.StatusSeeOther, "id=" + id},
		{http.MethodPost, "/memory/ada/home", session, http.StatusSeeOther, "do=correct&fact=milk&id=" + id},
		{http.MethodPost, "/memory/ada/home", session, http.StatusBadRequest, "do=correct&id=" + id},
		{http.MethodPatch, "/api/memory/ada/home?id=" + id, session, http.StatusOK, `{"fact":"coffee"}`},
		{http.MethodPatch, "/api/memory/ada/home?id=" + id, session, http.StatusBadRequest, `{"fact":""}`},
		{http.MethodPatch, "/api/memory/ada/home?id=" + id, session, http.StatusBadRequest, "coffee"},
		{http.MethodPatch, "/api/memory/ada/home?id=none", session, http.StatusNotFound, `{"fact":"coffee"}`},
		{http.MethodPatch, "/api/memory/ada/home?id=" + id, nil, http.StatusUnauthorized, `{"fact":"coffee"}`},
	} {
		header := maps.Clone(x.header)
		if x.method == http.MethodPost {
			header = http.Header{"Cookie": x.header["Cookie"], "Content-Type": {"application/x-www-form-urlencoded"}}
		}
		if got := do(t, w.Console.Handler(), call{method: x.method, target: x.target, header: header, body: x.body}); got.Code != x.code {
			t.Errorf("%s %s %q: %d, want %d", x.method, x.target, x.body, got.Code, x.code)
		}
	}
	of := fmt.Sprintf("%s %s", l.Mind, id)
	want := []string{of, of, of + ": milk", of + ": coffee"}
	if diff := cmp.Diff(want, w.Program.Forgotten()); diff != "" {
		t.Errorf("forgotten (-want +got):\n%s", diff)
	}
}
