package commands

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/trestle-bridge/trestle/spaces"
)

// StopHere stops what began at a place of a chat, by the platform's own Stop, and reports
// whether anything did. What began there after the press counts as well, and goes on.
func (a *CommandHandler) StopHere(ctx context.Context, at spaces.StopPlace, q CommandRequest, places []spaces.ChatPlacement) (bool, error) {
	return a.stopRuns(ctx, spaces.StopRequest{Here: &at}, q, places)
}

// stopPressed does what a person pressed a Stop button for, and returns what that person
// alone is to be told; empty when the chat sees it.
func (a *CommandHandler) stopPressed(ctx context.Context, h spaces.StopRequest, q CommandRequest, places []spaces.ChatPlacement, lg *slog.Logger) string {
	met, err := a.stopRuns(ctx, h, q, places)
	switch {
	case err != nil:
		lg.Error("run not stopped", "run", h.Run, "message", h.Event, "err", err)
		return notStored
	case !met:
		return "That has ended already."
	}
	return ""
}

// stopRuns stops what began in the spaces of a chat. Who may write there may do so.
func (a *CommandHandler) stopRuns(ctx context.Context, h spaces.StopRequest, q CommandRequest, places []spaces.ChatPlacement) (met bool, err error) {
	h.Unsent, h.At, h.Say = true, q.At, "Stopped by "+cmp.Or(spaces.PlainText(q.Who.Name), "a person")+"."
	for _, p := range places {
		h.Space = p.Space
		done, err := a.Runs.Halt(ctx, h)
		if err != nil {
			return met, err
		}
		met = met || len(done.Runs)+len(done.Calls)+done.Waiting+done.Waits+done.Unsent+done.Later > 0
	}
	return met, nil
}
