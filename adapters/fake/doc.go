// Package fake holds what the loopback servers of chat platforms share: faults, JSON
// handlers of the control protocol, serving until a context is done, and [Network], a
// network in memory for testing/synctest bubbles. The servers themselves are the
// packages telegram, slack and discord below it.
//
// They are part of the product: `trestle run --demo` and `trestle fake` serve them, the
// fault harness and the benchmarks measure against them, and official clients of other
// languages check their answers.
//
// The package imports no package of Trestle.
package fake
