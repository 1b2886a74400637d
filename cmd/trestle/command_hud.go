package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

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

// eventRow is one line of `trestle events`.
type eventRow struct {
	Space  spaces.SpaceID  `json:"space"`
	Seq    int64           `json:"seq"`
	ID     spaces.EventID  `json:"id"`
	At     string          `json:"at"`
	Actor  spaces.EntityID `json:"actor,omitempty"`
	Kind   spaces.Kind     `json:"kind"`
	Thread spaces.ThreadID `json:"thread,omitempty"`
	Body   spaces.Body     `json:"body"`
}

func eventsCommand(p *program) *cobra.Command {
	var follow bool
	var space string
	var limit int
	c := &cobra.Command{
		Use: "events", Short: "print the newest events of the record; with -f, what happens right now, as JSON lines", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if follow {
				return p.follow(c.Context())
			}
			return p.events(c.Context(), spaces.SpaceID(space), limit)
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "follow the live events of the running process")
	c.Flags().StringVar(&space, "space", "", "only of this space (its id)")
	c.Flags().IntVar(&limit, "limit", 50, "at most this many")
	return c
}

func (p *program) events(ctx context.Context, room spaces.SpaceID, limit int) error {
	return p.look(ctx, func(_ *config.Config, r console.Record) error {
		found, err := r.Recent(ctx, room, limit)
		if err != nil {
			return err
		}
		names, err := r.Names(ctx, actors(found))
		if err != nil {
			return err
		}
		rows := make([]eventRow, 0, len(found))
		for _, e := range found {
			rows = append(rows, eventRow{e.Space, e.Seq, e.ID, when(e.At), e.Actor, e.Body.Kind(), e.Thread, e.Body})
		}
		return answerRows(p, rows, func(w io.Writer) {
			var lines [][]string
			for _, e := range found {
				lines = append(lines, []string{when(e.At), string(e.Space), "#" + strconv.FormatInt(e.Seq, 10), string(e.Body.Kind()), speaker(e, names), saidIn(e.Body)})
			}
			table(w, lines)
		})
	})
}

// follow prints live events, one JSON object a line, until it is interrupted.
func (p *program) follow(ctx context.Context) error {
	conf, err := p.load()
	if err != nil {
		return err
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	c, running := dial(ctx, filepath.Join(conf.Data, socketName))
	if !running {
		return &failure{what: "no process serves this data folder", where: conf.Data, todo: "start it with trestle run; without -f the record is read", code: exitTryAgain}
	}
	err = c.get(ctx, "/events", func(body io.Reader) error {
		return console.ReadStream(body, func(data []byte) error {
			_, err := fmt.Fprintln(p.out, strings.TrimSpace(string(data)))
			return err
		})
	})
	if ctx.Err() != nil && !errors.Is(err, io.ErrShortWrite) {
		return &silent{exitInterrupted}
	}
	return err
}
