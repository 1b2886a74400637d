package console_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
)

// PRD-5.5, PRD-5.7: a version is read, compared, activated and rolled back by one button
// each, and what cannot be done is refused with its reason.
func TestPromptsAreChangedFromTheConsole(t *testing.T) {
	w := consoletest.Open(t)
	testutil.OK(t, os.WriteFile(filepath.Join(w.Prompts.Folder, "offer@2.md"), []byte("NEW ROOM: you may <b>offer</b> to set it up.\n"), 0o600))
	session := cookie(w.Key(console.KeySession).Secret)
	page := func(path string, code int, holds ...string) {
		t.Helper()
		got := do(t, w.Console.Handler(), call{target: path, header: session})
		if got.Code != code {
			t.Fatalf("%s: %d %s", path, got.Code, got.Body)
		}
		for _, want := range holds {
			if !strings.Contains(got.Body.String(), want) {
				t.Errorf("%s lacks %q:\n%s", path, want, got.Body)
			}
		}
	}
	press := func(path, agent string, code int) string {
		t.Helper()
		h := session.Clone()
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		got := do(t, w.Console.Handler(), call{method: http.MethodPost, target: path, body: url.Values{"agent": {agent}}.Encode(), header: h})
		if got.Code != code {
			t.Fatalf("%s: %d %s", path, got.Code, got.Body)
		}
		if code == http.StatusSeeOther {
			return got.Header().Get("Location")
		}
		return got.Body.String()
	}
	page("/prompts", 200, ">offer@1<", "/prompts/offer@2")
	page("/prompts/offer@2", 200, "Compared with offer@1", `class="added">&#43;NEW ROOM: you may &lt;b&gt;offer`, "Activate")
	page(press("/prompts/offer@2/activate", "", 303), 200, "told offer@2 from the next run on", "Roll back")
	page("/prompts/offer@2", 200, "<small>active</small>")
	page(press("/prompts/offer@1/activate", "ada", 303), 200, "ada is told offer@1")
	if said := press("/prompts/offer@2/activate", "", 400); !strings.Contains(said, "is active already") {
		t.Errorf("the reason is %q", said)
	}
	page(press("/prompts/offer/rollback", "ada", 303), 200, "ada is told offer@2", "no longer offer@1")
	page(press("/prompts/offer/rollback", "", 303), 200, "told offer@1")
	press("/prompts/offer/rollback", "", 400)
	press("/prompts/offer@2/burn", "", 404)
	page("/prompts/offer@9", 404)
	page("/prompts/offers", 404)
}
