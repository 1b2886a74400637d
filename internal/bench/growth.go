package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// costs finds what the benchmark of the record reports: after how many events a
// message and its answer took how many microseconds of CPU time.
var costs = regexp.MustCompile(`BenchmarkLongRecord/(\d+)\S*\s.*?([0-9.]+) cpu-µs/op`)

// growth is what a message costs the record the more there were before: the
// record's own benchmark, in a process of its own, without the million messages
// that take many minutes to write.
func growth(ctx context.Context, b *bench) error {
	cmd := exec.CommandContext(ctx, "go", "test", "github.com/trestle-bridge/trestle/internal/store/sqlite",
		"-run", "^$", "-bench", "^BenchmarkLongRecord$/^(10000|100000)$", "-benchtime", "500x", "-timeout", mostTime.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the record's benchmark: %w\n%s", err, out)
	}
	found := costs.FindAllStringSubmatch(string(out), -1)
	if len(found) < 2 {
		return fmt.Errorf("the record's benchmark says nothing of its costs:\n%s", out)
	}
	first := 0.0
	for i, f := range found {
		cost, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			return fmt.Errorf("cost after %s events: %w", f[1], err)
		}
		if i == 0 {
			first = cost
			continue
		}
		more := 100 * (cost/first - 1)
		b.add(fmt.Sprintf("CPU of the record for a message after %s, beside %s", f[1], found[0][1]), "<= +20 %", more <= 20,
			"", "%+.0f %% (%.0f µs, %.0f µs)", more, cost, first)
	}
	return nil
}
