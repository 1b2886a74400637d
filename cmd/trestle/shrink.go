package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/trestle-bridge/trestle/hud"
)

// When memory is given back.
const (
	lookEvery    = time.Second / 2 // things are quiet when hardly anything is allocated meanwhile
	hardly       = 1 << 19         // bytes
	worthTheWork = 16 << 20        // so many bytes were allocated since the last time
	startOver    = 2               // looks, after which the start no longer runs
	firstRest    = 3               // looks, from giving to the first drop at rest
)

// shrink calls give each time things have become quiet, after the start and
// after each busy time, until ctx is done. Things are busy when allocated, the
// number of bytes so far, grows. As long as they are quiet it calls drop, more and
// more rarely, and once in the middle of it when they are busy after the start.
func shrink(ctx context.Context, allocated func() uint64, give, drop func()) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	seen, due := allocated(), uint64(0)
	quiet, next := 0, firstRest // looks since giving, and at which of them text goes next
	for looks := 1; ; looks++ {
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		}
		now := allocated()
		switch calm := now-seen < hardly; {
		case calm && now >= due:
			give()
			now = allocated() // what giving took is no reason to give again
			due = now + worthTheWork
			quiet, next = 0, firstRest
		case calm:
			if quiet++; quiet == next {
				next *= 2
				drop()
			}
		case looks == startOver:
			drop()
		}
		seen = now
	}
}

// allocated returns how many bytes were ever allocated.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// giveBack gives the system what only the start or a busy time needed: reading the
// migrations takes more memory than running idle, and most of the program's own
// text runs once. Who counts again has the vocabulary loaded again.
func giveBack() {
	hud.ForgetVocabulary()
	runtime.GC() // pools give up what they hold at the second collection
	debug.FreeOSMemory()
	dropText()
}
