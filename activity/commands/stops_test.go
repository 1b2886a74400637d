package commands

import (
	"context"
	"log/slog"
	"testing"

	"github.com/trestle-bridge/trestle/internal/testutil"
	"github.com/trestle-bridge/trestle/spaces"
)

// haltedRuns notes what is to be stopped, and stops a run once, in its space.
type haltedRuns struct {
	RunController
	asked []spaces.StopRequest
	space spaces.SpaceID
}

func (h *haltedRuns) Halt(_ context.Context, r spaces.StopRequest) (done spaces.StopResult, err error) {
	h.asked = append(h.asked, r)
	if r.Space == h.space {
		h.space = ""
		done.Runs = []spaces.StoppedRun{{Run: r.Run}}
	}
	return done, nil
}

// PRD-5.2-A5: who may write in a room may stop a run that began there, once.
func TestStopButtonStopsTheRunInItsRoom(t *testing.T) {
	runs := &haltedRuns{space: "hall"}
	h := &CommandHandler{Runs: runs}
	q := CommandRequest{Who: spaces.PlatformIdentity{Platform: "discord", User: "1", Name: "Kai"}}
	here := []spaces.ChatPlacement{{Space: "den"}, {Space: "hall"}}
	button := spaces.StopButton("run-1")
	lg := slog.New(slog.DiscardHandler)
	testutil.Same(t, "first press", "", h.RunPressed(t.Context(), button.Value, q, here, lg))
	testutil.Same(t, "second press", "That has ended already.", h.RunPressed(t.Context(), button.Value, q, here, lg))
	want := spaces.StopRequest{Run: "run-1", Space: "hall", Unsent: true, Say: "Stopped by Kai."}
	testutil.Same(t, "asked", want, runs.asked[1])
}
