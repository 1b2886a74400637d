//go:build faultinject

package failpoint

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// The plan is read once in a process, so each plan gets a process of its own.
func TestPlanComesFromTheEnvironment(t *testing.T) {
	if os.Getenv(Variable) != "" {
		ran := 0
		op := func() error { ran++; return nil }
		if err := Guard("wake.claimed", op); !errors.Is(err, ErrInjected) || ran != 0 {
			t.Errorf("error: got %v after %d runs, want an injected fault after 0", err, ran)
		}
		if err := Guard("wake.claimed", op); !errors.Is(err, ErrInjected) || ran != 1 {
			t.Errorf("exec_then_error: got %v after %d runs, want an injected fault after 1", err, ran)
		}
		if err := Point("wake.claimed"); err != nil {
			t.Errorf("third hit: got %v, want nil", err)
		}
		return
	}
	if !Enabled {
		t.Error("a build with the tag says it carries out no plan")
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPlanComesFromTheEnvironment$")
	child.Env = append(os.Environ(), Variable+"=wake.claimed#1=error;wake.claimed#2=exec_then_error")
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("child: %v\n%s", err, out)
	}
	child = exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPlanComesFromTheEnvironment$")
	child.Env = append(os.Environ(), Variable+"=nonsense")
	if out, err := child.CombinedOutput(); err == nil {
		t.Errorf("a plan that can not be read was accepted:\n%s", out)
	}
}
