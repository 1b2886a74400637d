package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"
)

// shrink gives back to the system, once things are quiet, what only the start
// needed: reading the migrations takes more memory than running idle, and most of
// the program's own text runs once.
func shrink(ctx context.Context) error {
	started := time.NewTimer(2 * time.Second)
	defer started.Stop()
	select {
	case <-started.C:
		runtime.GC() // pools give up what they hold at the second collection
		debug.FreeOSMemory()
		dropText()
	case <-ctx.Done():
	}
	return nil
}
