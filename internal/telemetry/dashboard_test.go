package telemetry

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
)

var (
	query  = regexp.MustCompile(`"expr": *("(?:[^"\\]|\\.)*")`)
	metric = regexp.MustCompile(`\b(?:trestle|process|go)_\w+`)
	label  = regexp.MustCompile(`[{,] *(\w+) *(?:=|!)`)
	by     = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

// Issue 7: what the dashboard asks for is there, with the labels it asks by.
func TestDashboardAsksForWhatThereIs(t *testing.T) {
	page := exposed(t)
	text, err := os.ReadFile("../../packaging/dashboard.json")
	testutil.OK(t, err)
	queries := query.FindAllStringSubmatch(string(text), -1)
	if len(queries) < 20 {
		t.Fatalf("the dashboard has %d queries, want all of them", len(queries))
	}
	for _, q := range queries {
		var expr string
		testutil.OK(t, json.Unmarshal([]byte(q[1]), &expr))
		name := metric.FindString(expr)
		labels := []string{}
		for _, m := range label.FindAllStringSubmatch(expr, -1) {
			labels = append(labels, m[1])
		}
		for _, m := range by.FindAllStringSubmatch(expr, -1) {
			labels = append(labels, strings.Split(m[1], ", ")...)
		}
		at := regexp.MustCompile(`(?m)^` + name + `[ {].*$`).FindString(page)
		if name == "" || at == "" {
			t.Errorf("%s: there is no metric %q", expr, name)
		}
		for _, l := range labels {
			if !strings.Contains(at, l+`="`) {
				t.Errorf("%s: %s has no label %q", expr, name, l)
			}
		}
	}
}
