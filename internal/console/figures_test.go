package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
)

// The page of figures has a table for each drawing, says what would be there before anything
// happened, and is light.
func TestFiguresPage(t *testing.T) {
	w := consoletest.Open(t)
	session, h := w.Key(console.KeySession), w.Console.Handler()
	page := func(query string, want int) string {
		rec := do(t, h, call{target: "/figures" + query, header: cookie(session.Secret)})
		if rec.Code != want {
			t.Fatalf("%s: %d, want %d", query, rec.Code, want)
		}
		return rec.Body.String()
	}
	if text := page("", http.StatusOK); !strings.Contains(text, "Nothing happened") || strings.Contains(text, "data-plot") {
		t.Error("an empty page does not say what would be there")
	}
	w.Live("hello")
	if _, err := w.Store.Figures().Count(t.Context(), 10_000); err != nil {
		t.Fatal(err)
	}
	for _, r := range []string{"day", "week", "month", "year"} {
		text := page("?range="+r+"&agent=ada&platform=telegram", http.StatusOK)
		if n := strings.Count(text, "data-plot"); n < 4 || n != strings.Count(text, `as a table</summary>`) || len(text) > 120_000 {
			t.Errorf("%s: %d drawings in %d bytes", r, n, len(text))
		}
	}
	page("?range=century", http.StatusNotFound)
}
