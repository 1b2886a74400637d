package main

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Issue 2, memory: what a busy time needed is given back when it is over, once,
// and not while it lasts; what is used at rest is dropped more and more rarely.
func TestMemoryIsGivenBackWhenThingsBecomeQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var used, given, dropped atomic.Uint64
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			if err := shrink(ctx, used.Load, func() { given.Add(1) }, func() { dropped.Add(1) }); err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(lookEvery / 2) // between two looks
		for times := range uint64(3) {
			for range 4 {
				used.Add(worthTheWork)
				time.Sleep(lookEvery)
			}
			if got := given.Load(); got != times {
				t.Errorf("given back %d times while things were busy, want %d", got, times)
			}
			for range 1 + 4*firstRest {
				used.Add(hardly - 1)
				time.Sleep(lookEvery)
			}
			if got := given.Load(); got != times+1 {
				t.Errorf("given back %d times once things were quiet, want %d", got, times+1)
			}
			if got, want := dropped.Load(), 1+3*(times+1); got != want { // the first while the start was busy
				t.Errorf("dropped %d times, want %d", got, want)
			}
		}
		stop()
		<-done
	})
}

// Issue 2, memory when idle: what the start needed is given back however little it
// was, and only once.
func TestMemoryOfTheStartIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 20*lookEvery)
		defer stop()
		given, dropped := 0, 0
		if err := shrink(ctx, func() uint64 { return hardly }, func() { given++ }, func() { dropped++ }); err != nil || given != 1 {
			t.Errorf("given back %d times, want once (%v)", given, err)
		}
		if dropped != 3 { // after 3, 6 and 12 looks
			t.Errorf("dropped %d times at rest, want 3 times", dropped)
		}
	})
}
