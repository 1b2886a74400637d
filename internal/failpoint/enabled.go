//go:build faultinject

package failpoint

import (
	"os"
	"sync"
)

// Enabled is whether this binary carries out fault plans.
const Enabled = true

// plan is the process's own: it comes from the environment, like a signal, and
// counts the hits of every part of the process together.
var plan = sync.OnceValue(func() *FaultInjector {
	p, err := Parse(os.Getenv(Variable))
	if err != nil {
		panic("fault: " + Variable + ": " + err.Error())
	}
	return NewInjector(p)
})

// Point marks the place called name and does what the plan in [Variable] says
// for this hit: it returns nil, returns an error that wraps [ErrInjected], or
// never returns. A plan that can not be read, or a name missing from [Points],
// panics. Calls may overlap.
func Point(name string) error { return plan().Hit(name) }
