package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

var manifestTests = map[string]func(*testing.T, *world){
	"ActsAreKeptOnceWithTheirFirstRun":    actsKept,
	"ActsKnownByNameAreFilledIn":          actsFilledIn,
	"VersionsAreFoundByTheirBeginning":    versionsFound,
	"RunsThatGiveUpWereOfferedActsAsWell": actsOfGivenUp,
}

// acts is a version with one act of that name.
func acts(name string) spaces.ToolManifest {
	return spaces.NewManifest([]spaces.ToolDefinition{
		{Name: name, Tier: spaces.TierPlatform, Risk: spaces.RiskWriteOwn, About: "Says <something> & more.", Schema: []byte(`{"type":"object"}`)},
	})
}

// offered lives a whole cycle that is offered those acts.
func (w *world) offered(m spaces.ToolManifest) spaces.CycleID {
	w.t.Helper()
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Upto = wake.Rows[len(wake.Rows)-1].Seq
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Manifest: m}
	w.commit(c)
	return wake.Cycle.ID
}

// versions ends the test unless the record has these versions under a beginning.
func (w *world) versions(beginning string, want ...console.ManifestUse) {
	w.t.Helper()
	got, err := w.s.Manifests(w.t.Context(), beginning, 10)
	w.ok(err)
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("versions %q (-want +got):\n%s", beginning, diff)
	}
}

// PRD-7.2-1: the acts are in the record with the first run that was offered them,
// whole and once; that they are in use is noted hourly, so that a message within the
// hour writes nothing of them.
func actsKept(t *testing.T, w *world) {
	first := w.now
	one := acts("one")
	id := w.offered(one)
	kept := console.ManifestUse{ToolManifest: one, First: first, Last: first}
	w.versions("", kept)
	run, err := w.s.Run(t.Context(), string(id))
	w.ok(err)
	if run.Cycle.Manifest != one.Hash {
		t.Errorf("the run names %q, want %q", run.Cycle.Manifest, one.Hash)
	}
	w.now = w.now.Add(59 * time.Minute)
	w.offered(one)
	w.versions("", kept)
	w.now = w.now.Add(time.Minute)
	w.offered(one)
	kept.Last = w.now
	w.versions("", kept)

	two := acts("two")
	w.now = w.now.Add(time.Minute)
	w.offered(two)
	newer := console.ManifestUse{ToolManifest: two, First: w.now, Last: w.now}
	w.versions("", newer, kept)
	w.s = w.s.Restart(t, false)
	w.now = w.now.Add(time.Minute)
	w.offered(one) // the process is another: it notes what it meets
	kept.Last = w.now
	w.versions("", kept, newer)
}

// PRD-7.2-1: of what an older program kept the name alone, the acts are in the record
// once a run is offered the same.
func actsFilledIn(t *testing.T, w *world) {
	one, first := acts("one"), w.now
	w.offered(spaces.ToolManifest{Hash: one.Hash})
	w.versions("", console.ManifestUse{ToolManifest: spaces.ToolManifest{Hash: one.Hash}, First: first, Last: first})
	w.s = w.s.Restart(t, true)
	w.now = w.now.Add(time.Minute)
	w.offered(one)
	w.versions("", console.ManifestUse{ToolManifest: one, First: first, Last: w.now})
	w.s = w.s.Restart(t, true)
	w.now = w.now.Add(time.Minute)
	w.offered(spaces.ToolManifest{Hash: one.Hash}) // no garbage collection runs
	w.versions("", console.ManifestUse{ToolManifest: one, First: first, Last: w.now})
}

// PRD-7.2-1
func versionsFound(_ *testing.T, w *world) {
	at := w.now
	known := map[string]console.ManifestUse{}
	for _, hash := range []string{"ab10", "ab20", "b"} {
		m := spaces.ToolManifest{Hash: hash}
		w.offered(m)
		known[hash] = console.ManifestUse{ToolManifest: m, First: at, Last: at}
	}
	w.versions("ab", known["ab10"], known["ab20"])
	w.versions("ab2", known["ab20"])
	w.versions("b", known["b"])
	w.versions("a%")
	w.versions("abc")
}

// PRD-7.2-1: a run whose rows go back was offered acts, too, and names them.
func actsOfGivenUp(_ *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Close = &spaces.CycleClose{Stop: spaces.StopModelError, Manifest: acts("one"), Back: true, RetryAt: w.now.Add(time.Minute)}
	w.commit(c)
	w.versions("", console.ManifestUse{ToolManifest: acts("one"), First: w.now, Last: w.now})
}
