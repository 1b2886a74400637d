package console_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/console/consoletest"
	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// told reads an answer of the API.
func told[A any](t *testing.T, w *consoletest.ConsoleWorld, path string, code int) (a A) {
	t.Helper()
	rec := ownerDo(t, w, http.MethodGet, path, "")
	if err := json.Unmarshal(rec.Body.Bytes(), &a); err != nil || rec.Code != code {
		t.Fatalf("%s: %d %v in %s", path, rec.Code, err, rec.Body)
	}
	return a
}

// earlier is the world's one act as it was, between two that are gone.
func earlier() spaces.ToolManifest {
	return spaces.NewManifest([]spaces.ToolDefinition{
		{Name: "wave", Tier: spaces.TierPlatform, Risk: spaces.RiskWriteOwn, About: "Waves.", Schema: []byte(`{}`)},
		{Name: "send_message", Tier: spaces.TierSystem, Risk: spaces.RiskWriteOwn, About: "Says something.", Schema: []byte(`{"properties":{"text":{}}}`)},
		{Name: "nod", Tier: spaces.TierPlatform, Risk: spaces.RiskWriteOwn, About: "Nods.", Schema: []byte(`{}`)},
	})
}

// PRD-7.2-1: the acts of now are told with the sum of each schema, and those of any
// version that a run was offered, with the time of its use.
func TestToolsAreToldByVersion(t *testing.T) {
	w := consoletest.Open(t)
	a := told[api.ToolsAnswer](t, w, "/api/tools", 200)
	if a.Manifest != consoletest.Acts().Hash || len(a.Tools) != 1 || len(a.Versions) != 0 {
		t.Errorf("before any run: %+v", a)
	}
	// printf '{"type":"object"}' | sha256sum
	if got, want := a.Tools[0].SHA256, "a2c799262a3ce3c19ef5cdd983bf3d12b43ab3c426227091b909dcb7054738c0"; got != want {
		t.Errorf("the sum of the schema is %s, want %s", got, want)
	}
	w.Offered = earlier()
	w.Live("hello")
	a = told[api.ToolsAnswer](t, w, "/api/tools?version="+w.Offered.Hash[:6], 200)
	var names []string
	for _, tool := range a.Tools {
		names = append(names, tool.Name)
	}
	if a.Manifest != w.Offered.Hash || !slices.Equal(names, []string{"wave", "send_message", "nod"}) {
		t.Errorf("version %s has %q, want those of %s", a.Manifest, names, w.Offered.Hash)
	}
	if v := a.Versions; len(v) != 1 || v[0].Manifest != w.Offered.Hash || v[0].Acts != 3 || v[0].First.IsZero() || v[0].Last.Before(v[0].First) {
		t.Errorf("versions %+v", v)
	}
}

// PRD-7.2-1: an unknown version, an ambiguous prefix and a version whose tools were not
// stored each have an error that says so.
func TestToolsThatCannotBeToldAreSaidToBeSo(t *testing.T) {
	w := consoletest.Open(t)
	now := consoletest.Acts().Hash
	for _, hash := range []string{"xy1", "xy2", "xy", now[:1] + "-"} {
		w.Offered = spaces.ToolManifest{Hash: hash}
		w.Live("hello " + hash)
	}
	for version, want := range map[string]string{
		"z":     `no version of the acts is called "z"`,
		"xy1":   "which acts version xy1 had is not in the record",
		"xy":    "which acts version xy had is not in the record", // although others begin so
		"x":     `several versions of the acts fit "x": xy, xy1, xy2`,
		now[:1]: `several versions of the acts fit "` + now[:1] + `": ` + now[:1] + "-, " + now,
	} {
		for _, path := range []string{"/api/tools?version=" + version, "/api/tools/diff?from=" + now + "&to=" + version, "/api/tools/diff?from=" + version} {
			if no := told[console.ErrorAnswer](t, w, path, 422); no.Error != want || no.Do == "" {
				t.Errorf("%s: %+v, want %s", path, no, want)
			}
		}
	}
	if a := told[api.ToolsAnswer](t, w, "/api/tools?version="+now, 200); a.Manifest != now || len(a.Versions) != 4 || a.Versions[0].Acts != 0 {
		t.Errorf("the acts of now, in full: %+v", a)
	}
}

