//go:build race

package testutil

// Repeats is how many times of n a test does the same thing. Under the race detector each
// step takes some ten times as long, and the first ones show it what it can see.
func Repeats(n int) int { return max(n/10, 1) }
