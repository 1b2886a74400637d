//go:build !race

package server

// repeats is how many times of n a test does the same thing: all of them.
func repeats(n int) int { return n }
