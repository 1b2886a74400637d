// Package failpoint lets a test stop the real program at a named place.
//
// [Point] is at each place where a crash would be interesting (DELIVERY
// 2.3). An ordinary build compiles it to nothing. A build with the tag
// faultinject reads a [Plan] from the environment variable [Variable] once and
// carries it out: the n-th time a point is reached, the process kills itself,
// panics, hangs, waits, or reports an error.
//
// The package promises that an ordinary binary can not be made to misbehave by
// its environment. It knows nothing of what it interrupts and imports nothing
// of ours, so anything that writes, sends or commits may import it.
package failpoint
