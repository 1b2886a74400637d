package console_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
)

var (
	nextPage = regexp.MustCompile(`<a rel="next" href="([^"]+)"`)
	mindCell = regexp.MustCompile(`<a href="/(?:minds|memory)/ada/own:[^"]+">(ada in room \d+)</a>`)
	roomCell = regexp.MustCompile(`<a href="/spaces/[^"]+">(room \d+)</a>`)
)

// ECOSYSTEM 6, PRD-5.4: where hundreds of people found the bot, each with a mind for
// them alone, a list is cut into pages that hold each of them once, and a mind is
// called by its room.
func TestLongListsAreCutIntoPages(t *testing.T) {
	const many = 230
	w := consoletest.Open(t)
	w.Strangers(many)
	session := w.Key(console.KeySession)
	get := func(path string) string {
		rec := do(t, w.Console.Handler(), call{target: path, header: cookie(session.Secret)})
		if rec.Code != http.StatusOK {
			t.Fatalf("%s: %d", path, rec.Code)
		}
		return rec.Body.String()
	}
	for path, row := range map[string]*regexp.Regexp{"/minds": mindCell, "/memory": mindCell, "/spaces": roomCell} {
		seen, pages := map[string]bool{}, 0
		for next := path; next != ""; pages++ {
			body := get(next)
			rows := row.FindAllStringSubmatch(body, -1)
			if len(rows) > 100 {
				t.Errorf("%s lists %d", next, len(rows))
			}
			for _, m := range rows {
				if seen[m[1]] {
					t.Errorf("%s lists %s again", next, m[1])
				}
				seen[m[1]] = true
			}
			if pages == 0 && !strings.HasSuffix(rows[0][1], fmt.Sprintf("room %d", many-1)) {
				t.Errorf("%s begins with %s, want the latest", path, rows[0][1])
			}
			if next = ""; nextPage.MatchString(body) {
				next = html.UnescapeString(nextPage.FindStringSubmatch(body)[1])
			}
		}
		if len(seen) != many || pages != 3 {
			t.Errorf("%s lists %d of %d on %d pages", path, len(seen), many, pages)
		}
	}
	now := get("/")
	if n := len(mindCell.FindAllString(now, -1)); n != 20 || !strings.Contains(now, `<a class="more" href="/minds">all</a>`) {
		t.Errorf("the first page lists %d minds, want 20 and the way to the rest", n)
	}
	oldest := regexp.MustCompile(`<a href="/spaces/([^"]+)">room 0</a>`)
	last := get(html.UnescapeString(nextPage.FindStringSubmatch(get(html.UnescapeString(nextPage.FindStringSubmatch(get("/spaces"))[1])))[1]))
	chosen := oldest.FindStringSubmatch(last)[1]
	if body := get("/runs?space=" + chosen); !strings.Contains(body, `<option value="`+chosen+`" selected>room 0</option>`) || strings.Count(body, "<option value=") > 110 {
		t.Errorf("the runs of the oldest space do not say whose they are, or all spaces are there to choose from")
	}
	for _, wrong := range []string{"/minds?before=x", "/spaces?before=12", "/memory?before=12.", "/runs?before=x"} {
		if rec := do(t, w.Console.Handler(), call{target: wrong, header: cookie(session.Secret)}); rec.Code != http.StatusNotFound {
			t.Errorf("%s: %d", wrong, rec.Code)
		}
	}
}
