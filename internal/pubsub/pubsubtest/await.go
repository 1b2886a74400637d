package pubsubtest

import (
	"testing"
	"time"
)

// Within ends the test, saying what is missing, unless something happens in good
// time.
func Within(t *testing.T, happens <-chan struct{}, missing string) {
	t.Helper()
	select {
	case <-happens:
	case <-time.After(late):
		t.Fatal(missing)
	}
}

// Eventually looks again and again until something has happened, and ends the test,
// saying what is wrong, when it has not in good time.
func Eventually(t *testing.T, wrong string, happened func() bool) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for deadline := time.After(late); !happened(); {
		select {
		case <-look.C:
		case <-deadline:
			t.Fatal(wrong)
		}
	}
}
