package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/textout"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console/api"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

// memoryCommand answers `trestle memory`.
type memoryCommand struct{ installation }

func newMemoryCommand(env *Environment) *cobra.Command {
	cmd := memoryCommand{installation{env}}
	var words, reader string
	limit := 50
	c := &cobra.Command{
		Annotations: fromAPI(), Use: "memory MIND", Short: "print what a mind (agent/circle) has of its own: memories, goals, plans, notes, summaries", Args: cobra.ExactArgs(1),
		Long: "Print what a mind (agent/circle) has of its own: memories, the newest first, with who may learn them and where they came from; " +
			"goals, plans, notes, and what old runs were condensed to.",
		RunE: func(c *cobra.Command, args []string) error {
			return cmd.memory(c.Context(), args[0], url.Values{"words": {words}, "reader": {reader}, "limit": {strconv.Itoa(limit)}})
		},
	}
	c.Flags().StringVar(&words, "words", "", "only memories with all of these words")
	c.Flags().StringVar(&reader, "reader", "", "only memories that this one may learn (an id, or a part of a name)")
	limitFlag(c, &limit, "at most this many memories")
	c.AddCommand(cmd.newForgetCommand(), cmd.newCorrectCommand())
	return c
}

func (cmd memoryCommand) memory(ctx context.Context, name string, q url.Values) error {
	m, err := server.ParseMindName(name)
	if err != nil {
		return err
	}
	if err := cmd.chooseMind(ctx, m); err != nil {
		return err
	}
	var a api.MemoryAnswer
	if err := cmd.ask(ctx, "/api/memory/"+url.PathEscape(string(m.Agent))+"/"+url.PathEscape(string(m.Circle)), q, &a); err != nil {
		return err
	}
	called, err := cmd.spaceNames(ctx)
	if err != nil {
		return err
	}
	return cmd.answer(a, func(w io.Writer) { printMemory(w, a, called) })
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
		look := ""
		if t.Look != nil {
			look = fmt.Sprintf(", looks first at %q", t.Look.First)
		}
		if t.Look != nil && t.Look.Outcome != "" {
			look += fmt.Sprintf(": %s at %s", t.Look.Outcome, textout.FormatTime(t.Look.At))
		}
		fmt.Fprintf(w, "plan for %s: %q %s%s\n", textout.FormatTime(t.Due), t.Note, strings.TrimSpace(t.Cron+" "+t.ID), look)
	}
	for _, n := range a.Notes {
		fmt.Fprintf(w, "note: %q\n", n.Text)
	}
	for _, d := range a.Digests {
		fmt.Fprintf(w, "runs %d to %d: %q\n", d.First, d.Last, d.Text)
	}
}

func (cmd memoryCommand) newForgetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "forget MIND ID", Short: "have a mind forget a memory, timer or plan", Args: cobra.ExactArgs(2),
		Long: "Have a mind forget a memory, timer or plan, as if it had forgotten by itself: it is not shown it in later frames. What was said stays said; " +
			"to take words out of everything, delete the message.",
		RunE: func(c *cobra.Command, args []string) error {
			return cmd.changeMemory(c.Context(), "/forget", server.MemoryChange{Mind: args[0], ID: args[1]})
		},
	}
}

func (cmd memoryCommand) newCorrectCommand() *cobra.Command {
	return &cobra.Command{
		Use: "correct MIND ID FACT…", Short: "have a mind remember a fact in place of what a memory says", Args: cobra.MinimumNArgs(3),
		Long: "Have a mind remember a fact in place of what a memory says: it is shown the new words from then on. The memory keeps where it came from " +
			"and who may learn it.",
		RunE: func(c *cobra.Command, args []string) error {
			return cmd.changeMemory(c.Context(), "/correct", server.MemoryChange{Mind: args[0], ID: args[1], Fact: new(strings.Join(args[2:], " "))})
		},
	}
}

func (cmd memoryCommand) changeMemory(ctx context.Context, path string, q server.MemoryChange) error {
	if _, err := server.ParseMindName(q.Mind); err != nil {
		return err
	}
	var done server.MemoryChange
	err := cmd.change(ctx, mutation{
		path: path, ask: q, answer: &done,
		alone: func(ctx context.Context, s *sqlstore.Store) error {
			conf, err := cmd.load()
			if err != nil {
				return err
			}
			done = q
			return q.Do(ctx, offlineMemoryEditor{s.Shell(), conf})
		},
	})
	if err != nil {
		return err
	}
	return cmd.answer(done, func(w io.Writer) {
		if done.Fact == nil {
			fmt.Fprintf(w, "%s has forgotten %s\n", done.Mind, done.ID)
			return
		}
		fmt.Fprintf(w, "%s remembers as %s: %q\n", done.Mind, done.ID, *done.Fact)
	})
}

// offlineMemoryEditor are those of a record that no process serves.
type offlineMemoryEditor struct {
	record sqlstore.AgentStore
	conf   *config.Config
}

// Forget implements [memoryKeeper].
func (k offlineMemoryEditor) Forget(ctx context.Context, m spaces.Mind, id string) (bool, error) {
	return k.record.Forget(ctx, m, id, time.Now())
}

// Correct implements [memoryKeeper].
func (k offlineMemoryEditor) Correct(ctx context.Context, m spaces.Mind, id, fact string) (bool, error) {
	fact, err := server.CheckFact(k.conf, m, fact)
	if err != nil {
		return false, err
	}
	return k.record.Correct(ctx, m, id, fact, time.Now())
}
