//go:build !race

package shell_test

// repeats is how many times of n a test tells the same story: all of them.
func repeats(n int) int { return n }
