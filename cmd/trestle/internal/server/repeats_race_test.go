//go:build race

package server

// repeats is how many times of n a test does the same thing. The race detector
// keeps clocks of its own for every step, which take minutes for a thousand messages
// and may overflow; the order of few shows the same races.
func repeats(n int) int { return max(n/5, 1) }
