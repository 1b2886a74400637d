package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/spaces"
)

func memoryCommand(p *CLI) *cobra.Command {
	var words, reader string
	limit := 50
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "memory MIND", Short: "print what a mind (agent/circle) has of its own: memories, goals, plans, notes, summaries", Args: cobra.ExactArgs(1),
		Long: "Print what a mind (agent/circle) has of its own: memories, the newest first, with who may learn them and where they came from; " +
			"goals, plans, notes, and what old runs were condensed to.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.memory(c.Context(), args[0], url.Values{"words": {words}, "reader": {reader}, "limit": {strconv.Itoa(limit)}})
		},
	}
	c.Flags().StringVar(&words, "words", "", "only memories with all of these words")
	c.Flags().StringVar(&reader, "reader", "", "only memories that this one may learn (an id, or a part of a name)")
	limitFlag(c, &limit, "at most this many memories")
	c.AddCommand(forgetCommand(p), correctCommand(p))
	return c
}

func (p *CLI) memory(ctx context.Context, name string, q url.Values) error {
	m, err := server.ParseMindName(name)
	if err != nil {
		return err
	}
	if err := p.chooseMind(ctx, m); err != nil {
		return err
	}
	var a api.MemoryAnswer
	if err := p.ask(ctx, "/api/memory/"+url.PathEscape(string(m.Agent))+"/"+url.PathEscape(string(m.Circle)), q, &a); err != nil {
		return err
	}
	called, err := p.spaceNames(ctx)
	if err != nil {
		return err
	}
	return p.answer(a, func(w io.Writer) { printMemory(w, a, called) })
}

func printMemory(w io.Writer, a api.MemoryAnswer, called func(spaces.SpaceID) string) {
	lines := [][]string{{"AT", "KIND", "FACT", "MAY BE TOLD TO", "FROM", "ID"}}
	for _, x := range a.Memories {
		var readers, from []string
		for _, r := range x.Readers {
			readers = append(readers, cmp.Or(r.Name, string(r.ID)))
		}
		for _, s := range x.Sources {
			from = append(from, fmt.Sprintf("%s#%d", called(s.Space), s.Seq))
		}
		lines = append(lines, []string{textout.FormatTime(x.At), x.What, strconv.Quote(x.Fact), textout.OrDash(strings.Join(readers, ", ")), textout.OrDash(strings.Join(from, " ")), x.ID})
	}
	textout.WriteTable(w, lines)
	for _, g := range a.Goals {
		fmt.Fprintf(w, "goal, %s: %q\n", g.Status, g.Text)
	}
	for _, t := range a.Plans {
		fmt.Fprintf(w, "plan for %s: %q %s\n", textout.FormatTime(t.Due), t.Note, strings.TrimSpace(t.Cron+" "+t.ID))
	}
	for _, n := range a.Notes {
		fmt.Fprintf(w, "note: %q\n", n.Text)
	}
	for _, d := range a.Digests {
		fmt.Fprintf(w, "runs %d to %d: %q\n", d.First, d.Last, d.Text)
	}
}
