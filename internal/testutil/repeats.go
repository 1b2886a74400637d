//go:build !race

package testutil

// Repeats is how many times of n a test does the same thing: all of them, but a tenth under
// the race detector.
func Repeats(n int) int { return n }
