//go:build race

package shell_test

// repeats is how many times of n a test tells the same story. Under the race
// detector each step takes some twenty times as long, and the first tellings show it
// what it can see.
func repeats(n int) int { return max(n/6, 1) }
