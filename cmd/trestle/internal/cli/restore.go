package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/trestle-bridge/trestle/cmd/trestle/internal/apperr"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/backup"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/server"
	"github.com/trestle-bridge/trestle/cmd/trestle/internal/storeopen"
	"github.com/trestle-bridge/trestle/internal/config"
	"github.com/trestle-bridge/trestle/internal/console"
	"github.com/trestle-bridge/trestle/internal/store/sqlite"
)

// checkedBackup is the answer of `trestle backup --check`.
type checkedBackup struct {
	backupAnswer
	Findings []string `json:"findings"` // what is wrong with it; empty for a good one
}

// checkBackup opens a copy of a backup, so that the backup itself stays as it
// is, and audits it.
func (cmd backupCommand) checkBackup(ctx context.Context, file string) error {
	ctx, stop := stoppable(ctx)
	defer stop()
	began := time.Now()
	full := cmd.absolute(file)
	a := checkedBackup{backupAnswer: backupAnswer{File: file}, Findings: []string{}}
	var err error
	if a.Bytes, a.SHA256, err = backup.FileDigest(full); err != nil {
		return &apperr.Error{What: err.Error(), Where: file, Remedy: "name a file that trestle backup wrote", Code: apperr.Failed}
	}
	if a.Findings, _, err = auditBackup(ctx, full); ctx.Err() != nil {
		return &reportedError{apperr.Interrupted}
	} else if err != nil {
		return &apperr.Error{What: err.Error(), Where: file, Remedy: "use another backup; see trestle version for the schemas this program reads", Code: apperr.Failed}
	}
	a.Seconds = time.Since(began).Seconds()
	err = cmd.answer(a, func(w io.Writer) {
		for _, f := range a.Findings {
			fmt.Fprintln(w, f)
		}
		fmt.Fprintf(w, "%s   %s   %.1f s   sha256 %s   %d findings\n", a.File, console.Size(a.Bytes), a.Seconds, a.SHA256, len(a.Findings))
	})
	if err == nil && len(a.Findings) > 0 {
		return &reportedError{apperr.Failed}
	}
	return err
}

// auditBackup returns what is wrong with a backup that can be opened, and how many
// bytes of people's files belong to it.
func auditBackup(ctx context.Context, file string) (findings []string, beside int64, err error) {
	dir, err := os.MkdirTemp("", "trestle-check-")
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := backup.CopyFile(file, filepath.Join(dir, sqlite.FileName)); err != nil {
		return nil, 0, err
	}
	store, err := sqlite.Open(ctx, sqlite.Options{Dir: dir, NewID: storeopen.NewID, CheckFor: time.Hour})
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, store.Close(context.WithoutCancel(ctx))) }()
	found, err := store.Audit(ctx, time.Time{}) // nothing is overdue in a copy
	findings = []string{}
	for _, f := range found {
		findings = append(findings, f.String())
	}
	beside, uncounted := store.Border().Shelved(ctx)
	return findings, beside, errors.Join(err, uncounted)
}

// restoreCommand answers `trestle restore`.
type restoreCommand struct{ installation }

func newRestoreCommand(env *Environment) *cobra.Command {
	cmd := restoreCommand{installation{env}}
	since := ""
	c := &cobra.Command{
		Use: "restore FILE", Short: "put a backup in place as the record of an empty data folder", Args: cobra.MaximumNArgs(1),
		Long: "Check a backup and put it in place as the record of an empty data folder. What people wrote after the backup is read again\n" +
			"in Slack and Discord at the next start. What they wrote there before now counts as dealt with: agents know of it, but nobody\n" +
			"is answered and nothing is relayed a second time. If the program has not been running for a while, say since when with\n" +
			"--down-since: what was written from then on is answered and relayed.\n" +
			"A record that was put back by other means, as one in Postgres is with pg_restore, learns the same before the start from\n" +
			"trestle restore --down-since TIME, without FILE.",
		RunE: func(c *cobra.Command, args []string) error {
			conf, err := cmd.load()
			if err != nil {
				return err
			}
			dealt, err := downSince(since, "--down-since", time.Now())
			switch {
			case err != nil:
				return err
			case len(args) == 0 && since != "":
				return cmd.restored(c.Context(), conf, dealt)
			case len(args) == 0:
				return wrongArguments(c, args)
			case conf.Database != "":
				return misuse(c, "the record is in a database", "put it back with the tools of its server, then call trestle restore --down-since TIME, without FILE")
			}
			return cmd.restore(c.Context(), conf, args[0], dealt)
		},
	}
	c.Flags().StringVar(&since, "down-since", "", "since when the program has not been running: 2026-11-23T04:30:00Z, or how long: 90s, 2h. Default: now")
	return c
}

