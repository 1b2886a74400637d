package server

import (
	"context"
	"time"
)

const (
	// shedEvery is how often frames are looked for that are kept no longer.
	shedEvery = time.Hour
	// shedAtOnce is how many runs' frames go in one transaction, shedPause what the
	// writers have to themselves in between.
	shedAtOnce = 50
	shedPause  = 50 * time.Millisecond
)

// shedFrames lets go of the full requests of models that are older than
// retention.frames, until ctx is done.
func (core *Core) shedFrames(ctx context.Context) error {
	for {
		pause := shedEvery
		if keep := core.Config().SettingsFor("", "").Retention.Frames; keep > 0 {
			more, err := core.Store.Shell().ShedFrames(ctx, time.Now().Add(-keep), shedAtOnce)
			if err != nil && ctx.Err() == nil {
				core.Log.Warn("old frames are not let go", "error", err)
			}
			if more {
				pause = shedPause
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
