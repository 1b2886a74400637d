package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
	"github.com/trestle-bridge/trestle/spaces"
)

func forgetCommand(p *CLI) *cobra.Command {
	return &cobra.Command{
		Use: "forget MIND ID", Short: "have a mind forget a memory, timer or plan", Args: cobra.ExactArgs(2),
		Long: "Have a mind forget a memory, timer or plan, as if it had forgotten by itself: it is not shown it in later frames. What was said stays said; " +
			"to take words out of everything, delete the message.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.changeMemory(c.Context(), "/forget", server.MemoryChange{Mind: args[0], ID: args[1]})
		},
	}
}

func correctCommand(p *CLI) *cobra.Command {
	return &cobra.Command{
		Use: "correct MIND ID FACT…", Short: "have a mind remember a fact in place of what a memory says", Args: cobra.MinimumNArgs(3),
		Long: "Have a mind remember a fact in place of what a memory says: it is shown the new words from then on. The memory keeps where it came from " +
			"and who may learn it.",
		RunE: func(c *cobra.Command, args []string) error {
			return p.changeMemory(c.Context(), "/correct", server.MemoryChange{Mind: args[0], ID: args[1], Fact: new(strings.Join(args[2:], " "))})
		},
	}
}

func (p *CLI) changeMemory(ctx context.Context, path string, q server.MemoryChange) error {
	if _, err := server.ParseMindName(q.Mind); err != nil {
		return err
	}
	var done server.MemoryChange
	err := p.change(ctx, mutation{
		path: path, ask: q, answer: &done,
		alone: func(ctx context.Context, s *sqlstore.Store) error {
			conf, err := p.load()
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
	return p.answer(done, func(w io.Writer) {
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
