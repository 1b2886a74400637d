package engine_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trestle-bridge/trestle/internal/store/engine"
)

// A migration is told before its first step and after each, and one that fails
// ends there.
func TestAMigrationIsToldStepByStep(t *testing.T) {
	broken := errors.New("the disk is full")
	for _, test := range []struct {
		fails int
		want  []int
	}{{9, []int{0, 1, 2}}, {1, []int{0, 1}}} {
		var told []int
		steps := 0
		err := engine.MigrationProgress{Total: 2}.Walk(func() error {
			if steps++; steps > test.fails {
				return broken
			}
			return nil
		}, func(m engine.MigrationProgress) { told = append(told, m.Done) })
		if diff := cmp.Diff(test.want, told); diff != "" || errors.Is(err, broken) != (test.fails < 2) {
			t.Errorf("told (-want +got):\n%s, ended with %v", diff, err)
		}
	}
}
