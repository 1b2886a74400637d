package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/adapters"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/jobs"
	"github.com/trestle-bridge/trestle/internal/store/engine"
	"github.com/trestle-bridge/trestle/internal/store/postgres"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
)

// migratedAnswer is the answer of `trestle migrate`.
type migratedAnswer struct {
	Schema  int64   `json:"schema"` // that the record has now
	Seconds float64 `json:"seconds"`
}

// migrateCommand answers `trestle migrate` and `trestle move`.
type migrateCommand struct{ installation }

func newMigrateCommand(env *Environment) *cobra.Command {
	cmd := migrateCommand{installation{env}}
	return &cobra.Command{
		Use: "migrate", Short: "bring the record's schema up to date, without a start", Args: cobra.NoArgs,
		Long: "Make the record if there is none, or bring its schema up to date, and end. A start does the same; this is for\n" +
			"those who want to do it before. A SQLite file is copied aside first; of a Postgres database make a copy with pg_dump.",
		RunE: func(c *cobra.Command, _ []string) error { return cmd.migrate(c.Context()) },
	}
}

func (cmd migrateCommand) migrate(ctx context.Context) error {
	conf, err := cmd.load()
	if err != nil {
		return err
	}
	began := time.Now()
	store, err := cmd.takeRecord(ctx, conf)
	switch {
	case isInUse(err) && isCurrent(ctx, conf): // there is nothing to do
	case err != nil:
		return err
	default:
		if err := store.Close(ctx); err != nil {
			return storeopen.OpenError(err, storeopen.LocationName(conf))
		}
	}
	a := migratedAnswer{Schema: sqlite.Schema(), Seconds: time.Since(began).Seconds()}
	if conf.Database != "" {
		a.Schema = postgres.Schema()
	}
	return cmd.answer(a, func(w io.Writer) { fmt.Fprintf(w, "schema %d   %.1f s\n", a.Schema, a.Seconds) })
}

// isInUse reports whether the record could not be had because another process has it.
func isInUse(err error) bool {
	f, ok := errors.AsType[*apperr.Error](err)
	return ok && f.Code == apperr.TryAgain
}

// isCurrent reports whether the record has the schema of this program.
func isCurrent(ctx context.Context, conf *config.Config) bool {
	there, err := storeopen.OpenReadOnly(ctx, conf)
	return err == nil && there.Close() == nil
}

// movedAnswer is the answer of `trestle move`.
type movedAnswer struct {
	Rows    int64   `json:"rows"`
	SHA256  string  `json:"sha256"` // of every row, the same in both records
	Seconds float64 `json:"seconds"`
}

func newMoveCommand(env *Environment) *cobra.Command {
	cmd := migrateCommand{installation{env}}
	to := ""
	c := &cobra.Command{
		Use: "move", Short: "copy the record from its SQLite file into a Postgres database", Args: cobra.NoArgs,
		Long: "Copy every row of the record in the data folder into an empty database, and compare them all afterwards. Interrupted,\n" +
			"it goes on where it stood when it is called again; the database opens for nothing else until it is done. The file stays\n" +
			"as it is; one of an older schema is refused until trestle migrate has brought it up to date. Files that people sent stay in the data folder. No process may use the record meanwhile.",
		RunE: func(c *cobra.Command, _ []string) error { return cmd.move(c.Context(), to) },
	}
	c.Flags().StringVar(&to, "to", "", "address of the database: postgres://user@host/name. Default: the key `database`")
	return c
}

func (cmd migrateCommand) move(ctx context.Context, to string) (err error) {
	conf, err := cmd.load()
	if err != nil {
		return err
	}
	if to = cmp.Or(to, string(conf.Database)); to == "" {
		return &apperr.Error{What: "no database is named", Where: "--to", Remedy: "name it: trestle move --to postgres://user@host/name", Code: apperr.Usage}
	}
	from := *conf
	from.Database = ""
	if storeopen.IsMissing(&from) {
		return &apperr.Error{What: "there is no record here yet", Where: conf.Data, Remedy: "set database and start: trestle run makes an empty record there", Code: apperr.Failed}
	}
	ctx, stop := stoppable(ctx)
	defer stop()
	tables, err := sqlite.OpenTables(ctx, sqlite.Options{Dir: conf.Data, Logger: cmd.logger(slog.LevelWarn)})
	if errors.Is(err, engine.ErrOlder) {
		return &apperr.Error{What: err.Error(), Where: conf.Data, Remedy: "bring the file up to date first: trestle migrate, without the key database; it sets a copy aside. Then move", Code: apperr.Failed}
	}
	if err != nil {
		return storeopen.OpenError(err, conf.Data)
	}
	defer func() { err = errors.Join(err, tables.Close()) }()
	began, shower := time.Now(), cmd.progress()
	done, err := postgres.Move(ctx, to, tables, func(m postgres.CopyProgress) { shower.Show(moving(m, began), time.Now()) })
	if err != nil {
		return moveFailure(ctx, err)
	}
	if err := cmd.keepMove(ctx, conf, to, done, began); err != nil {
		return err
	}
	a := movedAnswer{Rows: done.Total, SHA256: done.Hash, Seconds: time.Since(began).Seconds()}
	return cmd.answer(a, func(w io.Writer) {
		fmt.Fprintf(w, "%d rows   %.1f s   sha256 %s\nnow set the key database and start; the file in %s is not used any more\n", a.Rows, a.Seconds, a.SHA256, conf.Data)
	})
}

// keepMove puts the move among the jobs of the database that has the record now.
func (cmd migrateCommand) keepMove(ctx context.Context, conf *config.Config, to string, m postgres.CopyProgress, began time.Time) error {
	there := *conf
	there.Database = adapters.SecretString(to)
	store, err := cmd.takeRecord(ctx, &there)
	if err != nil {
		return err
	}
	j := moving(m, began)
	j.Kind, j.Subject, j.Done = "move", "to Postgres", m.Total
	return errors.Join(storeopen.AddFinishedJob(ctx, store, j, cmd.logger(slog.LevelWarn)), store.Close(ctx))
}

// moving shows a move as the job it is like.
func moving(m postgres.CopyProgress, began time.Time) jobs.Job {
	j := jobs.Job{Kind: m.Doing, Subject: m.Table, State: jobs.Running, Started: began}
	j.Done, j.Total, j.Unit = m.Done, m.Total, "rows"
	return j
}

// moveFailure says what people can do about a move that ended early.
func moveFailure(ctx context.Context, err error) error {
	f := &apperr.Error{What: err.Error(), Where: "database", Remedy: "mend it and call the same again: it goes on where it stood", Code: apperr.Failed}
	switch {
	case ctx.Err() != nil:
		return &reportedError{apperr.Interrupted}
	case errors.Is(err, postgres.ErrNotEmpty):
		f.Remedy, f.Code = "name an empty database", apperr.Usage
	case errors.Is(err, postgres.ErrDiffers):
		f.Remedy = "the record was used since the move began: make the database anew and move again"
	case errors.Is(err, postgres.ErrSetting):
		f.Remedy = "set up the server as docs/operate.md says (TRS-R11)"
	}
	return f
}
