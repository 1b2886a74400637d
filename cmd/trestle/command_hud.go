package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/spaces"
)

// hudAnswer is what a mind has before it: its keyframe and the turns since.
type hudAnswer struct {
	Mind     string        `json:"mind"`
	Keyframe string        `json:"keyframe,omitempty"`
	Turns    []spaces.Turn `json:"turns"`
	Tokens   int           `json:"tokens"`
}

func hudCommand(p *program) *cobra.Command {
	var cycles int
	c := &cobra.Command{
		Use: "hud MIND", Short: "print what a mind (agent/circle) has before it: its keyframe and what it was shown since", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return p.hud(c.Context(), args[0], cycles) },
	}
	c.Flags().IntVar(&cycles, "cycles", 10, "newest cycles to print")
	return c
}

func (p *program) hud(ctx context.Context, name string, cycles int) error {
	m, ok := spaces.ParseMind(name)
	if !ok {
		return &failure{what: fmt.Sprintf("%q names no mind", name), where: "hud " + name, todo: "write agent/circle, such as ada/home; see trestle status", code: exitUsage}
	}
	return p.look(ctx, func(_ *config.Config, r console.Record) error {
		keyframe, turns, err := r.Turns(ctx, m, cycles)
		if err != nil {
			return err
		}
		if keyframe == nil && len(turns) == 0 {
			return &failure{what: "this mind has not been shown anything", where: "hud " + name, todo: "see trestle status for the minds there are", code: exitFailed}
		}
		a := hudAnswer{Mind: m.String(), Turns: turns}
		if keyframe != nil {
			a.Keyframe, a.Tokens = keyframe.Text, keyframe.Tokens
		}
		for _, t := range turns {
			a.Tokens += t.Tokens
		}
		return p.answer(a, a.print)
	})
}

func (a hudAnswer) print(w io.Writer) {
	if a.Keyframe != "" {
		fmt.Fprintf(w, "── keyframe ──\n%s\n", plain(a.Keyframe))
	}
	last := spaces.CycleID("")
	for _, t := range a.Turns {
		if t.Cycle != last {
			fmt.Fprintf(w, "── cycle %s ──\n", t.Cycle)
			last = t.Cycle
		}
		fmt.Fprintf(w, "[%s]", t.Role)
		if t.Text != "" {
			fmt.Fprintf(w, " %s", plain(t.Text))
		}
		for _, c := range t.Calls {
			fmt.Fprintf(w, " %s(%s)", c.Name, plain(c.Args))
		}
		fmt.Fprintf(w, "\n")
	}
	fmt.Fprintf(w, "── %d tokens ──\n", a.Tokens)
}
