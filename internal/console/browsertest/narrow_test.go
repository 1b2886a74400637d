package browsertest

import (
	"strings"
	"testing"
)

// However long the words of a name or a message are, no page is wider than a
// small phone.
func TestLongWordsDoNotWidenANarrowPage(t *testing.T) {
	b := newBrowser(t)
	s := newStand(t, b)
	l := s.Live(strings.Repeat("é", 300))
	if _, err := s.Store.Figures().Count(t.Context(), 10_000); err != nil {
		t.Fatal(err)
	}
	const width = 320
	b.devtools("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 640, "deviceScaleFactor": 1, "mobile": true})
	run := "/runs/" + string(l.Closed)
	for _, path := range []string{
		"/", "/chat", "/chat/home", "/figures", "/spaces", "/spaces/" + string(l.Space), "/uplinks", "/minds", "/minds/ada/home", "/memory", "/memory/ada/home", "/runs", run, run + "/steps/1",
		"/tools", "/approvals", "/people", "/denials", "/prompts", "/prompts/tags@1", "/live", "/jobs", "/problems", "/settings", "/settings?all=1", "/settings/change?path=agents.ada.persona", "/settings/change?path=admit", "/search?q=" + strings.Repeat("e", 300),
	} {
		b.visit(s.server.URL + path)
		var is int
		b.run("return document.documentElement.scrollWidth", &is)
		if is > width {
			t.Errorf("%s is %d pixels wide, want %d", path, is, width)
		}
	}
}