// PRD-7.2-1: two versions differ in acts, in what is known of one, in its arguments and
// in their order.
func TestTwoVersionsOfTheActsAreCompared(t *testing.T) {
	w := consoletest.Open(t)
	offer := func(name, about, schema string) spaces.ToolDefinition {
		return spaces.ToolDefinition{Name: name, Tier: spaces.TierPlatform, Risk: spaces.RiskWriteOwn, About: about, Schema: []byte(schema)}
	}
	was := spaces.NewManifest([]spaces.ToolDefinition{
		offer("same", "Is.", `{}`), offer("gone", "Was.", `{}`),
		offer("changed", "Does.", `{"properties":{"a":{"type":"string"},"b":{},"c":{},"d":{}},"required":["b"]}`),
		offer("told", "Says.", `{"properties":{"x":{}}}`),
	})
	acts := []spaces.ToolDefinition{
		offer("told", "Says so.", `{"properties":{"x":{}}}`),
		offer("changed", "Does.", `{"properties":{"a":{"type":"integer"},"b":{},"d":{},"e":{}},"required":["d","b"]}`),
		offer("new", "Will.", `{}`), offer("same", "Is.", `{}`),
	}
	acts[0].Risk = spaces.RiskReadOwn
	is := spaces.NewManifest(acts)
	for _, m := range []spaces.ToolManifest{was, is} {
		w.Offered = m
		w.Live("hello " + m.Hash)
	}
	none := api.ArgumentChanges{Added: []string{}, Removed: []string{}, Changed: []string{}}
	want := api.ToolsDiff{
		From: was.Hash, To: is.Hash, Added: []string{"new"}, Removed: []string{"gone"}, Reordered: true,
		Changed: []api.ToolChange{
			{Name: "told", What: []string{"risk", "about"}, Arguments: none},
			{Name: "changed", What: []string{"schema"}, Arguments: api.ArgumentChanges{Added: []string{"e"}, Removed: []string{"c"}, Changed: []string{"a", "d"}}},
		},
	}
	testutil.Same(t, "difference", want, told[api.ToolsDiff](t, w, "/api/tools/diff?from="+was.Hash+"&to="+is.Hash, 200))
	w.Offered = earlier()
	w.Live("hello")
	got := told[api.ToolsDiff](t, w, "/api/tools/diff?from="+earlier().Hash, 200) // to the acts of now
	want = api.ToolsDiff{
		From: earlier().Hash, To: consoletest.Acts().Hash, Added: []string{}, Removed: []string{"nod", "wave"},
		Changed: []api.ToolChange{{Name: "send_message", What: []string{"tier", "schema"}, Arguments: api.ArgumentChanges{Added: []string{}, Removed: []string{"text"}, Changed: []string{}}}},
	}
	testutil.Same(t, "difference to now", want, got)
	if d := told[api.ToolsDiff](t, w, "/api/tools/diff", 200); d.From != d.To || len(d.Changed)+len(d.Added)+len(d.Removed) > 0 || d.Reordered {
		t.Errorf("the acts of now differ from themselves: %+v", d)
	}
}

// PRD-7.4-1: a run tells of each act how long it took, and what a model that was asked
// for its sake cost.
func TestActsTellWhatTheyCost(t *testing.T) {
	w := consoletest.Open(t)
	l := w.Live("hello")
	a := told[api.RunAnswer](t, w, "/api/runs/"+string(l.Closed), 200)
	act := a.Steps[1].Acts[0]
	if act.ExecutionMS != 1200 || act.Usage.Prompt != 1000 || act.Cost == nil || *act.Cost != 0.00168 || a.Currency != "USD" || a.Cost == nil {
		t.Errorf("the act cost %+v, %v", act, act.Cost)
	}
}
