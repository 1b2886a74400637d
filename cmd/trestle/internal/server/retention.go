package server

import (
	"context"
	"time"
)

const (
	// framesInterval is the time between two deletions of expired frames.
	framesInterval = time.Hour
	// framesBatch is the number of runs whose frames are deleted in one transaction, shedPause
	// the time for other writers in between.
	framesBatch = 50
	framesPause = 50 * time.Millisecond
)

const (
	// figuresInterval is the time between two counts of what happened.
	figuresInterval = time.Minute
	// figuresBatch is the number of events that are counted in one transaction.
	figuresBatch = 2000
)

// countFigures counts what happened into the figures of the console, and deletes figures of
// old hours, until ctx is done.
func (core *Core) countFigures(ctx context.Context) error {
	figures := core.Store.Figures()
	var dropped time.Time
	for {
		pause := figuresInterval
		more, err := figures.Count(ctx, figuresBatch)
		if more {
			pause = framesPause
		}
		if now := time.Now(); err == nil && now.Sub(dropped) >= framesInterval {
			dropped, err = now, figures.DropHours(ctx, now)
		}
		if err != nil && ctx.Err() == nil {
			core.Log.Warn("what happened is not counted", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// deleteFrames deletes full model requests that are older than retention.frames, until ctx is
// done.
func (core *Core) deleteFrames(ctx context.Context) error {
	for {
		pause := framesInterval
		if keep := core.Config().SettingsFor("", "").Retention.Frames; keep > 0 {
			more, err := core.Store.Shell().ShedFrames(ctx, time.Now().Add(-keep), framesBatch)
			if err != nil && ctx.Err() == nil {
				core.Log.Warn("old frames are not let go", "error", err)
			}
			if more {
				pause = framesPause
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
