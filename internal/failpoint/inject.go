package failpoint

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// ErrInjected is in the chain of every error a plan causes.
var ErrInjected = errors.New("injected fault")

// errUndone marks the error of [Undone], which [Guard] returns only after its
// operation has run.
var errUndone = fmt.Errorf("after the operation: %w", ErrInjected)

// Guard runs op as the operation that the point called name represents. With
// [Fail] planned, op does not run; with [Undone] it runs, and the caller is
// told that it failed: a commit whose answer was lost. Otherwise Guard returns
// what op returns.
func Guard(name string, op func() error) error {
	planned := Point(name)
	if planned != nil && !errors.Is(planned, errUndone) {
		return planned
	}
	if err := op(); err != nil {
		return err
	}
	return planned
}

// A FaultInjector carries out one plan. It is safe for concurrent use.
type FaultInjector struct {
	plan FaultPlan
	end  func() // ends the process at once
	stop func() // blocks for ever

	mu   sync.Mutex // guards hits
	hits map[string]int
}

// NewInjector returns an injector for plan whose points have not been hit.
func NewInjector(plan FaultPlan) *FaultInjector {
	return &FaultInjector{plan: plan, end: die, stop: forever, hits: map[string]int{}}
}

// Hit counts one more hit of the point called name and does what the plan says
// for it. It panics when the name is not in [Points].
func (in *FaultInjector) Hit(name string) error {
	if !registered(name) {
		panic("fault: unregistered point " + name)
	}
	r, planned := in.next(name)
	if !planned {
		return nil
	}
	switch r.Action {
	case Kill:
		in.end()
	case Panic:
		panic("fault: planned panic at " + name)
	case Fail:
		return fmt.Errorf("%s: %w", name, ErrInjected)
	case Undone:
		return fmt.Errorf("%s: %w", name, errUndone)
	case Delay:
		<-time.After(r.For)
	case Hang:
		in.stop()
	}
	return nil
}

// next counts the hit and returns the rule that applies to it.
func (in *FaultInjector) next(name string) (FaultRule, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.hits[name]++
	for _, r := range in.plan {
		if r.Point == name && (r.Hit == 0 || r.Hit == in.hits[name]) {
			return r, true
		}
	}
	return FaultRule{}, false
}

// die ends the process as a power cut would: no handler, no deferred call. The
// signal may take a moment to arrive, and nothing may happen until then.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic("fault: kill self: " + err.Error())
	}
	forever()
}

func forever() { select {} }
