package cli

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/history"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/store/sqlstore"
)

// backfillCommand answers `trestle backfill`.
type backfillCommand struct{ installation }

func newBackfillCommand(env *Environment) *cobra.Command {
	cmd := backfillCommand{installation{env}}
	since := "30d"
	c := &cobra.Command{
		Use: "backfill SPACE", Short: "bring in what was said in a space before, from the platform's history", Args: cobra.ExactArgs(1),
		Long: "Reads the history of the space's chats and writes it into its log, with its own times and authors. It wakes nobody, and\n" +
			"what the log has already is left alone. It keeps the platform's limits. It is a job of the running process, or of this\n" +
			"one where none runs; interrupted, it goes on where it was with the next `trestle run`.",
		RunE: func(c *cobra.Command, args []string) error { return cmd.backfill(c.Context(), args[0], since) },
	}
	c.Flags().StringVar(&since, "since", since, "how far back: 12h, 30d, 365d")
	return c
}

// backfill adds the job and waits until it is over.
func (cmd backfillCommand) backfill(ctx context.Context, space, since string) error {
	from, err := sinceFlag(since)
	if err != nil {
		return err
	}
	if from.IsZero() {
		from = time.Unix(0, 0)
	}
	q := history.BackfillRequest{Space: space, Since: from}
	return cmd.addJob(ctx, "/backfill", q, func(ctx context.Context, s *sqlstore.Store) error { return cmd.backfillHere(ctx, s, q) })
}

// backfillHere reads the history in this process, because no other is connected
// to the platforms.
func (cmd backfillCommand) backfillHere(ctx context.Context, s *sqlstore.Store, q history.BackfillRequest) error {
	conf, err := cmd.load()
	if err != nil {
		return err
	}
	chats, err := history.SpaceChats(ctx, s, q.Space)
	if err != nil {
		return err
	}
	lg := cmd.logger(slog.LevelWarn)
	work := history.BackfillJob{Store: s, Logger: lg, Reader: newServer(conf, lg, io.Discard, true).ConnectReaders(ctx, chats), Config: func() *config.Config { return conf }}
	added, err := work.Add(ctx, q, chats)
	if err != nil {
		return err
	}
	return cmd.doHere(ctx, s, added, work.Work, cmd.asAnswer())
}
