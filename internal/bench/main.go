// Command bench measures the finished binary from outside, end to end, beside
// two bare bots that do the same visible work.
//
//	go run ./internal/bench              every row of the table
//	go run ./internal/bench -rows latency,prefix
//	go run ./internal/bench -quick       fewer messages, for a first look
//	go run ./internal/bench -binary /tmp/before -rows cold     that binary, not the tree's
//
// This process is the world: fake platforms and a model endpoint that answers at
// once, both on loopback. What is measured are child processes of it, so that
// their CPU time and their memory, read from /proc, are theirs alone:
//
//   - trestle, built as it is released, both phases, every commit durable;
//   - echo, a bare bot on telegram-bot-api that sends every message back;
//   - echo+model, the same with one model call by go-openai; it stores nothing.
//
// Every time is taken on the side of the world: a message exists when the
// platform has it, and is answered when the sendMessage call arrives there.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// mostTime ends a run that hangs.
const mostTime = 15 * time.Minute

// A bench is one run.
type bench struct {
	quick  bool
	binary string // trestle
	self   string // this program, for the baselines
	dir    string // for what the children write
	lines  []line
}

// A line is one line of the table.
type line struct {
	what, target, measured, beside string
	met                            bool
}

// A row is one thing to measure; it may make several lines.
type row struct {
	name string
	run  func(context.Context, *bench) error
}

var rows = []row{
	{"latency", latency},
	{"throughput", throughput},
	{"slow", slowModel},
	{"flood", flood},
	{"platforms", platforms},
	{"processes", processes},
	{"memory", memory},
	{"minds", minds},
	{"cold", coldStart},
	{"prefix", prefix},
	{"answers", answers},
	{"limits", limits},
	{"kill", kill},
	{"recall", recall},
	{"lookback", lookBacks},
	{"sensitivity", sensitivity},
	{"large", large},
	{"growth", growth},
	{"history", history},
	{"strangers", strangers},
	{"stops", stops},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && (args[0] == "echo" || args[0] == "echo+model") {
		return baseline(ctx, args[0] == "echo+model")
	}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	chosen := flags.String("rows", "", "names of the rows to measure, by commas; default: all")
	quick := flags.Bool("quick", false, "fewer messages")
	binary := flags.String("binary", "", "the trestle to measure, so that two can be measured by turns; default: the tree's, built as it is released")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "trestle-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is below the system's own temporary folder
	ctx, cancel := context.WithTimeoutCause(ctx, mostTime, errors.New("the run took too long"))
	defer cancel()
	b := &bench{quick: *quick, dir: dir, binary: *binary}
	if err := b.build(ctx); err != nil {
		return err
	}
	return errors.Join(b.measure(ctx, *chosen, out), b.print(out))
}

// measure runs the chosen rows in order.
func (b *bench) measure(ctx context.Context, chosen string, out io.Writer) error {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	wanted := names
	if chosen != "" {
		wanted = strings.Split(chosen, ",")
	}
	for _, name := range wanted {
		i := slices.Index(names, name)
		if i < 0 {
			return fmt.Errorf("there is no row %q; there are %s", name, strings.Join(names, ", "))
		}
		began := time.Now()
		if err := rows[i].run(ctx, b); err != nil {
			return fmt.Errorf("row %s: %w", name, err)
		}
		if _, err := fmt.Fprintf(out, "measured %s in %.1f s\n", name, time.Since(began).Seconds()); err != nil {
			return err
		}
	}
	return nil
}

// add puts one line into the table. beside is what the baselines need for the
// same, empty when there is nothing to compare.
func (b *bench) add(what, target string, met bool, beside, format string, args ...any) {
	b.lines = append(b.lines, line{what, target, fmt.Sprintf(format, args...), beside, met})
}

func (b *bench) print(out io.Writer) error {
	var t strings.Builder
	fmt.Fprintln(&t, "\nwhat\ttarget\tmeasured\tmet\tbeside")
	for _, l := range b.lines {
		met := "yes"
		if !l.met {
			met = "NO"
		}
		fmt.Fprintf(&t, "%s\t%s\t%s\t%s\t%s\n", l.what, l.target, l.measured, met, l.beside)
	}
	aligned := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, err := io.WriteString(aligned, t.String())
	return errors.Join(err, aligned.Flush())
}

// pick returns few in a quick run and many otherwise.
func (b *bench) pick(few, many int) int {
	if b.quick {
		return few
	}
	return many
}
