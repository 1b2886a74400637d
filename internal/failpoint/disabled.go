//go:build !faultinject

package failpoint

// Enabled is whether this binary carries out fault plans.
const Enabled = false

// Point marks the place called name. It always returns nil here; a build with
// the tag faultinject may return an error that wraps [ErrInjected], or never
// return. Calls may overlap.
func Point(name string) error { return nil }
