//go:build !faultinject

package failpoint

import "testing"

func TestOrdinaryBuildIgnoresThePlan(t *testing.T) {
	t.Setenv(Variable, "wake.claimed#*=error")
	if err := Point("wake.claimed"); err != nil || Enabled {
		t.Errorf("got error %v, enabled %t; want nothing to happen", err, Enabled)
	}
	if n := testing.AllocsPerRun(100, func() { _ = Point("wake.claimed") }); n != 0 {
		t.Errorf("a point allocates %v times, want 0", n)
	}
}
