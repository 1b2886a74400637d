package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
)

func backfillCommand(p *program) *cobra.Command {
	since := "30d"
	c := &cobra.Command{
		Use: "backfill SPACE", Short: "bring in what was said in a space before, from the platform's history", Args: cobra.ExactArgs(1),
		Long: "Reads the history of the space's chats and writes it into its log, with its own times and authors. It wakes nobody, and\n" +
			"what the log has already is left alone. It is a job of the running process: it keeps the platform's limits, and\n" +
			"interrupted, it goes on where it was.",
		RunE: func(c *cobra.Command, args []string) error { return p.backfill(c.Context(), args[0], since) },
	}
	c.Flags().StringVar(&since, "since", since, "how far back: 12h, 30d, 52w")
	return c
}

// backfill adds the job and stays until it is over.
func (p *program) backfill(ctx context.Context, space, since string) error {
	from, err := sinceFlag(since)
	if err != nil {
		return err
	}
	if from.IsZero() {
		from = time.Unix(0, 0)
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	var j jobs.Snapshot
	err = p.change(ctx, changing{
		path: "/backfill", ask: backfillRequest{space, from}, answer: &j,
		alone: func(context.Context, *sqlite.Store) error {
			return &failure{what: "no process is connected to the platforms", where: "backfill", todo: "start `trestle run`, then ask again", code: exitTryAgain}
		},
	})
	if err != nil {
		return err
	}
	return p.showJob(ctx, fmt.Sprint(j.ID), true)
}
