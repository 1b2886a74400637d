//go:build faultinject

package crashtest

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
)

// next is the version that a crew is brought to.
const next = "9.9.9"

// buildNext builds the program once more, as another version.
func buildNext(t *testing.T) string {
	t.Helper()
	file := binary + "-next"
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "faultinject", "-ldflags", "-X github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo.Version="+next, "-o", file, "../../cmd/trestle")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v: %s", err, said)
	}
	return file
}

// Issue 7: in the middle of a conversation the processes are brought to another
// version by turns, and back. Nothing is lost, and nothing comes twice.
func TestVersionsChangeByTurns(t *testing.T) {
	newer := buildNext(t)
	crews(t, "rolling", func(ctx context.Context, t *testing.T, c *crew, seed uint64) {
		t.Helper()
		c.starts(ctx, t)
		hush := c.talks(seed)
		defer hush()
		for _, to := range []struct{ binary, version string }{{newer, next}, {binary, ""}} {
			for i, p := range c.members {
				if err := p.stop(ctx); err != nil {
					t.Error(err)
				}
				p.binary = to.binary
				p.start(t, nil)
				want := i + 1
				if to.version == "" {
					want = len(c.members) - 1 - i
				}
				c.awaits(ctx, t, "three processes, as many of them new as there should be", func() bool {
					all := c.count(ctx, t, allTakePart)
					return all == len(c.members) && c.count(ctx, t, fmt.Sprintf(`select count(*) from processes where program = '%s'`, next)) == want
				})
			}
			c.converses(ctx)
		}
		hush()
		c.rest(ctx, t, c.members[0])
		c.stops(ctx, t)
		if v := c.judge(t, c.members[0], &evidence{}); v.copies > 0 {
			t.Errorf("%d messages came twice", v.copies)
		}
	})
}
