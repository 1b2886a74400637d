// Package check is what tests ask most: whether a call went well, and whether what came
// is what was wanted. It knows none of our types, and nothing but tests uses it.
package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// OK ends the test when there is an error.
func OK(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Same fails the test, which goes on, when got is not what was wanted, and says what it
// is and how they differ.
func Same(tb testing.TB, what string, want, got any) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