// restoredAnswer is the answer of `trestle restore`.
type restoredAnswer struct {
	backupAnswer
	// Dealt is until when what people wrote counts as dealt with: it is read again, and
	// no message is answered.
	Dealt time.Time `json:"dealt_until"`
}

func (a restoredAnswer) print(w io.Writer, data string) {
	if a.File != "" {
		a.printFile(w, data)
	}
	fmt.Fprintf(w, "what people wrote in Slack and Discord after the backup and before %s is read again at the next start;\n"+
		"nobody is answered and nothing is relayed a second time, so whoever still waits for an answer has to ask again\n", a.Dealt.Format(time.RFC3339))
}

func (a restoredAnswer) printFile(w io.Writer, data string) {
	fmt.Fprintf(w, "%s restored to %s   %s   %.1f s   sha256 %s\n", a.File, data, console.Size(a.Bytes), a.Seconds, a.SHA256)
	if a.Beside != "" {
		fmt.Fprintf(w, "the files that people posted belong in %s: put your copy there\n", a.Beside)
	}
}

// downSince returns the moment that a flag of this name says: how long ago, or when.
func downSince(text, flag string, now time.Time) (time.Time, error) {
	if text == "" {
		return now, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if d, span := config.ParseDuration(text); span == nil {
		at, err = now.Add(-d), nil
	}
	if err != nil || at.After(now) {
		return at, &apperr.Error{What: fmt.Sprintf("%q is no time that has passed", text), Where: flag, Remedy: "write 2026-11-23T04:30:00Z, or how long ago: 90s, 5m, 2h or 7d", Code: apperr.Usage}
	}
	return at, nil
}

// restore copies a good backup into an empty data folder.
func (cmd restoreCommand) restore(ctx context.Context, conf *config.Config, file string, dealt time.Time) error {
	ctx, stop := stoppable(ctx)
	defer stop()
	began, full := time.Now(), cmd.absolute(file)
	if held, err := os.ReadDir(conf.Data); err == nil && len(held) > 0 {
		return &apperr.Error{What: "the data folder is not empty", Where: conf.Data, Remedy: "stop the program and move the folder aside, or name another with --data; a restore overwrites nothing", Code: apperr.Usage}
	}
	findings, beside, err := auditBackup(ctx, full)
	if ctx.Err() != nil {
		return &reportedError{apperr.Interrupted}
	}
	if err == nil && len(findings) > 0 {
		err = fmt.Errorf("the backup is not whole: %s", findings[0])
	}
	if err != nil {
		return &apperr.Error{What: err.Error(), Where: file, Remedy: "use another backup, and see trestle backup --check", Code: apperr.Failed}
	}
	if err := backup.PlaceDatabase(ctx, full, conf.Data, dealt); err != nil {
		return &apperr.Error{What: err.Error(), Where: conf.Data, Remedy: "see that there is room and that the folder can be written", Code: apperr.Failed}
	}
	a := restoredAnswer{backupAnswer{File: file, Seconds: time.Since(began).Seconds()}, dealt.UTC().Truncate(time.Second)}
	if a.Bytes, a.SHA256, err = backup.FileDigest(full); err != nil {
		return err
	}
	if beside > 0 {
		a.Beside = filepath.Join(conf.Data, server.FilesFolder)
	}
	return cmd.answer(a, func(w io.Writer) { a.print(w, conf.Data) })
}

// restored notes in a record that was put back by other means until when all is dealt
// with.
func (cmd restoreCommand) restored(ctx context.Context, conf *config.Config, dealt time.Time) error {
	if storeopen.IsMissing(conf) {
		return storeopen.MissingError(conf)
	}
	began := time.Now()
	store, err := cmd.takeRecord(ctx, conf)
	if err != nil {
		return err
	}
	if err := errors.Join(store.Border().DealUntil(ctx, dealt), store.Close(context.WithoutCancel(ctx))); err != nil {
		return storeopen.OpenError(err, storeopen.LocationName(conf))
	}
	a := restoredAnswer{backupAnswer{Seconds: time.Since(began).Seconds()}, dealt.UTC().Truncate(time.Second)}
	return cmd.answer(a, func(w io.Writer) { a.print(w, conf.Data) })
}
