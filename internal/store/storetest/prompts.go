package storetest

import (
	"testing"
	"time"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

var promptTests = map[string]func(*testing.T, *world){
	"ActivatedPromptsAreKeptInOrder":   promptsKept,
	"NewestActivationIsRolledBack":     promptsRolledBack,
	"RunsSayWhichPromptsTheyWereTold":  promptsOfRuns,
	"OtherActivationsAreNotRolledBack": promptsApart,
}

// activate stores an activation, a second after the one before.
func (w *world) activate(section string, version int, agent spaces.AgentID) spaces.PromptActivation {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	a := spaces.PromptActivation{Section: section, Version: version, Agent: agent, By: "command line", At: w.now}
	w.ok(w.s.Prompts.ActivatePrompt(w.t.Context(), a))
	return a
}

// activated ends the test unless these activations are in force.
func (w *world) activated(want ...spaces.PromptActivation) {
	w.t.Helper()
	got, err := w.s.Prompts.PromptActivations(w.t.Context())
	w.ok(err)
	for i := range got {
		got[i].N = 0
	}
	testutil.Same(w.t, "activations", want, got)
}

func (w *world) rollBackIdentity(agent spaces.AgentID, want bool) {
	w.t.Helper()
	done, err := w.s.Prompts.RollBackPrompt(w.t.Context(), "identity", agent, "console", w.now)
	w.ok(err)
	if done != want {
		w.t.Errorf("the identity of %q was rolled back: %v, want %v", agent, done, want)
	}
}

// PRD-8-1: what is activated outlives the process.
func promptsKept(t *testing.T, w *world) {
	w.activated()
	one, two := w.activate("identity", 2, ""), w.activate("tools", 7, "ada")
	w.s = w.s.Restart(t, false)
	w.activated(one, two)
}

// PRD-8-1: a rollback goes to the version before, as often as there is one.
func promptsRolledBack(_ *testing.T, w *world) {
	one, _ := w.activate("identity", 2, ""), w.activate("identity", 3, "")
	w.rollBackIdentity("", true)
	w.activated(one)
	w.rollBackIdentity("", true)
	w.activated()
	w.rollBackIdentity("", false)
	w.activated(w.activate("identity", 3, ""))
}

func promptsApart(_ *testing.T, w *world) {
	all := w.activate("identity", 2, "")
	w.activate("identity", 3, "ada")
	tools := w.activate("tools", 2, "")
	w.rollBackIdentity("bea", false)
	w.rollBackIdentity("ada", true)
	w.activated(all, tools)
}

func promptsOfRuns(t *testing.T, w *world) {
	room := w.family()
	w.say(room, "zoe", "hello")
	wake := w.woken(ada, room)
	c := w.step(wake, 0)
	c.Upto = wake.Rows[len(wake.Rows)-1].Seq
	c.Close = &spaces.CycleClose{Stop: spaces.StopCompleted, Prompts: "identity@2 tools@3"}
	w.commit(c)
	run, err := w.s.Run(t.Context(), string(wake.Cycle.ID))
	w.ok(err)
	if run.Cycle.Prompts != "identity@2 tools@3" {
		t.Errorf("the run says %q", run.Cycle.Prompts)
	}
}
